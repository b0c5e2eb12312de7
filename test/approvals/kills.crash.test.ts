/**
 * The process is killed (-9) while requests are approved (C80): each was done once, with its decision, or waits as
 * before; approving it again does it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answered, type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

/** A start on a data directory voids the claims of earlier processes. Among nodes a claim ends with its lease. */
const freeMsMax = onPostgres ? 12_000 : 2_000;

const adminToken = "an-admin-token-for-approvals";
const shop = "/admin/v1/shops/shop";
const orders = "/api/v1/purchase-orders";

const serve = (directory: string): Promise<RunningProgram> =>
  serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" });

const records: readonly object[] = [
  { type: "location", locationId: "loc", name: "Warehouse" },
  { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt", unitCost: 1 },
  { type: "inventoryLevel", variantId: "red", locationId: "loc", onHand: 0 },
];

const order = (purchaseOrderId: string): object => ({
  type: "purchaseOrder",
  purchaseOrderId,
  status: "In Progress",
  locationId: "loc",
  lineItems: [
    { poLineItemId: `${purchaseOrderId}_a`, variantId: "red", quantityOrdered: 3, quantityConfirmed: 3, unitCost: 4 },
  ],
});

const operate = async (program: RunningProgram, method: string, below: string, body?: unknown): Promise<Answered> => {
  const answer = await program.ask(method, `${shop}${below}`, adminToken, body);
  assert.ok(answer.status < 300, `${method} ${below}: ${answer.text}`);
  return answer;
};

/** Approves a request, again while its order is held by the claim of a call that was killed. */
async function approvedOnceFree(program: RunningProgram, path: string): Promise<Answered> {
  const answers: Answered[] = [];
  await until(
    "the order is free",
    async () => {
      const answer = await program.ask("POST", `${shop}${path}/approve`, adminToken, {});
      answers.push(answer);
      return answer.at("error", "code") !== "ON_HAND_SYNC_IN_FLIGHT";
    },
    freeMsMax,
  );
  return answers.at(-1) ?? assert.fail("nobody has answered");
}

/** Statuses of a request that is decided. */
const statusOf = (answer: Answered): string => String(answer.at("data", "approvalRequest", "status"));

/** An order as a request about it leaves it, and how often a change of it was approved. */
async function approvalsOf(program: RunningProgram, key: string, id: string) {
  const received = (await program.ask("GET", `${orders}/${id}`, key)).at("data", "purchaseOrder", "quantityReceived");
  const log = (await program.ask("GET", `${orders}/${id}/log`, key)).at("data", "log");
  assert.ok(Array.isArray(log));
  const approved = log.filter((entry) => "approvedBy" in entry).length;
  return { received: Number(received), approved };
}

/** The body of what is asked for, by the path below the order: one change, and several. */
const writes = {
  "/receive": (id: string) => ({ lines: [{ lineItemId: `${id}_a`, quantityReceived: 3 }] }),
  "/quick-complete": () => ({}),
} as const;

for (const [below, bodyOf] of Object.entries(writes))
  test(`killed while ${below} is approved, again and again, every request ends once and its order is received once`, () =>
    withDirectory(async (directory) => {
      let program = await serve(directory);
      await operate(program, "PUT", "", { name: "Shop", currencyCode: "EUR", plan: { restApi: true } });
      const keyOf = async (scope: string): Promise<string> =>
        String((await operate(program, "POST", "/keys", { name: scope, scope })).at("data", "apiKey"));
      const [proposing, reading] = [await keyOf("propose"), await keyOf("read")];
      const ids = Array.from({ length: 8 }, (_, index) => `po_${index}`);
      const lines = [...records, ...ids.map(order)].map((record) => JSON.stringify(record)).join("\n");
      await operate(program, "POST", "/import", lines);
      const requests = new Map<string, string>();
      for (const id of ids) {
        const asked = await program.ask("POST", `${orders}/${id}${below}`, proposing, bodyOf(id));
        assert.equal(asked.status, 202, asked.text);
        requests.set(id, String(asked.at("data", "approvalRequest", "approvalRequestId")));
      }
      const answered = new Map<string, string>();
      for (let round = 0; round < 4; round += 1) {
        const running = program;
        const batch = ids.slice(round * 2, round * 2 + 2);
        const approving = batch.map(async (id) => {
          const answer = await running.ask(
            "POST",
            `${shop}/approval-requests/${requests.get(id)}/approve`,
            adminToken,
            {},
          );
          if (answer.status === 200) answered.set(id, statusOf(answer));
        });
        const settled = Promise.allSettled(approving);
        const isReceived = async (): Promise<boolean> =>
          (await approvalsOf(running, reading, batch[0] ?? "")).received > 0;
        // At another step each time: at once, when one is answered, when one has begun, when all are done.
        if (round === 1) await Promise.race(approving);
        if (round === 2) await until("goods are received", isReceived);
        if (round === 3) await Promise.all(approving);
        await running.end("SIGKILL");
        await settled;
        program = await serve(directory);
      }
      for (const id of ids) {
        const path = `/approval-requests/${requests.get(id)}`;
        const found = statusOf(await operate(program, "GET", path));
        if (answered.has(id)) assert.equal(found, answered.get(id), `${id} was answered so`);
        const { received, approved } = await approvalsOf(program, reading, id);
        if (found === "approved") assert.equal(received, 3, id);
        else assert.equal(found, "pending", id);
        if (found === "pending" && approved === 0) assert.equal(received, 0, id);
        if (found === "pending") assert.equal(statusOf(await approvedOnceFree(program, path)), "approved", id);
        assert.equal((await approvalsOf(program, reading, id)).received, 3, id);
        const again = await program.ask("POST", `${shop}${path}/approve`, adminToken, {});
        assert.equal(again.status, 400, again.text);
      }
      await program.end("SIGTERM");
    }));
