/**
 * Shopify's own webhooks, at `/storefront/shopify/{shopId}`: a hint that something has changed at the store, after
 * which it is pulled (C66a).
 *
 * Owns: whether a request is Shopify's, and that one event hints once. Does not own: what is pulled and when
 * (shop/storefront/storefront-pulls.ts).
 *
 * The body is checked by its signature and otherwise not read: what is stored comes from the pull. A shop that is not
 * there, has no secret, or a signature that is wrong are answered alike. Shops are remembered, so that strangers do not
 * make the process read one file after the other.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { shopIdPattern } from "../../base/secret.ts";
import { unauthenticated } from "../../http/body.ts";
import { methodNotAllowed, type RequestContext, type Surface } from "../../http/surface.ts";
import { type Reply, success } from "../../requests/envelope.ts";
import { loadShop, type Shop } from "../../shop/access/accounts.ts";
import { hintPull, loadPull } from "../../shop/storefront/storefront-pulls.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import { bytesOfText, Cache } from "../../store/cache.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine, Footprint } from "../../store/store.ts";
import { shopifyHintsPath, type StorefrontConnections } from "../../storefront/connections.ts";

/** Events that are remembered, so that one which Shopify sends again hints once. */
export const eventsKnownMax = 10_000;

/** Shops that are remembered on SQLite, connected to a store or not: some 2,000. */
export const hintedShopsBytesMax = 4_194_304;

/** A SHA-256 in base64. */
const signaturePattern = /^[A-Za-z0-9+/]{43}=$/;

interface HintDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly storefronts: StorefrontConnections;
  readonly wakePull: (shopId: string) => void;
}

const refused = (): Fault =>
  new Fault("UNAUTHORIZED", "The webhook is not signed with the secret of this shop's app.", {
    action: "Connect the shop with its app's client secret, and let Shopify send webhooks here.",
  });

/** Facts that are remembered between webhooks. */
interface Known {
  readonly events: RecentMap<true>;
  readonly shops: Cache<Shop>;
}

export function createStorefrontHints(deps: HintDependencies): Surface {
  const known = { events: new RecentMap<true>(eventsKnownMax), shops: new Cache<Shop>(hintedShopsBytesMax) };
  return {
    path: shopifyHintsPath,
    reply: (context) => hinted(deps, known, context),
  };
}

async function hinted(deps: HintDependencies, { events, shops }: Known, context: RequestContext): Promise<Reply> {
  const { request, requestId, path } = context;
  context.operation = "storefront:hint";
  if (request.method !== "POST") throw methodNotAllowed(request.method, ["POST"]);
  const shopId = path.slice(shopifyHintsPath.length + 1);
  const signature = request.header("x-shopify-hmac-sha256") ?? "";
  if (!shopIdPattern.test(shopId) || !signaturePattern.test(signature)) throw refused();
  const shop = await shopOf(deps.engine, shops, shopId);
  const secret = shop === null ? null : deps.storefronts.shopify.secretOf(shop);
  // Without a secret as much is done.
  const expected = createHmac("sha256", secret ?? requestId)
    .update(await context.body.whole(unauthenticated))
    .digest();
  const isSigned = timingSafeEqual(expected, Buffer.from(signature, "base64"));
  if (!isSigned || shop === null || secret === null || !isOfStore(shop, request.header("x-shopify-shop-domain")))
    throw refused();
  context.shopId = shopId;
  const event = request.header("x-shopify-event-id") ?? request.header("x-shopify-webhook-id");
  const name = event === null ? null : `${shopId} ${event}`;
  if (name === null || !events.has(name)) await hint(deps, shopId);
  if (name !== null) events.set(name, true);
  return success(requestId, {});
}

/** The same app may be in several stores, with the same secret. */
const isOfStore = ({ storefront }: Shop, domain: string | null): boolean =>
  storefront.kind === "shopify" && (domain === null || domain.toLowerCase() === storefront.domain);

async function shopOf(engine: Engine, shops: Cache<Shop>, shopId: string): Promise<Shop | null> {
  const known = shops.get(shopId);
  if (known !== null) return known;
  try {
    const seen: Footprint[] = [];
    // Read and not peeked at: what is remembered is durable.
    const shop = await engine.read(
      shopId,
      (tx) => loadShop(tx, shopId),
      (each) => seen.push(each),
    );
    if (shop !== null) shops.put(shopId, shop, bytesOfText(JSON.stringify(shop)), seen);
    return shop;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Notes the hint, unless one is noted already: many come at a time. */
async function hint({ engine, clock, wakePull }: HintDependencies, shopId: string): Promise<void> {
  const pull = await engine.peek(shopId, (tx) => loadPull(tx, shopId));
  if (pull === null || pull.pulledUntilMs === null || pull.hintedAtMs !== null) return;
  const dueAtMs = await engine.write(shopId, (tx) => hintPull(tx, shopId, clock.now()));
  if (dueAtMs !== null) wakePull(shopId);
}
