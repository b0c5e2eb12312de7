/**
 * Webhook endpoints of a shop and their deliveries (C59). The operator's and the owner's alone: whoever adds an
 * endpoint reads every later change, so a key, an agent's above all, never can.
 */
import { z } from "zod";
import { hourMs } from "../base/time/calendar.ts";
import { sleep } from "../base/time/waiting.ts";
import { decodeCursor, encodeCursor } from "../base/cursor.ts";
import { eventTypePatterns, typesNamed } from "../core/events/events.ts";
import { Fault, invalidField } from "../base/fault.ts";
import { deliveryStates, disabledReasons, webhookEndpointsMax } from "../core/events/webhooks.ts";
import {
  instant,
  instantOrNull,
  listParameter,
  listParameterMax,
  pageShape,
  pathId,
  shownId,
  text,
} from "../operations/fields.ts";
import {
  type Delivery,
  deleteSlice,
  handOver,
  listDeliveries,
  loadDelivery,
  type ReplayRange,
  replaySlice,
  resumeSlice,
  retryStatement,
} from "../shop/events/deliveries.ts";
import { newEvent } from "../shop/events/events.ts";
import {
  endpointStatements,
  listEndpoints,
  loadEndpoint,
  removeEndpointStatements,
  signatureKinds,
  type WebhookEndpoint,
} from "../shop/events/webhook-endpoints.ts";
import type { Tx } from "../store/store.ts";
import { urlFault } from "../webhooks/addresses.ts";
import { makeSecret } from "../webhooks/signature.ts";
import { type AdminContext, data, inShop, operation, stampOf, shopOf } from "./operation.ts";
import { pageOfWhole, wholeList } from "./whole-lists.ts";
import { instantMs } from "../exchange/record-type.ts";

const urlLengthMax = 2_000;

const descriptionMax = 500;

const overlapHoursMax = 168;

const overlapHoursDefault = 24;

/** Deliveries that one turn of the shop changes, where there may be many. */
const sliceMax = 250;

const deliveryPageMax = 500;

const deliveryPageDefault = 50;

const eventType = z.enum(eventTypePatterns, {
  error: "must be a type of event, purchase_order.*, storefront_sync.* and the like, or *",
});

const eventTypes = z.array(eventType).min(1).max(eventTypePatterns.length);

const ofEndpoint = { ...inShop, endpointId: pathId } as const;

const path = "/shops/{shopId}/webhook-endpoints";

const endpointSchema = z.strictObject({
  endpointId: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()),
  description: z.string().nullable(),
  signature: z.enum(signatureKinds),
  status: z.enum(["enabled", "disabled"]),
  disabledReason: z.enum(disabledReasons).nullable(),
  createdAt: z.string(),
  lastDeliveredAt: z.string().nullable(),
});

const deliverySchema = z.strictObject({
  deliveryId: z.string(),
  eventId: z.string(),
  type: z.string(),
  endpointId: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  lastStatus: z.int().nullable(),
  lastMs: z.number().nullable(),
  lastError: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
});

const endpointJson = (endpoint: WebhookEndpoint): z.output<typeof endpointSchema> => ({
  endpointId: endpoint.endpointId,
  url: endpoint.url,
  eventTypes: [...endpoint.eventTypes],
  description: endpoint.description,
  signature: endpoint.signature,
  status: endpoint.status,
  disabledReason: endpoint.disabledReason,
  createdAt: instant(endpoint.createdAtMs),
  lastDeliveredAt: instantOrNull(endpoint.lastDeliveredAtMs),
});

const deliveryJson = (delivery: Delivery): z.output<typeof deliverySchema> => ({
  deliveryId: delivery.deliveryId,
  eventId: delivery.eventId,
  type: delivery.type,
  endpointId: delivery.endpointId,
  state: delivery.state,
  attempts: delivery.attempts,
  lastStatus: delivery.lastStatus,
  lastMs: delivery.lastMs,
  lastError: delivery.lastError,
  nextAttemptAt: instantOrNull(delivery.dueAtMs),
});

