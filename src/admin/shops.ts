/** Shops: created and changed with their settings, listed with their numbers of records, deleted. */
import { z } from "zod";
import { approvalDaysMax } from "../core/access/approvals.ts";
import { roles } from "../core/access/role.ts";
import { unconfirmedDaysMax } from "../core/order/advice/attention.ts";
import { Fault, invalidField } from "../base/fault.ts";
import type { StorefrontConfig } from "../core/storefront/storefront-config.ts";
import { fxRateToNumber, quantityDecimalsMax, quantityFrom, quantityToNumber } from "../core/money/money.ts";
import { adminPrefix } from "../http/routes.ts";
import { currencyCode, decimal, instant, mailAddress, noRepeats, pageShape, text } from "../operations/fields.ts";
import { fxRate, tagMax } from "../operations/purchase-orders/json.ts";
import { type Shop, defaultSettings, loadShop, saveShop } from "../shop/access/accounts.ts";
import { presentRules } from "../shop/catalogue/supplier-merges.ts";
import { noteCallsStatement } from "../shop/storefront/storefront-calls.ts";
import { loadSubscription } from "../shop/storefront/storefront-subscriptions.ts";
import { recheckStatement } from "../shop/supplier/reminders.ts";
import { changeDetail, retentionChange } from "../shop/audit/audit-retention.ts";
import { noFaults } from "../storefront/sandbox/faults.ts";
import type { Statement, Tx } from "../store/store.ts";
import {
  accountOf,
  checkedStorefront,
  leaveStore,
  movesStore,
  moveStore,
  shopBefore,
  storefrontInput,
  storefrontJson,
  storefrontSchema,
} from "./storefront/storefront.ts";
import { requestSubscription, cancelSubscription } from "./storefront/storefront-webhooks.ts";
import { approvalRuleJson, approvalRuleSchema, approvalRulesInput } from "./access/approval-rules.ts";
import { auditTrailOf, rowOfAct } from "./acts.ts";
import { type AdminCall, type AdminContext, data, inShop, noShop, operation, shopOf } from "./operation.ts";
import { pageOfWhole, wholeList } from "./whole-lists.ts";

const waitMsMax = 300_000;

/** A call waits no longer for the storefront (C43). */
const confirmationWaitMsMax = 30_000;

const rateCapacityMax = 1_000_000;

const retentionDaysMax = 36_500;

export const nameMax = 200;

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

const settings = z.strictObject({
  followOnWaitMs: z.int().min(0).max(waitMsMax).optional(),
  confirmationWaitMs: z.int().min(0).max(confirmationWaitMsMax).optional(),
  autoSyncOnReceiving: z.boolean().optional(),
  costSyncMode: z.enum(["unit-cost", "moving-average", "disabled"]).optional(),
  onOrderTag: text(tagMax).nullable().optional(),
  fxRates: z.record(currencyCode, fxRate).optional(),
  rateLimit: z
    .strictObject({
      capacity: z.int().min(1).max(rateCapacityMax).optional(),
      refillPerSecond: decimal(
        (number) => number.positive().max(rateCapacityMax),
        quantityDecimalsMax,
        (rate) => {
          const exact = quantityFrom(rate);
          return exact === null ? null : quantityToNumber(exact);
        },
      ).optional(),
    })
    .optional(),
  timezone: z.string().refine(isTimezone, "must be a time zone of the IANA database, like Europe/Amsterdam").optional(),
  auditRetentionDays: z.int().min(0).max(retentionDaysMax).optional(),
  auditRetentionFloorDays: z.int().min(0).max(retentionDaysMax).optional(),
  emailOnSent: z.boolean().optional(),
  replyTo: mailAddress.nullable().optional(),
  unconfirmedDays: z.int().min(0).max(unconfirmedDaysMax).optional(),
  approvalRules: approvalRulesInput.optional(),
  approverRoles: z
    .array(z.enum(roles))
    .max(roles.length)
    .check(noRepeats((role) => role))
    .optional(),
  approveOwnAgents: z.boolean().optional(),
  approvalDays: z.int().min(1).max(approvalDaysMax).optional(),
  approvalMails: z.boolean().optional(),
});

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
    auditRetentionDays: shop.auditRetentionDays,
    auditRetentionFloorDays: shop.auditRetentionFloorDays,
    emailOnSent: shop.emailOnSent,
    replyTo: shop.replyTo,
    unconfirmedDays: shop.unconfirmedDays,
    approvalRules: shop.approvalRules.map(approvalRuleJson),
    approverRoles: [...shop.approverRoles],
    approveOwnAgents: shop.approveOwnAgents,
    approvalDays: shop.approvalDays,
    approvalMails: shop.approvalMails,
  },
  storefront: storefrontJson(shop.storefront),
  createdAt: instant(shop.createdAtMs),
  updatedAt: instant(shop.updatedAtMs),
});

