/**
 * What an operator can ask: shops, keys, audit log, import, export and the sandbox (contract §7).
 *
 * Each operation is one value in `adminOperations`; the surface (app.ts) and, later, the command line read them and know none by name.
 */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { apiKeyRandomBytes, makeApiKey, shopIdPattern } from "../core/api-key.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../core/cursor.ts";
import { Fault, invalidField, type ValidationDetail } from "../core/fault.ts";
import { fxRateToNumber, moneyToNumber, quantityFrom, quantityToNumber } from "../core/money.ts";
import { checkInput } from "../operations/input.ts";
import {
  currencyCode,
  fxRate,
  id,
  instant,
  instantOrNull,
  quantity,
  tagMax,
  text,
  unitCost,
} from "../operations/wire.ts";
import {
  type ApiKey,
  type AuditEntry,
  defaultSettings,
  insertApiKey,
  listApiKeys,
  listAudit,
  loadShop,
  revokeApiKey,
  saveShop,
  type Shop,
} from "../shop/account.ts";
import { variantStatuses } from "../shop/records.ts";
import type { Tx } from "../shop/shop.ts";
import { type SandboxControl, sandboxCalls, sandboxFaultOutcomes, type SandboxVariant } from "../storefront/sandbox.ts";
import { fileFormat, fileFormatNames } from "./csv-formats.ts";
import { exportRecords } from "./export.ts";
import { type ImportContext, importRecords } from "./import.ts";

/** What the operations need. */
export interface AdminContext extends Omit<ImportContext, "seedStorefront"> {
  sandboxOf(shopId: string): SandboxControl;
  /** A copy of the shop's own data or of its sandbox as a database file, with all that was acknowledged before its first piece was asked for. */
  snapshotOf(part: SnapshotPart, shopId: string): AsyncGenerator<Uint8Array>;
  /** Tells that effects may have come into the shop's outbox. */
  wakeOutbox(shopId: string): void;
}

/** What of a shop has a file of its own. */
export const snapshotParts = ["shop", "sandbox"] as const;
export type SnapshotPart = (typeof snapshotParts)[number];

