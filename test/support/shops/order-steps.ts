/** Random things that are done to the orders of a shop, by callers and by imports: for property tests. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { GoodsServer } from "../goods-server.ts";
import type { TestServer } from "../server.ts";

const orders = "/api/v1/purchase-orders";
export const start = Date.parse("2026-03-01T23:59:59.999Z");
const suppliers = ["mill", "weaver", null];
const locations = ["warehouse", "store", null];
export const variants = ["red", "blue", "green"];
const skus = ["R-1", "B-1", null];
const barcodes = ["4006381333931", null, "b-1"];
const supplierSkus = [null, "Mill 7"];

export const pick = <T>(values: readonly T[], index: number): T | undefined => values[index % values.length];

/** One thing that is done: which, to which order, with what. */
export const step = fc.record({
  kind: fc.constantFrom(
    "create",
    "import",
    "importDeleted",
    "update",
    "addLines",
    "deleteLines",
    "send",
    "cancel",
    "delete",
  ),
  order: fc.nat(7),
  value: fc.nat(1_000),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const imported = (id: string, value: number, more: object = {}): object => ({
  type: "purchaseOrder",
  purchaseOrderId: id,
  poNumber: `N-${id}`,
  status: pick(["Draft", "Sent", "Confirmed", "Cancelled", "Completed", "On Hold", "Received"], value),
  storefrontSyncState: pick(["never-synced", "failed"], value >> 2),
  previousStatus: "Draft",
  supplierId: pick(suppliers, value),
  locationId: pick(locations, value >> 1) ?? "warehouse",
  // Around midnight, and long ago.
  createdAt: new Date(
    value % 5 === 0 ? -value * 86_400_000 : start + (value % 3) * 86_400_000 + (value % 2),
  ).toISOString(),
  lineItems: Array.from({ length: value % 4 }, (_, index) => ({
    poLineItemId: `${id}-${index}`,
    variantId: pick(variants, value + index * (value % 2)),
    sku: pick(skus, value + index),
    barcode: pick(barcodes, value + index),
    supplierSku: pick(supplierSkus, value >> 1),
    supplierBarcode: pick(barcodes, value >> 2),
    quantityOrdered: 5,
    unitCost: 2 + (value % 7),
  })),
  // Some have no rate.
  currencyCode: pick(["EUR", "USD", "GBP"], value >> 3),
  ...(value % 11 === 0 ? { fxRateOverride: 0.9 } : {}),
  ...(value % 3 === 0
    ? {
        payments: [
          {
            paymentId: "p",
            paymentType: "other",
            status: "Paid",
            amount: value,
            currencyCode: "EUR",
            ...((value >> 3) % 2 === 0 ? { status: "Scheduled", dueDate: "2026-02-01" } : {}),
            createdAt: "2026-01-01T00:00:00.000Z",
          },
        ],
      }
    : {}),
  ...more,
});

/** What a caller may be told: the change, or a refusal by a rule. */
const expected = [200, 201, 400, 404, 409, 422];

export async function run(
  server: GoodsServer,
  node: TestServer,
  ids: string[],
  { kind, order, value }: Step,
): Promise<void> {
  const id = pick(ids, order) ?? "none";
  const ask = async (method: string, target: string, body?: object): Promise<void> => {
    const answer = await node.request(method, target, body === undefined ? {} : { body });
    assert.ok(expected.includes(answer.status), answer.text);
    if (kind === "create" && answer.status === 201) ids.push(answer.textAt("data", "purchaseOrder", "purchaseOrderId"));
  };
  const lines = [{ variantId: pick(variants, value), quantityOrdered: 2, unitCost: 1 }];
  switch (kind) {
    case "create":
      return await ask("POST", orders, {
        supplierId: pick(suppliers, value),
        locationId: pick(locations, value),
        lineItems: lines,
      });
    case "import":
    case "importDeleted": {
      const imports = `i${order}`;
      if (!ids.includes(imports)) ids.push(imports);
      return await server.bring([
        imported(imports, value, kind === "import" ? {} : { deletedAt: "2026-04-01T00:00:00.000Z" }),
      ]);
    }
    case "update":
      return await ask("PATCH", `${orders}/${id}`, { supplierId: pick(suppliers, value), discountAmount: value % 7 });
    case "addLines":
      return await ask("POST", `${orders}/${id}/line-items`, { lineItems: lines });
    case "deleteLines":
      return await ask("DELETE", `${orders}/${id}/line-items?lineItemIds=${id}-0,${id}-1`);
    case "send":
      return await ask("POST", `${orders}/${id}/status`, { status: "Sent" });
    case "cancel":
      return await ask("POST", `${orders}/${id}/status`, { status: "Cancelled" });
    case "delete":
      return await ask("DELETE", `${orders}/${id}`);
  }
}
