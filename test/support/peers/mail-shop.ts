/** A shop on a running program that sends mail to a server of the tests' own. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { z } from "zod";
import { type Answered, type RunningProgram, withProgram } from "../process.ts";
import { parseMail, type ReceivedMail, type SmtpServerForTests } from "./smtp.ts";
import { until } from "../until.ts";

export const supplierEmail = "orders@supplier.example";

const mailSchema = z.looseObject({
  mailId: z.string(),
  state: z.enum(["queued", "sent", "failed"]),
  attempts: z.int(),
  detail: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
  recipients: z.array(z.looseObject({ address: z.string(), state: z.string(), detail: z.string().nullable() })),
  documents: z.array(z.looseObject({ fileName: z.string(), sha256: z.string() })),
});

export type ShownMail = z.output<typeof mailSchema>;

export interface MailShop {
  readonly program: RunningProgram;
  readonly token: string;
  readonly apiKey: string;
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** A draft with one line for the supplier; returns its id. */
  makeOrder(fields?: object): Promise<string>;
  send(orderId: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  mails(orderId: string): Promise<readonly ShownMail[]>;
  /** Waits until the order's newest mail stands so. */
  untilMail(orderId: string, holds: (mail: ShownMail) => boolean, waitMs?: number): Promise<ShownMail>;
}

export const mailEnv = ({ url }: Pick<SmtpServerForTests, "url">): Readonly<Record<string, string>> => ({
  OPENPO_SMTP_URL: url,
  OPENPO_MAIL_FROM: "po@service.example",
});

/** The environment of a program without a demo, which is killed and started again on its directory, and mails. */
export const mailingEnv = (
  directory: string,
  server: Pick<SmtpServerForTests, "url">,
): Readonly<Record<string, string>> => ({
  OPENPO_DATA_DIR: directory,
  OPENPO_DEMO: "0",
  OPENPO_LOG_LEVEL: "fatal",
  ...mailEnv(server),
});

/** The link to sign in by of the latest mail, once there are so many. */
export async function mailedLink(server: SmtpServerForTests, count: number): Promise<string> {
  await server.until(() => server.taken.length >= count);
  const [latest] = server.taken.slice(-1);
  assert.ok(latest !== undefined);
  const text = parseMail(latest).parts[0]?.bytes.toString() ?? "";
  return /http\S+#opm_\S+/.exec(text)?.[0] ?? assert.fail(text);
}

/** Makes the shop on a program, with a supplier who has an address, one who has none, and one who has two. */
export async function mailShopOn(
  program: RunningProgram,
  token: string,
  name = "Café Nord",
  shopId = "shop",
): Promise<MailShop> {
  const ask: MailShop["ask"] = (method, path, body, headers) =>
    program.ask(method, `/admin/v1/shops/${shopId}${path}`, token, body, headers);
  assert.equal((await ask("PUT", "", { name, currencyCode: "EUR" })).status, 201);
  const records = [
    { type: "supplier", supplierId: "sup", name: "Supplier", email: supplierEmail },
    { type: "supplier", supplierId: "mute", name: "Mute" },
    { type: "supplier", supplierId: "two", name: "Two", email: " Anna <a@x.example>; b@müller.example " },
    { type: "location", locationId: "loc", name: "Store" },
  ];
  const imported = await ask("POST", "/import", records.map((record) => JSON.stringify(record)).join("\n"));
  assert.equal(imported.status, 200, imported.text);
  const apiKey = String((await ask("POST", "/keys", { name: "bot", scope: "write" })).at("data", "apiKey"));
  const shop: MailShop = {
    program,
    token,
    apiKey,
    ask,
    async makeOrder(fields = {}) {
      const orders = "/api/v1/purchase-orders";
      const body = { supplierId: "sup", locationId: "loc", ...fields };
      const made = await program.ask("POST", orders, apiKey, body);
      assert.equal(made.status, 201, made.text);
      const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
      const line = { productName: "Mug", quantityOrdered: 3, unitCost: 4.5 };
      const added = await program.ask("POST", `${orders}/${id}/line-items/custom`, apiKey, line);
      assert.equal(added.status, 201, added.text);
      return id;
    },
    send: (orderId, body = {}, headers) => ask("POST", `/purchase-orders/${orderId}/send`, body, headers),
    async mails(orderId) {
      const listed = await ask("GET", `/purchase-orders/${orderId}/mails`);
      assert.equal(listed.status, 200, listed.text);
      return z.array(mailSchema).parse(listed.at("data", "mails"));
    },
    untilMail: (orderId, holds, waitMs) =>
      until(
        () => shop.mails(orderId),
        async () => {
          const [mail] = await shop.mails(orderId);
          return mail !== undefined && holds(mail) && mail;
        },
        waitMs,
      ),
  };
  return shop;
}

/** Runs `use` with the shop on a program of its own. */
export const withMailShop = (
  server: SmtpServerForTests | null,
  use: (shop: MailShop) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> =>
  withProgram(async (program, token) => await use(await mailShopOn(program, token)), {
    ...(server === null ? {} : mailEnv(server)),
    ...env,
  });

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The attached files by name. */
export const attachedTo = (mail: ReceivedMail): ReadonlyMap<string, Buffer> =>
  new Map(
    parseMail(mail).parts.flatMap(({ headers, bytes }) => {
      const name = /filename="?([^";]+)"?/.exec(headers.get("content-disposition")?.[0] ?? "")?.[1];
      return name === undefined ? [] : [[name, bytes] as const];
    }),
  );