/** A request on its way: its id, and its body for operations that read a file. */
export interface AdminCall {
  readonly requestId: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What is answered: data in the envelope, or a file in pieces. */
export type AdminAnswer =
  | { readonly status: 200 | 201; readonly data: object }
  | { readonly file: AsyncGenerator<string | Uint8Array>; readonly contentType: string };

interface Shape {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/admin/v1`. */
  readonly path: string;
}

export interface AdminOperation extends Shape {
  /** Whether the body is a file of lines instead of a JSON object. */
  readonly takesFile: boolean;
  /**
   * Checks the input and does it.
   *
   * @param raw    path, query (as strings) and body members merged.
   * @param found  what was noticed to be wrong about them before.
   */
  perform(
    context: AdminContext,
    raw: unknown,
    found: readonly ValidationDetail[],
    call: AdminCall,
  ): Promise<AdminAnswer>;
}

function operation<Input>(
  shape: Shape & {
    readonly takesFile?: true;
    /** One strict object. */
    readonly input: z.ZodType<Input>;
    run(context: AdminContext, input: Input, call: AdminCall): Promise<AdminAnswer>;
  },
): AdminOperation {
  const { name, method, path, takesFile = false, input } = shape;
  return Object.freeze({
    name,
    method,
    path,
    takesFile,
    perform: (context: AdminContext, raw: unknown, found: readonly ValidationDetail[], call: AdminCall) =>
      shape.run(context, checkInput(input, raw, found), call),
  });
}

const data = (fields: object, status: 200 | 201 = 200): AdminAnswer => ({ status, data: fields });

// Input.

const shopId = z
  .string()
  .regex(shopIdPattern, "must be 1 to 40 lower-case letters, digits and hyphens, the first not a hyphen");
const inShop = { shopId } as const;

/** Limits of settings, each with its unit. */
const waitMsMax = 300_000;
const rateCapacityMax = 1_000_000;
const faultDelayMsMax = 600_000;
const faultsMax = 100;
const auditPageMax = 500;
const auditPageDefault = 50;
const variantIdsMax = 500;
const levelsMax = 1_000;
const nameMax = 200;

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

const settings = z.strictObject({
  followOnWaitMs: z.int().min(0).max(waitMsMax).optional(),
  confirmationWaitMs: z.int().min(0).max(waitMsMax).optional(),
  autoSyncOnReceiving: z.boolean().optional(),
  costSyncMode: z.enum(["unit-cost", "moving-average", "disabled"]).optional(),
  onOrderTag: text(tagMax).nullable().optional(),
  fxRates: z.record(currencyCode, fxRate).optional(),
  rateLimit: z
    .strictObject({
      capacity: z.int().min(1).max(rateCapacityMax).optional(),
      refillPerSecond: z
        .number()
        .positive()
        .max(rateCapacityMax)
        .refine((rate) => quantityFrom(rate) !== null, "must have at most 3 decimals")
        .optional(),
    })
    .optional(),
  timezone: z.string().refine(isTimezone, "must be a time zone of the IANA database, like Europe/Amsterdam").optional(),
});

/** A query parameter's comma-separated list. */
const idList = z
  .string()
  .transform((value) => value.split(","))
  .pipe(z.array(id).max(variantIdsMax))
  .optional();

/** A query parameter's whole number. */
const wholeNumber = (schema: z.ZodInt) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .pipe(schema);

// Answers.

const shopJson = (shop: Shop) => ({
  shopId: shop.shopId,
  name: shop.name,
  currencyCode: shop.currencyCode,
  plan: { restApi: shop.planRestApi },
  settings: {
    followOnWaitMs: shop.followOnWaitMs,
    confirmationWaitMs: shop.confirmationWaitMs,
    autoSyncOnReceiving: shop.autoSyncOnReceiving,
    costSyncMode: shop.costSyncMode,
    onOrderTag: shop.onOrderTag,
    fxRates: Object.fromEntries(
      Object.entries(shop.fxRates).map(([code, rate]) => [code, fxRateToNumber(rate)] as const),
    ),
    rateLimit: shop.rateLimit,
    timezone: shop.timezone,
  },
  // Never the access token of a platform.
  storefront: { kind: shop.storefront.kind },
  createdAt: instant(shop.createdAtMs),
  updatedAt: instant(shop.updatedAtMs),
});

const keyJson = (key: ApiKey & { readonly lastUsedAtMs: number | null }) => ({
  keyId: key.keyId,
  name: key.name,
  scope: key.scope,
  lastFour: key.lastFour,
  createdAt: instant(key.createdAtMs),
  revokedAt: instantOrNull(key.revokedAtMs),
  lastUsedAt: instantOrNull(key.lastUsedAtMs),
});

const auditJson = (entry: AuditEntry) => ({
  at: instant(entry.atMs),
  requestId: entry.requestId,
  tag: entry.tag,
  keyId: entry.keyId,
  method: entry.method,
  path: entry.path,
  status: entry.status,
  errorCode: entry.errorCode,
  durationMs: entry.durationMs,
  replayed: entry.replayed,
});

const sandboxVariantJson = (variant: SandboxVariant) => ({
  variantId: variant.variantId,
  status: variant.status,
  unitCost: variant.unitCost === null ? null : moneyToNumber(variant.unitCost),
  tags: variant.tags,
  levels: variant.levels.map((level) => ({
    locationId: level.locationId,
    onHand: quantityToNumber(level.onHand),
    incoming: quantityToNumber(level.incoming),
  })),
});

const noShop = (id: string): Fault =>
  new Fault("NOT_FOUND", `There is no shop ${id}.`, { action: "See GET /admin/v1/shops." });

/** @throws Fault NOT_FOUND when there is no such shop, or its creation was cut off. */
async function shopOf(tx: Tx, id: string): Promise<Shop> {
  const shop = await loadShop(tx, id);
  if (shop === null) throw noShop(id);
  return shop;
}

/** What is counted of a shop, and where. A soft-deleted order (C33) and a revoked key do not count. */
const counted = {
  purchaseOrders: "purchase_order where deleted_at is null and",
  suppliers: "supplier where",
  locations: "location where",
  variants: "variant where",
  apiKeys: "api_key where revoked_at is null and",
} as const;

/** How much the shop holds. */
async function countsOf(tx: Tx, id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, rows] of Object.entries(counted)) {
    const [row] = await tx.all<{ n: number }>(`select count(*) as n from ${rows} shop_id = ?`, [id]);
    counts[name] = row?.n ?? 0;
  }
  return counts;
}

async function shopWithCounts(context: AdminContext, id: string): Promise<object> {
  return await context.engine.read(id, async (tx) => ({
    ...shopJson(await shopOf(tx, id)),
    counts: await countsOf(tx, id),
  }));
}

/** @throws Fault INVALID_INPUT when the shop is on another storefront. */
async function sandboxOf(context: AdminContext, id: string): Promise<SandboxControl> {
  const shop = await context.engine.read(id, (tx) => shopOf(tx, id));
  if (shop.storefront.kind !== "sandbox")
    throw new Fault("INVALID_INPUT", `Shop ${id} is on the storefront ${shop.storefront.kind}, not on the sandbox.`);
  return context.sandboxOf(id);
}

// Shops.

const putShop = operation({
  name: "shop_put",
  method: "PUT",
  path: "/shops/{shopId}",
  input: z.strictObject({
    ...inShop,
    name: text(nameMax),
    currencyCode: currencyCode.optional(),
    plan: z.strictObject({ restApi: z.boolean() }).optional(),
    settings: settings.optional(),
    storefront: z
      .strictObject({
        kind: z.literal("sandbox", { error: "must be sandbox; other storefronts are not available in this version" }),
      })
      .optional(),
  }),
  /**
   * Creates the shop or changes it; omitted members keep their value.
   *
   * @throws Fault INVALID_INPUT  the currency of a shop that holds amounts would change, or a rate is for the shop's own currency.
   */
  async run({ engine, clock }, input) {
    const { shopId: id } = input;
    await engine.create(id);
    const nowMs = clock.now();
    return await engine.write(id, async (tx) => {
      const before = await loadShop(tx, id);
      const base: Shop = before ?? {
        ...defaultSettings,
        shopId: id,
        name: input.name,
        currencyCode: "USD",
        planRestApi: true,
        storefront: { kind: "sandbox" },
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const shop: Shop = {
        ...base,
        name: input.name,
        currencyCode: input.currencyCode ?? base.currencyCode,
        planRestApi: input.plan?.restApi ?? base.planRestApi,
        storefront: input.storefront ?? base.storefront,
        followOnWaitMs: input.settings?.followOnWaitMs ?? base.followOnWaitMs,
        confirmationWaitMs: input.settings?.confirmationWaitMs ?? base.confirmationWaitMs,
        autoSyncOnReceiving: input.settings?.autoSyncOnReceiving ?? base.autoSyncOnReceiving,
        costSyncMode: input.settings?.costSyncMode ?? base.costSyncMode,
        onOrderTag: input.settings?.onOrderTag === undefined ? base.onOrderTag : input.settings.onOrderTag,
        fxRates: input.settings?.fxRates ?? base.fxRates,
        rateLimit: {
          capacity: input.settings?.rateLimit?.capacity ?? base.rateLimit.capacity,
          refillPerSecond: input.settings?.rateLimit?.refillPerSecond ?? base.rateLimit.refillPerSecond,
        },
        timezone: input.settings?.timezone ?? base.timezone,
        updatedAtMs: nowMs,
      };
      if (Object.hasOwn(shop.fxRates, shop.currencyCode))
        throw invalidField(`/settings/fxRates/${shop.currencyCode}`, "is the shop's own currency, which needs no rate");
      if (before !== null && before.currencyCode !== shop.currencyCode) {
        const counts = await countsOf(tx, id);
        if ((counts["purchaseOrders"] ?? 0) + (counts["variants"] ?? 0) > 0)
          throw invalidField(
            "/currencyCode",
            `cannot change from ${before.currencyCode}: the shop holds amounts in it`,
            "Make another shop for the other currency.",
          );
      }
      await saveShop(tx, shop);
      return data({ shop: shopJson(shop) }, before === null ? 201 : 200);
    });
  },
});

const listShops = operation({
  name: "shop_list",
  method: "GET",
  path: "/shops",
  input: z.strictObject({}),
  /** All shops by id, each with its counts; one whose store cannot be read is listed with the reason. */
  async run(context) {
    const shops: object[] = [];
    for (const id of await context.engine.list()) {
      try {
        shops.push(await shopWithCounts(context, id));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        // Its creation was cut off, or it was deleted meanwhile.
        if (error.code === "NOT_FOUND") continue;
        shops.push({ shopId: id, unavailable: error.message });
      }
    }
    return data({ shops, totalCount: shops.length });
  },
});

const getShop = operation({
  name: "shop_get",
  method: "GET",
  path: "/shops/{shopId}",
  input: z.strictObject(inShop),
  run: async (context, input) => data({ shop: await shopWithCounts(context, input.shopId) }),
});

const deleteShop = operation({
  name: "shop_delete",
  method: "DELETE",
  path: "/shops/{shopId}",
  input: z.strictObject({ ...inShop, confirm: z.string().optional() }),
  /** Deletes the shop with all its data, its sandbox included. */
  async run(context, { shopId: id, confirm }) {
    if (!(await context.engine.exists(id))) throw noShop(id);
    if (confirm !== id)
      throw invalidField(
        "/confirm",
        `must repeat the shop's id`,
        `Send ?confirm=${id} to delete the shop and all its data.`,
      );
    await context.engine.remove(id);
    await context.sandboxOf(id).remove();
    return data({ shopId: id, deleted: true });
  },
});

