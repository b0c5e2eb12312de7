/** Differences that a record makes in the order that it replaces (§8). */
import { changesOf, shownLine } from "./edit.ts";
import { storedHeaderFields, storedLineFields } from "./purchase-order-fields.ts";
import type { FieldChange, LineItem, OrderWithLines } from "./purchase-order.ts";

/** Fields that follow from the change itself. */
const { updatedAtMs: _updated, version: _version, ...headerFields } = storedHeaderFields;

const { createdAtMs: _created, updatedAtMs: _lineUpdated, ...lineFields } = storedLineFields;

/** Changes that one entry tells: those of the header, then of the lines as far as they fit. */
const replacedChangesMax = 1_000;

/** The values before and after, of the header and of each line. */
export function replacedChanges(before: OrderWithLines, after: OrderWithLines): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  if (before.status !== after.status)
    changes.push({ field: "status", poLineItemId: null, before: before.status, after: after.status });
  changes.push(...changesOf(headerFields, before, after, null));
  const old = new Map<string, LineItem>(before.lineItems.map((line) => [line.poLineItemId, line]));
  for (const line of after.lineItems) {
    const { poLineItemId } = line;
    const known = old.get(poLineItemId);
    old.delete(poLineItemId);
    if (known === undefined) changes.push({ field: "lineItem", poLineItemId, before: null, after: shownLine(line) });
    else changes.push(...changesOf(lineFields, known, line, poLineItemId));
  }
  for (const line of old.values())
    changes.push({ field: "lineItem", poLineItemId: line.poLineItemId, before: shownLine(line), after: null });
  return changes.slice(0, replacedChangesMax);
}
