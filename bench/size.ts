/**
 * Whether lists stay cheap however many orders a shop has: one shop has 200 orders, another 200,000 with the same catalogue, and both are asked the
 * same over HTTP, in turns. Prints medians and how they grow, beside the bound of each row. The service runs as users run it.
 *
 * "New" searches ask for a text that was not searched for before, "again" for the same text each time.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_READINGS` the readings per row (default 31), `OPENPO_DATABASE_URL` an empty
 * PostgreSQL database instead of files, `OPENPO_BENCH_CALLS` the rows whose name contains one of these words.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copyOrders } from "./copy-rows.ts";
import { freePort } from "./free-port.ts";
import { serviceArguments } from "./servers.ts";
import { report, sizeBounds, sizeRowName } from "./report.ts";
import { storeHere } from "./store-here.ts";

const readings = Number(process.env["OPENPO_BENCH_READINGS"] ?? 31);
const wanted = (process.env["OPENPO_BENCH_CALLS"] ?? "").split(",").filter((word) => word !== "");
const databaseUrl = process.env["OPENPO_DATABASE_URL"] ?? null;
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-size-"));
const environment = {
  ...process.env,
  OPENPO_DATA_DIR: directory,
  OPENPO_DEMO: "0",
  OPENPO_LOG_LEVEL: "error",
  OPENPO_ADMIN_TOKEN: "bench-admin-token-0123456789",
};
const smallOrders = 200;
const largeOrders = 200_000;

// The shops.

const now = Date.now();

/** Between one order and the next: the large shop's orders are of nearly two years. */
const stepMs = 300_000;

/** One order in a hundred is of another kind. */
const isRare = (index: number): boolean => index % 100 === 99;

const createdAt = (index: number): string => new Date(now - (index + 1) * stepMs).toISOString();

function* records(): Generator<object> {
  for (let index = 0; index < 3; index += 1)
    yield { type: "location", locationId: `l${index}`, name: `Place ${index}` };
  for (let index = 0; index < 20; index += 1)
    yield { type: "supplier", supplierId: `s${index}`, name: `Vendor ${index}`, currencyCode: "EUR" };
  for (let index = 0; index < 50; index += 1)
    yield {
      type: "variant",
      variantId: `v${index}`,
      productId: `p${index}`,
      productName: `Product ${index}`,
      sku: `S-${index}`,
    };
  for (let index = 0; index < smallOrders; index += 1) {
    const total = 45;
    yield {
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      poNumber: `N-${100_000 + index * 7}`,
      poName: `Restock ${index} for season ${index % 12}`,
      supplierReference: isRare(index) ? "Unusual" : `REF-${(index * 7_919) % 10_007}`,
      status: (["Draft", "Sent", "Sent", "Confirmed"] as const)[index % 4],
      supplierId: `s${index % 20}`,
      locationId: isRare(index) ? "l2" : `l${index % 2}`,
      expectedDeliveryDate: isRare(index) ? "2020-01-01" : "2099-01-01",
      createdAt: createdAt(index),
      payments:
        index % 3 === 0
          ? [
              {
                paymentId: `pay${index}`,
                amount: total,
                currencyCode: "EUR",
                status: "Paid",
                createdAt: "2026-01-01T00:00:00Z",
              },
            ]
          : [],
      lineItems: Array.from({ length: 2 }, (_, place) => ({
        poLineItemId: `l${place}`,
        variantId: place === 0 ? `v${index % 4}` : `v${4 + (index % 46)}`,
        sku: place === 0 ? `S-${index % 4}` : `S-${4 + (index % 46)}`,
        quantityOrdered: 5,
        unitCost: 4.5,
      })),
    };
  }
  // The oldest order is the only one of its kind: whoever looks for it by age walks all others.
  yield {
    type: "purchaseOrder",
    purchaseOrderId: "eldest",
    status: "Confirmed",
    supplierId: "s0",
    locationId: "l2",
    createdAt: createdAt(largeOrders),
    lineItems: [],
  };
}

