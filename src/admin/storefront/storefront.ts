/**
 * Connecting a shop to its storefront (C65), and how that connection is (C67).
 *
 * Owns: what is checked before a shop is connected, leaving a storefront behind, the status. Does not own: how a
 * platform is asked (storefront/), the other members of a shop (shops.ts).
 */
import { z } from "zod";
import { Fault, invalidField } from "../../base/fault.ts";
import type { ConnectedShop, StorefrontConfig } from "../../core/storefront/storefront-config.ts";
import { zeroQuantity } from "../../core/money/money.ts";
import { instant, text } from "../../operations/fields.ts";
import { loadShop, type Shop } from "../../shop/access/accounts.ts";
import {
  forgetStoreStatements,
  hasWorkUnderWay,
  heldIncoming,
  isIncomingHeld,
  pendingStorefrontEffects,
  retellStatements,
} from "../../shop/storefront/storefront-moves.ts";
import { forgetPullStatement, loadPull, type Pull, pullSteps } from "../../shop/storefront/storefront-pulls.ts";
import { laterCalls, loadCalls, noCalls } from "../../shop/storefront/storefront-calls.ts";
import { loadSubscription } from "../../shop/storefront/storefront-subscriptions.ts";
import { loadToken, type RenewedToken } from "../../shop/storefront/storefront-tokens.ts";
import type { Tx } from "../../store/store.ts";
import { StorefrontError } from "../../storefront/storefront.ts";
import type { StorefrontConnections } from "../../storefront/connections.ts";
import { storefrontAllowVariable } from "../../storefront/hosts.ts";
import { secretKeyVariable } from "../../base/secret-box.ts";
import { type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";
import { webhooksJson, webhooksSchema } from "./storefront-webhooks.ts";

/** Shopify's version of its API that a shop is connected with when none is named. */
const shopifyApiVersion = "2026-10";
/** The first that tells levels which have ended (`includeInactive`). */
const shopifyApiVersionOldest = "2026-04";

const secretMax = 500;

const retryAfterMs = 2_000;

const secretText = text(secretMax).regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

/** A storefront as the operator sends it. */
export const storefrontInput = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["sandbox", "none"]) }),
  z.strictObject({
    kind: z.literal("shopify"),
    domain: z
      .string()
      .max(253)
      .regex(/^[a-z0-9.:[\]-]+$/, "must be host[:port] in lower case, like example.myshopify.com"),
    accessToken: secretText.optional(),
    clientId: secretText.optional(),
    clientSecret: secretText.optional(),
    apiVersion: z
      .string()
      .regex(/^\d{4}-(01|04|07|10)$/, "must be a version of Shopify's API, like 2026-10")
      .refine((version) => version >= shopifyApiVersionOldest, `must be ${shopifyApiVersionOldest} or later`)
      .optional(),
  }),
  z.strictObject({
    kind: z.literal("medusa"),
    url: z
      .string()
      .max(300)
      .regex(
        /^https?:\/\/[a-z0-9.:[\]-]+\/?$/,
        "must be https://host[:port] in lower case, without a path, like https://medusa.example.com",
      ),
    secretKey: text(secretMax).regex(/^sk_[\x21-\x7e]+$/, "must be a secret API key of Medusa, which begins with sk_"),
  }),
]);

type StorefrontInput = z.output<typeof storefrontInput>;

/** A shop's storefront as it is shown: never its secret. */
export function storefrontJson(config: StorefrontConfig) {
  switch (config.kind) {
    case "sandbox":
    case "none":
      return { kind: config.kind };
    case "shopify":
      return {
        kind: config.kind,
        domain: config.domain,
        apiVersion: config.apiVersion,
        renewsToken: config.clientId !== undefined,
      };
    case "medusa":
      return { kind: config.kind, url: config.url };
  }
}

export const storefrontSchema = z.strictObject({
  kind: z.string(),
  domain: z.string().optional().meta({ description: "Of a Shopify store." }),
  apiVersion: z.string().optional().meta({ description: "Of a Shopify store." }),
  renewsToken: z.boolean().optional().meta({ description: "Access tokens of a Shopify store are renewed." }),
  url: z.string().optional().meta({ description: "Of a Medusa." }),
});

/** Scopes without which no order works; sales are a matter of the pull. */
const neededScopes = [
  "read_products",
  "write_products",
  "read_inventory",
  "write_inventory",
  "read_locations",
] as const;

