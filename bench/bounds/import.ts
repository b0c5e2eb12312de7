/**
 * The lower bound of size-import.ts: reads the same file line by line and inserts each order and its lines, a thousand orders a transaction, and
 * checks and does nothing else. Schema and statements are the copies in hot.json.
 */
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

type Step = readonly [sql: string, params: readonly SQLInputValue[]];

interface Rows {
  readonly shop: readonly string[];
  readonly create: readonly Step[];
}

interface Line {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityOrdered: number;
  readonly unitCost: number;
}

interface Order {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly poName: string;
  readonly supplierId: string;
  readonly locationId: string;
  readonly createdAt: string;
  readonly lineItems: readonly Line[];
}

const transactionOrders = 1_000;

const rows: Rows = JSON.parse(readFileSync(join(import.meta.dirname, "hot.json"), "utf8"));

/** An insert of hot.json, whose parameters are those of its example but for the columns that are given. */
function insertInto(database: DatabaseSync, table: string): (values: Readonly<Record<string, SQLInputValue>>) => void {
  const [sql, example] = rows.create.find(([text]) => text.startsWith(`insert into ${table} (`)) ?? ["", []];
  const columns = (/\(([^)]*)\)/.exec(sql)?.[1] ?? "").split(", ");
  const statement = database.prepare(sql);
  return (values) => {
    statement.run(...columns.map((column, index) => values[column] ?? example[index] ?? null));
  };
}

/** Loads the orders of the file into a new database. @returns milliseconds. */
export async function loadBarely(file: string, path: string): Promise<number> {
  const startMs = performance.now();
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma locking_mode = exclusive");
  for (const sql of rows.shop) if (/purchase_order(?:_line)?(?:_by_\w+ on \w+)? \(/i.test(sql)) database.exec(sql);
  const insertOrder = insertInto(database, "purchase_order");
  const insertLine = insertInto(database, "purchase_order_line");
  let count = 0;
  database.exec("begin");
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const record: Order & { readonly type: string } = JSON.parse(text);
    if (record.type !== "purchaseOrder") continue;
    const { purchaseOrderId, poNumber, poName } = record;
    const createdAt = Date.parse(record.createdAt);
    insertOrder({
      purchase_order_id: purchaseOrderId,
      po_number: poNumber,
      po_name: poName,
      supplier_id: record.supplierId,
      location_id: record.locationId,
      search_folded: `${poNumber}\n${poName}\n`.toLowerCase(),
      created_at: createdAt,
    });
    for (const [position, line] of record.lineItems.entries())
      insertLine({
        purchase_order_id: purchaseOrderId,
        po_line_item_id: line.poLineItemId,
        position,
        order_created_at: createdAt,
        variant_id: line.variantId,
        quantity_ordered: line.quantityOrdered * 1_000,
        unit_cost: Math.round(line.unitCost * 10_000),
        sku: `SKU-${line.variantId}`,
        product_name: `Product ${line.variantId}`,
      });
    count += 1;
    if (count % transactionOrders === 0) database.exec("commit; begin");
  }
  database.exec("commit");
  database.close();
  return performance.now() - startMs;
}
