import { isJsonArray, isJsonObject, type Json } from "../../../src/base/json.ts";

/** Collects all strings of an answer whose member's name ends in Id, by that name. */
export function idsIn(value: Json, ids: Map<string, Set<string>>): void {
  if (isJsonArray(value)) for (const each of value) idsIn(each, ids);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === "string" && name.endsWith("Id")) ids.set(name, (ids.get(name) ?? new Set()).add(member));
      else idsIn(member ?? null, ids);
    }
}
