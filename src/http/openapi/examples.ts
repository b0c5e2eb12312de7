/**
 * Examples for the OpenAPI document: a realistic value for any schema of the registry. Pure.
 *
 * A value comes from the schema's own example, else from the table of names below, else from the schema's type. The
 * field tables add their names to that table. A test checks every example of the document against its schema.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { exampleAddress } from "../../operations/fields.ts";
import { fieldExamples } from "../../operations/purchase-orders/json.ts";

const ulid = "01k8x4m2q7v9c3n5t6w8y0z1";
const noon = "2026-03-02T12:00:00.000Z";

/** A line of the demo shop. */
export const exampleLine = { lineItemId: "pol_demo_24_1", variantId: "var_021" } as const;

/** Example values by the member's name. A value that does not fit the schema is not used. */
const byName: Readonly<Record<string, Json>> = {
  ...fieldExamples,
  // Ids and numbers of records.
  requestId: `req_${ulid}q1`,
  purchaseOrderId: "po_demo_24",
  poLineItemId: exampleLine.lineItemId,
  lineItemId: exampleLine.lineItemId,
  itemId: exampleLine.lineItemId,
  updatedLineItemIds: [exampleLine.lineItemId],
  receivedLineItemIds: [exampleLine.lineItemId],
  deletedLineItemIds: [exampleLine.lineItemId],
  unpricedLineItemIds: [],
  variantId: exampleLine.variantId,
  productId: "prod_02",
  productionLocationId: "loc_warehouse",
  fromLocationId: "loc_warehouse",
  toLocationId: "loc_store",
  poNumber: "PO-1024",
  supplierName: "Maasbrand Roastery",
  locationName: "Warehouse Keilehaven",
  shipmentId: "shp_demo_21_2",
  shipmentNumber: "PO-1021-2",
  paymentId: "pay_demo_12_1",
  paymentName: "Invoice",
  documentId: "doc_demo_23_1",
  fileName: "PO-1023.pdf",
  contentType: "application/pdf",
  scheduleId: exampleLine.lineItemId,
  receiptId: "rcpt_demo_12_1",
  costSyncId: "cst_demo_12_1",
  logId: "log_demo_23_2",
  creditId: "cred_demo_04",
  creditNumber: "CN-118",
  stockTakeId: "st_demo_01",
  stockTakeNumber: "ST-1001",
  stockTakeName: "Coffee in the warehouse",
  stockTakeLineItemId: "stl_demo_01_4",
  stockAdjustmentId: "sa_demo_01",
  stockAdjustmentNumber: "SA-1001",
  stockAdjustmentLineItemId: "sal_demo_01_2",
  reasonId: "rsn_count",
  transferOrderId: "to_demo_02",
  transferNumber: "TO-1002",
  transferName: "Mugs for the window",
  transferLineItemId: "tol_demo_02_1",
  manufacturingOrderId: "mo_demo_02",
  moNumber: "MO-1002",
  moName: "Espresso Gift Box, 36 pieces",
  moItemId: "moi_demo_02",
  moMaterialId: "mom_demo_02_1",
  stockReleaseId: "mor_demo_02_1",
  viewId: "fv_demo_order",
  viewName: "To order",
  // Words.
  productName: "Lighthouse Filter",
  variantName: "250 g",
  sku: "LIG-FIL-250G",
  barcode: "8719001002013",
  carrier: "Polder Express",
  shippingMethod: "Road",
  trackingNumber: "PX72879",
  trackingUrl: "https://carrier.example/PX72879",
  paymentMethod: "Bank transfer",
  reference: "MAA-4261",
  createdBy: "Noor (owner)",
  recordedBy: "Jip (shop floor)",
  countedBy: "Jip (shop floor)",
  releasedBy: "Jip (shop floor)",
  uploadedBy: "Noor (owner)",
  unitCostCurrencyCode: "EUR",
  sourceCurrencyCode: "USD",
  apiVersion: "1.2",
  message: "Moved from Draft to Sent.",
  action: "status",
  operation: "purchase_order_status",
  field: "status",
  name: "Cycle count",
  code: "COUNT",
  type: "number",
  reason: "Cycle count",
  error: "The supplier has no catalogue entry for this variant.",
  warnings: [],
  cursor: null,
  fromAddress: exampleAddress,
  toAddress: exampleAddress,
  // A line of an order that was sent: 48 ordered, nothing in yet.
  status: "Sent",
  previousStatus: "Draft",
  from: "Draft",
  to: "Sent",
  itemCount: 1,
  totalCount: 1,
  version: 2,
  quantityOrdered: 48,
  quantityConfirmed: 0,
  quantityReceived: 0,
  quantityRejected: 0,
  quantityCancelled: 0,
  quantityPending: 48,
  quantitySynced: 0,
  unitCost: 4.41,
  lineTotal: 211.68,
  totalValue: 211.68,
  grandTotal: 239.2,
  fxRate: 0.92,
  fileSizeBytes: 57_813,
  sideEffects: { incoming: { outcome: "applied" } },
  // Instants and days.
  createdAt: "2026-03-01T09:30:00.000Z",
  sentAt: noon,
  confirmedAt: null,
  receivedAt: null,
  completedAt: null,
  cancelledAt: null,
  expectedArrivalDate: "2026-03-07",
  nextExpectedDate: "2026-03-07",
  receivedDate: null,
  paidAt: null,
  unit: "currency",
  currencyColumn: "unitCostCurrencyCode",
  displayName: "Unit cost",
  id: "unitCost",
  // One column of a forecast and its row.
  rows: [{ variantId: exampleLine.variantId, productId: "prod_02", unitCost: 4.41, unitCostCurrencyCode: "EUR" }],
  revertOf: null,
  revertedBy: null,
};