/** @throws Fault INVALID_INPUT when nothing may be sent there. */
function requireUrl({ webhooks }: AdminContext, url: string): void {
  const fault = urlFault(webhooks.policy, url);
  if (fault !== null)
    throw invalidField(
      "/url",
      fault,
      "Use an https URL of a public host. The operator opens others with OPENPO_WEBHOOK_ALLOW and OPENPO_WEBHOOK_HTTP.",
    );
}

/** @throws Fault NOT_FOUND when the shop has no such endpoint. */
async function endpointOf(tx: Tx, shopId: string, endpointId: string): Promise<WebhookEndpoint> {
  const [, endpoint] = await Promise.all([shopOf(tx, shopId), loadEndpoint(tx, shopId, endpointId)]);
  if (endpoint !== null) return endpoint;
  throw new Fault("NOT_FOUND", `Shop ${shopId} has no webhook endpoint ${shownId(endpointId)}.`, {
    action: `See GET /admin/v1/shops/${shopId}/webhook-endpoints.`,
  });
}

/** @throws Fault INVALID_INPUT when the endpoint is disabled. */
function requireEnabled({ status }: WebhookEndpoint): void {
  if (status === "disabled")
    throw new Fault("INVALID_INPUT", "The endpoint is disabled.", {
      action: 'Enable it first: PATCH {"status": "enabled"}.',
    });
}

export const createEndpoint = operation({
  name: "webhook_endpoint_create",
  route: { method: "POST", path },
  role: "owner",
  describes: {
    summary: "Adds a webhook endpoint, whose secret is shown here only.",
    description:
      "The secret in the answer is shown nowhere else. From now on the endpoint is sent each event of the types that it wants.",
    output: endpointSchema.extend({ secret: z.string() }),
  },
  input: z.strictObject({
    ...inShop,
    url: text(urlLengthMax),
    eventTypes,
    description: text(descriptionMax).optional(),
    signature: z.enum(signatureKinds).default("hmac"),
  }),
  /**
   * Adds an endpoint. This answer is the only place where its secret is ever shown. It is told of events from now on.
   */
  async run(context, { shopId: id, url, eventTypes: patterns, description = null, signature }) {
    requireUrl(context, url);
    const { engine, clock, ids } = context;
    const { stored, shown } = makeSecret(signature);
    const secret = context.webhooks.secrets.sealIfAble(id, stored);
    const endpoint: WebhookEndpoint = {
      endpointId: ids.next("we"),
      url,
      eventTypes: [...new Set(patterns)],
      description,
      signature,
      secret,
      previousSecret: null,
      previousUntilMs: null,
      status: "enabled",
      disabledReason: null,
      createdAtMs: clock.now(),
      lastDeliveredAtMs: null,
      failures: 0,
      failingSinceMs: null,
    };
    await engine.write(id, async (tx) => {
      const [, others] = await Promise.all([shopOf(tx, id), listEndpoints(tx, id)]);
      if (others.length >= webhookEndpointsMax)
        throw new Fault("INVALID_INPUT", `The shop has ${others.length} webhook endpoints, which is the most.`, {
          action: "Delete one that is not needed.",
        });
      await tx.batch(endpointStatements(id, endpoint));
    });
    context.webhooks.changed(id);
    return data({ ...endpointJson(endpoint), secret: shown }, 201);
  },
});

