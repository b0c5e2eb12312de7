/**
 * 200 real orders (AdventureWorks) through a program whose shop is on Shopify or on Medusa, while answers are lost and throttled and the
 * process is killed: the stock ends as if nothing had happened. With `npm run test:medusa` Medusa is a real one.
 *
 * Only on sqlite: what is repeated after a kill is the storefront's matter, and test/order/replay.slow.test.ts kills nodes on both engines.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { type CsvRow, csvRows } from "../../examples/csv.ts";
import { isReal, MedusaPlace } from "./medusa/place.ts";
import { setLevels } from "./medusa/proxy.ts";
import { FakeShopify, fakeToken } from "./shopify/fake.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { pause, until } from "../support/until.ts";

const data = path.join(import.meta.dirname, "../../../shared/data/adventureworks");
const skip = existsSync(data) ? false : `the AdventureWorks files are not there: ${data}`;

const token = "an-admin-token-for-tests";
const ordersMax = 200;
const parallel = 6;
const kills = 2;
const opening = 1_000;

/** A storefront with variants and two locations, which can be made to fail. */
interface Shown {
  readonly host: string;
  readonly config: object;
  readonly variantIds: readonly string[];
  readonly locationIds: readonly string[];
  /** Makes the next calls go wrong: one answer is lost, one call is throttled, one fails. */
  strike(): void;
  heal(): void;
  level(variantId: string, locationId: string): Promise<{ readonly stocked: number; readonly incoming: number }>;
  close(): Promise<void>;
}

async function onShopify(count: number): Promise<Shown> {
  const fake = await new FakeShopify().listen();
  const variantIds = Array.from({ length: count }, (_, index) => String(1_000 + index));
  const locationIds = ["1", "2"];
  for (const id of variantIds) fake.addVariant(id);
  for (const id of locationIds) fake.addLocation(id);
  for (const id of variantIds) for (const at of locationIds) fake.levelOf(id, at).available = opening;
  return {
    host: `http://${fake.domain}`,
    config: { kind: "shopify", domain: fake.domain, accessToken: fakeToken },
    variantIds,
    locationIds,
    strike() {
      fake.strike({ kind: "lost" }, "Adjust");
      fake.strike({ kind: "throttled" });
      fake.strike({ kind: "status", status: 503 });
    },
    heal: () => void (fake.faults.length = 0),
    level: async (variantId, locationId) => {
      const { available, incoming } = fake.levelOf(variantId, locationId);
      return { stocked: available, incoming };
    },
    close: () => fake.close(),
  };
}

async function onMedusaItself(count: number): Promise<Shown> {
  const medusa = await MedusaPlace.open();
  const { proxy, key } = medusa;
  const variantIds = await medusa.addVariants(count);
  const locationIds = [await medusa.addLocation("One"), await medusa.addLocation("Two")];
  const items = await Promise.all(variantIds.map((id) => medusa.itemOf(id)));
  for (let start = 0; start < items.length; start += 100)
    await medusa.ask("POST", "/admin/inventory-items/location-levels/batch", {
      create: items
        .slice(start, start + 100)
        .flatMap((inventory_item_id) =>
          locationIds.map((location_id) => ({ inventory_item_id, location_id, stocked_quantity: opening })),
        ),
    });
  return {
    host: proxy.url,
    config: { kind: "medusa", url: proxy.url, secretKey: key },
    variantIds,
    locationIds,
    strike() {
      proxy.strike(setLevels, { kind: "lost" });
      proxy.strike(/^GET/, { kind: "status", status: 429, headers: { "retry-after": "0.05" } });
      proxy.strike(setLevels, { kind: "status", status: 503 });
    },
    heal: () => proxy.heal(),
    level: (variantId, locationId) => medusa.level(variantId, locationId),
    close: () => medusa.close(),
  };
}

interface Order {
  readonly id: string;
  readonly lines: readonly { readonly productId: string; readonly ordered: number; readonly stocked: number }[];
}

function readOrders(): readonly Order[] {
  const whole = (row: CsvRow, name: string): number => Math.floor(Number(row[name] ?? 0));
  const lines = Map.groupBy(
    csvRows(path.join(data, "purchase_order_lines.csv")),
    (row) => row["purchaseOrderId"] ?? "",
  );
  return csvRows(path.join(data, "purchase_orders.csv"))
    .slice(0, ordersMax)
    .map((row) => ({
      id: row["purchaseOrderId"] ?? "",
      lines: (lines.get(row["purchaseOrderId"] ?? "") ?? []).map((line) => ({
        productId: line["productId"] ?? "",
        ordered: whole(line, "quantityOrdered"),
        stocked: Math.min(whole(line, "quantityStocked"), whole(line, "quantityOrdered")),
      })),
    }));
}

