/** Goods that are taken back while whoever tells the storefront is killed: the same story at each storefront (C45). */
import assert from "node:assert/strict";
import type { RunningProgram } from "../../support/process.ts";
import { until } from "../../support/until.ts";

const orders = "/api/v1/purchase-orders";

/** A connected shop `tideline` whose storefront has 10 units of a variant that cost 2 each. */
interface TakenBackWorld {
  readonly variantId: string;
  readonly locationId: string;
  /** The program that is asked now. */
  program(): RunningProgram;
  /** Kills that program; another one goes on. */
  kill(): Promise<void>;
  /** The next call that writes a cost gets no answer, and the storefront makes it or does not. */
  strike(isMade: boolean): void;
  /** How many calls have written a cost. */
  writes(): number;
  cost(): Promise<number> | number;
  available(): Promise<number> | number;
}

/** Two lots of five leave the average at the cost at which they came in; each is told once, though it is told anew. */
export async function takenBackThoughKilled(world: TakenBackWorld): Promise<void> {
  const { variantId, locationId } = world;
  const asAdmin = async (method: string, target: string, body: string | object): Promise<string> => {
    const program = world.program();
    const answered = await program.ask(method, `/admin/v1/shops/tideline${target}`, program.adminToken, body);
    assert.ok(answered.status < 300, answered.text);
    return String(answered.at("data", "apiKey"));
  };
  await asAdmin("PUT", "", { settings: { costSyncMode: "moving-average" } });
  const records = [
    { type: "variant", variantId, productId: "p", productName: "P", unitCost: 2 },
    { type: "inventoryLevel", variantId, locationId, onHand: 10 },
  ];
  await asAdmin("POST", "/import", records.map((record) => JSON.stringify(record)).join("\n"));
  const key = await asAdmin("POST", "/keys", { name: "w", scope: "write" });
  const lineItems = [{ variantId, quantityOrdered: 10, unitCost: 4 }];
  const made = await world.program().ask("POST", orders, key, { locationId, lineItems });
  const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
  const lineItemId = String(made.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId"));
  const act = async (action: string, body: object): Promise<void> => {
    const acted = await world.program().ask("POST", `${orders}/${id}/${action}`, key, body);
    assert.equal(acted.status, 200, acted.text);
  };
  await act("status", { status: "Sent" });
  await act("confirm", { confirmAll: true });
  await act("receive", { lines: [{ lineItemId, quantityReceived: 10 }] });
  await act("complete", {});
  await until("10 at 2 and 10 at 4", async () => (await world.cost()) === 3);
  await act("status", { status: "Received" });
  const isSettled = async (): Promise<boolean> => {
    const history = await world.program().ask("GET", `${orders}/${id}/cost-sync-history`, key);
    return history.at("data", "costSyncHistory", 0, "outcome") === "applied";
  };
  // 40 / 15, then 20 / 10.
  for (const [isMade, right] of [
    [false, 2.6667],
    [true, 2],
  ] as const) {
    const before = world.writes();
    world.strike(isMade);
    const lines = [{ lineItemId, quantity: 5 }];
    const asked = world
      .program()
      .ask("POST", `${orders}/${id}/unreceive`, key, { lines })
      .catch(() => null);
    await until("sent", () => world.writes() > before);
    await world.kill();
    await asked;
    const isRight = async (): Promise<boolean> => Math.abs((await world.cost()) - right) < 0.0002;
    await until(async () => `${right} in place of ${await world.cost()}`, isRight);
    await until("it is settled", isSettled);
    assert.ok(await isRight(), "and it left once");
  }
  await until("and the stock", async () => (await world.available()) === 10);
}