/**
 * An example value for the schema. Optional members are left out, except `sideEffects`.
 *
 * @param schemas the document's `#/components/schemas`.
 */
export function sampleOf(schema: Json, schemas: JsonObject, name = ""): Json {
  if (!isJsonObject(schema)) return null;
  const { $ref, const: constant, enum: values, anyOf, examples, items } = schema;
  if (typeof $ref === "string")
    return sampleOf(schemas[$ref.slice("#/components/schemas/".length)] ?? null, schemas, name);
  if (constant !== undefined) return constant;
  if (isList(examples) && examples[0] !== undefined && byName[name] === undefined) return examples[0];
  const known = byName[name];
  if (isList(anyOf)) {
    if (known === null && anyOf.some((each) => isJsonObject(each) && each["type"] === "null")) return null;
    return sampleOf(anyOf[0] ?? null, schemas, name);
  }
  if (isList(values)) return known !== undefined && values.includes(known) ? known : (values[0] ?? null);
  const { type } = schema;
  if (typeof type !== "string") return known ?? null;
  switch (type) {
    case "object":
      return known !== undefined && isJsonObject(known) ? known : sampleOfObject(schema, schemas);
    case "array":
      return isList(known) ? known : [sampleOf(items === undefined ? null : items, schemas, name)];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return typeof known === "number" ? known : Math.max(1, Number(schema["minimum"] ?? 1));
    case "string":
      if (schema["format"] === "date") return typeof known === "string" ? known : "2026-03-02";
      if (schema["format"] === "date-time") return typeof known === "string" ? known : noon;
      return typeof known === "string" ? known : "text";
    default:
      return known ?? null;
  }
}

function sampleOfObject(schema: JsonObject, schemas: JsonObject): Json {
  const { properties, required } = schema;
  if (properties === undefined || !isJsonObject(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) =>
      (isList(required) && required.includes(name)) || name === "sideEffects"
        ? [[name, sampleOf(member, schemas, name)]]
        : [],
    ),
  );
}

const isList = (value: Json | undefined): value is readonly Json[] => value !== undefined && isJsonArray(value);