const shopSchema = z.strictObject({
  shopId: z.string(),
  name: z.string(),
  currencyCode: z.string(),
  plan: z.strictObject({ restApi: z.boolean() }),
  settings: z.strictObject({
    followOnWaitMs: z.int(),
    confirmationWaitMs: z.int(),
    autoSyncOnReceiving: z.boolean(),
    costSyncMode: z.enum(["unit-cost", "moving-average", "disabled"]),
    onOrderTag: z.string().nullable(),
    fxRates: z.record(z.string(), z.number()),
    rateLimit: z.strictObject({ capacity: z.int(), refillPerSecond: z.number() }),
    timezone: z.string(),
    auditRetentionDays: z.int(),
    auditRetentionFloorDays: z
      .int()
      .meta({ description: "The operator's: the least that auditRetentionDays may be set to." }),
    emailOnSent: z.boolean(),
    replyTo: z.string().nullable(),
    unconfirmedDays: z.int(),
    approvalRules: z.array(approvalRuleSchema),
    approverRoles: z.array(z.enum(roles)).meta({ description: "Who decides what no rule names." }),
    approveOwnAgents: z.boolean().meta({ description: "False: nobody approves what his own agents ask for." }),
    approvalDays: z.int().meta({ description: "Days after which a request that nobody has decided ends." }),
    approvalMails: z.boolean().meta({ description: "Whoever may decide a request gets a mail about it." }),
  }),
  storefront: storefrontSchema,
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** Counts of a shop, and their tables. Deleted orders (C33) and revoked keys do not count. */
const counted = {
  purchaseOrders: "purchase_order where deleted_at is null and",
  suppliers: "supplier where",
  locations: "location where",
  variants: "variant where",
  apiKeys: "api_key where revoked_at is null and",
} as const;

const countsSchema = z.strictObject({
  purchaseOrders: z.int(),
  suppliers: z.int(),
  locations: z.int(),
  variants: z.int(),
  apiKeys: z.int(),
});

/** Returns the numbers of the shop's records. */
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

/** Input of the operator about a shop; every member but the id may be left out. */
const shopInput = z.strictObject({
  ...inShop,
  name: text(nameMax).optional(),
  currencyCode: currencyCode.optional(),
  plan: z.strictObject({ restApi: z.boolean() }).optional(),
  settings: settings.optional(),
  storefront: storefrontInput.optional(),
});

type ShopInput = z.infer<typeof shopInput>;

/** The currency of a new shop that names none. */
const currencyFirst = "USD";

const changedMeanwhile = (id: string): Fault =>
  new Fault("DO_OVERLOADED", `The storefront of shop ${id} was changed by another call meanwhile.`, {
    action: "Repeat the call.",
    retryAfterMs: 1_000,
  });

const nameRequired = (): Fault =>
  invalidField("/name", "is required for a new shop", "Send the shop's name; an existing shop keeps its own.");

/** A shop as it begins. @throws Fault INVALID_INPUT when it has no name. */
function newShop({ shopId: id, name }: ShopInput, nowMs: number): Shop {
  if (name === undefined) throw nameRequired();
  return {
    ...defaultSettings,
    shopId: id,
    name,
    currencyCode: currencyFirst,
    planRestApi: true,
    storefront: { kind: "sandbox" },
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/**
 * The shop with what was sent; members that were left out keep their value.
 *
 * @throws Fault INVALID_INPUT when a rate is for the shop's own currency.
 */
function changedShop(shop: Shop, input: ShopInput, storefront: StorefrontConfig | null, nowMs: number): Shop {
  const { settings: sent = {} } = input;
  const currency = input.currencyCode ?? shop.currencyCode;
  const fxRates = sent.fxRates ?? shop.fxRates;
  if (Object.hasOwn(fxRates, currency))
    throw invalidField(`/settings/fxRates/${currency}`, "is the shop's own currency, which needs no rate");
  return {
    ...shop,
    name: input.name ?? shop.name,
    currencyCode: currency,
    planRestApi: input.plan?.restApi ?? shop.planRestApi,
    storefront: storefront ?? shop.storefront,
    followOnWaitMs: sent.followOnWaitMs ?? shop.followOnWaitMs,
    confirmationWaitMs: sent.confirmationWaitMs ?? shop.confirmationWaitMs,
    autoSyncOnReceiving: sent.autoSyncOnReceiving ?? shop.autoSyncOnReceiving,
    costSyncMode: sent.costSyncMode ?? shop.costSyncMode,
    onOrderTag: sent.onOrderTag === undefined ? shop.onOrderTag : sent.onOrderTag,
    fxRates,
    rateLimit: {
      capacity: sent.rateLimit?.capacity ?? shop.rateLimit.capacity,
      refillPerSecond: sent.rateLimit?.refillPerSecond ?? shop.rateLimit.refillPerSecond,
    },
    timezone: sent.timezone ?? shop.timezone,
    auditRetentionDays: sent.auditRetentionDays ?? shop.auditRetentionDays,
    auditRetentionFloorDays: sent.auditRetentionFloorDays ?? shop.auditRetentionFloorDays,
    emailOnSent: sent.emailOnSent ?? shop.emailOnSent,
    replyTo: sent.replyTo === undefined ? shop.replyTo : sent.replyTo,
    unconfirmedDays: sent.unconfirmedDays ?? shop.unconfirmedDays,
    approvalRules: sent.approvalRules ?? shop.approvalRules,
    approverRoles: sent.approverRoles ?? shop.approverRoles,
    approveOwnAgents: sent.approveOwnAgents ?? shop.approveOwnAgents,
    approvalDays: sent.approvalDays ?? shop.approvalDays,
    approvalMails: sent.approvalMails ?? shop.approvalMails,
    updatedAtMs: nowMs,
  };
}

/** The row of the audit log that tells the old and the new retention, with the change itself. */
async function retentionRow(
  tx: Tx,
  context: AdminContext,
  call: AdminCall,
  before: Shop,
  after: Shop,
): Promise<readonly Statement[]> {
  const { shopId: id } = after;
  const detail = changeDetail(before, after);
  if (detail === null) return [];
  const act = { operation: retentionChange, method: "PUT", path: `${adminPrefix}/shops/${id}` };
  const entry = { ...rowOfAct(context, call, act, { status: 200 }), detail };
  return await auditTrailOf(context).statements(tx, id, [entry]);
}

const remindsOtherwise = (before: Shop, after: Shop): boolean =>
  before.timezone !== after.timezone || before.unconfirmedDays !== after.unconfirmedDays;

/** @throws Fault INVALID_INPUT when the shop has amounts in another currency. */
async function requireSameCurrency(tx: Tx, before: Shop, after: Shop): Promise<void> {
  if (before.currencyCode === after.currencyCode) return;
  const counts = await countsOf(tx, before.shopId);
  if ((counts["purchaseOrders"] ?? 0) + (counts["variants"] ?? 0) === 0) return;
  throw invalidField(
    "/currencyCode",
    `cannot change from ${before.currencyCode}: the shop has amounts in it`,
    "Create another shop for the other currency.",
  );
}

/**
 * Holds the retention of the audit log against its floor (§7). A retention from before the floor stays until it is set.
 *
 * @throws Fault INVALID_INPUT when rows would be deleted earlier than the floor allows.
 */
function requireRetention({ settings: sent }: ShopInput, { auditRetentionDays, auditRetentionFloorDays }: Shop): void {
  const isKept = auditRetentionDays === 0 || auditRetentionDays >= auditRetentionFloorDays;
  if (isKept || (sent?.auditRetentionDays === undefined && sent?.auditRetentionFloorDays === undefined)) return;
  if (sent.auditRetentionDays === undefined)
    throw invalidField(
      "/settings/auditRetentionFloorDays",
      `is above auditRetentionDays, which is ${auditRetentionDays}`,
      "Send both.",
    );
  throw invalidField(
    "/settings/auditRetentionDays",
    `must be 0 (for good) or at least ${auditRetentionFloorDays}, which the operator has set as auditRetentionFloorDays`,
  );
}

/**
 * Refuses members that an owner may not change: those that the operator sells and connects. @throws Fault
 * FORBIDDEN_SCOPE when it was sent.
 */
function requireOwnersMembers({ plan, currencyCode, storefront, settings: sent }: ShopInput): void {
  const { rateLimit, auditRetentionFloorDays } = sent ?? {};
  const refused = Object.entries({ plan, currencyCode, storefront, rateLimit, auditRetentionFloorDays })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (refused.length > 0)
    throw new Fault("FORBIDDEN_SCOPE", `An owner may not change ${refused.join(" and ")}.`, {
      action: "Ask the operator, or send the other members alone.",
    });
}

export const putShop = operation({
  name: "shop_put",
  route: { method: "PUT", path: "/shops/{shopId}" },
  role: "owner",
  describes: {
    summary: "Changes a shop, or makes it.",
    description:
      "Members that are left out keep their value. A new shop needs a name, and only the operator makes one. An owner changes the name and the settings, but not the plan, the currency, the rate limit, the floor of the audit log's retention or the storefront.",
    output: z.strictObject({
      shop: shopSchema,
      warnings: z
        .array(z.string())
        .optional()
        .meta({ description: "What is left to do by hand, when a shop has left a storefront that let it in no more." }),
    }),
  },
  input: shopInput,
  /**
   * Creates the shop or changes it; omitted members keep their value. A new shop needs a name.
   *
   * @throws Fault INVALID_INPUT when a new shop has no name, a rate is for its own currency, or a shop with amounts
   *   would change its currency.
   * @throws Fault INVALID_INPUT when the audit log would be kept for less than the operator's floor.
   * @throws Fault INVALID_INPUT, UPSTREAM_STOREFRONT, TIMEOUT when the storefront that was sent cannot be connected
   *   (C65).
   * @throws Fault ON_HAND_SYNC_IN_FLIGHT when the shop cannot leave its storefront now.
   * @throws Fault FORBIDDEN_SCOPE when an owner sends what is the operator's.
   */
  async run(context, input, call) {
    const { engine, clock } = context;
    const { person } = call;
    const { shopId: id } = input;
    if (person !== null) requireOwnersMembers(input);
    if (input.name === undefined && !(await engine.exists(id))) throw nameRequired();
    const found = (await engine.exists(id)) ? await shopBefore(context, id) : null;
    const currency = input.currencyCode ?? found?.currencyCode ?? currencyFirst;
    const storefront =
      input.storefront === undefined ? null : await checkedStorefront(context, id, currency, input.storefront);
    const moves = movesStore(found, input.storefront);
    const left = moves ? await leaveStore(context, found) : null;
    const subscription = moves ? await engine.read(id, (tx) => loadSubscription(tx, id)) : null;
    await engine.create(id);
    const nowMs = clock.now();
    const saved = await engine.write(id, async (tx) => {
      const before = await loadShop(tx, id);
      if (storefront !== null && JSON.stringify(before?.storefront) !== JSON.stringify(found?.storefront))
        throw changedMeanwhile(id);
      const changed = changedShop(before ?? newShop(input, nowMs), input, storefront, nowMs);
      const shop = { ...changed, approvalRules: await presentRules(tx, id, changed.approvalRules) };
      requireRetention(input, shop);
      if (before !== null) await requireSameCurrency(tx, before, shop);
      if (before !== null && moves) await moveStore(tx, context, before, left !== null);
      await saveShop(tx, shop);
      // It has just answered.
      const account = storefront === null ? null : accountOf(storefront);
      if (account !== null) await tx.batch([noteCallsStatement(id, account, { lastCallAtMs: nowMs, lastError: null })]);
      if (before !== null) await tx.batch(await retentionRow(tx, context, call, before, shop));
      if (before !== null && remindsOtherwise(before, shop)) await tx.batch([recheckStatement(id)]);
      return { shop, isNew: before === null };
    });
    if (moves) context.wakeOutbox(id);
    // Its stock is no rehearsal.
    if (saved.shop.storefront.kind === "none") await context.sandboxOf(id).replaceFaults(noFaults);
    const leftSubscription = moves ? await cancelSubscription(context, found, subscription) : null;
    if (storefront !== null) await requestSubscription(context, saved.shop);
    const warnings = [left, leftSubscription].filter((each) => each !== null);
    return data(
      { shop: shopJson(saved.shop), ...(warnings.length === 0 ? {} : { warnings }) },
      saved.isNew ? 201 : 200,
    );
  },
});

export const listShops = operation({
  name: "shop_list",
  route: { method: "GET", path: "/shops" },
  describes: {
    summary: "All shops with what they hold.",
    description:
      "The operator's alone. Each shop has its settings and the numbers of its records. One whose data cannot be read is listed with the reason in `unavailable`.",
    output: z.strictObject({
      shops: z.array(
        z.union([
          z.strictObject({ ...shopSchema.shape, counts: countsSchema }),
          z.strictObject({ shopId: z.string(), unavailable: z.string() }),
        ]),
      ),
      ...pageShape,
    }),
  },
  input: z.strictObject(wholeList),
  /** All shops by id, each with its counts; one whose store cannot be read is listed with the reason. */
  async run(context, page) {
    const shops: { readonly shopId: string; readonly unavailable?: string }[] = [];
    for (const id of await context.engine.list()) {
      try {
        shops.push({ ...(await shopWithCounts(context, id)), shopId: id });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        // Its creation was interrupted, or it was deleted meanwhile.
        if (error.code === "NOT_FOUND") continue;
        shops.push({ shopId: id, unavailable: error.message });
      }
    }
    const scope = { list: "shops", shopId: "", filters: {} };
    return pageOfWhole({ scope, name: "shops", rows: shops, idOf: ({ shopId }) => shopId }, page);
  },
});

export const getShop = operation({
  name: "shop_get",
  route: { method: "GET", path: "/shops/{shopId}" },
  role: "owner",
  describes: {
    summary: "A shop with its settings and what it holds.",
    description: "`counts` are the numbers of its records. Deleted orders and revoked keys do not count.",
    output: z.strictObject({ shop: z.strictObject({ ...shopSchema.shape, counts: countsSchema }) }),
  },
  input: z.strictObject(inShop),
  run: async (context, input) => data({ shop: await shopWithCounts(context, input.shopId) }),
});

export const deleteShop = operation({
  name: "shop_delete",
  route: { method: "DELETE", path: "/shops/{shopId}" },
  describes: {
    summary: "Deletes a shop with all its data.",
    description:
      "Its sandbox goes with it. `confirm` must repeat the shop's id. Nothing of it comes back but from a backup.",
    output: z.strictObject({ shopId: z.string(), deleted: z.literal(true) }),
  },
  input: z.strictObject({
    ...inShop,
    confirm: z.string().optional().meta({ description: "The shop's id once more." }),
  }),
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
