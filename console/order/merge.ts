/** Differences of two states of an order. A person's change of the older one is checked against the newer one. Pure. */
import type { PurchaseOrder } from "../../client/index.ts";

/** A value that a change replaces, as the person saw it. `lineItemId` is null for a field of the header. */
export interface Touched {
  readonly lineItemId: string | null;
  readonly field: string;
}

/** Changes of the order while the person was working on it. */
export interface Difference {
  readonly fields: readonly string[];
  /** Ids of lines, here and below. */
  readonly changedLines: readonly string[];
  readonly addedLines: readonly string[];
  readonly deletedLines: readonly string[];
}

/** Fields that follow from others, or that every change raises. */
const derived: readonly string[] = [
  "version",
  "updatedAt",
  "lineItems",
  "itemCount",
  "totalValue",
  "grandTotal",
  "quantityOrdered",
  "quantityConfirmed",
  "quantityReceived",
  "quantityPending",
  "unpricedLineItemIds",
  "previousStatus",
  "nextExpectedDate",
  "shipment",
  "addresses",
  "payments",
  "documents",
];

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const memberOf = (value: object, name: string): unknown => new Map(Object.entries(value)).get(name);

const linesOf = (order: PurchaseOrder) => new Map(order.lineItems.map((line) => [line.poLineItemId, line]));

export function differenceOf(before: PurchaseOrder, after: PurchaseOrder): Difference {
  const [old, now] = [linesOf(before), linesOf(after)];
  const isChanged = (lineItemId: string): boolean => {
    const [one, other] = [old.get(lineItemId), now.get(lineItemId)];
    return (
      one !== undefined && other !== undefined && !same({ ...one, updatedAt: null }, { ...other, updatedAt: null })
    );
  };
  return {
    fields: Object.keys(after).filter(
      (name) => !derived.includes(name) && !same(memberOf(before, name), memberOf(after, name)),
    ),
    changedLines: [...now.keys()].filter(isChanged),
    addedLines: [...now.keys()].filter((id) => !old.has(id)),
    deletedLines: [...old.keys()].filter((id) => !now.has(id)),
  };
}

const union = (one: readonly string[], other: readonly string[]): readonly string[] => [...new Set([...one, ...other])];

/** Joins the changes of one stretch of time and of the next. */
export const joinedDifference = (one: Difference, other: Difference): Difference => ({
  fields: union(one.fields, other.fields),
  changedLines: union(one.changedLines, other.changedLines),
  addedLines: union(one.addedLines, other.addedLines),
  deletedLines: union(one.deletedLines, other.deletedLines),
});

/**
 * Values that the change would replace and that are no longer what the person saw. Without any, the change still fits.
 */
export function conflictsOf(
  before: PurchaseOrder,
  after: PurchaseOrder,
  touched: readonly Touched[],
): readonly Touched[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  return touched.filter(({ lineItemId, field }) => {
    if (lineItemId === null) return !same(memberOf(before, field), memberOf(after, field));
    const [one, other] = [old.get(lineItemId), now.get(lineItemId)];
    return one === undefined || other === undefined || !same(memberOf(one, field), memberOf(other, field));
  });
}