// Keys.

const createKey = operation({
  name: "key_create",
  method: "POST",
  path: "/shops/{shopId}/keys",
  input: z.strictObject({ ...inShop, name: text(nameMax), scope: z.enum(["read", "write"]) }),
  /** Makes an API key. This answer is the only place where it is ever shown. */
  async run({ engine, clock, ids }, { shopId: id, name, scope }) {
    const { apiKey, secretHash, lastFour } = makeApiKey(id, randomBytes(apiKeyRandomBytes));
    const key: ApiKey = {
      keyId: ids.next("key"),
      name,
      scope,
      lastFour,
      createdAtMs: clock.now(),
      revokedAtMs: null,
    };
    await engine.write(id, async (tx) => {
      await shopOf(tx, id);
      await insertApiKey(tx, id, key, secretHash);
    });
    return data({ keyId: key.keyId, apiKey, name, scope, createdAt: instant(key.createdAtMs) }, 201);
  },
});

const listKeys = operation({
  name: "key_list",
  method: "GET",
  path: "/shops/{shopId}/keys",
  input: z.strictObject(inShop),
  async run({ engine }, { shopId: id }) {
    const keys = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listApiKeys(tx, id);
    });
    return data({ keys: keys.map(keyJson), totalCount: keys.length });
  },
});

