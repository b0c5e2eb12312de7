/**
 * Makes the shops of a kept release over the program's own surfaces: every kind of record, orders in every status, and the traces of every kind of
 * operation. What an earlier program does not have yet is left out.
 */
import assert from "node:assert/strict";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { MedusaPlace } from "../storefront/medusa/place.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { startSmtpServer } from "../support/peers/smtp.ts";
import { reasons, stockTake, world } from "../support/shops/read-only.ts";
import { type Answered, type Asked } from "../support/clients.ts";
import { type Running, secretKey } from "./program.ts";
import { until } from "../support/until.ts";

export const adminToken = "an-admin-token-of-kept-releases";
export const wideShop = "wide";
export const connectedShop = "connected";

const shopPath = `/admin/v1/shops/${wideShop}`;
const orders = "/api/v1/purchase-orders";

/** A write under an idempotency key, and what was answered. */
interface KeyedAnswer extends Asked {
  readonly status: number;
  readonly text: string;
}

export interface MadeShops {
  readonly keys: { readonly read: string; readonly write: string };
  readonly keyed: readonly KeyedAnswer[];
  /** The path of a supplier's link; null in a program without them. */
  readonly supplierLink: string | null;
  /** What the program did not have. */
  readonly missing: readonly string[];
}

const importedOrders = statuses.map((status, index) => ({
  type: "purchaseOrder",
  purchaseOrderId: `po_${index + 10}`,
  poName: `Was ${status}`,
  status,
  supplierId: "mill",
  locationId: "warehouse",
  ...(["On Hold", "Disputed", "Cancelled"].includes(status) ? { previousStatus: "In Progress" } : {}),
  lineItems: [
    {
      poLineItemId: `${index}a`,
      variantId: "red",
      quantityOrdered: 10,
      unitCost: 4,
      ...(["Draft", "Sent", "Cancelled"].includes(status)
        ? {}
        : { quantityConfirmed: status === "Partially Confirmed" ? 5 : 10 }),
      ...(status === "Partially Received" ? { quantityReceived: 3 } : {}),
      ...(status === "Received" || status === "Completed" ? { quantityReceived: 10 } : {}),
    },
  ],
  payments: [
    {
      paymentId: `payment ${index}`,
      paymentName: "Deposit",
      paymentType: "deposit",
      status: "Paid",
      amount: 1,
      currencyCode: "EUR",
      createdAt: "2026-03-01T09:00:00.000Z",
    },
  ],
}));

