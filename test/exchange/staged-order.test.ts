/** Orders on their way through an import, as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stagedOrderFrom, stagedOrderText } from "../../src/exchange/records/purchase-orders.ts";
import type { ImportedOrder } from "../../src/shop/order/purchase-orders.ts";
import { importedOrder, line, order } from "../support/goods.ts";

const address = {
  companyName: "Quay 4",
  contactName: null,
  address1: "Quay 4",
  address2: null,
  city: "Rotterdam",
  province: null,
  provinceCode: null,
  country: null,
  countryCode: "NL",
  zip: "3011 AA",
  phone: null,
  email: null,
};

// What is attached has members of its own there.
const { attached: _attached, ...held } = order("On Hold", [{ ...line("a"), sku: "S-1", note: "Fragile" }, line("b")]);

const imported: ImportedOrder = {
  ...importedOrder({
    ...held,
    previousStatus: "Sent",
    storefrontSyncState: "failed",
    poName: "Spring",
    tags: ["a", "b"],
    shippingAddress: address,
    updatedAtMs: 5,
  }),
  deletedAtMs: 7,
};

test("an order comes back from its staged text as it was, also from that of the version before", () => {
  assert.deepEqual(stagedOrderFrom(stagedOrderText(imported)), imported);
  assert.deepEqual(stagedOrderFrom(JSON.stringify(imported)), imported);
});
