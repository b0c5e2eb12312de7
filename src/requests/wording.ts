/**
 * Names of operations on each surface: on REST a method and a path, on MCP a tool. Texts of the rules only mention
 * operations by name (core/order/guidance.ts); an answer is written in the words of the surface that asked for it.
 */
import { inWords, type MentionedTerm, type Surface } from "../core/order/guidance.ts";
import type { Operation } from "./operation.ts";

const terms: Readonly<Record<Surface, Readonly<Record<MentionedTerm, string>>>> = {
  rest: {
    idempotencyKey: "Idempotency-Key",
    retryAfter: "Retry-After",
    shownLineId: "poLineItemId",
    resolvedLineId: "itemId",
  },
  mcp: {
    idempotencyKey: "idempotencyKey",
    retryAfter: "retryAfterMs",
    shownLineId: "lineItemId",
    resolvedLineId: "lineItemId",
  },
};

/**
 * `POST /purchase-orders/{id}/receive`, or with the record's id `POST /api/v1/purchase-orders/po_…/receive`; a tool's
 * name where REST has no path.
 */
function routeOf({ name, route }: Operation, recordId: string | null): string {
  if (route === null) return name;
  const path = route.path.replaceAll(/\{\w+\}/g, recordId ?? "{id}");
  return `${route.method} ${recordId === null ? "" : "/api/v1"}${path}`;
}

const words: Readonly<Record<Surface, (operation: Operation, recordId: string | null) => string>> = {
  rest: routeOf,
  mcp: ({ name }) => name,
};

const byName = new Map<string, Operation>();

/**
 * Registers the operations that texts mention by name. The registry of the operations calls it, since this room knows
 * none of them.
 */
export function registerOperations(operations: readonly Operation[]): void {
  for (const operation of operations) byName.set(operation.name, operation);
}

/** The text with what it mentions in the surface's words. */
export const worded = (text: string, surface: Surface): string =>
  inWords(text, (name, recordId) => {
    if (name === "rest" || name === "mcp") return name === surface ? (recordId ?? "") : "";
    const operation = byName.get(name);
    if (operation !== undefined) return words[surface](operation, recordId);
    return new Map(Object.entries(terms[surface])).get(name) ?? name;
  });
