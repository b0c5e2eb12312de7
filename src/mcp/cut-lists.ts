/**
 * Lists of an answer that show not all that there is (C69): beside each stands what is left out, and how to go on.
 *
 * Does not own: which lists are short for an agent (answers.ts), pages of lists (operations).
 */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";
import type { JsonObject } from "../base/json.ts";
import { cursorAfterLine, listLineItems } from "../operations/purchase-orders/reads.ts";
import { asObject } from "./schemas.ts";

/** A longer text is cut: clients stop reading at some 25,000 tokens. */
export const textLengthMax = 50_000;

/** Characters of what stands beside the list that was cut, with what is around it. */
const cutLengthMax = 500;

/** The order whose stored lines an answer shows; null: what it shows is not stored, or is no order. */
export interface LinesOf {
  readonly shopId: string;
  readonly purchaseOrderId: string;
}

/** The order that an answer to these arguments is about; null: it is about none. */
export function linesIn(shopId: string, answer: JSONObject, input: JsonObject): LinesOf | null {
  const { purchaseOrderId = input["purchaseOrderId"] } = asObject(answer["purchaseOrder"]);
  return typeof purchaseOrderId === "string" ? { shopId, purchaseOrderId } : null;
}

/** The member that stands beside a list that was cut. */
export const cutMember = (name: string): string => `${name}Cut`;

/**
 * Numbers of the entries that a list shows and has. Where they are an order's lines, the call that goes on is with
 * them.
 */
export function cutOf(shown: readonly JSONValue[], of: number, lines: LinesOf | null): JSONObject {
  const counts = { shown: shown.length, of };
  const last = asObject(shown.at(-1))["lineItemId"];
  if (lines === null || typeof last !== "string") return counts;
  const { shopId, purchaseOrderId } = lines;
  return {
    ...counts,
    tool: listLineItems.name,
    arguments: { purchaseOrderId, cursor: cursorAfterLine(shopId, purchaseOrderId, last) },
  };
}

/**
 * The content as text: JSON. Where that is too long, its longest list is cut, and the text says so beside the list.
 * No cursor of the answer is there: it would go on after what the text leaves out.
 *
 * @param lines the order whose lines are in it.
 */
export function resultText(content: JSONObject, lines: LinesOf | null): string {
  const whole = JSON.stringify(content);
  if (whole.length <= textLengthMax) return whole;
  const list = longestList(content);
  if (list === null) return `The answer has ${whole.length} characters and is in the structured content only.`;
  const { name, entries } = list;
  const rest = whole.length - JSON.stringify(entries).length;
  const shown = entriesWithin(entries, textLengthMax - rest - cutLengthMax);
  const cut = cutOf(shown, entries.length, name === "lineItems" ? lines : null);
  const advice = `Ask again with a limit of at most ${shown.length}, and go on with the cursor of that answer.`;
  const isPaged = "cursor" in content && cut["tool"] === undefined;
  return JSON.stringify({ ...list.replaced(shown, isPaged ? { ...cut, advice } : cut), cursor: undefined });
}

interface List {
  readonly name: string;
  readonly entries: readonly JSONValue[];
  /** The content with these entries, and before it what was cut of them. */
  readonly replaced: (entries: readonly JSONValue[], cut: JSONObject) => JSONObject;
}

/** The longest list of the content or of an object in it. */
function longestList(content: JSONObject): List | null {
  const lists = Object.entries(content).flatMap(([name, value]): readonly List[] => {
    if (Array.isArray(value))
      return [
        {
          name,
          entries: value,
          replaced: (entries, cut) => ({ [cutMember(name)]: cut, ...content, [name]: [...entries] }),
        },
      ];
    if (value === null || typeof value !== "object") return [];
    const inner = longestList(value);
    return inner === null
      ? []
      : [{ ...inner, replaced: (entries, cut) => ({ ...content, [name]: inner.replaced(entries, cut) }) }];
  });
  const length = ({ entries }: List): number => JSON.stringify(entries).length;
  return lists.toSorted((a, b) => length(b) - length(a))[0] ?? null;
}

/** The first entries whose JSON has no more characters than this together. */
function entriesWithin(entries: readonly JSONValue[], lengthMax: number): readonly JSONValue[] {
  let length = 0;
  const end = entries.findIndex((entry) => (length += JSON.stringify(entry).length + 1) > lengthMax);
  return end === -1 ? entries : entries.slice(0, end);
}
