/**
 * The operator's commands. Each asks operations by name and shows what they answer; it knows no rule of its own.
 */
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { fileFormatNames } from "../exchange/csv-formats.ts";
import { type Answer, type Ask } from "../admin/ask.ts";
import { makeDemoShop } from "../demo/demo-shop.ts";
import { demoShopId } from "../demo/shop.ts";
import type { Config } from "../config.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { type Arguments, type Command, CommandError, exitCodes, type Option, usageError } from "./arguments.ts";
import { restoreBackup, writeBackup } from "./backup.ts";
import { commandErrorOf, openOperator, type Operator } from "./operator.ts";
import { bytesShown, listIn, memberOf, type Output, shown, table } from "./output.ts";

/** What a command has at hand. */
export interface Setting {
  readonly config: Config;
  /** Of the server to ask; null when the data directory tells. */
  readonly url: string | null;
  readonly output: Output;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly nowMs: number;
}

export interface RunnableCommand extends Command {
  run(args: Arguments, setting: Setting): Promise<void>;
}

/** The standard streams by their usual name. */
const standard = "-";

export const helpOption: Record<string, Option> = { help: { value: null, help: "this text" } };

/** What every command takes that works on shops. */
const commonOptions = {
  json: { value: null, help: "the result as JSON on stdout, one line; messages stay on stderr" },
  url: { value: "URL", help: "ask the server at this address (OPENPO_URL)" },
  token: { value: "TOKEN", help: "its admin token (OPENPO_ADMIN_TOKEN; else the one in the data directory)" },
  "data-dir": { value: "DIR", help: "the data directory (OPENPO_DATA_DIR, ./data), whatever OPENPO_DATABASE_URL says" },
  ...helpOption,
} as const satisfies Record<string, Option>;

const progressOption = {
  progress: { value: null, help: "tell how far it is, also when stderr is no terminal" },
} as const satisfies Record<string, Option>;

const shopOption = { shop: { value: "SHOP_ID", help: "the shop (needed)" } } as const satisfies Record<string, Option>;

const dataOf = (answer: Answer): unknown => ("data" in answer ? answer.data : null);

/** Opens the operator's side for as long as `use` runs. */
async function withOperator(
  setting: Setting,
  use: (ask: Ask, operator: Operator) => Promise<void>,
  mayBegin = false,
): Promise<void> {
  const operator = await openOperator({ ...setting, mayBegin });
  try {
    await use(operator.ask, operator);
  } finally {
    await operator.close();
  }
}

/** Input without what was not given. */
const given = (input: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));

/** @throws CommandError when the option is no whole number. @returns null when it was not given. */
function wholeNumber(args: Arguments, option: string, command: Command): number | null {
  const text = args.text(option);
  if (text === null) return null;
  if (!/^\d{1,9}$/.test(text))
    throw usageError(`--${option} must be a whole number.`, `See openpo ${command.name} --help.`);
  return Number(text);
}

// Shops.

/** `name=value` as a member; a value that is JSON counts as such, any other is text. */
function settingFrom(text: string): readonly [string, Json] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--setting ${text}: must be NAME=VALUE.`, "See openpo shop create --help.");
  const value = text.slice(at + 1);
  try {
    const json: Json = JSON.parse(value);
    return [text.slice(0, at), json];
  } catch {
    return [text.slice(0, at), value];
  }
}

const shopCreate: RunnableCommand = {
  name: "shop create",
  parameters: ["SHOP_ID"],
  summary: "makes a shop, or changes one with --update",
  details: `SHOP_ID is 1 to 40 lower-case letters, digits and hyphens.

