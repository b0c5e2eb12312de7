/**
 * Converts the AdventureWorks CSV files to import records: 4,012 orders with their vendors, catalogue, stock and locations.
 *
 *     node_modules/.bin/node examples/adventureworks.ts FOLDER > adventureworks.ndjson
 *     curl -H "Authorization: Bearer $ADMIN_TOKEN" --data-binary @adventureworks.ndjson "$URL/admin/v1/shops/$SHOP/import"
 *
 * FOLDER has tables of Microsoft's sample database AdventureWorks (MIT licence; github.com/microsoft/sql-server-samples, releases, the OLTP
 * install script) as CSV: locations, vendors, products, supplier_catalogue, inventory, purchase_orders and purchase_order_lines, with the
 * columns that are read below.
 *
 * The statuses in the data contradict its receipts (a Pending order has received goods too), so quantities decide the status:
 *
 * - An order with outstanding quantity is Partially Received, any other is Received. This covers Pending and Approved orders.
 * - A Complete order is Completed, whatever is outstanding, as after /complete.
 * - A Rejected order is Disputed; its previous status is the one that its quantities give.
 *
 * Stocked quantities count as received, rejected ones as rejected. The data has no confirmations: every third order counts as confirmed
 * short where goods are outstanding, halfway between what came and what was ordered, all other lines as confirmed whole. The data has
 * no destination for an order, so the locations take turns. All amounts are in USD.
 */
import path from "node:path";
import { type CsvRow, csvRows } from "./csv.ts";

const number = (value: string | undefined): number => Number(value ?? "");

/** What the supplier confirmed of a line; never 0. */
function confirmed(row: CsvRow, isConfirmedShort: boolean): number {
  const [ordered, came] = [
    number(row["quantityOrdered"]),
    number(row["quantityStocked"]) + number(row["quantityRejected"]),
  ];
  return isConfirmedShort ? Math.max(1, Math.floor((ordered + came) / 2)) : ordered;
}

function lineRecord(row: CsvRow, isConfirmedShort: boolean) {
  return {
    poLineItemId: `${row["purchaseOrderId"]}-${row["lineId"]}`,
    variantId: row["productId"],
    quantityOrdered: number(row["quantityOrdered"]),
    quantityConfirmed: confirmed(row, isConfirmedShort),
    quantityReceived: number(row["quantityStocked"]),
    quantityRejected: number(row["quantityRejected"]),
    unitCost: number(row["unitCost"]),
    expectedDeliveryDate: row["dueDate"],
  };
}

function orderRecord(order: CsvRow, rows: readonly CsvRow[], locationId: string, vendor: CsvRow | undefined) {
  const isConfirmedShort = number(order["purchaseOrderId"]) % 3 === 0;
  const lineItems = rows.map((row) => lineRecord(row, isConfirmedShort));
  const outstanding = lineItems.some((line) => line.quantityReceived + line.quantityRejected < line.quantityConfirmed);
  const byGoods = outstanding ? "Partially Received" : "Received";
  const status = order["status"] === "Complete" ? "Completed" : order["status"] === "Rejected" ? "Disputed" : byGoods;
  const at = (day: string | undefined): string => `${day}T00:00:00.000Z`;
  return {
    type: "purchaseOrder",
    purchaseOrderId: order["purchaseOrderId"],
    poNumber: `AW-${order["purchaseOrderId"]}`,
    status,
    previousStatus: status === byGoods ? "In Progress" : byGoods,
    supplierId: order["vendorId"],
    supplierReference: vendor?.["accountNumber"],
    locationId,
    currencyCode: "USD",
    orderDate: order["orderDate"],
    expectedDeliveryDate: rows
      .map((row) => row["dueDate"] ?? "")
      .sort()
      .at(-1),
    taxAmount: number(order["taxAmt"]),
    shippingCost: number(order["freight"]),
    createdAt: at(order["orderDate"]),
    sentAt: at(order["orderDate"]),
    ...(byGoods === "Received" ? { receivedAt: at(order["shipDate"]) } : {}),
    ...(status === "Completed" ? { completedAt: at(order["shipDate"]) } : {}),
    lineItems,
  };
}

/** Yields the records in an order that can be imported. `data` is the folder of the CSV files. */
export function* adventureWorksRecords(data: string): Generator<Readonly<Record<string, unknown>>> {
  const rows = (file: string): readonly CsvRow[] => csvRows(path.join(data, file));
  const locations = rows("locations.csv");
  const vendors = rows("vendors.csv");
  for (const row of locations) yield { type: "location", locationId: row["locationId"], name: row["name"] };
  for (const row of vendors)
    yield { type: "supplier", supplierId: row["vendorId"], name: row["name"], currencyCode: "USD" };
  for (const row of rows("products.csv"))
    yield {
      type: "variant",
      variantId: row["productId"],
      productId: row["productId"],
      productName: row["name"],
      sku: row["productNumber"],
      unitCost: number(row["standardCost"]),
      price: number(row["listPrice"]),
      status: row["sellEndDate"] === "" ? "active" : "inactive",
    };
  for (const row of rows("supplier_catalogue.csv"))
    yield {
      type: "supplierVariant",
      supplierId: row["vendorId"],
      variantId: row["productId"],
      unitCost: number(row["standardPrice"]),
      unitCostCurrencyCode: "USD",
      moq: number(row["minOrderQty"]),
      leadTimeDays: number(row["leadTimeDays"]),
    };
  // A location may have a product on several shelves: their quantities are added.
  const levels = Map.groupBy(rows("inventory.csv"), (row) => `${row["productId"]} ${row["locationId"]}`);
  for (const shelves of levels.values())
    yield {
      type: "inventoryLevel",
      variantId: shelves[0]?.["productId"],
      locationId: shelves[0]?.["locationId"],
      onHand: shelves.reduce((sum, shelf) => sum + number(shelf["quantity"]), 0),
    };
  const lines = Map.groupBy(rows("purchase_order_lines.csv"), (row) => row["purchaseOrderId"] ?? "");
  const vendorsById = new Map(vendors.map((row) => [row["vendorId"] ?? "", row] as const));
  for (const [index, order] of rows("purchase_orders.csv").entries())
    yield orderRecord(
      order,
      lines.get(order["purchaseOrderId"] ?? "") ?? [],
      locations[index % locations.length]?.["locationId"] ?? "",
      vendorsById.get(order["vendorId"] ?? ""),
    );
}

if (import.meta.main) {
  const [data] = process.argv.slice(2);
  if (data === undefined) {
    console.error("usage: node_modules/.bin/node examples/adventureworks.ts FOLDER-OF-THE-CSV-FILES > records.ndjson");
    process.exit(1);
  }
  for (const record of adventureWorksRecords(data)) process.stdout.write(`${JSON.stringify(record)}\n`);
}
