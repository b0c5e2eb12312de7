/**
 * Names of operations in texts. The rules know operations by name only. Each surface writes the name its way: method
 * and path on REST, a tool name on MCP (requests/wording.ts).
 *
 * A mention stands in the text between two U+0000. No text from outside holds that character: requests with it are
 * refused (C10). So a caller's own words are never taken for a mention. A text with a mention is for an answer and is
 * never stored in an order, its log or an effect.
 */

/** The operations that texts name. A test holds each against the registry. */
export const mentionedOperations = [
  "forecast_view_list",
  "purchase_order_list",
  "purchase_order_update",
  "purchase_order_delete",
  "purchase_order_line_item_add_custom",
  "purchase_order_line_item_update",
  "purchase_order_status",
  "purchase_order_confirm",
  "purchase_order_receive",
  "purchase_order_unreceive",
  "purchase_order_complete",
  "purchase_order_quick_complete",
  "purchase_order_storefront_sync",
  "purchase_order_storefront_sync_reset",
  "stock_take_list",
  "stock_adjustment_list",
  "transfer_order_list",
  "manufacturing_order_list",
] as const;

/** The name of an operation that a text may mention. */
export type MentionedOperation = (typeof mentionedOperations)[number];

/**
 * Terms that the surfaces name differently beside operations. A key or a wait is a header on REST, and an argument or a
 * member of the error on MCP. The id of a line has other names where answers show it and where `resolutions` take it.
 */
export type MentionedTerm = "idempotencyKey" | "retryAfter" | "shownLineId" | "resolvedLineId";

const mark = "\0";

const mentions = /\0(\w+)(?: ([^\0]+))?\0/g;

/**
 * Mentions an operation or a term in a text: `Take goods back with ${mention("purchase_order_unreceive")}.`
 *
 * @param recordId the record that the operation is to be called on; null for any.
 */
export const mention = (name: MentionedOperation | MentionedTerm, recordId: string | null = null): string =>
  `${mark}${name}${recordId === null ? "" : ` ${recordId}`}${mark}`;

/** A way in, as texts tell them apart: the REST API or the tools of agents. */
export type Surface = "rest" | "mcp";

/**
 * A part of a text that one surface alone shows: what the other does not have, or what a name there says by itself. It
 * holds no other mention.
 */
export const only = (surface: Surface, text: string): string => `${mark}${surface} ${text}${mark}`;

/** Replaces each mention in the text by what `wording` makes of its name and record. */
export function inWords(text: string, wording: (name: string, recordId: string | null) => string): string {
  if (!text.includes(mark)) return text;
  return text.replaceAll(mentions, (_mention, name: string, recordId?: string) => wording(name, recordId ?? null));
}
