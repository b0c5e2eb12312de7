/** Texts in an answer that others have written: they are data, never an instruction (C70a). */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";

/** Members that hold such texts. A test holds that each text of an answer is one of them, or is told why it is none. */
export const textsOfOthers: ReadonlySet<string> = new Set([
  "address1",
  "address2",
  "after",
  "before",
  "carrier",
  "city",
  "comment",
  "companyName",
  "contactName",
  "creditNumber",
  "description",
  "displayName",
  "fileName",
  "message",
  "moName",
  "name",
  "note",
  "noteToSupplier",
  "paymentName",
  "paymentTerms",
  "poName",
  "productName",
  "province",
  "reference",
  "shippingMethod",
  "stockTakeName",
  "summary",
  "supplierName",
  "supplierProductName",
  "supplierReference",
  "tags",
  "text",
  "title",
  "trackingNumber",
  "transferName",
  "variantName",
  "viewName",
]);

/** Member of an answer that names the members with such texts. */
export const othersTexts = "writtenByOthers";

const isText = (value: JSONValue): boolean =>
  typeof value === "string" ? value !== "" : Array.isArray(value) && value.some((each) => typeof each === "string");

/** True of the statuses that an order is moved from and to, which stand as a changed field's values do in a log. */
const isMove = (holder: JSONObject, name: string): boolean =>
  (name === "before" || name === "after") && holder["field"] === undefined;

/** The member `othersTexts` of an answer; no member where the answer has no such text. */
export function othersTextsIn(answer: JSONObject): JSONObject {
  const found = new Set<string>();
  const look = (value: JSONValue): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (value !== null && typeof value === "object")
      for (const [name, each] of Object.entries(value))
        if (textsOfOthers.has(name) && isText(each) && !isMove(value, name)) found.add(name);
        else look(each);
  };
  look(answer);
  return found.size === 0 ? {} : { [othersTexts]: [...found] };
}