export const listWebhookEndpoints = operation({
  name: "webhook_endpoint_list",
  route: { method: "GET", path },
  role: "owner",
  describes: {
    summary: "Webhook endpoints, oldest first.",
    description:
      "Endpoints with what they want, whether they are enabled, and when something was last delivered. Secrets are not shown.",
    output: z.strictObject({ endpoints: z.array(endpointSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  async run({ engine }, { shopId: id, ...page }) {
    const [, endpoints] = await engine.read(id, (tx) => Promise.all([shopOf(tx, id), listEndpoints(tx, id)]));
    const scope = { list: "webhook-endpoints", shopId: id, filters: {} };
    const rows = endpoints.map(endpointJson);
    return pageOfWhole({ scope, name: "endpoints", rows, idOf: ({ endpointId }) => endpointId }, page);
  },
});

export const getEndpoint = operation({
  name: "webhook_endpoint_get",
  route: { method: "GET", path: `${path}/{endpointId}` },
  role: "owner",
  describes: {
    summary: "One webhook endpoint.",
    description: "An endpoint without its secret.",
    output: z.strictObject({ endpoint: endpointSchema }),
  },
  input: z.strictObject(ofEndpoint),
  async run({ engine }, { shopId: id, endpointId }) {
    return data({ endpoint: endpointJson(await engine.read(id, (tx) => endpointOf(tx, id, endpointId))) });
  },
});

export const patchEndpoint = operation({
  name: "webhook_endpoint_update",
  route: { method: "PATCH", path: `${path}/{endpointId}` },
  role: "owner",
  describes: {
    summary: "Changes a webhook endpoint, or enables it again.",
    description:
      "Members that are left out keep their value. An endpoint that is enabled again is sent what waits for it.",
    output: z.strictObject({ endpoint: endpointSchema }),
  },
  input: z.strictObject({
    ...ofEndpoint,
    url: text(urlLengthMax).optional(),
    eventTypes: eventTypes.optional(),
    description: text(descriptionMax).nullable().optional(),
    status: z.enum(["enabled", "disabled"]).optional(),
  }),
  /**
   * Changes the endpoint. Enabled again, it begins anew: its failures are forgotten, and what waited for it is sent.
   */
  async run(context, { shopId: id, endpointId, ...sent }) {
    if (sent.url !== undefined) requireUrl(context, sent.url);
    const { engine, clock } = context;
    const changed = await engine.write(id, async (tx) => {
      const endpoint = await endpointOf(tx, id, endpointId);
      const status = sent.status ?? endpoint.status;
      const isMove = status !== endpoint.status;
      const next: WebhookEndpoint = {
        ...endpoint,
        url: sent.url ?? endpoint.url,
        eventTypes: sent.eventTypes === undefined ? endpoint.eventTypes : [...new Set(sent.eventTypes)],
        description: sent.description === undefined ? endpoint.description : sent.description,
        status,
        ...(isMove
          ? { failures: 0, failingSinceMs: null, disabledReason: status === "disabled" ? "by-hand" : null }
          : {}),
      };
      await tx.batch(endpointStatements(id, next));
      return next;
    });
    const resume = (): Promise<boolean> =>
      engine.write(id, (tx) => resumeSlice(tx, id, endpointId, clock.now(), sliceMax), { durable: false });
    if (sent.status === "enabled") while (await resume());
    context.webhooks.changed(id);
    return data({ endpoint: endpointJson(changed) });
  },
});

export const deleteEndpoint = operation({
  name: "webhook_endpoint_delete",
  route: { method: "DELETE", path: `${path}/{endpointId}` },
  role: "owner",
  describes: {
    summary: "Deletes a webhook endpoint with its deliveries.",
    description: "What is being sent to it may still arrive.",
    output: z.strictObject({ endpointId: z.string(), deleted: z.literal(true) }),
  },
  input: z.strictObject(ofEndpoint),
  /** Deletes the endpoint with its deliveries. What is being sent to it may still arrive. */
  async run({ engine }, { shopId: id, endpointId }) {
    await engine.write(id, async (tx) => {
      await endpointOf(tx, id, endpointId);
      await tx.batch(removeEndpointStatements(id, endpointId));
    });
    while (await engine.write(id, (tx) => deleteSlice(tx, id, endpointId, sliceMax), { durable: false }));
    return data({ endpointId, deleted: true });
  },
});

export const rotateSecret = operation({
  name: "webhook_endpoint_rotate_secret",
  route: { method: "POST", path: `${path}/{endpointId}/rotate-secret` },
  role: "owner",
  describes: {
    summary: "Gives a webhook endpoint another secret, which is shown here only.",
    description:
      "Requests are signed with both secrets until `previousSecretUntil`, so that no delivery is lost while the receiver changes.",
    output: z.strictObject({ endpointId: z.string(), secret: z.string(), previousSecretUntil: z.string() }),
    status: 200,
  },
  input: z.strictObject({
    ...ofEndpoint,
    overlapHours: z.number().min(0).max(overlapHoursMax).default(overlapHoursDefault),
  }),
  /** Gives the endpoint a new secret, shown here only. The one before signs beside it until the overlap ends. */
  async run(context, { shopId: id, endpointId, overlapHours }) {
    const { engine, clock } = context;
    return await engine.write(id, async (tx) => {
      const endpoint = await endpointOf(tx, id, endpointId);
      const { stored, shown } = makeSecret(endpoint.signature);
      const previousUntilMs = clock.now() + Math.round(overlapHours * hourMs);
      const secret = context.webhooks.secrets.sealIfAble(id, stored);
      await tx.batch(endpointStatements(id, { ...endpoint, secret, previousSecret: endpoint.secret, previousUntilMs }));
      return data({ endpointId, secret: shown, previousSecretUntil: instant(previousUntilMs) });
    });
  },
});

/** Time for which a test waits for its outcome, and the interval of its polls. */
const testWaitMs = 3_000;

const testPollMs = 50;

export const testEndpoint = operation({
  name: "webhook_endpoint_test",
  route: { method: "POST", path: `${path}/{endpointId}/test` },
  role: "owner",
  describes: {
    summary: "Sends a test to a webhook endpoint and waits for what becomes of it.",
    description:
      "Sends `test.ping`, whatever the endpoint is subscribed to. The answer has what became of it, or `pending` when that is not known yet.",
    output: z.strictObject({ delivery: deliverySchema }),
    status: 200,
  },
  input: z.strictObject(ofEndpoint),
  /**
   * Sends a `test.ping` to the endpoint, whatever it is subscribed to, and answers with what became of it, or that it
   * is not known yet.
   */
  async run(context, { shopId: id, endpointId }, call) {
    const { engine } = context;
    const deliveryId = await engine.write(id, async (tx) => {
      requireEnabled(await endpointOf(tx, id, endpointId));
      const draft = { type: "test.ping", data: { endpointId } } as const;
      const { head, statement } = newEvent(id, draft, stampOf(context, call));
      const delivery = handOver(id, endpointId, head);
      await tx.batch([statement, delivery.statement]);
      return delivery.deliveryId;
    });
    context.webhooks.changed(id);
    for (let waitedMs = 0; ; waitedMs += testPollMs) {
      const delivery = await engine.read(id, (tx) => loadDelivery(tx, id, endpointId, deliveryId));
      if (delivery === null) throw noDelivery(id, endpointId, deliveryId);
      const isTried = delivery.state !== "pending" || delivery.lastMs !== null;
      if (isTried || waitedMs >= testWaitMs) return data({ delivery: deliveryJson(delivery) });
      await sleep(testPollMs);
    }
  },
});

export const listEndpointDeliveries = operation({
  name: "webhook_delivery_list",
  route: { method: "GET", path: `${path}/{endpointId}/deliveries` },
  role: "owner",
  describes: {
    summary: "Deliveries to a webhook endpoint, those of newer events first.",
    description: "Each event that the endpoint was to be told of, with attempts, last answer and the next attempt.",
    output: z.strictObject({ deliveries: z.array(deliverySchema), ...pageShape }),
  },
  input: z.strictObject({
    ...ofEndpoint,
    state: listParameter(z.enum(deliveryStates), "State."),
    type: z.array(eventType).min(1).max(listParameterMax).optional().meta({
      query: "list",
      description: "Only deliveries of these types of event, or groups like purchase_order.*.",
    }),
    limit: z.int().min(1).max(deliveryPageMax).default(deliveryPageDefault).meta({ query: "integer" }),
    cursor: z.string().min(1).optional(),
  }),
  /** Deliveries to the endpoint, those of newer events first. */
  async run({ engine }, { shopId: id, endpointId, limit, cursor, ...filters }) {
    const scope = { list: "deliveries", shopId: id, filters: { ...filters, endpointId } };
    const [before] = cursor === undefined ? [null] : decodeCursor(scope, cursor, ["string"]);
    const only = {
      states: filters.state === undefined ? null : [...new Set(filters.state)],
      types: filters.type === undefined ? null : typesNamed(filters.type),
    };
    const [, { deliveries, totalCount }] = await engine.read(id, (tx) =>
      Promise.all([endpointOf(tx, id, endpointId), listDeliveries(tx, id, endpointId, only, before, limit + 1)]),
    );
    const page = deliveries.slice(0, limit);
    const last = deliveries.length > limit ? page.at(-1) : undefined;
    return data({
      deliveries: page.map(deliveryJson),
      totalCount,
      cursor: last === undefined ? null : encodeCursor(scope, [last.deliveryId]),
    });
  },
});

const noDelivery = (shopId: string, endpointId: string, deliveryId: string): Fault =>
  new Fault("NOT_FOUND", `The endpoint has no delivery ${shownId(deliveryId)}.`, {
    action: `See GET /admin/v1/shops/${shopId}/webhook-endpoints/${endpointId}/deliveries.`,
  });

export const retryDelivery = operation({
  name: "webhook_delivery_retry",
  route: { method: "POST", path: `${path}/{endpointId}/deliveries/{deliveryId}/retry` },
  role: "owner",
  describes: {
    summary: "Sends a delivery once more, now.",
    description: "Sends the event again, whatever became of it, under the same id. The endpoint must be enabled.",
    output: z.strictObject({ delivery: deliverySchema.nullable() }),
    status: 200,
  },
  input: z.strictObject({ ...ofEndpoint, deliveryId: pathId }),
  /** Sends a delivery once more, now, whatever became of it. */
  async run(context, { shopId: id, endpointId, deliveryId }) {
    const { engine, clock } = context;
    const delivery = await engine.write(id, async (tx) => {
      requireEnabled(await endpointOf(tx, id, endpointId));
      if ((await loadDelivery(tx, id, endpointId, deliveryId)) === null) throw noDelivery(id, endpointId, deliveryId);
      await tx.batch([retryStatement(id, deliveryId, clock.now())]);
      return await loadDelivery(tx, id, endpointId, deliveryId);
    });
    context.webhooks.changed(id);
    return data({ delivery: delivery === null ? null : deliveryJson(delivery) });
  },
});

export const replayEvents = operation({
  name: "webhook_endpoint_replay",
  route: { method: "POST", path: `${path}/{endpointId}/replay` },
  role: "owner",
  describes: {
    summary: "Hands past events to a webhook endpoint.",
    description: "Sends the events of a range again, under the same ids. A receiver knows by the id what it has had.",
    output: z.strictObject({ endpointId: z.string(), replayed: z.int() }),
    status: 200,
  },
  input: z
    .strictObject({
      ...ofEndpoint,
      afterSequence: z.int().min(0).optional(),
      from: instantMs.optional(),
      to: instantMs.optional(),
    })
    .refine(
      ({ afterSequence, from, to }) => (afterSequence === undefined) !== (from === undefined && to === undefined),
      {
        path: ["afterSequence"],
        error: "either afterSequence, or from and to, is needed",
      },
    )
    .refine(({ from = 0, to = Number.MAX_SAFE_INTEGER }) => from <= to, {
      path: ["to"],
      error: "must not be before from",
    }),
  /**
   * Hands events of the past to the endpoint, of the types that it is subscribed to; those that it has had are sent
   * again.
   */
  async run(context, { shopId: id, endpointId, afterSequence = 0, from = 0, to = Number.MAX_SAFE_INTEGER }) {
    const { engine, clock } = context;
    let replayed = 0;
    const slices = (range: ReplayRange): ReturnType<typeof replaySlice> =>
      engine.write(id, async (tx) => {
        const endpoint = await endpointOf(tx, id, endpointId);
        requireEnabled(endpoint);
        return await replaySlice(tx, id, endpointId, typesNamed(endpoint.eventTypes), range, clock.now(), sliceMax);
      });
    for (let after: number | null = afterSequence; after !== null;) {
      const slice: Awaited<ReturnType<typeof replaySlice>> = await slices({
        afterSequence: after,
        fromMs: from,
        toMs: to,
      });
      replayed += slice.count;
      after = slice.next;
    }
    context.webhooks.changed(id);
    return data({ endpointId, replayed });
  },
});
