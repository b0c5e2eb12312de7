/**
 * Every place of the console: the steps of its path below `/console`, with a name for each step that stands for
 * something. The tests look at each of them, so a screen is listed here before it can be shown.
 */

export const places = [
  "home",
  "orders",
  "orders/:purchaseOrderId",
  "orders/:purchaseOrderId/confirm",
  "orders/:purchaseOrderId/complete",
  "orders/:purchaseOrderId/print",
  "new-order",
  "dock",
  "receive/:purchaseOrderId",
  "reorder",
  "import",
  "stock",
  "stock/:kind",
  "stock/:kind/:recordId",
  "suppliers",
  "suppliers/:supplierId",
  "products",
  "products/:variantId",
  "locations",
  "locations/:locationId",
  "new/:kind",
  "connect",
  "keys",
  "approvals",
  "approvals/:approvalRequestId",
  "activity",
  "people",
  "account",
  "webhooks",
  "webhooks/:endpointId",
  "storefront",
  "settings",
  "settings/documents",
  "settings/approvals",
  "shops",
  "shops/:shopId",
] as const;

type FirstStep<Path extends string> = Path extends `${infer First}/${string}` ? First : Path;

/** The first step of a path, which decides which screen shows it. */
export type ScreenName = FirstStep<(typeof places)[number]>;
