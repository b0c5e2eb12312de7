/**
 * A shop of 20,000 products, 2,000 suppliers, 40,000 prices, 20,000 orders and a year of sales: importing its records, the same again and each of them
 * changed, with what their histories take; then, on the service, what the screens of suppliers, products and locations read; and merges of a
 * supplier of 1,000 orders, with what another shop waits meanwhile. Prints times: of reads the median and the longest of 15.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_DATABASE_URL` an empty PostgreSQL database instead of files (on-postgres.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goodsKinds, locations, places, products, suppliers } from "./goods.ts";
import { adminToken, type Service, startService } from "./service.ts";
import { storeHere } from "./store-here.ts";

const [orders, readings] = [20_000, 15];
/** Orders of each of the suppliers that are merged. */
const ordersOfBig = 1_000;
const big = ["big0", "big1"];
const shopId = "large";
const otherId = "other";

/** The days of a year of sales, the latest first. */
const dayOf = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);

function* trade(): Generator<object> {
  for (const supplierId of big) yield { type: "supplier", supplierId, name: `Big ${supplierId}`, currencyCode: "EUR" };
  for (let nth = 0; nth < products; nth += 1)
    for (let back = nth % 30; back < 360; back += 30)
      yield {
        type: "sale",
        variantId: `v${nth}`,
        locationId: `l${nth % locations}`,
        date: dayOf(back),
        quantity: 1 + (nth % 9),
      };
  for (let nth = 0; nth < orders; nth += 1) {
    const ofBig = big[Math.floor(nth / ordersOfBig)];
    yield {
      type: "purchaseOrder",
      purchaseOrderId: `o${nth}`,
      poNumber: `PO-${1_001 + nth}`,
      status: (["Draft", "Sent", "Confirmed", "Completed"] as const)[nth % 4],
      supplierId: ofBig ?? `s${nth % suppliers}`,
      locationId: `l${nth % locations}`,
      createdAt: `${dayOf(nth % 360)}T10:00:00.000Z`,
      lineItems: [0, 1].map((line) => ({
        poLineItemId: `o${nth}-${line}`,
        variantId: `v${(nth * 7 + line * 31) % products}`,
        quantityOrdered: 1 + ((nth + line) % 9),
        unitCost: 4.5,
      })),
    };
  }
}

async function* lines(records: Iterable<object>): AsyncGenerator<Uint8Array> {
  let text = "";
  for (const record of records) {
    text += `${JSON.stringify(record)}\n`;
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-records-"));
const { store, ask } = await storeHere(directory, { ...process.env, OPENPO_DATA_DIR: directory });

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${name}: ${Math.round(performance.now() - from)} ms, ${Math.round((user + system) / 1_000)} ms of the processor`,
  );
}

const bring = (name: string, records: Iterable<object>): Promise<void> =>
  timed(name, () => ask("shop_import", { shopId }, lines(records)));

async function importAll(): Promise<void> {
  await ask("shop_put", { shopId, name: shopId, currencyCode: "EUR", storefront: { kind: "none" } });
  await ask("shop_put", { shopId: otherId, name: otherId, currencyCode: "EUR" });
  await bring("places", places());
  for (const [what, records] of Object.entries(goodsKinds)) {
    await bring(`${what}, new`, records(1));
    await bring(`${what}, the same again`, records(1));
    await bring(`${what}, each changed`, records(2));
  }
  await bring("240,000 sales and 20,000 orders", trade());
  await store.completeFirstStart();
}

/** Asks the service. @returns the text of its answer. */
async function asked(port: number, path: string, method = "GET", body?: object, shop = shopId): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/shops/${shop}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${adminToken}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
}

const idsOf = (letter: string, count: number): string =>
  Array.from({ length: count }, (_, nth) => `${letter}${nth * 37}`).join(",");

/** What the screens read, by what it is for them. */
const reads: Readonly<Record<string, (nth: number) => string>> = {
  "list of suppliers": () => "/suppliers?limit=50",
  "their figures": () => `/supplier-figures?ids=${idsOf("s", 50)}`,
  "search of suppliers": (nth) => `/suppliers?limit=50&search=supplier%20${100 + nth}`,
  "search of suppliers that finds all": () => "/suppliers?limit=50&search=supplier",
  "list of products": () => "/variants?limit=50",
  "their figures, too": () => `/variant-figures?ids=${idsOf("v", 50)}`,
  "search of products": (nth) => `/variants?limit=50&search=product%20${1_000 + nth}`,
  "search of products that finds all": () => "/variants?limit=50&search=product",
  "list of locations": () => "/locations?limit=50",
  "page of a supplier": (nth) => `/suppliers/s${nth}`,
  "its price list": (nth) => `/suppliers/s${nth}/variants?limit=50`,
  "its deliveries": (nth) => `/suppliers/s${nth}/deliveries`,
  "its documents": (nth) => `/suppliers/s${nth}/documents`,
  "its history": (nth) => `/history?kind=supplier&id=s${nth}`,
  "deliveries of a supplier of 1,000 orders": () => "/suppliers/big0/deliveries",
  "its figures": () => "/supplier-figures?ids=big0",
  "page of a product": (nth) => `/variants/v${nth}`,
  "its figures and forecast": (nth) => `/variant-figures?ids=v${nth}`,
  "its outlook": (nth) => `/variants/v${nth}/outlook`,
  "its orders": (nth) => `/variants/v${nth}/orders`,
};

async function measureReads(port: number): Promise<void> {
  for (const [what, pathOf] of Object.entries(reads)) {
    const times: number[] = [];
    for (let nth = 0; nth < readings; nth += 1) {
      const from = performance.now();
      await asked(port, pathOf(nth));
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    const [median, longest] = [times[readings >> 1] ?? 0, times.at(-1) ?? 0];
    console.log(`${what}: ${median.toFixed(1)} ms, at most ${longest.toFixed(1)} ms`);
  }
}

/** Merges a supplier of 1,000 orders into another one, while another shop is read all the time. */
async function measureMerge(service: Service, from: string, into: string): Promise<void> {
  const merged = new AbortController();
  const waits: number[] = [];
  const readOther = async (): Promise<void> => {
    const begun = performance.now();
    await asked(service.port, "/suppliers", "GET", undefined, otherId);
    waits.push(performance.now() - begun);
  };
  const reading = (async () => {
    for (; !merged.signal.aborted; await sleep(2)) await readOther();
  })();
  await sleep(200);
  waits.length = 0;
  const [begun, processor] = [performance.now(), service.processorMs()];
  await asked(service.port, `/suppliers/${from}/merge`, "POST", { into });
  const [ms, processorMs] = [performance.now() - begun, service.processorMs() - processor];
  merged.abort();
  await reading;
  console.log(
    `merge of ${ordersOfBig} orders: ${ms.toFixed(0)} ms, ${processorMs} ms of the processor; another shop waits at most ${Math.max(...waits).toFixed(0)} ms`,
  );
}

try {
  try {
    await importAll();
  } finally {
    await store.close();
  }
  const service = await startService(directory, { OPENPO_LOG_LEVEL: "error" });
  try {
    await measureReads(service.port);
    for (const from of big) await measureMerge(service, from, "s1");
  } finally {
    await service.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
