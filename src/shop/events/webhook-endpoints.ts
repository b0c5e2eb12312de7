/**
 * Webhook endpoints (tables `webhook_endpoint`, `webhook_subscription`): who is told of a shop's events (C59).
 *
 * Owns: their SQL. Does not own: deliveries (deliveries.ts), secrets and signatures (webhooks/signature.ts), who may
 * add one (admin).
 *
 * Subscriptions are those of enabled endpoints only, so that handing out an event reads nothing else.
 */
import { type DisabledReason, type EndpointHealth, subscriptionsTo } from "../../core/events/webhooks.ts";
import type { Tx } from "../../store/store.ts";
import { type Change, insert, update, remove } from "../../store/change.ts";
import { tables } from "../tables.ts";

/**
 * Signatures of deliveries: with a shared secret (`v1`), or with a key of which the receiver has the public part
 * (`v1a`).
 */
export const signatureKinds = ["hmac", "ed25519"] as const;

/**
 * Secrets that sign, sealed where the operator has set a key. The previous one signs beside it until `previousUntilMs`.
 */
export interface EndpointSecrets {
  readonly signature: (typeof signatureKinds)[number];
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousUntilMs: number | null;
}

/** An endpoint as stored. */
export interface WebhookEndpoint extends EndpointHealth, EndpointSecrets {
  readonly endpointId: string;
  readonly url: string;
  /** As they were asked for. */
  readonly eventTypes: readonly string[];
  readonly description: string | null;
  readonly status: "enabled" | "disabled";
  readonly disabledReason: DisabledReason | null;
  readonly createdAtMs: number;
}

interface EndpointRow {
  readonly endpoint_id: string;
  readonly url: string;
  readonly event_types: string;
  readonly description: string | null;
  readonly signature: WebhookEndpoint["signature"];
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: number | null;
  readonly status: WebhookEndpoint["status"];
  readonly disabled_reason: DisabledReason | null;
  readonly created_at: number;
  readonly last_delivered_at: number | null;
  readonly failures: number;
  readonly failing_since: number | null;
}

const columns =
  "endpoint_id, url, event_types, description, signature, secret, previous_secret, previous_until, status, disabled_reason, created_at, last_delivered_at, failures, failing_since";

function endpointFrom(row: EndpointRow): WebhookEndpoint {
  // Only `endpointStatements` writes it.
  const eventTypes: readonly string[] = JSON.parse(row.event_types);
  return {
    endpointId: row.endpoint_id,
    url: row.url,
    eventTypes,
    description: row.description,
    signature: row.signature,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousUntilMs: row.previous_until,
    status: row.status,
    disabledReason: row.disabled_reason,
    createdAtMs: row.created_at,
    lastDeliveredAtMs: row.last_delivered_at,
    failures: row.failures,
    failingSinceMs: row.failing_since,
  };
}

/** All endpoints of the shop, oldest first. */
export async function listEndpoints(tx: Tx, shopId: string): Promise<readonly WebhookEndpoint[]> {
  const rows = await tx.all<EndpointRow>(
    `select ${columns} from webhook_endpoint where shop_id = ? order by created_at, endpoint_id`,
    [shopId],
  );
  return rows.map(endpointFrom);
}

/** The endpoint; null when there is none. */
export async function loadEndpoint(tx: Tx, shopId: string, endpointId: string): Promise<WebhookEndpoint | null> {
  const [row] = await tx.all<EndpointRow>(
    `select ${columns} from webhook_endpoint where shop_id = ? and endpoint_id = ?`,
    [shopId, endpointId],
  );
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
    insert(
      tables.webhook_endpoint,
      shopId,
      {
        endpoint_id: endpointId,
        url: endpoint.url,
        event_types: JSON.stringify(eventTypes),
        description: endpoint.description,
        signature: endpoint.signature,
        secret: endpoint.secret,
        previous_secret: endpoint.previousSecret,
        previous_until: endpoint.previousUntilMs,
        status: endpoint.status,
        disabled_reason: endpoint.disabledReason,
        created_at: endpoint.createdAtMs,
        last_delivered_at: endpoint.lastDeliveredAtMs,
        failures: endpoint.failures,
        failing_since: endpoint.failingSinceMs,
      },
      changingColumns,
    ),
    unsubscribe(shopId, endpointId),
    ...patterns.map((pattern) => insert(tables.webhook_subscription, shopId, { pattern, endpoint_id: endpointId })),
  ];
}

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