/** A scope that writes allows reading too, and Shopify may list the one that writes alone. */
const hasScope = (scopes: ReadonlySet<string>, scope: string): boolean =>
  scopes.has(scope) || scopes.has(scope.replace(/^read_/, "write_"));

/**
 * Checks a storefront and returns how it is stored. Changes nothing.
 *
 * @throws Fault INVALID_INPUT  naming the member: the host, the secret, all missing scopes, both currencies, no
 *                              location, the version.
 * @throws Fault UPSTREAM_STOREFRONT, TIMEOUT  nobody answers there.
 */
export async function checkedStorefront(
  { storefronts }: AdminContext,
  shopId: string,
  currencyCode: string,
  sent: StorefrontInput,
): Promise<StorefrontConfig> {
  switch (sent.kind) {
    case "sandbox":
    case "none":
      return sent;
    case "shopify":
      return await checkedShopify(storefronts, shopId, currencyCode, sent);
    case "medusa":
      return await checkedMedusa(storefronts, shopId, currencyCode, sent);
  }
}

/** @throws Fault INVALID_INPUT when the service has no key to store the secret under. */
function assertCanSeal(storefronts: StorefrontConnections, member: string): void {
  if (storefronts.canSeal) return;
  throw invalidField(
    member,
    `cannot be stored: ${secretKeyVariable} is not set`,
    `Start the service with ${secretKeyVariable}, the output of openssl rand -base64 32, and keep the key with your secrets.`,
  );
}

async function checkedMedusa(
  storefronts: StorefrontConnections,
  shopId: string,
  currencyCode: string,
  { url, secretKey }: Extract<StorefrontInput, { readonly kind: "medusa" }>,
): Promise<StorefrontConfig> {
  const origin = storefronts.medusa.originOf(url);
  if (origin === null)
    throw invalidField(
      "/storefront/url",
      "may not be connected to",
      `The operator lists the hosts of Medusa stores in ${storefrontAllowVariable}.`,
    );
  assertCanSeal(storefronts, "/storefront/secretKey");
  const facts = await fromStore("/storefront/secretKey", () => storefronts.medusa.check({ url: origin, secretKey }));
  if (facts.kind === "other")
    throw invalidField(
      "/storefront/url",
      `leads to no Medusa: ${facts.why}`,
      "Send the address of Medusa's own server.",
    );
  if (!facts.currencyCodes.has(currencyCode))
    throw invalidField(
      "/storefront",
      `sells in ${[...facts.currencyCodes].join(", ")} and the shop counts in ${currencyCode}`,
      "Add the currency to the store in Medusa, or connect a shop that has one of the store's.",
    );
  if (facts.locationCount === 0)
    throw invalidField(
      "/storefront",
      "has no stock location",
      "Add one in Medusa, under Settings, Locations & Shipping.",
    );
  return { kind: "medusa", url: origin, secretKey: storefronts.seal(shopId, secretKey) };
}

async function checkedShopify(
  storefronts: StorefrontConnections,
  shopId: string,
  currencyCode: string,
  sent: Extract<StorefrontInput, { readonly kind: "shopify" }>,
): Promise<StorefrontConfig> {
  const { domain, accessToken = null, clientId = null, clientSecret = null, apiVersion = shopifyApiVersion } = sent;
  if (clientId !== null && clientSecret === null)
    throw invalidField("/storefront/clientSecret", "is required with clientId", "Send the app's client secret, too.");
  if (accessToken === null && clientId === null)
    throw invalidField(
      "/storefront/accessToken",
      "is required without clientId and clientSecret",
      "Send the app's access token, or the client id and secret with which OpenPO renews one.",
    );
  const secretMember = `/storefront/${accessToken === null ? "clientSecret" : "accessToken"}`;
  if (!storefronts.shopify.mayConnect(domain))
    throw invalidField(
      "/storefront/domain",
      "is not a store of Shopify",
      `Send the store's own domain, like example.myshopify.com; the operator opens other hosts with ${storefrontAllowVariable}.`,
    );
  assertCanSeal(storefronts, secretMember);
  const facts = await fromStore(secretMember, () =>
    storefronts.shopify.check({ domain, accessToken, clientId, clientSecret, apiVersion }),
  );
  const missing = neededScopes.filter((scope) => !hasScope(facts.scopes, scope));
  if (missing.length > 0)
    throw invalidField(
      secretMember,
      `lacks the scopes ${missing.join(", ")}`,
      "Add them to the app's configuration in Shopify, install it anew and send the new token.",
    );
  if (facts.currencyCode !== currencyCode)
    throw invalidField(
      "/storefront",
      `counts in ${facts.currencyCode} and the shop in ${currencyCode}`,
      "Connect a shop that has the store's currency: costs would be written in the wrong one.",
    );
  if (facts.locationCount === 0)
    throw invalidField("/storefront", "has no active location that can hold stock", "Add one in Shopify.");
  if (facts.otherVersion !== null)
    throw invalidField(
      "/storefront/apiVersion",
      `is not served any more: the store answered with ${facts.otherVersion}`,
      "Send a version that Shopify serves.",
    );
  const token = facts.grant?.accessToken ?? accessToken ?? "";
  return {
    kind: "shopify",
    domain,
    accessToken: storefronts.seal(shopId, token),
    ...(facts.grant === null ? {} : { expiresAtMs: facts.grant.expiresAtMs }),
    ...(clientId === null ? {} : { clientId }),
    ...(clientSecret === null ? {} : { clientSecret: storefronts.seal(shopId, clientSecret) }),
    apiVersion,
    scopes: [...facts.scopes].toSorted(),
  };
}

