/** The records of a shop as an export has them. */
import type { JsonObject } from "../../../src/base/json.ts";
import { exportRecords } from "../../../src/exchange/export.ts";
import type { Engine } from "../../../src/store/store.ts";

export async function exportedRecords(engine: Engine, shopId: string): Promise<readonly JsonObject[]> {
  let text = "";
  for await (const part of exportRecords(engine, shopId)) text += part;
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): JsonObject => JSON.parse(line));
}
