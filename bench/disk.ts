/**
 * Measures what a shop's rows take on disk: an order that is imported, each change of one, the stored answer of a keyed change, and the audit row of a read.
 * Each row is the growth of the data directory, or of the database, over many of the same. `docs/capacity.md` computes with these figures.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_COUNT` how many of each (default 1,000). `OPENPO_BENCH_NODES=1` measures a node
 * on a PostgreSQL that the program starts.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freshDatabase, startPostgres, withClient } from "../test/support/postgres/postgres.ts";
import { adminToken, type Service, startService } from "./service.ts";

const count = Number(process.env["OPENPO_BENCH_COUNT"] ?? 1_000);
const usesDatabase = process.env["OPENPO_BENCH_NODES"] === "1";
const lines = 10;
const clients = 8;
const variantIds = Array.from({ length: 200 }, (_, index) => `variant-${index}`);

await using postgres = usesDatabase ? await startPostgres() : null;
const database = postgres === null ? null : await freshDatabase({ empty: true, server: postgres.url });
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-disk-"));

const start = (): Promise<Service> =>
  startService(directory, database === null ? {} : { OPENPO_DATABASE_URL: database.url });

/** Bytes while the service is stopped. */
async function bytesOnDisk(): Promise<number> {
  if (database !== null)
    return await withClient(database.url, async (client) => {
      await client.query("vacuum");
      const { rows } = await client.query<{ bytes: string }>("select pg_database_size(current_database()) as bytes");
      return Number(rows[0]?.bytes);
    });
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

async function ask(service: Service, { method, path: target, key, body, idempotencyKey }: Request): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${service.port}${target}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${target}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Each of the requests once, some at a time. */
async function askAll(service: Service, requests: readonly Request[]): Promise<readonly string[]> {
  const answers: string[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next; index < requests.length; index = next) {
      next += 1;
      const request = requests[index];
      if (request !== undefined) answers[index] = await ask(service, request);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

let sizeBefore = 0;
let isFirst = true;

/** Runs the step on a service of its own, and prints the growth for each of `count`. */
async function grow<T>(name: string, step: (service: Service) => Promise<T>, per = count): Promise<T> {
  const service = await start();
  let result: T;
  try {
    result = await step(service);
  } finally {
    await service.stop();
  }
  const size = await bytesOnDisk();
  if (!isFirst) console.log(`${name.padEnd(48)} ${((size - sizeBefore) / per).toFixed(0).padStart(8)} bytes`);
  isFirst = false;
  sizeBefore = size;
  return result;
}

const textAt = (answer: string | undefined, name: string): string => {
  const found = new RegExp(`"${name}":"([^"]+)"`).exec(answer ?? "")?.[1];
  if (found === undefined) throw new Error(`no ${name} in ${answer?.slice(0, 300)}`);
  return found;
};

const lineItems = (order: number): readonly object[] =>
  Array.from({ length: lines }, (_, line) => ({
    variantId: variantIds[(order + line) % variantIds.length],
    quantityOrdered: 5 + line,
    unitCost: 4.5,
  }));

const records = (of: readonly object[]): string => of.map((record) => `${JSON.stringify(record)}\n`).join("");
const many = <T>(make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, index) => make(index));
const orders = "/api/v1/purchase-orders";
const shop = (below: string): string => `/admin/v1/shops/shop${below}`;
const operate = (service: Service, method: string, below: string, body: string): Promise<string> =>
  ask(service, { method, path: shop(below), key: adminToken, body });

try {
  const key = await grow("", async (service) => {
    const settings = { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } };
    await operate(service, "PUT", "", JSON.stringify({ name: "Shop", currencyCode: "EUR", settings }));
    return textAt(await operate(service, "POST", "/keys", JSON.stringify({ name: "bench", scope: "write" })), "apiKey");
  });
  await grow(
    "a second shop, empty",
    (service) =>
      ask(service, {
        method: "PUT",
        path: "/admin/v1/shops/second",
        key: adminToken,
        body: JSON.stringify({ name: "Second", currencyCode: "EUR" }),
      }),
    1,
  );
  await grow(
    "a variant of the catalogue",
    (service) =>
      operate(
        service,
        "POST",
        "/import",
        records([
          { type: "location", locationId: "l", name: "Warehouse" },
          { type: "supplier", supplierId: "s", name: "Supplier", currencyCode: "EUR" },
          ...variantIds.map((variantId) => ({
            type: "variant",
            variantId,
            productId: variantId,
            productName: `Product ${variantId}`,
          })),
        ]),
      ),
    variantIds.length,
  );
  await grow(`an order of ${lines} lines, imported`, (service) =>
    operate(
      service,
      "POST",
      "/import",
      records(
        many((index) => ({
          type: "purchaseOrder",
          purchaseOrderId: `imported-${index}`,
          poNumber: `${900_000 + index}`,
          poName: `Order ${index}`,
          status: "Draft",
          supplierId: "s",
          locationId: "l",
          createdAt: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
          lineItems: lineItems(index).map((line, at) => ({ poLineItemId: `l${at}`, ...line })),
        })),
      ),
    ),
  );
  const create = (index: number): Request => ({
    method: "POST",
    path: orders,
    key,
    body: JSON.stringify({ supplierId: "s", locationId: "l", lineItems: lineItems(index) }),
  });
  const keyed = (name: string, request: Request, index: number): Request => ({
    ...request,
    idempotencyKey: `${name}-${index}`,
  });
  const made = await grow(`an order of ${lines} lines, created`, (service) => askAll(service, many(create)));
  await grow("the same with an Idempotency-Key", (service) =>
    askAll(
      service,
      many((index) => keyed("create", create(index), index)),
    ),
  );
  const ids = made.map((answer) => textAt(answer, "purchaseOrderId"));
  const change = (name: string, body: object) => (service: Service) =>
    askAll(
      service,
      ids.map((id, index) =>
        keyed(name, { method: "POST", path: `${orders}/${id}/${name}`, key, body: JSON.stringify(body) }, index),
      ),
    );
  await grow("its status set to Sent, keyed", change("status", { status: "Sent" }));
  await grow("its confirmation, keyed", change("confirm", { confirmAll: true }));
  const lineIds = made.map((answer) => [...answer.matchAll(/"poLineItemId":"([^"]+)"/g)].map(([, id]) => id));
  await grow(`its receipt on ${lines} lines, keyed and pushed`, (service) =>
    askAll(
      service,
      ids.map((id, index) =>
        keyed(
          "receive",
          {
            method: "POST",
            path: `${orders}/${id}/receive`,
            key,
            body: JSON.stringify({
              lines: lineIds[index]?.map((lineItemId, line) => ({ lineItemId, quantityReceived: 5 + line })),
            }),
          },
          index,
        ),
      ),
    ),
  );
  await grow(
    "a read: its audit row",
    (service) =>
      askAll(
        service,
        Array.from({ length: count * 5 }, (_, index) => ({
          method: "GET",
          path: `${orders}/${ids[index % count]}`,
          key,
        })),
      ),
    count * 5,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