Settings: followOnWaitMs, confirmationWaitMs, autoSyncOnReceiving, costSyncMode, onOrderTag, fxRates, rateLimit, timezone.

  openpo shop create tideline --name "Tideline Coffee" --currency EUR --setting 'fxRates={"USD":0.92}'`,
  options: {
    name: { value: "NAME", help: "what people call it (default: its id)" },
    currency: { value: "CODE", help: "its currency (USD)" },
    "rest-api": { value: "yes|no", help: "whether its plan has the REST API (yes)" },
    setting: {
      value: "NAME=VALUE",
      help: "a setting; the value is JSON or plain text. May be repeated",
      repeats: true,
    },
    update: { value: null, help: "change the shop if it is there; what is not given stays as it is" },
    ...commonOptions,
  },
  async run(args, setting) {
    const shopId = args.parameter(0);
    const restApi = args.text("rest-api");
    if (restApi !== null && restApi !== "yes" && restApi !== "no")
      throw usageError("--rest-api must be yes or no.", "See openpo shop create --help.");
    const settings = args.all("setting").map(settingFrom);
    await withOperator(
      setting,
      async (ask) => {
        const before = await shopIfAny(ask, shopId);
        if (before !== null && !args.flag("update"))
          throw new CommandError(exitCodes.failed, `there is a shop ${shopId} already.`, {
            action: "Add --update to change it.",
          });
        const name = memberOf(before, "name");
        const input = given({
          shopId,
          name: args.text("name") ?? (typeof name === "string" ? name : shopId),
          currencyCode: args.text("currency"),
          plan: restApi === null ? null : { restApi: restApi === "yes" },
          settings: settings.length === 0 ? null : Object.fromEntries(settings),
        });
        const data = dataOf(await ask("shop_put", input));
        setting.output.result(data, `Shop ${shopId} is ${before === null ? "made" : "changed"}.`);
      },
      true,
    );
  },
};

/** The shop, or null when there is none. */
async function shopIfAny(ask: Ask, shopId: string): Promise<unknown> {
  const shops = listIn(dataOf(await ask("shop_list", {})), "shops");
  return shops.find((shop) => memberOf(shop, "shopId") === shopId) ?? null;
}

const shopList: RunnableCommand = {
  name: "shop list",
  parameters: [],
  summary: "lists the shops with what they hold",
  options: commonOptions,
  async run(_args, setting) {
    await withOperator(setting, async (ask) => {
      const data = dataOf(await ask("shop_list", {}));
      const rows = listIn(data, "shops").map((shop) => {
        const counts = memberOf(shop, "counts");
        return [
          memberOf(shop, "shopId"),
          memberOf(shop, "name") ?? memberOf(shop, "unavailable"),
          memberOf(shop, "currencyCode"),
          memberOf(counts, "purchaseOrders"),
          memberOf(counts, "variants"),
          memberOf(counts, "apiKeys"),
        ];
      });
      setting.output.result(
        data,
        rows.length === 0
          ? "There are no shops."
          : table(["SHOP", "NAME", "CURRENCY", "ORDERS", "VARIANTS", "KEYS"], rows),
      );
    });
  },
};

const shopDelete: RunnableCommand = {
  name: "shop delete",
  parameters: ["SHOP_ID"],
  summary: "deletes a shop with all its data",
  options: {
    confirm: { value: "SHOP_ID", help: "the shop's id once more (needed): this cannot be undone" },
    ...commonOptions,
  },
  async run(args, setting) {
    const shopId = args.parameter(0);
    const confirm = args.needed("confirm");
    if (confirm !== shopId)
      throw usageError(`--confirm says ${confirm}, not ${shopId}.`, "See openpo shop delete --help.");
    await withOperator(setting, async (ask) => {
      const data = dataOf(await ask("shop_delete", { shopId, confirm }));
      setting.output.result(data, `Shop ${shopId} is deleted.`);
    });
  },
};

// Keys.

const keyCreate: RunnableCommand = {
  name: "key create",
  parameters: [],
  summary: "makes an API key; it is shown this once",
  options: {
    ...shopOption,
    name: { value: "NAME", help: "what the key is for (needed)" },
    scope: { value: "read|write", help: "what it may do (read)" },
    ...commonOptions,
  },
  async run(args, setting) {
    const input = { shopId: args.needed("shop"), name: args.needed("name"), scope: args.text("scope") ?? "read" };
    await withOperator(setting, async (ask) => {
      const data = dataOf(await ask("key_create", input));
      setting.output.result(data, shown(memberOf(data, "apiKey")));
      setting.output.say(`Key ${shown(memberOf(data, "keyId"))} (${input.scope}). It is not shown again.`);
    });
  },
};

const keyList: RunnableCommand = {
  name: "key list",
  parameters: [],
  summary: "lists the API keys of a shop, without their secrets",
  options: { ...shopOption, ...commonOptions },
  async run(args, setting) {
    const shopId = args.needed("shop");
    await withOperator(setting, async (ask) => {
      const data = dataOf(await ask("key_list", { shopId }));
      const fields = ["keyId", "name", "scope", "lastFour", "createdAt", "lastUsedAt", "revokedAt"];
      const rows = listIn(data, "keys").map((key) => fields.map((field) => memberOf(key, field)));
      const headings = ["KEY", "NAME", "SCOPE", "LAST FOUR", "MADE", "LAST USED", "REVOKED"];
      setting.output.result(data, rows.length === 0 ? "There are no keys." : table(headings, rows));
    });
  },
};

const keyRevoke: RunnableCommand = {
  name: "key revoke",
  parameters: ["KEY_ID"],
  summary: "revokes an API key: its next request is refused",
  options: { ...shopOption, ...commonOptions },
  async run(args, setting) {
    const shopId = args.needed("shop");
    const keyId = args.parameter(0);
    await withOperator(setting, async (ask) => {
      const data = dataOf(await ask("key_revoke", { shopId, keyId }));
      setting.output.result(data, `Key ${keyId} is revoked.`);
    });
  },
};

// Records.

/** A file's bytes as they are read, or stdin's, telling how far they are. */
async function* fileBytes(file: string, { stdin, output }: Setting): AsyncGenerator<Uint8Array> {
  const total = file === standard ? null : await sizeOf(file);
  let read = 0;
  for await (const piece of file === standard ? stdin() : createReadStream(file)) {
    yield piece;
    read += piece.length;
    const of = total === null ? "" : ` of ${bytesShown(total)}`;
    output.progress(
      read === total
        ? `All ${bytesShown(read)} are read; the records are being brought in …`
        : `Read ${bytesShown(read)}${of}`,
    );
  }
}

/** @throws CommandError when there is no such file. */
async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new CommandError(exitCodes.failed, `${file} is a directory, not a file.`);
    return found.size;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${String(memberOf(error, "code"))}.`);
  }
}