const records: readonly object[] = [
  { type: "location", locationId: "warehouse", name: "Warehouse" },
  { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR", email: "orders@mill.test" },
  ...["red", "blue", "green"].map((variantId) => ({
    type: "variant",
    variantId,
    productId: `product of ${variantId}`,
    productName: `Shirt, ${variantId}`,
    sku: `SHIRT-${variantId}`,
    barcode: "4006381333931",
    unitCost: 1,
  })),
  { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 1, unitCostCurrencyCode: "EUR" },
  { type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 100 },
  { type: "sale", variantId: "red", locationId: "warehouse", date: "2026-11-01", quantity: 2 },
  { type: "sale", variantId: "red", locationId: "warehouse", date: "2026-10-02", quantity: 7.5 },
  { type: "supplierCredit", creditId: "credit", supplierId: "mill", amount: 5, currencyCode: "EUR" },
  {
    type: "forecastView",
    viewId: "view",
    viewName: "Reorder",
    mode: "stock",
    columns: ["productName", "onHand"],
    filters: { supplierIds: ["mill"] },
  },
  ...world,
  { ...stockTake, stockTakeId: "st_2", stockTakeNumber: "ST-2", reasonId: reasons[1].reasonId },
  ...importedOrders,
];

/** Makes the shops. `isEarlier`: a program of an earlier commit, which may not have everything. */
class Maker {
  readonly #program: Running;
  readonly #isEarlier: boolean;
  readonly missing: string[] = [];
  readonly keyed: KeyedAnswer[] = [];
  writeKey = "";

  constructor(program: Running, isEarlier: boolean) {
    this.#program = program;
    this.#isEarlier = isEarlier;
  }

  async #ask(asked: Asked): Promise<Answered> {
    const answer = await this.#program.ask(asked);
    assert.ok(answer.status < 300, `${asked.method ?? "GET"} ${asked.target}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async admin(method: string, target: string, body?: unknown): Promise<JsonAnswer> {
    return jsonOf(await this.#ask({ method, target, token: adminToken, body }));
  }

  async api(method: string, target: string, body?: unknown, idempotencyKey?: string): Promise<JsonAnswer> {
    const headers = idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
    const asked = { method, target, token: this.writeKey, body, headers };
    const answer = await this.#ask(asked);
    if (idempotencyKey !== undefined) this.keyed.push({ ...asked, status: answer.status, text: answer.text });
    return jsonOf(answer);
  }

  /** Signs in with the secret of an invitation, as the console's page does. */
  async signIn(secret: string): Promise<void> {
    const headers = { "Sec-Fetch-Site": "same-origin" };
    await this.#ask({ method: "POST", target: "/console/session", token: null, body: { invitation: secret }, headers });
  }

  /** Does something that an earlier program may not have. */
  async newer<T>(what: string, does: () => Promise<T>): Promise<T | null> {
    if (!this.#isEarlier) return await does();
    try {
      return await does();
    } catch (error) {
      this.missing.push(`${what}: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`);
      return null;
    }
  }
}

type JsonAnswer = (...steps: readonly (string | number)[]) => unknown;

function jsonOf({ text }: Answered): JsonAnswer {
  const parsed: unknown = text === "" ? null : JSON.parse(text);
  return (...steps) => {
    let value = parsed;
    for (const step of steps)
      value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
    return value;
  };
}

/** An order of red and blue that is In Progress. */
async function inProgress(maker: Maker, poName: string): Promise<{ readonly at: string; readonly lines: string[] }> {
  const lineItems = [
    { variantId: "red", quantityOrdered: 10, unitCost: 4 },
    { variantId: "blue", quantityOrdered: 5.5, unitCost: 2.5, unitCostCurrencyCode: "USD" },
  ];
  const made = await maker.api(
    "POST",
    orders,
    { poName, supplierId: "mill", locationId: "warehouse", lineItems },
    `create ${poName}`,
  );
  const order = (...steps: readonly (string | number)[]): string => String(made("data", "purchaseOrder", ...steps));
  const at = `${orders}/${order("purchaseOrderId")}`;
  await maker.api("POST", `${at}/status`, { status: "Sent" });
  await maker.api("POST", `${at}/confirm`, { confirmAll: true }, `confirm ${poName}`);
  return { at, lines: [0, 1].map((index) => order("lineItems", index, "poLineItemId")) };
}

async function workADay(maker: Maker): Promise<void> {
  await maker.api("PATCH", (await inProgress(maker, "header")).at, { note: "ünï", tags: ["a"] });
  for (const status of ["On Hold", "Disputed", "Cancelled"])
    await maker.api("POST", `${(await inProgress(maker, status)).at}/status`, { status });

  const edited = await inProgress(maker, "edited");
  await maker.api("POST", `${edited.at}/line-items`, { lineItems: [{ variantId: "green", quantityOrdered: 1 }] });
  await maker.api("POST", `${edited.at}/line-items/custom`, { productName: "Pallet", quantityOrdered: 3, unitCost: 1 });
  const lines = [{ lineItemId: edited.lines[0], unitCost: 3.5, supplierSku: "R-9" }];
  await maker.api("PATCH", `${edited.at}/line-items`, { lines, updateSupplier: true });
  await maker.api("DELETE", `${edited.at}/line-items?lineItemIds=${edited.lines[1]}`);

  const received = await inProgress(maker, "received");
  const some = [{ lineItemId: received.lines[0], quantityReceived: 7 }];
  await maker.api("POST", `${received.at}/receive`, { lines: some }, "receive some");
  const back = [{ lineItemId: received.lines[0], quantity: 2 }];
  await maker.api("POST", `${received.at}/unreceive`, { lines: back, reason: "broken" });
  await maker.api("POST", `${received.at}/storefront-sync`);
  await maker.api("POST", `${received.at}/storefront-sync/reset`);

  const completed = await inProgress(maker, "completed");
  const all = completed.lines.map((lineItemId) => ({ lineItemId, quantityReceived: 5 }));
  await maker.api("POST", `${completed.at}/receive`, { lines: all });
  await maker.api("POST", `${completed.at}/storefront-sync`);
  await maker.api("POST", `${completed.at}/complete`, undefined, "complete");
  await maker.api("POST", `${(await inProgress(maker, "quick")).at}/quick-complete`);

  const gone = await maker.api("POST", orders, {});
  await maker.api("DELETE", `${orders}/${String(gone("data", "purchaseOrder", "purchaseOrderId"))}`);
}

/** People, links, webhooks, settings: what is not an order. */
async function workOfAnOwner(maker: Maker): Promise<string | null> {
  await maker.newer("people", async () => {
    await maker.admin("POST", `${shopPath}/invitations`, { name: "Bob", role: "viewer", email: "bob@shop.test" });
    const invited = await maker.admin("POST", `${shopPath}/invitations`, { name: "Ada", role: "purchaser" });
    await maker.signIn(new URL(String(invited("data", "url"))).hash.slice(1));
  });
  await maker.newer("document settings", () =>
    maker.admin("PUT", `${shopPath}/document-settings`, { language: "de", footer: "Danke!" }),
  );
  await maker.newer("console views", () =>
    maker.admin("PUT", `${shopPath}/console-views/late`, { viewName: "Late", query: "late=1", isShared: true }),
  );
  await maker.newer("keys that are revoked", async () => {
    const key = await maker.admin("POST", `${shopPath}/keys`, { name: "gone", scope: "read" });
    await maker.admin("DELETE", `${shopPath}/keys/${String(key("data", "keyId"))}`);
  });
  await maker.newer("keys that are paused", async () => {
    const key = await maker.admin("POST", `${shopPath}/keys`, { name: "paused", scope: "read" });
    await maker.admin("PATCH", `${shopPath}/keys/${String(key("data", "keyId"))}`, { paused: true });
  });
  const link = await maker.newer("suppliers' links", async () => {
    const { at } = await inProgress(maker, "linked");
    const order = `${shopPath}${at.slice("/api/v1".length)}`;
    const made = await maker.admin("POST", `${order}/supplier-links`, {});
    const page = new URL(String(made("data", "url"))).pathname;
    await maker.admin("POST", `${page}/proposal`, { reference: "SO-7", trackingNumber: "1Z" });
    return page;
  });
  await maker.newer("mails", async () => {
    const { at } = await inProgress(maker, "mailed");
    const order = `${shopPath}${at.slice("/api/v1".length)}`;
    await maker.admin("POST", `${order}/send`, { to: "orders@mill.test" });
    await until("the mail is sent", async () => {
      const { text } = await mailsOf(maker, order);
      return text.includes('"sent"');
    });
  });
  return link;
}

async function mailsOf(maker: Maker, order: string): Promise<{ readonly text: string }> {
  const mails = await maker.admin("GET", `${order}/mails`);
  return { text: JSON.stringify(mails("data")) };
}

/** A shop whose storefront is a Medusa, with an order that was received there. */
async function connect(maker: Maker, medusa: MedusaPlace): Promise<void> {
  const locationId = await medusa.addLocation("Dock");
  const [variantId = ""] = await medusa.addVariants(1);
  const at = `/admin/v1/shops/${connectedShop}`;
  await maker.admin("PUT", at, { name: "Connected", currencyCode: "USD" });
  const lines = [
    { type: "location", locationId, name: "Dock" },
    { type: "supplier", supplierId: "mill", name: "Mill" },
    { type: "variant", variantId, productId: "p", productName: "P" },
  ];
  await maker.admin("POST", `${at}/import`, lines.map((line) => JSON.stringify(line)).join("\n"));
  await maker.admin("PUT", at, { storefront: { kind: "medusa", url: medusa.proxy.url, secretKey: medusa.key } });
}

/** What the program is given to make the shops with. */
export async function withSurroundings<T>(
  use: (
    env: Readonly<Record<string, string>>,
    make: (program: Running, isEarlier: boolean) => Promise<MadeShops>,
  ) => Promise<T>,
): Promise<T> {
  const medusa = await MedusaPlace.open();
  const receiver = await startReceiver();
  const smtp = await startSmtpServer();
  try {
    const env = {
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_SECRET_KEY: secretKey,
      OPENPO_STOREFRONT_ALLOW: medusa.proxy.url,
      OPENPO_WEBHOOK_ALLOW: "127.0.0.1",
      OPENPO_WEBHOOK_HTTP: "1",
      OPENPO_SMTP_URL: smtp.url,
      OPENPO_MAIL_FROM: "shop@openpo.test",
    };
    return await use(env, async (program, isEarlier) => {
      const maker = new Maker(program, isEarlier);
      await maker.admin("PUT", shopPath, { name: "Wide", currencyCode: "EUR" });
      await maker.newer("a rate limit of the shop's own", () =>
        maker.admin("PUT", shopPath, { settings: { rateLimit: { capacity: 10_000, refillPerSecond: 1_000 } } }),
      );
      await maker.newer("settings", () =>
        maker.admin("PUT", shopPath, { settings: { fxRates: { USD: 0.9 }, timezone: "Europe/Amsterdam" } }),
      );
      const made: { read: string; write: string } = { read: "", write: "" };
      for (const scope of ["read", "write"] as const) {
        const key = await maker.admin("POST", `${shopPath}/keys`, { name: scope, scope });
        made[scope] = String(key("data", "apiKey"));
      }
      maker.writeKey = made.write;
      const told = await maker.newer("webhooks", async () => {
        await maker.admin("POST", `${shopPath}/webhook-endpoints`, {
          url: receiver.url,
          eventTypes: ["purchase_order.completed"],
        });
        return true;
      });
      const lines = records.map((record) => JSON.stringify(record)).join("\n");
      await maker.admin("POST", `${shopPath}/import`, lines);
      await workADay(maker);
      const supplierLink = await workOfAnOwner(maker);
      if (told === true) await receiver.until(() => receiver.received.length > 0);
      await maker.newer("a connected storefront", () => connect(maker, medusa));
      return { keys: made, keyed: maker.keyed, supplierLink, missing: maker.missing };
    });
  } finally {
    await smtp.close();
    await receiver.close();
    await medusa.close();
  }
}
