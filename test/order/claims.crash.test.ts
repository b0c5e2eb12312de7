/** The process is killed (-9) while a call has a claim on an order: the next process goes on with the order, soon (C43, C45). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answered, type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

/** A start on a data directory voids the claims of earlier processes. Among nodes a claim ends with its lease. */
const freeMsMax = onPostgres ? 12_000 : 2_000;
const adminToken = "an-admin-token-for-claims";
const shop = "/admin/v1/shops/shop";
const order = "/api/v1/purchase-orders/po_1";

const records = (status: string, line: object): readonly object[] => [
  { type: "location", locationId: "loc", name: "Warehouse" },
  { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt", unitCost: 1 },
  { type: "inventoryLevel", variantId: "red", locationId: "loc", onHand: 100 },
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_1",
    status,
    locationId: "loc",
    lineItems: [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4, ...line }],
  },
];

const lines = (each: readonly object[]): string => each.map((record) => JSON.stringify(record)).join("\n");

interface Service {
  readonly program: RunningProgram;
  readonly key: string;
  post(below: string, body?: object): Promise<Answered>;
  operate(method: string, below: string, body: unknown): Promise<Answered>;
  /** How often the storefront was called. */
  calls(name: string): Promise<number>;
}

async function serve(directory: string, madeKey: string | null): Promise<Service> {
  const program = await serveProgram({
    OPENPO_DATA_DIR: directory,
    OPENPO_ADMIN_TOKEN: adminToken,
    OPENPO_DEMO: "0",
  });
  const operate: Service["operate"] = async (method, below, body) => {
    const answer = await program.ask(method, `${shop}${below}`, adminToken, body);
    assert.ok(answer.status < 300, `${method} ${below}: ${answer.text}`);
    return answer;
  };
  if (madeKey === null) {
    await operate("PUT", "", { name: "Shop", currencyCode: "EUR", plan: { restApi: true } });
    const made = await operate("POST", "/keys", { name: "a client", scope: "write" });
    madeKey = String(made.at("data", "apiKey"));
  }
  const key = madeKey;
  return {
    program,
    key,
    post: (below, body = {}) => program.ask("POST", `${order}${below}`, key, body),
    operate,
    calls: async (name) =>
      Number((await program.ask("GET", `${shop}/sandbox`, adminToken)).at("data", "calls", name) ?? 0),
  };
}

/** Kills the service, starts it again, and repeats `ask` until it is not refused any more. Returns that answer. */
async function goOnAfterKill(
  directory: string,
  service: Service,
  ask: (again: Service) => Promise<Answered>,
): Promise<{ readonly again: Service; readonly answer: Answered }> {
  await service.program.end("SIGKILL");
  const again = await serve(directory, service.key);
  await again.operate("PUT", "/sandbox/faults", {});
  let answer = await ask(again);
  await until(
    "the order is free",
    async () => {
      if (answer.at("error", "code") !== "ON_HAND_SYNC_IN_FLIGHT") return true;
      answer = await ask(again);
      return false;
    },
    freeMsMax,
  );
  return { again, answer };
}

for (const [below, status, line] of [
  ["/complete", "Received", { quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 10 }],
  ["/quick-complete", "In Progress", { quantityConfirmed: 10 }],
] as const)
  test(`a process killed while ${below} writes costs does not leave the order refused; the next one completes it`, () =>
    withDirectory(async (directory) => {
      const service = await serve(directory, null);
      await service.operate("POST", "/import", lines(records(status, line)));
      await service.operate("PUT", "/sandbox/faults", { latencyMs: 700 });
      const lost = Promise.allSettled([service.post(below)]);
      await until("the costs are being written", async () => (await service.calls("writeCosts")) === 1);
      const { again, answer } = await goOnAfterKill(directory, service, (each) => each.post(below));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.at("data", "costSync", "syncedVariantCount"), 1);
      const state = await again.program.ask("GET", `${shop}/sandbox?variantIds=red`, adminToken);
      assert.equal(state.at("data", "variants", 0, "unitCost"), 4, state.text);
      assert.equal(state.at("data", "variants", 0, "levels", 0, "onHand"), below === "/complete" ? 100 : 110);
      await lost;
      await again.program.end("SIGTERM");
    }));

test("a process killed while a /storefront-sync waits does not leave the order in flight; the next sync looks again", () =>
  withDirectory(async (directory) => {
    const service = await serve(directory, null);
    const line = { quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 0 };
    await service.operate("POST", "/import", lines(records("Received", line)));
    await service.operate("PUT", "/sandbox/faults", { applyDelayMs: 60_000 });
    const lost = Promise.allSettled([service.post("/storefront-sync")]);
    await until("the sync waits", async () => (await service.calls("readOnHand")) >= 3);
    const state = async ({ program, key }: Service): Promise<unknown> =>
      (await program.ask("GET", order, key)).at("data", "purchaseOrder", "storefrontSyncState");
    assert.equal(await state(service), "in-flight");
    await service.operate("PUT", "", { settings: { confirmationWaitMs: 500 } });
    const { again, answer } = await goOnAfterKill(directory, service, (each) => each.post("/storefront-sync"));
    assert.equal(answer.at("data", "confirmation", "status"), "timed-out", answer.text);
    assert.equal(answer.at("data", "confirmation", "lines", 0, "lineItemId"), "a");
    assert.equal(await state(again), "synced");

    // Nobody asks again: the order leaves the state by itself.
    await again.operate("PUT", "", { settings: { confirmationWaitMs: 30_000 } });
    const waiting = Promise.allSettled([again.post("/storefront-sync")]);
    await until("it waits again", async () => (await state(again)) === "in-flight");
    await again.program.end("SIGKILL");
    const last = await serve(directory, again.key);
    await until("nobody waits any more", async () => (await state(last)) === "synced", freeMsMax);
    await Promise.all([lost, waiting]);
    await last.program.end("SIGTERM");
  }));