/** @throws Fault for what the store says to who connects it. */
async function fromStore<T>(secretMember: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    if (error.kind === "auth")
      throw invalidField(secretMember, `was refused: ${error.message}`, "Check the address and the secret.");
    throw new Fault(
      error.kind === "timeout" ? "TIMEOUT" : "UPSTREAM_STOREFRONT",
      `The storefront could not be asked: ${error.message}. The shop was not changed.`,
      {
        action: "Check the address, and repeat the call in a moment.",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      },
    );
  }
}

/** Where a storefront is: a new secret or version does not make another one of it. */
function placeOf(config: StorefrontConfig | StorefrontInput): string {
  switch (config.kind) {
    // One ledger.
    case "sandbox":
    case "none":
      return "own stock";
    case "shopify":
      return `shopify ${config.domain}`;
    case "medusa":
      return `medusa ${config.url.replace(/\/$/, "")}`;
  }
}

const isSameStore = (one: StorefrontConfig, other: StorefrontInput): boolean => placeOf(one) === placeOf(other);

/** True if the input moves the shop to another storefront. */
export const movesStore = (before: Shop | null, sent: StorefrontInput | undefined): before is Shop =>
  before !== null && sent !== undefined && !isSameStore(before.storefront, sent);

/**
 * Gets a shop ready to leave its storefront: takes back there what is incoming on our account. Changes nothing in the
 * shop's orders.
 *
 * @returns what could not be taken back because the storefront lets us in no more; null when all was.
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT        a push has no known outcome.
 * @throws Fault UPSTREAM_STOREFRONT, TIMEOUT  it could not be taken back for now.
 */
export async function leaveStore(
  { engine, storefronts, ids }: AdminContext,
  shop: ConnectedShop,
): Promise<string | null> {
  const { shopId } = shop;
  const held = await engine.read(shopId, async (tx) => {
    await refuseWork(tx, shopId);
    return await heldIncoming(tx, shopId);
  });
  const storefront = storefronts.open(shop);
  for (const [locationId, levels] of Map.groupBy(held, (level) => level.locationId))
    try {
      const results = await storefront.setIncoming(
        levels.map(({ variantId }) => ({ variantId, locationId, incoming: zeroQuantity })),
        { reference: ids.next("leave"), documentUri: `openpo://shops/${shopId}/locations/${locationId}` },
      );
      const left = results.find(({ outcome }) => outcome === "unknown" || outcome === "rejected");
      if (left !== undefined && "message" in left) throw notTakenBack(left.message, null);
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      // It will never answer us again: what is there can be taken back by hand only.
      if (error.kind === "auth")
        return `What was incoming at the former storefront was not taken back: ${error.message}. Correct it there by hand.`;
      throw notTakenBack(error.message, error);
    }
  return null;
}

const notTakenBack = (why: string, cause: StorefrontError | null): Fault =>
  new Fault(
    cause?.kind === "timeout" ? "TIMEOUT" : "UPSTREAM_STOREFRONT",
    `What is incoming at the former storefront could not be taken back: ${why}. The shop was not changed.`,
    { action: "Repeat the call in a moment.", ...(cause === null ? {} : { cause }) },
  );

