/**
 * Names of the agent surface: its path, and those of members.
 *
 * The id of a line has one name on the agent surface, `lineItemId`. The operations show it as `poLineItemId`, and as
 * `itemId` in `resolutions` and in what the inventory guard refuses, as the specification wants them.
 */

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../base/json.ts";

export const mcpPath = "/mcp";

const lineId = "lineItemId";

const otherNames: ReadonlySet<string> = new Set(["poLineItemId", "itemId"]);

/** The name that agents know a member by. */
export const agentName = (name: string): string => (otherNames.has(name) ? lineId : name);

/** A body in the names of agents. No value can look like a member's name: its quotes are escaped. */
export const inAgentNames = (body: string): string => body.replaceAll(/"(?:poLineItemId|itemId)":/g, `"${lineId}":`);

/** A JSON pointer, or a text with one, into arguments as agents name them. */
export const pointerInAgentNames = (text: string): string =>
  text.replaceAll(/(\/resolutions\/\d+)\/itemId\b/g, `$1/${lineId}`);

/** Arguments in the names of the operations. */
export function inOperationNames(input: JsonObject): JsonObject {
  const { resolutions } = input;
  if (resolutions === undefined || !isJsonArray(resolutions)) return input;
  return { ...input, resolutions: resolutions.map(resolutionNamed) };
}

function resolutionNamed(entry: Json): Json {
  if (!isJsonObject(entry) || entry[lineId] === undefined || entry["itemId"] !== undefined) return entry;
  const { [lineId]: itemId, ...others } = entry;
  return { itemId, ...others };
}
