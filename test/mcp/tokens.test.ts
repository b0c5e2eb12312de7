/** The estimate of tokens against counts of a real tokenizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOf } from "../support/openapi/tokens.ts";

/** Texts of the kinds that budgets are about, each with its tokens by o200k_base (gpt-tokenizer 4.0). */
const counted: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  [
    "a schema",
    `{"type":"object","properties":{"purchaseOrderId":{"type":"string"},"lines":{"type":"array","items":{"type":"object","properties":{"lineItemId":{"type":"string"},"quantityReceived":{"type":"number","description":"New total received, not an amount to add."}},"required":["lineItemId","quantityReceived"]}},"allowOverReceipt":{"type":"boolean","default":false}},"required":["purchaseOrderId","lines"]}`,
    93,
  ],
  [
    "an answer",
    `{"purchaseOrder":{"purchaseOrderId":"po_01m80y8j2d4ja40edjjdd37az6","poNumber":"PO-1015","status":"Partially Received","supplierName":"Nordlicht Coffee","currencyCode":"EUR","totalValue":1365.5,"quantityOrdered":390,"quantityPending":12,"nextExpectedDate":"2026-12-04"},"lineItems":[{"lineItemId":"pol_01m8105kf153nqdqm1fhc57fyy","variantId":"var_1001","sku":"ESP-1000-DE","lineItemStatus":"Received","quantityOrdered":24,"quantityReceived":22,"quantityRejected":2,"quantityPending":0}]}`,
    153,
  ],
  [
    "prose",
    "Takes amounts back from what was received, and from the storefront's stock. They are deltas: the same call again takes back again. What is taken back is pending again, until it is received, or rejected or cancelled with purchase_order_line_item_update. A Completed order must be reopened first with purchase_order_status.",
    65,
  ],
];

test("the estimate is within a tenth of what a tokenizer counts", () => {
  for (const [kind, text, tokens] of counted) {
    const estimate = tokensOf(text);
    assert.ok(Math.abs(estimate - tokens) <= tokens / 10, `${kind}: ${estimate}, counted ${tokens}`);
  }
});
