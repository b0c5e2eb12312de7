/**
 * Webhooks by which a shop's store reports its changes (C66). They are subscribed when the store is connected and
 * cancelled when it is left, if the store's way to the service is known.
 *
 * A store that refuses does not undo the connection: the status says why (C67), and it can be asked again. Asking finds
 * what is there.
 */
import { z } from "zod";
import { dayMs } from "../../base/time/calendar.ts";
import { Fault } from "../../base/fault.ts";
import { instant } from "../../operations/fields.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import {
  beginSubscription,
  endSubscriptionStatement,
  loadSubscription,
  type Subscription,
} from "../../shop/storefront/storefront-subscriptions.ts";
import { shopifyHintsPath } from "../../storefront/connections.ts";
import { StorefrontError } from "../../storefront/storefront.ts";
import { type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";

/** Time limit of subscribing at a store, or of cancelling there. */
export const subscribeMsMax = 10_000;

/**
 * A store ends the webhooks of an address that does not answer, so they are looked after this long after the last time.
 */
export const subscriptionCheckMs = dayMs;

type Webhooks = Pick<AdminContext, "storefronts" | "publicUrl">;

export const webhooksSchema = z.strictObject({
  state: z.enum(["on", "incomplete", "off"]).meta({
    description:
      "`on`: the store tells of changes. `incomplete`: not of all, or not here; asking again may mend it. `off`: changes are found by pulls alone.",
  }),
  address: z.string().nullable().meta({ description: "Where the store was asked to tell them." }),
  reason: z.string().nullable(),
  action: z.string().nullable(),
  askedAt: z.string().nullable(),
});

type WebhooksJson = z.output<typeof webhooksSchema>;

const addressOf = (publicUrl: string, shopId: string): string => `${publicUrl}${shopifyHintsPath}/${shopId}`;

/** Why a store is not asked; null when it can be. */
function hindranceOf(
  { storefronts, publicUrl }: Webhooks,
  shop: Shop,
): { readonly reason: string; readonly action: string } | null {
  if (publicUrl === null)
    return {
      reason: "OpenPO does not know under which address the store reaches it.",
      action:
        "The operator starts the service with OPENPO_PUBLIC_URL, an https address. Until then changes are found by pulls alone.",
    };
  if (!publicUrl.startsWith("https://"))
    return {
      reason: `Shopify sends webhooks to https addresses alone, and OPENPO_PUBLIC_URL is ${publicUrl}.`,
      action: "The operator sets it to an https address. Until then changes are found by pulls alone.",
    };
  if (storefronts.shopify.secretOf(shop) === null)
    return {
      reason: "The app's client secret, with which Shopify signs webhooks, is not known or cannot be read.",
      action:
        "The operator connects the store anew with the client secret beside the token. Until then changes are found by pulls alone.",
    };
  return null;
}

const askAgain = "Ask the store again.";

/** Returns the state of a shop's webhooks; null for a storefront that has none. */
export function webhooksJson(webhooks: Webhooks, shop: Shop, subscription: Subscription | null): WebhooksJson | null {
  if (shop.storefront.kind !== "shopify") return null;
  const known = {
    address: subscription?.address ?? null,
    askedAt: subscription === null ? null : instant(subscription.requestedAtMs),
  };
  const hindrance = hindranceOf(webhooks, shop);
  if (hindrance !== null) return { state: "off", ...known, ...hindrance };
  const reason = incompleteReason(subscription, addressOf(webhooks.publicUrl ?? "", shop.shopId));
  return reason === null
    ? { state: "on", ...known, reason, action: null }
    : { state: "incomplete", ...known, reason, action: askAgain };
}

/** Why the store does not tell all of its changes at this address; null when it does. */
function incompleteReason(subscription: Subscription | null, address: string): string | null {
  if (subscription === null) return "The store was not asked yet to tell of changes.";
  if (subscription.address !== address)
    return `The store tells changes at ${subscription.address}, and the service is at ${address} now.`;
  if (subscription.state === "asked") return "What became of asking the store is not known.";
  return subscription.message;
}

/**
 * Asks the shop's store to tell of its changes, where it can be asked. What comes of it is stored; a store that refuses
 * fails nothing.
 */
export async function requestSubscription(
  context: Pick<AdminContext, "engine" | "clock" | "storefronts" | "publicUrl" | "calls">,
  shop: Shop,
): Promise<void> {
  const { engine, clock, storefronts, publicUrl, calls } = context;
  const { shopId } = shop;
  if (shop.storefront.kind !== "shopify" || publicUrl === null || hindranceOf(context, shop) !== null) return;
  const address = addressOf(publicUrl, shopId);
  try {
    const subscription = await engine.write(shopId, (tx) => beginSubscription(tx, shopId, address, clock.now()));
    const message = await askStore(() =>
      storefronts.shopify.subscribe(shop, address, subscription.former, AbortSignal.timeout(subscribeMsMax)),
    );
    await engine.write(shopId, (tx) => tx.batch([endSubscriptionStatement(shopId, subscription, message)]));
    if (message !== null) calls.log.warn({ shopId, address, why: message }, "a store does not tell of its changes");
  } catch (error) {
    // The connection stands, and the status says that this is open.
    if (!(error instanceof Fault)) throw error;
    calls.log.warn({ err: error, shopId }, "what a store tells of could not be stored");
  }
}

/** @returns why the store does not tell of all; null when it does. */
async function askStore(
  ask: () => Promise<readonly { readonly topic: string; readonly why: string }[]>,
): Promise<string | null> {
  try {
    const refused = await ask();
    return refused.length === 0
      ? null
      : `The store refuses to tell of some changes: ${refused.map(({ topic, why }) => `${topic} (${why.replace(/\.$/, "")})`).join(", ")}.`;
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    return `The store could not be asked: ${error.message}.`;
  }
}

/** Asks the store again, if something is open or it was asked long ago. */
export async function checkSubscription(
  context: Pick<AdminContext, "engine" | "clock" | "storefronts" | "publicUrl" | "calls">,
  shop: Shop,
): Promise<void> {
  const subscription = await context.engine.read(shop.shopId, (tx) => loadSubscription(tx, shop.shopId));
  const stands = webhooksJson(context, shop, subscription);
  const isOld = subscription === null || context.clock.now() - subscription.requestedAtMs >= subscriptionCheckMs;
  if (stands?.state === "incomplete" || (stands?.state === "on" && isOld)) await requestSubscription(context, shop);
}

/** Cancels the subscription at a store that the shop has left. @returns what is left there; null when nothing is. */
export async function cancelSubscription(
  { storefronts }: Pick<AdminContext, "storefronts">,
  left: Shop,
  subscription: Subscription | null,
): Promise<string | null> {
  if (subscription === null || left.storefront.kind !== "shopify") return null;
  try {
    await storefronts.shopify.unsubscribe(
      left,
      [subscription.address, ...subscription.former],
      AbortSignal.timeout(subscribeMsMax),
    );
    return null;
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    return `Webhooks of the former store to ${subscription.address} were not taken back: ${error.message}. They are refused, and Shopify ends them by itself; or remove them there.`;
  }
}

export const subscribeStorefront = operation({
  name: "storefront_subscribe",
  route: { method: "POST", path: "/shops/{shopId}/storefront/webhooks" },
  role: "owner",
  describes: {
    summary: "Asks a shop's store again to tell of its changes.",
    description:
      "Connecting does so by itself. Asking again finds what is there, moves the webhooks after the service's public address has changed, and says what the store refuses.",
    output: z.strictObject({ webhooks: webhooksSchema }),
    status: 200,
  },
  input: z.strictObject(inShop),
  /** @throws Fault INVALID_INPUT when the store cannot be asked. */
  async run(context, { shopId }) {
    const shop = await context.engine.read(shopId, (tx) => shopOf(tx, shopId));
    if (shop.storefront.kind !== "shopify")
      throw new Fault(
        "INVALID_INPUT",
        `Shop ${shopId} is on the storefront ${shop.storefront.kind}, which tells of no changes.`,
        { action: "Connect the shop to a Shopify store first." },
      );
    const hindrance = hindranceOf(context, shop);
    if (hindrance !== null) throw new Fault("INVALID_INPUT", hindrance.reason, { action: hindrance.action });
    await requestSubscription(context, shop);
    const subscription = await context.engine.read(shopId, (tx) => loadSubscription(tx, shopId));
    return data({ webhooks: webhooksJson(context, shop, subscription) });
  },
});