/** @throws Fault ON_HAND_SYNC_IN_FLIGHT while a push has no known outcome, or work for the storefront is under way. */
async function refuseWork(tx: Tx, shopId: string): Promise<void> {
  if (!(await hasWorkUnderWay(tx, shopId))) return;
  throw new Fault(
    "ON_HAND_SYNC_IN_FLIGHT",
    "A push of stock has no known outcome yet, so the shop cannot leave its storefront.",
    {
      action: "Wait until it has one, or sync its order again with storefront-sync; then repeat the call.",
      retryAfterMs,
    },
  );
}

/**
 * In the change that moves the shop: makes sure that nothing has begun since its preparation. Forgets the old
 * storefront and sends the new one the incoming quantities.
 *
 * @param isLost what was incoming at the old one could not be taken back.
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT when something has begun.
 */
export async function moveStore(
  tx: Tx,
  { ids, clock }: Pick<AdminContext, "ids" | "clock">,
  shop: Shop,
  isLost: boolean,
): Promise<void> {
  const { shopId } = shop;
  await refuseWork(tx, shopId);
  if (!isLost && (await isIncomingHeld(tx, shopId)))
    throw new Fault("ON_HAND_SYNC_IN_FLIGHT", "The former storefront was told of something incoming meanwhile.", {
      action: "Repeat the call.",
      retryAfterMs,
    });
  await tx.batch([
    ...forgetStoreStatements(shopId),
    forgetPullStatement(shopId),
    ...(await retellStatements(tx, shopId, ids, clock.now())),
  ]);
}

/** Names a store; null where the shop keeps its stock itself. */
export function accountOf(config: StorefrontConfig): string | null {
  switch (config.kind) {
    case "sandbox":
    case "none":
      return null;
    case "shopify":
      return config.domain;
    case "medusa":
      return config.url;
  }
}

/** A pull as it is shown. */
export const pullSchema = z.strictObject({
  pullId: z.string(),
  state: z.enum(["running", "done", "failed"]),
  scope: z
    .enum(["everything", "changes"])
    .meta({ description: "Of everything, or of what has changed since the latest one." }),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  progress: z.strictObject({
    step: z.enum(pullSteps),
    locations: z.int(),
    variants: z.int(),
    levels: z.int(),
    sales: z.int().meta({ description: "Orders of customers." }),
    total: z.int().nullable().meta({ description: "Things in this step, as far as the storefront says." }),
    deleted: z.int().meta({ description: "Variants that this pull has found deleted." }),
    deletedNames: z.array(z.string()).meta({ description: "A few of them." }),
    inactive: z
      .int()
      .meta({ description: "Variants that this pull has found no longer for sale: archived, or a draft." }),
    inactiveNames: z.array(z.string()),
  }),
  notes: z.array(z.string()).meta({ description: "What was not brought, and why." }),
  error: z
    .strictObject({ message: z.string(), isRetried: z.boolean() })
    .nullable()
    .meta({ description: "Why the pull has failed, or why the latest attempt at a page has." }),
  pulledUntil: z.string().nullable().meta({ description: "What has changed before then is here." }),
});

export const pullJson = (pull: Pull) => {
  const { locations, variants, levels, sales, deleted, deletedNames, inactive, inactiveNames } = pull.counts;
  return {
    pullId: pull.pullId,
    state: pull.state,
    scope: pull.isFull ? "everything" : "changes",
    startedAt: instant(pull.startedAtMs),
    endedAt: pull.endedAtMs === null ? null : instant(pull.endedAtMs),
    progress: {
      step: pull.step,
      locations,
      variants,
      levels,
      sales,
      total: pull.total,
      deleted,
      deletedNames,
      inactive,
      inactiveNames,
    },
    notes: pull.notes,
    error: pull.error === null ? null : { message: pull.error, isRetried: pull.state === "running" },
    pulledUntil: pull.pulledUntilMs === null ? null : instant(pull.pulledUntilMs),
  };
};

