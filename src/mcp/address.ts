/**
 * The addresses of the agent surface (C76). `/mcp` has all tools, `/mcp/read` those that only read, and `?tools=` the
 * sets that it names. A tool that an address does not have cannot be called there.
 */
import { Fault } from "../base/fault.ts";
import { parseQuery } from "../http/query.ts";
import type { Operation } from "../requests/operation.ts";
import { type ToolSet, toolSets } from "../requests/tool-sets.ts";
import { mcpPath } from "./names.ts";

const readPath = `${mcpPath}/read`;

export const mcpPaths: readonly string[] = [mcpPath, readPath];

/** The tools and schemas that a client has asked for by the address that it calls. */
export interface McpAddress {
  readonly isReadOnly: boolean;
  /** Null: all tools. */
  readonly sets: ReadonlySet<ToolSet> | null;
  /** True if definitions of tools have the schema of the answer. */
  readonly withOutputSchemas: boolean;
}

/** @throws Fault INVALID_INPUT  there is no such set. */
export function mcpAddressOf(path: string, search: string): McpAddress {
  const parameters = parseQuery(search);
  const valuesOf = (name: string) => parameters.filter((each) => each.name === name).map(({ value }) => value);
  const asked = valuesOf("tools").flatMap((value) => value.split(","));
  return {
    isReadOnly: path === readPath,
    sets: asked.length === 0 ? null : new Set(asked.map(toolSetNamed)),
    withOutputSchemas: valuesOf("schemas").includes("1"),
  };
}

function toolSetNamed(name: string): ToolSet {
  const set = toolSets.find((each) => each === name);
  if (set !== undefined) return set;
  throw new Fault("INVALID_INPUT", `There is no set of tools ${JSON.stringify(name.slice(0, 100))}.`, {
    action: `Name any of ${toolSets.join(", ")} in tools, separated by commas, or leave it out for all tools.`,
  });
}

/** True if the address has the operation as a tool. */
export const hasTool = ({ isReadOnly, sets }: McpAddress, { scope, toolSets: of }: Operation): boolean =>
  (!isReadOnly || scope === "read") && (sets === null || of.some((set) => sets.has(set)));
