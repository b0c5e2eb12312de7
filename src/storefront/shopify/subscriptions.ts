/**
 * Asking a store to tell of changes by webhooks, and taking that back.
 *
 * Asking again finds what is there: a webhook is told apart by its topic and address. Shopify lists an app's own
 * webhooks only.
 */
import type { ShopifyClient } from "./client.ts";
import { subscribeDocument, subscriptionsDocument, unsubscribeDocument } from "./documents.ts";

/** Topics with the member that they send, one of the changed thing: a webhook is a hint and nothing is read of it. */
const productTopics = ["PRODUCTS_CREATE", "PRODUCTS_UPDATE", "PRODUCTS_DELETE"] as const;
/** Unit costs change there, and no product does. */
const itemTopics = ["INVENTORY_ITEMS_UPDATE"] as const;
const levelTopics = ["INVENTORY_LEVELS_CONNECT", "INVENTORY_LEVELS_UPDATE", "INVENTORY_LEVELS_DISCONNECT"] as const;
const orderTopics = ["ORDERS_CREATE", "ORDERS_UPDATED"] as const;

const topics = [
  ...productTopics.map((topic) => ({ topic, member: "id" })),
  ...itemTopics.map((topic) => ({ topic, member: "id" })),
  ...levelTopics.map((topic) => ({ topic, member: "inventory_item_id" })),
  ...orderTopics.map((topic) => ({ topic, member: "id" })),
];

const isOfOrders = (topic: string): boolean => orderTopics.some((each) => each === topic);

/** Topic that the store refuses, and why. */
export interface RefusedTopic {
  readonly topic: string;
  readonly why: string;
}

/**
 * Asks the store to tell of changes at the address, and at these others no more.
 *
 * @param seesOrders  the app may read orders; without it the store refuses to tell of them.
 * @returns what the store refuses to tell of.
 * @throws StorefrontError
 */
export async function subscribe(
  client: ShopifyClient,
  address: string,
  {
    former,
    seesOrders,
    signal,
  }: { readonly former: readonly string[]; readonly seesOrders: boolean; readonly signal: AbortSignal },
): Promise<readonly RefusedTopic[]> {
  const wanted = topics.filter(({ topic }) => seesOrders || !isOfOrders(topic));
  const existing = await subscriptionsAt(client, address, signal);
  const refused: RefusedTopic[] = [];
  for (const { topic, member } of wanted) {
    if (existing.some((each) => each.topic === topic)) continue;
    const webhook = { uri: address, includeFields: [member] };
    const { webhookSubscriptionCreate } = await client.ask(
      subscribeDocument,
      { topic, webhook },
      { writes: true, items: 0, signal },
    );
    const [refusal] = webhookSubscriptionCreate.userErrors;
    if (refusal !== undefined) refused.push({ topic, why: refusal.message });
  }
  await unsubscribe(client, former, signal);
  if (refused.length === 0) return refused;
  // Another call may have asked for it at the same time.
  const now = await subscriptionsAt(client, address, signal);
  return refused.filter(({ topic }) => !now.some((each) => each.topic === topic));
}

/** Lets the store tell nothing any more at these addresses. @throws StorefrontError */
export async function unsubscribe(
  client: ShopifyClient,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const address of addresses)
    for (const { id } of await subscriptionsAt(client, address, signal))
      await client.ask(unsubscribeDocument, { id }, { writes: true, items: 0, signal });
}

async function subscriptionsAt(client: ShopifyClient, address: string, signal: AbortSignal) {
  const nodes = await client.ask(subscriptionsDocument, { uri: address }, { writes: false, items: 0, signal });
  return nodes.filter(({ uri }) => uri === address);
}
