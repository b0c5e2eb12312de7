/**
 * Examples for the OpenAPI document: a realistic value for any schema of the registry. Pure.
 *
 * A value comes from the schema's own example, else from the table of names below, to which the field tables add theirs, else from the
 * schema's type. A test checks every example of the document against its schema.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { exampleAddress } from "../operations/fields.ts";
import { fieldExamples } from "../operations/purchase-orders/json.ts";

const ulid = "01k8x4m2q7v9c3n5t6w8y0z1";
const noon = "2026-03-02T12:00:00.000Z";

/** Example values by the member's name. A value that does not fit the schema is not used. */
const byName: Readonly<Record<string, Json>> = {
  ...fieldExamples,
  // Ids and numbers of records.
  requestId: `req_${ulid}q1`,
  purchaseOrderId: `po_${ulid}a2`,
  poLineItemId: `pol_${ulid}b3`,
  lineItemId: `pol_${ulid}b3`,
  itemId: `pol_${ulid}b3`,
  updatedLineItemIds: [`pol_${ulid}b3`],
  receivedLineItemIds: [`pol_${ulid}b3`],
  deletedLineItemIds: [`pol_${ulid}b3`],
  unpricedLineItemIds: [],
  variantId: "var_1001",
  productId: "prd_100",
  productionLocationId: "loc_main",
  fromLocationId: "loc_main",
  toLocationId: "loc_harbour",
  poNumber: "PO-1001",
  supplierName: "Nordlicht Coffee GmbH",
  locationName: "Main Street",
  shipmentId: `shp_${ulid}s1`,
  shipmentNumber: "SHP-2001",
  paymentId: `pay_${ulid}p1`,
  paymentName: "Deposit",
  documentId: `doc_${ulid}d1`,
  fileName: "PO-1001.pdf",
  contentType: "application/pdf",
  scheduleId: `sch_${ulid}c1`,
  receiptId: `rcp_${ulid}r1`,
  costSyncId: `cst_${ulid}e1`,
  logId: `log_${ulid}l1`,
  creditId: `crd_${ulid}f1`,
  creditNumber: "CR-301",
  stockTakeId: `st_${ulid}a2`,
  stockTakeNumber: "ST-1001",
  stockTakeName: "Spring count",
  stockTakeLineItemId: `stl_${ulid}b3`,
  stockAdjustmentId: `sa_${ulid}a2`,
  stockAdjustmentNumber: "SA-1001",
  stockAdjustmentLineItemId: `sal_${ulid}b3`,
  reasonId: "reason_damaged",
  transferOrderId: `to_${ulid}a2`,
  transferNumber: "TO-1001",
  transferName: "Harbour top-up",
  transferLineItemId: `tol_${ulid}b3`,
  manufacturingOrderId: `mo_${ulid}a2`,
  moNumber: "MO-1001",
  moName: "Gift boxes",
  moItemId: `moi_${ulid}b3`,
  moMaterialId: `mom_${ulid}c4`,
  stockReleaseId: `rel_${ulid}d5`,
  viewId: "view_reorder",
  viewName: "To reorder",
  // Words.
  productName: "Espresso, whole beans",
  variantName: "1 kg",
  sku: "ESP-1KG",
  barcode: "4006381333931",
  carrier: "DHL",
  shippingMethod: "Freight",
  trackingNumber: "JD014600003828",
  trackingUrl: "https://carrier.example/JD014600003828",
  paymentMethod: "Bank transfer",
  reference: "INV-5512",
  createdBy: "the buying desk",
  recordedBy: "the buying desk",
  countedBy: "Mia Lund",
  releasedBy: "Mia Lund",
  uploadedBy: "the buying desk",
  unitCostCurrencyCode: "EUR",
  sourceCurrencyCode: "USD",
  apiVersion: "1.2",
  message: "Status changed from Draft to Sent.",
  action: "status-changed",
  operation: "purchase_order_status",
  field: "status",
  name: "Damaged",
  code: "DAMAGED",
  type: "number",
  reason: "Damaged",
  error: "The supplier has no catalogue entry for this variant.",
  warnings: [],
  cursor: null,
  fromAddress: exampleAddress,
  toAddress: exampleAddress,
  // A position of a sent order: 12 ordered, nothing in yet.
  status: "Sent",
  previousStatus: "Draft",
  from: "Draft",
  to: "Sent",
  itemCount: 1,
  totalCount: 1,
  version: 2,
  quantityOrdered: 12,
  quantityConfirmed: 0,
  quantityReceived: 0,
  quantityRejected: 0,
  quantityCancelled: 0,
  quantityPending: 12,
  quantitySynced: 0,
  unitCost: 4.5,
  lineTotal: 54,
  totalValue: 54,
  fxRate: 0.92,
  fileSizeBytes: 48_211,
  sideEffects: { incoming: { outcome: "applied" } },
  // Instants and days.
  createdAt: "2026-03-01T09:30:00.000Z",
  sentAt: noon,
  confirmedAt: null,
  receivedAt: null,
  completedAt: null,
  cancelledAt: null,
  expectedArrivalDate: "2026-03-16",
  receivedDate: null,
  paidAt: null,
  unit: "currency",
  currencyColumn: "unitCostCurrencyCode",
  displayName: "Unit cost",
  id: "unitCost",
  // One column of a forecast and its row.
  rows: [{ variantId: "var_1001", productId: "prd_100", unitCost: 4.5, unitCostCurrencyCode: "EUR" }],
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
