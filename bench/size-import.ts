/**
 * Importing 20,000 orders of 10 lines each, in turns with a bare program that inserts the same orders and lines (bounds/import.ts). Prints the
 * rates of three rounds, the median ratio beside its bound of 0.5, and by how much the process grew.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_ORDERS` the orders (default 20,000), `OPENPO_BENCH_ROUNDS` the rounds (default 3),
 * `OPENPO_DATABASE_URL` an empty PostgreSQL database instead of files.
 */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadBarely } from "./bounds/import.ts";
import { report } from "./report.ts";
import { storeHere } from "./store-here.ts";

const orders = Number(process.env["OPENPO_BENCH_ORDERS"] ?? 20_000);
const rounds = Number(process.env["OPENPO_BENCH_ROUNDS"] ?? 3);
const linesPerOrder = 10;
const variants = 1_000;
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-import-"));

function* records(): Generator<object> {
  for (const locationId of ["l0", "l1"]) yield { type: "location", locationId, name: locationId };
  for (let index = 0; index < 20; index += 1)
    yield { type: "supplier", supplierId: `s${index}`, name: `Vendor ${index}`, currencyCode: "EUR" };
  for (let index = 0; index < variants; index += 1)
    yield {
      type: "variant",
      variantId: `v${index}`,
      productId: `p${index}`,
      productName: `Product ${index}`,
      sku: `SKU-${index}`,
    };
  const startMs = Date.parse("2024-01-01T00:00:00.000Z");
  for (let index = 0; index < orders; index += 1)
    yield {
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      poNumber: `PO-${1_001 + index}`,
      poName: `Restock ${index}`,
      status: (["Draft", "Sent", "Confirmed", "Completed"] as const)[index % 4],
      supplierId: `s${index % 20}`,
      locationId: `l${index % 2}`,
      createdAt: new Date(startMs + index * 300_000).toISOString(),
      lineItems: Array.from({ length: linesPerOrder }, (_, line) => ({
        poLineItemId: `o${index}-${line}`,
        variantId: `v${(index * 7 + line * 31) % variants}`,
        quantityOrdered: 1 + ((index + line) % 9),
        unitCost: 4.5,
      })),
    };
}

const file = path.join(directory, "orders.ndjson");
writeFileSync(file, [...records()].map((record) => `${JSON.stringify(record)}\n`).join(""));

/** Imports the file into a new shop. @returns milliseconds, and the growth of the process in bytes by quarters of the time. */
async function importAll(round: number): Promise<{ readonly ms: number; readonly residentBytes: readonly number[] }> {
  const data = path.join(directory, `data-${round}`);
  const { store, ask } = await storeHere(data, { ...process.env, OPENPO_DATA_DIR: data });
  const shopId = `import-${round}`;
  await ask("shop_put", { shopId, name: shopId, currencyCode: "EUR" });
  const residentBytes: number[] = [];
  const sampling = setInterval(() => residentBytes.push(process.memoryUsage.rss()), 20);
  const startMs = performance.now();
  await ask("shop_import", { shopId }, createReadStream(file));
  const ms = performance.now() - startMs;
  clearInterval(sampling);
  await store.completeFirstStart();
  await store.close();
  return { ms, residentBytes };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

try {
  const ratios: number[] = [];
  const growths: number[] = [];
  const rates: { own: number; bare: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bareMs = await loadBarely(file, path.join(directory, `bare-${round}.db`));
    const { ms, residentBytes } = await importAll(round);
    const mb = (from: number, to: number): number =>
      Math.max(...residentBytes.slice(residentBytes.length * from, residentBytes.length * to)) / 1e6;
    ratios.push(bareMs / ms);
    growths.push(mb(0.75, 1) / mb(0, 0.25));
    rates.push({ own: (orders * 1_000) / ms, bare: (orders * 1_000) / bareMs });
    console.log(
      `bare ${((orders * 1_000) / bareMs).toFixed(0)} orders/s, import ${((orders * 1_000) / ms).toFixed(0)} orders/s, ratio ${(bareMs / ms).toFixed(2)}; ` +
        `resident at most ${[0, 0.25, 0.5, 0.75].map((from) => mb(from, from + 0.25).toFixed(0)).join(", ")} MB by quarters`,
    );
  }
  const rate = (of: "own" | "bare"): string => `${median(rates.map((each) => each[of])).toFixed(0)} orders/s`;
  report({
    name: "import of 20,000 orders of 10 lines",
    value: median(ratios),
    figure: rate("own"),
    bound: rate("bare"),
  });
  const growth = median(growths);
  report({
    name: "memory of an import, last quarter against first",
    value: growth,
    figure: `${growth.toFixed(2)} ×`,
  });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