const statusSchema = z.strictObject({
  storefront: z.strictObject({
    kind: z.string(),
    account: z
      .string()
      .nullable()
      .meta({ description: "The store's domain or URL; null for the sandbox and for none." }),
    apiVersion: z.string().nullable(),
    lastCallAt: z
      .string()
      .nullable()
      .meta({ description: "Of another process, or from before a restart, to the minute." }),
    lastError: z.strictObject({ at: z.string(), message: z.string() }).nullable(),
    backlog: z.int().meta({ description: "Effects for the storefront that are not settled." }),
    token: z
      .strictObject({
        renews: z.boolean(),
        expiresAt: z.string().nullable().meta({ description: "Null: it does not expire, or nobody has said." }),
      })
      .nullable()
      .meta({ description: "How the access token of a Shopify store stands; never the token." }),
    scopes: z
      .strictObject({
        granted: z.array(z.string()),
        missing: z.array(z.string()).meta({ description: "Without them not all sales can be pulled." }),
      })
      .nullable()
      .meta({ description: "What the app may do at a Shopify store, as it was when it was connected." }),
    webhooks: webhooksSchema
      .nullable()
      .meta({ description: "How a Shopify store tells of its changes; null for a storefront that tells none." }),
    limits: z.strictObject({
      stockWrite: z.enum(["delta", "absolute"]),
      wholeQuantitiesOnly: z.boolean(),
      points: z
        .strictObject({ max: z.number(), left: z.number(), perSecond: z.number() })
        .nullable()
        .meta({ description: "The store's rate limit as it last said." }),
    }),
    canPull: z.boolean().meta({ description: "Catalogue, levels and sales can be pulled from it." }),
    pull: pullSchema.nullable().meta({ description: "The latest pull; null when there was none." }),
  }),
});

export const getStorefront = operation({
  name: "storefront_get",
  route: { method: "GET", path: "/shops/{shopId}/storefront" },
  role: "owner",
  describes: {
    summary: "How a shop's storefront is connected and doing.",
    description:
      "Never its secret. What is said of limits is what this process has seen; among nodes each has its own.",
    output: statusSchema,
  },
  input: z.strictObject(inShop),
  async run(context, { shopId }) {
    const { engine, storefronts } = context;
    const { shop, backlog, pull, subscription, renewed, stored } = await engine.read(shopId, async (tx) => {
      const found = await shopOf(tx, shopId);
      const connection = storefronts.shopify.connectionOf(found);
      return {
        shop: found,
        pull: await loadPull(tx, shopId),
        backlog: await pendingStorefrontEffects(tx, shopId),
        subscription: await loadSubscription(tx, shopId),
        stored: await loadCalls(tx, shopId, accountOf(found.storefront) ?? ""),
        renewed: connection === null ? null : await loadToken(tx, shopId, connection),
      };
    });
    const { storefront } = shop;
    const opened = storefronts.open(shop);
    const { capabilities } = opened;
    const state = storefronts.stateOf(shop);
    const { lastCallAtMs, lastError } = laterCalls(state ?? noCalls, stored);
    const throttle = state?.throttle ?? null;
    return data({
      storefront: {
        kind: storefront.kind,
        account: accountOf(storefront),
        apiVersion: storefront.kind === "shopify" ? storefront.apiVersion : null,
        lastCallAt: lastCallAtMs === null ? null : instant(lastCallAtMs),
        lastError: lastError === null ? null : { at: instant(lastError.atMs), message: lastError.message },
        backlog,
        token: tokenJson(storefront, renewed),
        scopes: scopesJson(storefront),
        webhooks: webhooksJson(context, shop, subscription),
        limits: {
          stockWrite: capabilities.stockWrite,
          wholeQuantitiesOnly: capabilities.wholeQuantitiesOnly,
          points:
            throttle === null
              ? null
              : {
                  max: throttle.maximumAvailable,
                  left: throttle.currentlyAvailable,
                  perSecond: throttle.restoreRate,
                },
        },
        canPull: opened.pull !== undefined,
        pull: pull === null ? null : pullJson(pull),
      },
    });
  },
});

function tokenJson(config: StorefrontConfig, renewed: RenewedToken | null) {
  if (config.kind !== "shopify") return null;
  const endsAtMs = renewed?.expiresAtMs ?? config.expiresAtMs ?? null;
  return { renews: config.clientId !== undefined, expiresAt: endsAtMs === null ? null : instant(endsAtMs) };
}

/** Without the first there are no sales, without the second those of 60 days. */
const salesScopes = ["read_orders", "read_all_orders"] as const;

function scopesJson(config: StorefrontConfig) {
  if (config.kind !== "shopify" || config.scopes === undefined) return null;
  const granted = new Set(config.scopes);
  return { granted: config.scopes, missing: salesScopes.filter((scope) => !hasScope(granted, scope)) };
}

/** The shop as it is stored; null for a new one. */
export const shopBefore = ({ engine }: Pick<AdminContext, "engine">, shopId: string): Promise<Shop | null> =>
  engine.read(shopId, (tx) => loadShop(tx, shopId));