for (const [name, open] of [
  ["Shopify", onShopify],
  [isReal ? "a real Medusa" : "Medusa", onMedusaItself],
] as const)
  test(
    `the orders end in the right stock on ${name}, through lost answers, throttling and kills`,
    { skip },
    async () => {
      const orders = readOrders();
      const products = [...new Set(orders.flatMap(({ lines }) => lines.map(({ productId }) => productId)))];
      const shown = await open(products.length);
      const variantOf = new Map(products.map((productId, index) => [productId, shown.variantIds[index] ?? ""]));
      const locationOf = (index: number): string => shown.locationIds[index % shown.locationIds.length] ?? "";
      try {
        await withDirectory(async (directory) => {
          const environment = {
            OPENPO_DATA_DIR: directory,
            OPENPO_ADMIN_TOKEN: token,
            OPENPO_DEMO: "0",
            OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
            OPENPO_STOREFRONT_ALLOW: shown.host,
          };
          let program: RunningProgram = await serveProgram(environment);
          let starting: Promise<void> = Promise.resolve();
          const restartAfter = async (before: Promise<void>): Promise<void> => {
            await before;
            await program.end("SIGKILL");
            program = await serveProgram(environment);
          };
          /** Asks until there is a final answer, over kills too; the key makes it one. */
          const ask = async (method: string, target: string, bearer: string, body?: object | string, key?: string) => {
            for (const untilMs = Date.now() + 120_000; ;) {
              await starting;
              try {
                const headers = key === undefined ? {} : { "Idempotency-Key": key };
                const answered = await program.ask(method, target, bearer, body, headers);
                if (answered.status < 300) return answered;
                const isFinal = answered.at("error", "retryable") !== true && answered.status < 500;
                assert.ok(!isFinal && Date.now() < untilMs, `${method} ${target}: ${answered.text}`);
              } catch (error) {
                if (error instanceof assert.AssertionError || Date.now() > untilMs) throw error;
              }
              await pause(150);
            }
          };
          const settings = { rateLimit: { capacity: 100_000, refillPerSecond: 1_000 } };
          await ask("PUT", "/admin/v1/shops/aw", token, { name: "AW", currencyCode: "USD", settings });
          const records = [
            ...shown.locationIds.map((locationId) => ({ type: "location", locationId, name: locationId })),
            { type: "supplier", supplierId: "s", name: "S" },
            ...shown.variantIds.map((variantId) => ({
              type: "variant",
              variantId,
              productId: `of ${variantId}`,
              productName: "P",
            })),
          ];
          const lines = records.map((record) => JSON.stringify(record)).join("\n");
          await ask("POST", "/admin/v1/shops/aw/import", token, lines);
          await ask("PUT", "/admin/v1/shops/aw", token, { storefront: shown.config });
          const made = await ask("POST", "/admin/v1/shops/aw/keys", token, { name: "w", scope: "write" });
          const key = String(made.at("data", "apiKey"));

          const stocked = new Map<string, number>();
          const pending = new Map<string, number>();
          const orderIds: string[] = [];
          let done = 0;
          const play = async (order: Order, index: number): Promise<void> => {
            const locationId = locationOf(index);
            const base = "/api/v1/purchase-orders";
            const lineItems = order.lines.map(({ productId, ordered }) => ({
              variantId: variantOf.get(productId),
              quantityOrdered: ordered,
              unitCost: 1,
            }));
            const created = await ask(
              "POST",
              base,
              key,
              { supplierId: "s", locationId, lineItems },
              `${order.id}-create`,
            );
            const id = String(created.at("data", "purchaseOrder", "purchaseOrderId"));
            orderIds.push(id);
            await ask("POST", `${base}/${id}/status`, key, { status: "Sent" }, `${order.id}-send`);
            await ask("POST", `${base}/${id}/confirm`, key, { confirmAll: true }, `${order.id}-confirm`);
            const received = order.lines.map(({ stocked: quantityReceived }, place) => ({
              lineItemId: created.at("data", "purchaseOrder", "lineItems", place, "poLineItemId"),
              quantityReceived,
            }));
            await ask("POST", `${base}/${id}/receive`, key, { lines: received }, `${order.id}-receive`);
            for (const line of order.lines) {
              const place = `${variantOf.get(line.productId)} ${locationId}`;
              stocked.set(place, (stocked.get(place) ?? opening) + line.stocked);
              pending.set(place, (pending.get(place) ?? 0) + line.ordered - line.stocked);
            }
            done += 1;
            if (done % 10 === 0) shown.strike();
            if (kills > 0 && done % Math.floor(ordersMax / (kills + 1)) === 0 && done < ordersMax)
              starting = restartAfter(starting);
          };
          const entries = orders.entries();
          const worker = async (): Promise<void> => {
            for (const [index, order] of entries) await play(order, index);
          };
          await Promise.all(Array.from({ length: parallel }, worker));
          await starting;
          shown.heal();
          // What has failed for good is pushed again, as `recovery` says.
          for (const id of orderIds)
            await until(
              `${id} synced`,
              async () => {
                const order = await ask("GET", `/api/v1/purchase-orders/${id}`, key);
                const state = order.at("data", "purchaseOrder", "storefrontSyncState");
                if (state === "synced" || state === "never-synced") return true;
                if (state === "in-flight") return false;
                await ask("POST", `/api/v1/purchase-orders/${id}/storefront-sync/reset`, key, {});
                await ask("POST", `/api/v1/purchase-orders/${id}/storefront-sync`, key, {});
                return false;
              },
              180_000,
            );
          const differences = async (): Promise<readonly string[]> =>
            (
              await Promise.all(
                [...stocked].map(async ([place, units]) => {
                  const [variantId = "", locationId = ""] = place.split(" ");
                  const level = await shown.level(variantId, locationId);
                  const isRight = level.stocked === units && level.incoming === (pending.get(place) ?? 0);
                  return isRight
                    ? []
                    : [`${place}: ${level.stocked} (${units}), incoming ${level.incoming} (${pending.get(place)})`];
                }),
              )
            ).flat();
          await until(differences, async () => (await differences()).length === 0);
          assert.equal(done, ordersMax);
          await program.end("SIGTERM");
        });
      } finally {
        await shown.close();
      }
    },
  );