async function* file(): AsyncGenerator<Uint8Array> {
  for (const record of records()) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

/** Makes both shops. @returns a key of each. */
async function build(): Promise<Readonly<Record<"small" | "large", string>>> {
  const { store, ask } = await storeHere(directory, environment);
  const keyOf = async (shopId: string): Promise<string> => {
    await ask("shop_put", {
      shopId,
      name: shopId,
      currencyCode: "EUR",
      settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
    });
    await ask("shop_import", { shopId }, file());
    const made = await ask("key_create", { shopId, name: "bench", scope: "write" });
    if ("data" in made && typeof made.data === "object" && made.data !== null && "apiKey" in made.data)
      return String(made.data.apiKey);
    throw new Error("no key");
  };
  const keys = { small: await keyOf("small"), large: await keyOf("large") };
  await copyOrders(store.engine, "large", largeOrders / smallOrders - 1, smallOrders * stepMs);
  await store.completeFirstStart();
  await store.close();
  return keys;
}

// Asking.

interface Page {
  readonly totalCount: number;
  readonly cursor: string | null;
}

function get(port: number, agent: Agent, key: string, query: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: "127.0.0.1",
        agent,
        path: `/api/v1/purchase-orders?${query}`,
        headers: { authorization: `Bearer ${key}` },
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          if (response.statusCode === 200) resolve(JSON.parse(text).data);
          else reject(new Error(`${query}: ${response.statusCode} ${text}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

interface Row {
  readonly name: string;
  /** The query of a reading; with `page`, of the page after so many pages. */
  readonly query: (reading: number, size: "small" | "large") => string;
  readonly page?: number;
}

const same =
  (query: string): Row["query"] =>
  () =>
    query;

const recent = createdAt(100);
const old = createdAt(150);

const rows: readonly Row[] = [
  { name: "first page of 2", query: same("limit=2") },
  { name: "first page of 50", query: same("limit=50") },
  { name: "hundredth page of 2", query: same("limit=2"), page: 99 },
  { name: "status", query: same("limit=50&status=Sent") },
  { name: "two statuses", query: same("limit=50&status=Sent,Draft") },
  { name: "location", query: same("limit=50&locationId=l1") },
  { name: "supplier", query: same("limit=10&supplierId=s3") },
  { name: "paid status", query: same("limit=50&paidStatus=Unpaid") },
  { name: "sync state", query: same("limit=50&storefrontSyncState=never-synced") },
  { name: "date from", query: same(`limit=50&dateFrom=${old}`) },
  { name: "date to", query: same(`limit=50&dateTo=${recent}`) },
  { name: "variant", query: same("limit=50&variantId=v1") },
  { name: "SKU", query: same("limit=50&sku=S-1") },
  { name: "expected before, few", query: same("limit=50&expectedBefore=2021-01-01") },
  { name: "expected before, nearly all", query: same("limit=50&expectedBefore=2100-01-01") },
  { name: "status and location", query: same("limit=50&status=Sent&locationId=l1") },
  { name: "status and paid status", query: same("limit=50&status=Sent&paidStatus=Unpaid") },
  { name: "status and supplier", query: same("limit=50&status=Sent&supplierId=s1") },
  { name: "paid status and location, rare", query: same("limit=50&paidStatus=Paid&locationId=l2") },
  {
    name: "status and location, one, the oldest",
    query: same("limit=50&status=Confirmed&locationId=l2&supplierId=s0"),
  },
  { name: "status and date", query: same(`limit=50&status=Sent&dateTo=${recent}`) },
  { name: "status and variant", query: same("limit=50&status=Sent&variantId=v1") },
  { name: "variant and date", query: same(`limit=50&variantId=v1&dateTo=${recent}`) },
  { name: "two variants' SKU", query: same("limit=50&variantId=v1&sku=S-5") },
  { name: "status and expected before", query: same("limit=50&status=Sent&expectedBefore=2100-01-01") },
  { name: "search that finds few, again", query: same("limit=50&search=N-100014") },
  {
    name: "search that finds few, new",
    // Each finds one order.
    query: (reading, size) =>
      `limit=50&search=n-${size === "small" ? 100_000 + (reading + 5) * 7 : `100014.${reading + 105}`}`,
  },
  { name: "search that finds nothing, new", query: (reading) => `limit=50&search=nowhere${reading}` },
  { name: "search that finds many, again", query: same("limit=50&search=restock") },
  {
    name: "search that finds many, new",
    query: (reading) => `limit=50&search=${"restock for".slice(0, 7)}%20${reading % 10}`,
  },
  { name: "search of one letter, again", query: same("limit=50&search=s") },
  { name: "search of a supplier, again", query: same("limit=10&search=vendor%2013") },
  // Each page has another size, so that its answer is not remembered.
  { name: "sorted by expected day", query: (reading) => `limit=${10 + reading}&sort=nextExpectedDate` },
  { name: "sorted by value", query: (reading) => `limit=${10 + reading}&sort=-totalValue` },
  { name: "sorted by number, of one status", query: (reading) => `limit=${10 + reading}&sort=poNumber&status=Sent` },
  {
    name: "sorted by last change, of a supplier",
    query: (reading) => `limit=${10 + reading}&sort=-updatedAt&supplierId=s3`,
  },
  { name: "search and status", query: same("limit=50&search=restock&status=Sent") },
];

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function measure(
  port: number,
  agent: Agent,
  keys: Readonly<Record<"small" | "large", string>>,
  row: Row,
): Promise<void> {
  const cursors = { small: "", large: "" };
  for (const size of ["small", "large"] as const)
    for (let page = 0; page < (row.page ?? 0); page += 1) {
      const { cursor } = await get(port, agent, keys[size], row.query(0, size) + cursors[size]);
      if (cursor === null) throw new Error(`${row.name}: no page ${page + 1}`);
      cursors[size] = `&cursor=${encodeURIComponent(cursor)}`;
    }
  const times: Record<"small" | "large", number[]> = { small: [], large: [] };
  const found = { small: 0, large: 0 };
  for (let reading = 0; reading < readings; reading += 1)
    for (const size of ["small", "large"] as const) {
      const startMs = performance.now();
      const { totalCount } = await get(port, agent, keys[size], row.query(reading, size) + cursors[size]);
      times[size].push(performance.now() - startMs);
      found[size] = totalCount;
    }
  const [small, large] = [median(times.small), median(times.large)];
  const ratio = large / small;
  const bound = sizeBounds[row.name];
  const ms = (value: number): string => value.toFixed(2).padStart(7);
  console.log(
    `${row.name.padEnd(38)} ${ms(small)} ${ms(large)} ms, ${ratio.toFixed(1)} ×; first reading ${ms(times.large[0] ?? 0)} ms, ${found.small} and ${found.large} found`,
  );
  if (bound !== undefined)
    report({
      name: sizeRowName(row.name, databaseUrl !== null),
      value: ratio,
      figure: `${large.toFixed(2)} ms`,
      bound: `${small.toFixed(2)} ms`,
    });
}

try {
  const buildMs = performance.now();
  const keys = await build();
  console.log(
    `built in ${((performance.now() - buildMs) / 1_000).toFixed(0)} s${databaseUrl === null ? "" : ", on PostgreSQL"}`,
  );
  const port = await freePort();
  const service = spawn(process.execPath, serviceArguments, {
    env: { ...environment, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while ((await get(port, agent, keys.small, "limit=1").catch(() => null)) === null) await sleep(50);
    for (let reading = 0; reading < 300; reading += 1) await get(port, agent, keys.small, "limit=50");
    for (const row of rows)
      if (wanted.length === 0 || wanted.some((word) => row.name.includes(word))) await measure(port, agent, keys, row);
    agent.destroy();
  } finally {
    service.kill();
    await once(service, "exit");
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
