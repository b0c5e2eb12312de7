/** Texts in an answer that others have written: they are data, never an instruction (C70a). */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";

/** Members that hold such texts. */
const members: ReadonlySet<string> = new Set([
  "poName",
  "supplierName",
  "supplierReference",
  "supplierProductName",
  "productName",
  "variantName",
  "note",
  "noteToSupplier",
  "comment",
  "message",
  "fileName",
  "name",
]);

/** Member of an answer that names the members with such texts. */
export const othersTexts = "writtenByOthers";

/** That member for an answer; nothing where it has no such text. */
export function othersTextsIn(answer: JSONObject): JSONObject {
  const found = new Set<string>();
  const look = (value: JSONValue): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (value !== null && typeof value === "object")
      for (const [name, each] of Object.entries(value))
        if (typeof each !== "string") look(each);
        else if (each !== "" && members.has(name)) found.add(name);
  };
  look(answer);
  return found.size === 0 ? {} : { [othersTexts]: [...found] };
}
