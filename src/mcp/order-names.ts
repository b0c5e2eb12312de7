/** Orders that a tool call names by their numbers: each is its order's id before anything else looks at it (C69). */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../base/json.ts";

/** The argument that names an order, in a call or in an item of one of its lists. */
const member = "purchaseOrderId";

/** An id as this service makes them; other ids come by import. */
const madeId = /^po_[0-9a-z]{26}$/;

/** Numbers that are looked up for a call. One that names more orders is left as it is. */
const numbersTogether = 90;

/** A longer text is no order's number. */
const numberLetters = 100;

const mayBeNumber = (name: Json | undefined): name is string =>
  typeof name === "string" && name.length <= numberLetters && !madeId.test(name);

const itemsOf = (value: Json): readonly JsonObject[] => (isJsonArray(value) ? value.filter(isJsonObject) : []);

/** The arguments with an id in place of each number. @param idsOf  ids of the orders that have these numbers. */
export async function withOrderIds(
  input: JsonObject,
  idsOf: (names: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<JsonObject> {
  const named = [input, ...Object.values(input).flatMap(itemsOf)].map((item) => item[member]).filter(mayBeNumber);
  const names = [...new Set(named)];
  if (names.length === 0 || names.length > numbersTogether) return input;
  const ids = await idsOf(names);
  if (ids.size === 0) return input;
  const replaced = (item: JsonObject): JsonObject => {
    const id = mayBeNumber(item[member]) ? ids.get(item[member]) : undefined;
    return id === undefined ? item : { ...item, [member]: id };
  };
  const members = Object.entries(input).map(([name, value]): [string, Json] => [
    name,
    isJsonArray(value) ? value.map((item) => (isJsonObject(item) ? replaced(item) : item)) : value,
  ]);
  return replaced(Object.fromEntries(members));
}