const revokeKey = operation({
  name: "key_revoke",
  method: "DELETE",
  path: "/shops/{shopId}/keys/{keyId}",
  input: z.strictObject({ ...inShop, keyId: id }),
  /** Revokes the key: the next request with it is refused. Repeating changes nothing. */
  async run({ engine, clock }, { shopId: id, keyId }) {
    return await engine.write(id, async (tx) => {
      const revoked = await revokeApiKey(tx, id, keyId, clock.now());
      const key = (await listApiKeys(tx, id)).find((each) => each.keyId === keyId);
      if (!revoked || key === undefined)
        throw new Fault("NOT_FOUND", `Shop ${id} has no key ${keyId}.`, {
          action: `See GET /admin/v1/shops/${id}/keys.`,
        });
      return data({ key: keyJson(key) });
    });
  },
});

// What happened.

const auditLog = operation({
  name: "audit_log_list",
  method: "GET",
  path: "/shops/{shopId}/audit-log",
  input: z.strictObject({
    ...inShop,
    limit: wholeNumber(z.int().min(1).max(auditPageMax)).default(auditPageDefault),
    cursor: z.string().min(1).optional(),
    keyId: id.optional(),
    operation: id.optional(),
    status: wholeNumber(z.int().min(100).max(599)).optional(),
  }),
  /** Requests newest first. */
  async run({ engine }, { shopId: id, limit, cursor, ...filters }) {
    const scope = { list: "audit-log", shopId: id, filters };
    const before = cursor === undefined ? null : decodeCursor(scope, cursor)[0];
    if (before === undefined || typeof before === "number") throw invalidCursor();
    const { entries, totalCount } = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      const only = {
        keyId: filters.keyId ?? null,
        operation: filters.operation ?? null,
        status: filters.status ?? null,
      };
      return await listAudit(tx, id, only, before, limit + 1);
    });
    const page = entries.slice(0, limit);
    const last = entries.length > limit ? page.at(-1) : undefined;
    return data({
      auditLog: page.map(auditJson),
      totalCount,
      cursor: last === undefined ? null : encodeCursor(scope, [last.auditId]),
    });
  },
});

// Records.

const importFile = operation({
  name: "shop_import",
  method: "POST",
  path: "/shops/{shopId}/import",
  input: z
    .strictObject({ ...inShop, format: z.enum(fileFormatNames).default("ndjson"), supplierId: id.optional() })
    .refine(({ format, supplierId }) => supplierId === undefined || format === "supplier-prices", {
      path: ["supplierId"],
      error: "is for the format supplier-prices only",
    }),
  takesFile: true,
  async run(context, { shopId: id, format, supplierId = null }, call) {
    const shop = await context.engine.read(id, (tx) => shopOf(tx, id));
    const read = fileFormat(format, { engine: context.engine, shop, supplierId });
    const imported = await importRecords(importContext(context), shop, call.body, call.requestId, read);
    context.wakeOutbox(id);
    return data({ imported });
  },
});

