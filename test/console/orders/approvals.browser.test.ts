/**
 * People decide what agents ask for, in real browsers: on a telephone, several at once, from the order itself, and by the rules of the shop.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { apiOf, makeShop, showsStatus } from "../../support/pages/console-shop.ts";
import { endConsole, invitation, newPage, picture, skip } from "../../support/pages/console.ts";
import { connectAgent } from "../../support/mcp.ts";
import type { RunningProgram } from "../../support/process.ts";

after(endConsole);

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Main hall" },
  { type: "supplier", supplierId: "s", name: "Maasbrand Roastery", currencyCode: "EUR" },
  ...["Espresso beans", "Decaf beans"].map((productName, index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: `p${index}`,
    productName,
    sku: `BEAN-${index}`,
    unitCost: 12.5,
  })),
];

type Limits = Readonly<Record<string, unknown>>;

/** A key of an agent of the shop. */
async function agentKey(program: RunningProgram, shopId: string, scope: "propose" | "write", limits?: Limits) {
  const body = { name: "Reorder agent", scope, ...(limits === undefined ? {} : { limits }) };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/keys`, program.adminToken, body);
  assert.equal(made.status, 201, made.text);
  return String(made.at("data", "apiKey"));
}

/** A Draft of two lines that is worth 12.50 a piece. */
async function draft(program: RunningProgram, key: string, pieces: number): Promise<{ id: string; poNumber: string }> {
  const made = await apiOf(program, key).send("POST", "", {
    supplierId: "s",
    locationId: "l",
    lineItems: [
      { variantId: "v0", quantityOrdered: pieces - 1, unitCost: 12.5 },
      { variantId: "v1", quantityOrdered: 1, unitCost: 12.5 },
    ],
  });
  const order = Object(made.at("data", "purchaseOrder"));
  return { id: String(order.purchaseOrderId), poNumber: String(order.poNumber) };
}

/** Asks to send the order. @returns the id of the request. */
async function asksToSend(program: RunningProgram, key: string, id: string): Promise<string> {
  const asked = await program.ask("POST", `/api/v1/purchase-orders/${id}/status`, key, { status: "Sent" });
  assert.equal(asked.status, 202, asked.text);
  return String(asked.at("data", "approvalRequest", "approvalRequestId"));
}

const became = async (program: RunningProgram, shopId: string, id: string): Promise<unknown> =>
  (await program.ask("GET", `/admin/v1/shops/${shopId}/approval-requests/${id}`, program.adminToken)).at(
    "data",
    "approvalRequest",
  );

/** A page on which somebody of the shop sees its orders. */
async function signedIn(shopId: string, role: "owner" | "purchaser" | "receiver", name?: string) {
  const opened = await newPage();
  const { page, program } = opened;
  const link =
    name === undefined
      ? await invitation(program, role, shopId)
      : String(
          (await program.ask("POST", `/admin/v1/shops/${shopId}/invitations`, program.adminToken, { name, role })).at(
            "data",
            "url",
          ),
        );
  await page.goto(link);
  await page.getByRole("link", { name: "Approvals" }).first().waitFor({ state: "attached" });
  return opened;
}

const phone = { width: 390, height: 844 };

/** Targets of the decision: tall enough for a thumb, and in the lower half of the window. */
async function isInReach(page: Page, name: string): Promise<void> {
  const box = await page.getByRole("button", { name, exact: true }).boundingBox();
  assert.ok(box !== null && box.height >= 44, `${name} is ${box?.height} px tall`);
  assert.ok(box.y > phone.height / 2 && box.y + box.height <= phone.height, `${name} is at ${box.y}`);
}

test(
  "an agent beyond its limit asks, an owner approves on a phone, and the order is sent and received",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    const { link, key: writeKey } = await makeShop(program, "beyond", records);
    const key = await agentKey(program, "beyond", "write", { dayValueMax: 200, orderValueMax: 1_000 });
    await page.goto(link);
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    const order = await draft(program, writeKey, 20);
    await page.setViewportSize(phone);
    await asksToSend(program, key, order.id);
    // The bar of a phone has the number beside the way to all places.
    await page.getByText("1 wait for you").first().waitFor({ state: "attached" });
    await page.goto(`${program.url}/console/home`);
    await page.getByRole("link", { name: /1 wait for your approval/ }).click();
    const title = `${order.poNumber}: move to Sent`;
    await page.getByText("Reorder agent (program) asks").waitFor();
    await page.getByText("A day's orders: €200.00 at most; €0.00 used; this asks for €250.00.").waitFor();
    await picture(page, "approvals");
    await page.setViewportSize(phone);
    await page.getByRole("link", { name: title }).click();
    await page.getByRole("heading", { name: title }).waitFor();
    await page.getByText("Maasbrand Roastery").waitFor();
    await page.getByRole("row", { name: "Status Draft Sent" }).waitFor();
    await page.getByText("Espresso beans").waitFor();
    for (const name of ["Reject", "Approve"]) await isInReach(page, name);
    await picture(page, "approval");
    await page.setViewportSize(phone);
    await page.getByLabel("Comment").fill("Take it. We run out on Friday.");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText(/^Approved by Ana, and done\./).waitFor();
    await page.getByText("Take it. We run out on Friday.").waitFor();
    await picture(page, "approval-approved");
    await page.setViewportSize({ width: 1_280, height: 900 });
    await page.getByRole("link", { name: order.poNumber, exact: true }).click();
    await showsStatus(page, "Sent");
    await page.getByText("approved by Ana").waitFor();
    assert.equal((await apiOf(program, writeKey).order(order.id)).status, "Sent");
    await page.goto(`${program.url}/console/activity?view=changes`);
    await page.getByText("Reorder agent, approved by Ana").first().waitFor();

    await apiOf(program, writeKey).send("POST", `/${order.id}/confirm`, { confirmAll: true });
    await page.goto(`${program.url}/console/receive/${order.id}`);
    await page.getByRole("button", { name: "Receive all remaining" }).click();
    await page.getByRole("button", { name: /^Receive \(/ }).click();
    await page.getByText("2 lines received.").waitFor();
    assert.deepEqual(faults, []);
  },
);

test("a request is rejected with a comment, which its asker reads; several are decided at once", { skip }, async () => {
  const { program } = await newPage();
  const { key: writeKey } = await makeShop(program, "several", records);
  const key = await agentKey(program, "several", "propose");
  const owner = await signedIn("several", "owner");
  const purchaser = await signedIn("several", "purchaser");
  const orders = [
    await draft(program, writeKey, 4),
    await draft(program, writeKey, 5),
    await draft(program, writeKey, 6),
  ];
  const ids: string[] = [];
  for (const { id } of orders) ids.push(await asksToSend(program, key, id));
  const [first = "", second = "", third = ""] = ids;

  // Who may not decide sees it, and no button.
  await purchaser.page.goto(`${program.url}/console/approvals/${first}`);
  await purchaser.page.getByText("You cannot decide this one.").waitFor();
  assert.equal(await purchaser.page.getByRole("button", { name: "Approve" }).count(), 0);

  // From the order itself.
  const { page } = owner;
  await page.goto(`${program.url}/console/orders/${orders[0]?.id}`);
  const notice = page.getByRole("region", { name: "Waits for approval" });
  await notice.getByText("Its key may only propose.").waitFor();
  await picture(page, "approval-of-order");
  await notice.getByLabel("Comment").fill("Not before Monday.");
  await notice.getByRole("button", { name: "Reject" }).click();
  await notice.waitFor({ state: "detached" });
  await purchaser.page.getByText("Rejected by Ana the owner. Nothing was done.").waitFor();
  await purchaser.page.getByText("Not before Monday.").waitFor();
  const agent = await connectAgent({ url: program.url, writeKey: key });
  const told = await agent.call("approval_request_get", { approvalRequestId: first });
  await agent.client.close();
  assert.match(JSON.stringify(told), /Not before Monday/);

  // Two at once; one of them by then is about another order than was asked for.
  await apiOf(program, writeKey).send("POST", `/${orders[2]?.id}/line-items/custom`, {
    productName: "Cups",
    quantityOrdered: 10,
    unitCost: 1,
  });
  await page.goto(`${program.url}/console/approvals`);
  for (const order of orders.slice(1)) await page.getByLabel(`Choose ${order.poNumber}: move to Sent`).check();
  await picture(page, "approvals-several");
  await page.getByRole("button", { name: "Approve 2" }).click();
  await page.getByText("Approved by Ana the owner, and done.").waitFor();
  await page.getByText(/the order had changed/).waitFor();
  await picture(page, "approvals-decided");
  assert.equal(Object(await became(program, "several", second)).status, "approved");
  assert.equal(Object(await became(program, "several", third)).status, "overtaken");
  await page.goto(`${program.url}/console/approvals?status=overtaken`);
  await page.getByRole("link", { name: `${orders[2]?.poNumber}: move to Sent` }).click();
  await page.getByRole("region", { name: "What it would have done when it was approved" }).waitFor();
  await picture(page, "approval-overtaken");
  assert.deepEqual([...owner.faults, ...purchaser.faults], []);
});