/** A refusal that names a line is told with the file that has it. */
function inFile(file: string, thrown: unknown): unknown {
  const error = commandErrorOf(thrown);
  if (error === null || !/^line \d/.test(error.message)) return thrown;
  const { exitCode, message, action, body } = error;
  return new CommandError(exitCode, `${file === standard ? "stdin" : file}: ${message}`, { action, body });
}

const importCommand: RunnableCommand = {
  name: "import",
  parameters: ["FILE"],
  summary: "brings a file of records into a shop, all or nothing",
  details: `FILE - is stdin. A record with the key of one that is there replaces it. A bad row is named by line and column, and nothing
is imported.

Formats:
  ndjson             what openpo export writes (the default)
  shopify-products   Shopify's product CSV
  shopify-inventory  Shopify's inventory CSV; import the products first
  supplier-prices    CSV: Unit cost, and Supplier or Supplier ID unless --supplier says whose list it is; optional Currency,
                     Supplier SKU, Supplier barcode, Supplier product name, Supplier product URL, MOQ, Pack size, Lead time days
  sales              CSV: Date (YYYY-MM-DD), Quantity; optional Location or Location ID. One row a variant, location and day

In CSV a variant is told by Variant ID, or by Handle and Option1 Value to Option3 Value; a SKU alone does not tell it. A column
that the file does not have leaves what is there as it is. Separators are commas, semicolons or tabs; numbers have a decimal point.`,
  options: {
    ...shopOption,
    format: { value: "FORMAT", help: "what the file is (ndjson)" },
    supplier: { value: "SUPPLIER_ID", help: "whose price list it is (supplier-prices)" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, setting) {
    const shopId = args.needed("shop");
    const file = args.parameter(0);
    const format = args.text("format") ?? "ndjson";
    if (!fileFormatNames.some((name) => name === format))
      throw usageError(`--format must be one of ${fileFormatNames.join(", ")}.`, "See openpo import --help.");
    const input = given({ shopId, format, supplierId: args.text("supplier") });
    if (file !== standard) await sizeOf(file);
    await withOperator(setting, async (ask) => {
      const answer = await ask("shop_import", input, fileBytes(file, setting)).catch((error: unknown) => {
        throw inFile(file, error);
      });
      const data = dataOf(answer);
      const counts = Object.entries(memberOf(data, "imported") ?? {}).map(([type, count]) => `${shown(count)} ${type}`);
      setting.output.result(data, `Imported into ${shopId}: ${counts.length === 0 ? "nothing" : counts.join(", ")}.`);
    });
  },
};

const exportCommand: RunnableCommand = {
  name: "export",
  parameters: [],
  summary: "writes all records of a shop as NDJSON, which openpo import takes back",
  options: {
    ...shopOption,
    output: { value: "FILE", help: "write to this file instead of stdout; it appears when it is whole" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, setting) {
    const { output } = setting;
    const shopId = args.needed("shop");
    const target = args.text("output") ?? standard;
    await withOperator(setting, async (ask) => {
      const answer = await ask("shop_export", { shopId });
      if (!("file" in answer)) throw new Error("an export is a file");
      let bytes = 0;
      let records = 0;
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const piece of answer.file) {
          const buffer = Buffer.from(piece);
          bytes += buffer.length;
          for (let at = buffer.indexOf("\n"); at !== -1; at = buffer.indexOf("\n", at + 1)) records += 1;
          yield buffer;
          output.progress(`Written ${records} records, ${bytesShown(bytes)}`);
        }
      };
      if (target === standard) {
        for await (const piece of counted()) await output.piece(piece);
        return;
      }
      await writeWhole(target, counted());
      output.result({ shopId, file: target, records, bytes }, `${records} records of ${shopId} are in ${target}.`);
    });
  },
};

