/** The address of every place of the console, in a shop that has something to show at each. The compiler asks for that of a place that is added. */
import assert from "node:assert/strict";
import type { places } from "../../../console/places.ts";
import type { Role } from "../../../src/core/access/role.ts";
import { toOrders } from "../../support/pages/console.ts";
import type { RunningProgram } from "../../support/process.ts";

/** Rows of a shop that places name. */
export interface Rows {
  readonly shopId: string;
  /** An order in each status. */
  readonly orders: Readonly<Record<string, string>>;
  readonly endpointId: string;
  readonly supplierId: string;
  readonly variantId: string;
  readonly locationId: string;
  readonly approvalRequestId: string;
}

export const addresses: Readonly<Record<(typeof places)[number], (rows: Rows) => string>> = {
  home: () => "home",
  orders: () => "orders",
  "orders/:purchaseOrderId": ({ orders }) => `orders/${orders["Draft"]}`,
  "orders/:purchaseOrderId/confirm": ({ orders }) => `orders/${orders["Sent"]}/confirm`,
  "orders/:purchaseOrderId/complete": ({ orders }) => `orders/${orders["Received"]}/complete`,
  "orders/:purchaseOrderId/print": ({ orders }) => `orders/${orders["Sent"]}/print`,
  "new-order": () => "new-order",
  dock: () => "dock",
  "receive/:purchaseOrderId": ({ orders }) => `receive/${orders["In Progress"]}`,
  reorder: () => "reorder",
  import: () => "import",
  stock: () => "stock",
  "stock/:kind": () => "stock/manufacturing",
  "stock/:kind/:recordId": () => "stock/transfers/to_demo_01",
  suppliers: () => "suppliers",
  "suppliers/:supplierId": ({ supplierId }) => `suppliers/${supplierId}`,
  products: () => "products",
  "products/:variantId": ({ variantId }) => `products/${variantId}`,
  locations: () => "locations",
  "locations/:locationId": ({ locationId }) => `locations/${locationId}`,
  "new/:kind": () => "new/suppliers",
  connect: () => "connect",
  keys: () => "keys",
  approvals: () => "approvals",
  "approvals/:approvalRequestId": ({ approvalRequestId }) => `approvals/${approvalRequestId}`,
  activity: () => "activity",
  people: () => "people",
  account: () => "account",
  webhooks: () => "webhooks",
  storefront: () => "storefront",
  settings: () => "settings",
  "settings/documents": () => "settings/documents",
  "settings/approvals": () => "settings/approvals",
  "webhooks/:endpointId": ({ endpointId }) => `webhooks/${endpointId}`,
  shops: () => "shops",
  "shops/:shopId": ({ shopId }) => `shops/${shopId}`,
};

/** What places show besides: each status of an order, and the other kinds of records. */
export const furtherAddresses = ({ orders }: Rows): readonly string[] => [
  ...Object.entries(orders).flatMap(([status, id]) => (status === "Draft" ? [] : [`orders/${id}`])),
  "orders?search=none",
  "receive",
  "stock/transfers",
  "stock/adjustments",
  "stock/takes/st_demo_01",
  "stock/adjustments/sa_demo_01",
  "stock/manufacturing/mo_demo_01",
  "new/products",
  "new/locations",
];

/** A shop of the program, and a key that writes. */
export interface Shop {
  readonly shopId: string;
  readonly key: string;
}

/** Makes what a shop lacks, an endpoint of a webhook and an agent's request, and finds the rest. */
export async function rowsOf(program: RunningProgram, { shopId, key }: Shop): Promise<Rows> {
  const { adminToken } = program;
  const admin = `/admin/v1/shops/${shopId}`;
  const listed = await program.ask("GET", "/api/v1/purchase-orders?limit=50", key);
  const found = listed.at("data", "purchaseOrders") as readonly { status: string; purchaseOrderId: string }[];
  const body = { url: "http://127.0.0.1:9/hook", eventTypes: ["purchase_order.*"] };
  const made = await program.ask("POST", `${admin}/webhook-endpoints`, adminToken, body);
  const first = async (list: string, id: string): Promise<string> => {
    const answer = await program.ask("GET", `${admin}/${list}?limit=1`, adminToken);
    return String(answer.at("data", list, 0, id));
  };
  const orders = Object.fromEntries(found.map(({ status, purchaseOrderId }) => [status, purchaseOrderId]));
  const agent = { name: "Careful agent", scope: "propose" };
  const proposes = await program.ask("POST", `${admin}/keys`, adminToken, agent);
  const target = `/api/v1/purchase-orders/${orders["Draft"]}/status`;
  const asked = await program.ask("POST", target, String(proposes.at("data", "apiKey")), { status: "Sent" });
  assert.equal(asked.status, 202, asked.text);
  return {
    shopId,
    orders,
    approvalRequestId: String(asked.at("data", "approvalRequest", "approvalRequestId")),
    endpointId: String(made.at("data", "endpointId")),
    supplierId: await first("suppliers", "supplierId"),
    variantId: await first("variants", "variantId"),
    locationId: await first("locations", "locationId"),
  };
}

/** Names that take more room than those of the demo, by their length, their letters or their direction. */
const names = [
  "Donaudampfschifffahrtsgesellschaftskapitänsmützenmanufaktur Süderelbe",
  "緑茶とほうじ茶の詰め合わせ（化粧箱入り・十二個）",
  "مسحوق القهوة العربية المطحونة بالهيل والزعفران",
  "Tee",
  "קפה טורקי קלוי כהה",
  "Sencha × „Frühling“, hand-picked, first flush, in a tin with a lid of cherry wood",
];

const named = /^(?:name|companyName|(?:product|supplier|location|transfer|stockTake|po|mo)Name)$/;

/** The records of an export with such names. One that stands in many of them is the same in all. */
function renamed(records: string): string {
  const found = new Map<string, string>();
  const nameFor = (name: string): string => {
    const number = found.size;
    const next = found.get(name) ?? `${names[number % names.length]} ${number}`;
    found.set(name, next);
    return next;
  };
  const revive = (key: string, value: unknown): unknown =>
    named.test(key) && typeof value === "string" && value !== "" ? nameFor(value) : value;
  return records
    .trim()
    .split("\n")
    .map((line) => `${JSON.stringify(JSON.parse(line, revive))}\n`)
    .join("");
}

/** The name of the shop that `makeNames` makes. */
const nameOfNames = "Kaffeerösterei und Teehandelsgesellschaft Süderelbe 緑茶 قهوة";

/** Makes the demo shop once more, with names that take more room. */
export async function makeNames(program: RunningProgram): Promise<Shop> {
  const shopId = "names";
  const ask = async (method: string, target: string, body?: unknown) => {
    const answer = await program.ask(method, `/admin/v1/shops/${target}`, program.adminToken, body);
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  const { text } = await ask("GET", "demo/export");
  await ask("PUT", shopId, { name: nameOfNames, currencyCode: "EUR" });
  await ask("POST", `${shopId}/import`, renamed(text));
  const made = await ask("POST", `${shopId}/keys`, { name: `${names[0]}, night bot`, scope: "write" });
  return { shopId, key: String(made.at("data", "apiKey")) };
}

/** The link of an invitation for somebody with a long name. */
export async function invite(program: RunningProgram, { shopId }: Shop, role: Role): Promise<string> {
  const body = { name: `Ana Müller-Lüdenscheidt von der قهوة (${role})`, role };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/invitations`, program.adminToken, body);
  return toOrders(String(made.at("data", "url")));
}
