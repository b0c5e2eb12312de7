/**
 * Mutants that no test can kill, since nobody outside could see the change. The list is to be short: code whose change nobody could see is mostly code
 * to be deleted.
 *
 * Every run holds each entry against its source: exactly one mutant must be meant by it. A killed one fails the run.
 */
export interface Equivalent {
  readonly file: string;
  /** The changed text between « and », with enough of the source around it. White space counts as one space. */
  readonly at: string;
  /** What stands there in its place. */
  readonly after: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: "src/core/order/status.ts",
    at: 'may: «"repeat"», instead: () => `Move it back to Confirmed',
    after: '""',
    reason: "Whatever is neither always nor never is a repeat; the type holds the word.",
  },
  {
    file: "src/core/order/status.ts",
    at: "Received: { is: «[]»,",
    after: '["mutated"]',
    reason: "No rule asks for a trait that does not exist.",
  },
  {
    file: "src/core/goods/goods.ts",
    at: "line.quantityReceived - (order.lineItems[index]«?.»quantityReceived ?? 0",
    after: ".",
    reason: "The new lines are those of the order, one for one; the type of an index does not know.",
  },
  {
    file: "src/core/goods/goods.ts",
    at: "line.quantityReceived < (order.lineItems[index]«?.»quantityReceived ?? 0",
    after: ".",
    reason: "The new lines are those of the order, one for one; the type of an index does not know.",
  },
  {
    file: "src/core/goods/goods.ts",
    at: "(each) => each.poLineItemId ?? «[]»",
    after: '["mutated"]',
    reason: "Changes of totals are of lines; the type of a change allows for the header's.",
  },
  {
    file: "src/core/order/lines.ts",
    at: "return order.settledAmount «<» order.grandTotal ?",
    after: "<=",
    reason: "Equal amounts have been answered the line before.",
  },
  {
    file: "src/core/order/purchase-order-fields.ts",
    at: "FieldValue | Field> = «{ ...fields }»; for (const name in fields) values[name]",
    after: "{}",
    reason: "All members are set after it; the copy only makes a faster object.",
  },
  {
    file: "src/core/order/purchase-order-fields.ts",
    at: "FieldValue | Field> = «{ ...fields }»; let index",
    after: "{}",
    reason: "All members are set after it; the copy only makes a faster object.",
  },
  {
    file: "src/core/order/purchase-order-fields.ts",
    at: "values[index] ?? fields[name]«?.»empty",
    after: ".",
    reason: "It is asked for names of the table alone; the type of an index does not know.",
  },
  {
    file: "src/core/order/purchase-order-fields.ts",
    at: "const empty = fields[name]«?.»empty",
    after: ".",
    reason: "It is asked for names of the table alone; the type of an index does not know.",
  },
  {
    file: "src/requests/idempotency.ts",
    at: '(«each.status === "fulfilled"» ? each.value',
    after: "true",
    reason: "What was rejected has been thrown the line before; the type does not know.",
  },
  {
    file: "src/requests/idempotency.ts",
    at: 'KeyClaim | "again" | null = «"again"»',
    after: '""',
    reason: "The claim sets it before anybody looks.",
  },
  {
    file: "src/operations/purchase-orders/goods/cost-sync.ts",
    at: "if («statements.length > 0») await",
    after: "true",
    reason: "A batch of no statements does nothing.",
  },
  {
    file: "src/operations/purchase-orders/goods/cost-sync.ts",
    at: "if (statements.length «>» 0) await",
    after: ">=",
    reason: "A batch of no statements does nothing.",
  },
  {
    file: "src/operations/purchase-orders/goods/cost-sync.ts",
    at: '? { outcome: «"unknown"», message }',
    after: '""',
    reason: "What is neither taken nor rejected is of unknown outcome.",
  },
  {
    file: "src/operations/purchase-orders/goods/cost-sync.ts",
    at: "refused[0]«?.»error",
    after: ".",
    reason: "Something was refused; the type of an array does not know.",
  },
];