/** Writes beside the file and puts it in its place when it is whole and on disk. */
async function writeWhole(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${file}.partial`;
  const handle = await open(partial, "w").catch((error: unknown) => {
    throw new CommandError(exitCodes.failed, `${file} cannot be written: ${String(memberOf(error, "code"))}.`);
  });
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await handle.sync();
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close();
    await rm(partial, { force: true });
    throw error;
  }
}

// What happened.

const auditPage = 500;
const auditDefault = 50;

const audit: RunnableCommand = {
  name: "audit",
  parameters: [],
  summary: "shows who asked what of a shop, newest first",
  options: {
    ...shopOption,
    limit: { value: "N", help: `so many requests (${auditDefault}); 0 is all` },
    key: { value: "KEY_ID", help: "only requests with this key" },
    operation: { value: "NAME", help: "only this operation, like purchase_order_receive" },
    status: { value: "N", help: "only answers with this HTTP status" },
    ...commonOptions,
  },
  async run(args, setting) {
    const shopId = args.needed("shop");
    const limit = wholeNumber(args, "limit", audit) ?? auditDefault;
    const filters = given({
      keyId: args.text("key"),
      operation: args.text("operation"),
      status: wholeNumber(args, "status", audit),
    });
    await withOperator(setting, async (ask) => {
      const entries: unknown[] = [];
      let wanted = limit === 0 ? Number.POSITIVE_INFINITY : limit;
      let totalCount: unknown = 0;
      let cursor: string | null = null;
      do {
        const page = { shopId, ...filters, limit: Math.min(wanted, auditPage), ...given({ cursor }) };
        const data = dataOf(await ask("audit_log_list", page));
        const found = listIn(data, "auditLog");
        entries.push(...found);
        wanted -= found.length;
        totalCount = memberOf(data, "totalCount");
        const next = memberOf(data, "cursor");
        cursor = typeof next === "string" ? next : null;
      } while (wanted > 0 && cursor !== null);
      const fields = ["at", "status", "tag", "keyId", "method", "path", "errorCode", "durationMs", "requestId"];
      const rows = entries.map((entry) => fields.map((field) => memberOf(entry, field)));
      const headings = ["AT", "STATUS", "OPERATION", "KEY", "METHOD", "PATH", "ERROR", "MS", "REQUEST"];
      setting.output.result(
        { auditLog: entries, totalCount },
        rows.length === 0 ? "There are no such requests." : table(headings, rows),
      );
    });
  },
};

const demo: RunnableCommand = {
  name: "demo",
  parameters: [],
  summary: "makes the demo shop, with two keys that are shown this once",
  options: commonOptions,
  async run(_args, setting) {
    await withOperator(
      setting,
      async (ask) => {
        if ((await shopIfAny(ask, demoShopId)) !== null)
          throw new CommandError(exitCodes.failed, `there is a shop ${demoShopId} already.`, {
            action: `Delete it first: openpo shop delete ${demoShopId} --confirm ${demoShopId}`,
          });
        const made = await makeDemoShop(ask, setting.nowMs);
        setting.output.result(
          made,
          [`Shop ${made.shopId} is ready.`, `  read key   ${made.readKey}`, `  write key  ${made.writeKey}`].join("\n"),
        );
      },
      true,
    );
  },
};

/** @throws CommandError where everything is kept in a database. */
function refuseOnDatabase({ database }: Config): void {
  if (database !== null)
    throw new CommandError(exitCodes.failed, "the shops are in a database, which has backups of its own.", {
      action:
        "Use pg_dump, or what backs your database up; docs/operating.md tells how. One shop: openpo export. A data directory: --data-dir.",
    });
}

const backup: RunnableCommand = {
  name: "backup",
  parameters: ["DIR"],
  summary: "copies every shop into a new directory, while the server runs",
  details: `All that was acknowledged before it began is in it. DIR is then a data directory of its own: restore it, or serve it.
The admin token is copied too where the data directory keeps one, so keep DIR as safe as the data.`,
  options: { ...progressOption, ...commonOptions },
  async run(args, setting) {
    if (setting.url === null) refuseOnDatabase(setting.config);
    await withOperator(setting, async (_ask, operator) => {
      const written = await writeBackup(operator, args.parameter(0), setting.output);
      const count = `${written.shops.length} ${written.shops.length === 1 ? "shop" : "shops"}`;
      setting.output.result(written, `A backup of ${count}, ${bytesShown(written.bytes)}, is in ${written.directory}.`);
    });
  },
};

const restore: RunnableCommand = {
  name: "restore",
  parameters: ["DIR"],
  summary: "puts a backup into the data directory; the server must be stopped",
  details:
    "The data directory must be empty, or --force given. The backup is checked first, and nothing is lost if it is damaged.",
  options: {
    force: { value: null, help: "replace what the data directory holds; it is lost then" },
    "data-dir": commonOptions["data-dir"],
    json: commonOptions.json,
    ...progressOption,
    ...helpOption,
  },
  async run(args, { config, output }) {
    refuseOnDatabase(config);
    const restored = await restoreBackup(args.parameter(0), config.dataDir, args.flag("force"), output);
    const count = `${restored.shops.length} ${restored.shops.length === 1 ? "shop" : "shops"}`;
    output.result(restored, `${count} restored into ${restored.dataDir}. Start with openpo serve.`);
  },
};

export const commands: readonly RunnableCommand[] = [
  shopCreate,
  shopList,
  shopDelete,
  keyCreate,
  keyList,
  keyRevoke,
  importCommand,
  exportCommand,
  backup,
  restore,
  audit,
  demo,
];
