/**
 * Webhook endpoints (tables `webhook_endpoint`, `webhook_subscription`): who is told of a shop's events (C59).
 *
 * Owns: their SQL. Does not own: deliveries (deliveries.ts), secrets and signatures (webhooks/signature.ts), who may
 * add one (admin).
 *
 * Subscriptions are those of enabled endpoints only, so that handing out an event reads nothing else.
 */
import { type DisabledReason, type EndpointHealth, subscriptionsTo } from "../../core/events/webhooks.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { Tx } from "../../store/store.ts";
import { type Change, type Row, insert, update, remove } from "../../store/change.ts";
import { columnList, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

/**
 * Signatures of deliveries: with a shared secret (`v1`), or with a key of which the receiver has the public part
 * (`v1a`).
 */
export const signatureKinds = ["hmac", "ed25519"] as const;

const endpointFields = {
  endpointId: { kind: "text" },
  url: { kind: "text" },
  /** As they were asked for. */
  eventTypes: { kind: "strings" },
  description: { kind: "text", empty: null },
  signature: { kind: "text" },
  secret: { kind: "text" },
  previousSecret: { kind: "text", empty: null },
  previousUntilMs: { kind: "instant", empty: null },
  status: { kind: "text" },
  disabledReason: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  lastDeliveredAtMs: { kind: "instant", empty: null },
  failures: { kind: "integer" },
  failingSinceMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** An endpoint as stored. */
export interface WebhookEndpoint extends ValuesOf<typeof endpointFields> {
  readonly signature: (typeof signatureKinds)[number];
  readonly status: "enabled" | "disabled";
  readonly disabledReason: DisabledReason | null;
}

/**
 * Secrets that sign, sealed where the operator has set a key. The previous one signs beside it until `previousUntilMs`.
 */
export type EndpointSecrets = Pick<WebhookEndpoint, "signature" | "secret" | "previousSecret" | "previousUntilMs">;

/** Columns of an endpoint that can change. */
const changingColumns = [
  "url",
  "event_types",
  "description",
  "secret",
  "previous_secret",
  "previous_until",
  "status",
  "disabled_reason",
  "last_delivered_at",
  "failures",
  "failing_since",
];

const selectEndpoints = `select ${columnList(endpointFields)} from webhook_endpoint where shop_id = ?`;

const endpointFrom = recordReader<WebhookEndpoint>(endpointFields);

const storeEndpoint = insertInto(tables.webhook_endpoint, [], columnsOf(endpointFields), changingColumns);

/** All endpoints of the shop, oldest first. */
export async function listEndpoints(tx: Tx, shopId: string): Promise<readonly WebhookEndpoint[]> {
  const rows = await tx.all<Row>(`${selectEndpoints} order by created_at, endpoint_id`, [shopId]);
  return rows.map(endpointFrom);
}

/** The endpoint; null when there is none. */
export async function loadEndpoint(tx: Tx, shopId: string, endpointId: string): Promise<WebhookEndpoint | null> {
  const [row] = await tx.all<Row>(`${selectEndpoints} and endpoint_id = ?`, [shopId, endpointId]);
  return row === undefined ? null : endpointFrom(row);
}

/** True if the shop has any endpoint. */
export async function hasEndpoints(tx: Tx, shopId: string): Promise<boolean> {
  const rows = await tx.all("select 1 as found from webhook_endpoint where shop_id = ? limit 1", [shopId]);
  return rows.length > 0;
}

/** Stores the endpoint, new or changed, with its subscriptions while it is enabled. */
export function endpointStatements(shopId: string, endpoint: WebhookEndpoint): readonly Change[] {
  const { endpointId, eventTypes } = endpoint;
  const patterns = endpoint.status === "enabled" ? subscriptionsTo(eventTypes) : [];
  return [
    storeEndpoint([shopId], endpoint),
    unsubscribe(shopId, endpointId),
    ...patterns.map((pattern) => insert(tables.webhook_subscription, shopId, { pattern, endpoint_id: endpointId })),
  ];
}

const unsubscribe = (shopId: string, endpointId: string): Change =>
  remove(tables.webhook_subscription, shopId, { endpoint_id: endpointId });

/** Stores the secrets of an endpoint, and nothing else of it. */
export const secretsStatement = (
  shopId: string,
  endpointId: string,
  { secret, previousSecret }: Pick<EndpointSecrets, "secret" | "previousSecret">,
): Change =>
  update(tables.webhook_endpoint, shopId, { endpoint_id: endpointId }, { secret, previous_secret: previousSecret });

/** Stores how an endpoint has fared, and nothing else of it. */
export const healthStatement = (
  shopId: string,
  endpointId: string,
  { lastDeliveredAtMs, failures, failingSinceMs }: EndpointHealth,
): Change =>
  update(
    tables.webhook_endpoint,
    shopId,
    { endpoint_id: endpointId },
    { last_delivered_at: lastDeliveredAtMs, failures, failing_since: failingSinceMs },
  );

/** Disables the endpoint: it is handed no further event. */
export const disableStatements = (shopId: string, endpointId: string, reason: DisabledReason): readonly Change[] => [
  update(tables.webhook_endpoint, shopId, { endpoint_id: endpointId }, { status: "disabled", disabled_reason: reason }),
  unsubscribe(shopId, endpointId),
];

/** Removes the endpoint. Its deliveries are the caller's to remove. */
export const removeEndpointStatements = (shopId: string, endpointId: string): readonly Change[] => [
  remove(tables.webhook_endpoint, shopId, { endpoint_id: endpointId }),
  unsubscribe(shopId, endpointId),
];
