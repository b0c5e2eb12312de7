/**
 * Creates a first order over HTTP, from an empty shop to the activity log.
 *
 *     ADMIN_TOKEN=… node_modules/.bin/node examples/first-order.ts http://127.0.0.1:8080
 *
 * It creates its own shop, `first-order`, and deletes it at the end.
 */
const shopId = "first-order";

/** Sends a request, prints it, and returns `data` of the answer. */
async function ask(url: string, method: string, token: string, body?: object | string): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  console.log(`${method} ${new URL(url).pathname} → ${response.status}`);
  if (!response.ok) throw new Error(text);
  const answer: { data: unknown } = JSON.parse(text);
  return answer.data;
}

/** Returns the member at this path as text. */
function textAt(value: unknown, ...steps: readonly (string | number)[]): string {
  let found = value;
  for (const step of steps) found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  if (typeof found !== "string" && typeof found !== "number") throw new Error(`nothing at ${steps.join(".")}`);
  return String(found);
}

/** Runs all steps. Returns the messages of the activity log, newest first. */
export async function firstOrder(baseUrl: string, adminToken: string): Promise<readonly string[]> {
  const admin = `${baseUrl}/admin/v1/shops/${shopId}`;
  const orders = `${baseUrl}/api/v1/purchase-orders`;

  // The operator creates a shop, a key, and the reference data that orders refer to.
  await ask(admin, "PUT", adminToken, { name: "First Order", currencyCode: "EUR" });
  const key = textAt(await ask(`${admin}/keys`, "POST", adminToken, { name: "story", scope: "write" }), "apiKey");
  const records = [
    { type: "location", locationId: "main", name: "Main Street" },
    { type: "supplier", supplierId: "mill", name: "The Paper Mill", currencyCode: "EUR", leadTimeDays: 7 },
    {
      type: "variant",
      variantId: "book-a5",
      productId: "book",
      productName: "Notebook",
      variantName: "A5",
      sku: "NB-A5",
    },
    { type: "inventoryLevel", variantId: "book-a5", locationId: "main", onHand: 3 },
  ];
  await ask(`${admin}/import`, "POST", adminToken, records.map((record) => JSON.stringify(record)).join("\n"));

  // The buyer creates an order, sends it, lists orders and reads the log.
  const created = await ask(orders, "POST", key, {
    poName: "Notebooks for spring",
    supplierId: "mill",
    locationId: "main",
    lineItems: [{ variantId: "book-a5", quantityOrdered: 3, unitCost: 19.99 }],
  });
  const order = `${orders}/${textAt(created, "purchaseOrder", "purchaseOrderId")}`;
  console.log(
    `  ${textAt(created, "purchaseOrder", "poNumber")}, ${textAt(created, "purchaseOrder", "totalValue")} EUR`,
  );
  await ask(`${order}/status`, "POST", key, { status: "Sent" });
  const list = await ask(`${orders}?status=Sent&search=notebooks`, "GET", key);
  console.log(`  ${textAt(list, "totalCount")} order sent`);
  const log = await ask(`${order}/log`, "GET", key);
  const messages = [0, 1].map((index) => textAt(log, "log", index, "message"));
  for (const message of messages) console.log(`  ${message}`);

  await ask(`${admin}?confirm=${shopId}`, "DELETE", adminToken);
  return messages;
}

if (import.meta.main) {
  const adminToken = process.env["ADMIN_TOKEN"];
  const [baseUrl = "http://127.0.0.1:8080"] = process.argv.slice(2);
  if (adminToken === undefined) {
    console.error("Set ADMIN_TOKEN to the admin token. The first start printed it and stored it in data/admin-token.");
    process.exit(1);
  }
  await firstOrder(baseUrl, adminToken);
}