const exportFile = operation({
  name: "shop_export",
  method: "GET",
  path: "/shops/{shopId}/export",
  input: z.strictObject(inShop),
  async run({ engine }, { shopId: id }) {
    await engine.read(id, (tx) => shopOf(tx, id));
    return { file: exportRecords(engine, id), contentType: "application/x-ndjson" };
  },
});

const snapshotFile = operation({
  name: "shop_snapshot",
  method: "GET",
  path: "/shops/{shopId}/snapshot",
  input: z.strictObject({ ...inShop, part: z.enum(snapshotParts).default("shop") }),
  /** The shop's database as it stands, for a backup. Taken in this order, the sandbox is never behind what its shop knows it did. */
  async run(context, { shopId: id, part }) {
    if (!(await context.engine.exists(id))) throw noShop(id);
    return { file: context.snapshotOf(part, id), contentType: "application/vnd.sqlite3" };
  },
});

/** How an import reaches the sandbox of its shop. */
export const importContext = (context: AdminContext): ImportContext => ({
  engine: context.engine,
  clock: context.clock,
  ids: context.ids,
  async seedStorefront(id, variants, levels) {
    const sandbox = context.sandboxOf(id);
    await sandbox.seedVariants(variants);
    await sandbox.seedLevels(levels);
    // Deleted meanwhile: nothing of it is left.
    if (!(await context.engine.exists(id))) await sandbox.remove();
  },
});

// The sandbox.

const sandboxState = operation({
  name: "sandbox_get",
  method: "GET",
  path: "/shops/{shopId}/sandbox",
  input: z.strictObject({ ...inShop, variantIds: idList }),
  async run(context, { shopId: id, variantIds }) {
    const sandbox = await sandboxOf(context, id);
    const { variants, calls } = await sandbox.state(variantIds ?? null);
    return data({ variants: variants.map(sandboxVariantJson), calls });
  },
});

const patchSandboxVariant = operation({
  name: "sandbox_variant_patch",
  method: "PATCH",
  path: "/shops/{shopId}/sandbox/variants/{variantId}",
  input: z.strictObject({
    ...inShop,
    variantId: id,
    status: z.enum(variantStatuses).optional(),
    unitCost: unitCost.nullable().optional(),
    levels: z
      .array(z.strictObject({ locationId: id, onHand: quantity.optional(), incoming: quantity.optional() }))
      .max(levelsMax)
      .optional(),
  }),
  async run(context, { shopId: id, variantId, ...patch }) {
    const sandbox = await sandboxOf(context, id);
    const variant = await sandbox.patchVariant(variantId, patch);
    if (variant === null)
      throw new Fault("NOT_FOUND", `The sandbox of shop ${id} has no variant ${variantId}.`, {
        action: "Import the variant first.",
      });
    return data({ variant: sandboxVariantJson(variant) });
  },
});

const putSandboxFaults = operation({
  name: "sandbox_faults_put",
  method: "PUT",
  path: "/shops/{shopId}/sandbox/faults",
  input: z.strictObject({
    ...inShop,
    latencyMs: z.int().min(0).max(faultDelayMsMax).default(0),
    applyDelayMs: z.int().min(0).max(faultDelayMsMax).default(0),
    faults: z
      .array(
        z.strictObject({
          call: z.enum([...sandboxCalls, "*"]),
          outcome: z.enum(sandboxFaultOutcomes),
          variantIds: z.array(id).min(1).max(variantIdsMax).nullable().default(null),
          times: z.int().min(1).nullable().default(null),
        }),
      )
      .max(faultsMax)
      .default([]),
  }),
  /** Replaces delays and all faults; what is left out is none. */
  async run(context, { shopId: id, ...faults }) {
    const sandbox = await sandboxOf(context, id);
    await sandbox.replaceFaults(faults);
    return data(faults);
  },
});

export const adminOperations: readonly AdminOperation[] = [
  putShop,
  listShops,
  getShop,
  deleteShop,
  createKey,
  listKeys,
  revokeKey,
  auditLog,
  importFile,
  exportFile,
  snapshotFile,
  sandboxState,
  patchSandboxVariant,
  putSandboxFaults,
];
