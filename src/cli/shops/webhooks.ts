/**
 * Commands on a shop's webhook endpoints and their deliveries.
 */
import { memberOf } from "../../base/json.ts";
import { asking, type RunnableCommand, wholeNumber } from "../command.ts";
import { shown, tableOf } from "../output.ts";

/** `purchase_order.*,test.ping` as a list; null when it was not given. */
const typesOf = (text: string | null): readonly string[] | null =>
  text === null ? null : text.split(",").map((type) => type.trim());

const eventsOption = {
  value: "TYPES",
  help: "types of events, separated by commas: purchase_order.*,import.completed; * for all",
  member: "eventTypes",
} as const;

export const webhookCreate = asking({
  name: "webhook create",
  parameters: ["RECEIVER_URL"],
  summary: "add a webhook endpoint; its secret is shown only now",
  options: {
    events: { ...eventsOption, help: `${eventsOption.help} (*)` },
    description: { value: "TEXT", help: "what it is for" },
    signature: { value: "hmac|ed25519", help: "how deliveries are signed (hmac)" },
  },
  operation: "webhook_endpoint_create",
  input: (args) => ({
    url: args.parameter(0),
    eventTypes: typesOf(args.text("events")) ?? ["*"],
    description: args.text("description"),
    signature: args.text("signature"),
  }),
  told: (data) => [
    shown(memberOf(data, "secret")),
    `Endpoint ${shown(memberOf(data, "endpointId"))}. Its secret is not shown again.`,
  ],
});

const endpointColumns = {
  ENDPOINT: "endpointId",
  STATUS: "status",
  REASON: "disabledReason",
  "LAST DELIVERED": "lastDeliveredAt",
  EVENTS: "eventTypes",
  URL: "url",
};

export const webhookList = asking({
  name: "webhook list",
  summary: "list the webhook endpoints of a shop, without their secrets",
  operation: "webhook_endpoint_list",
  told: (data) => tableOf(data, "endpoints", endpointColumns, "There are no webhook endpoints."),
});

export const webhookUpdate = asking({
  name: "webhook update",
  parameters: ["ENDPOINT_ID"],
  summary: "change a webhook endpoint; enable it again, or disable it",
  options: {
    to: { value: "URL", help: "where events are sent from now on" },
    events: eventsOption,
    description: { value: "TEXT", help: "what it is for" },
    status: { value: "enabled|disabled", help: "enabled begins anew, and sends what waited" },
  },
  operation: "webhook_endpoint_update",
  input: (args) => ({
    endpointId: args.parameter(0),
    url: args.text("to"),
    eventTypes: typesOf(args.text("events")),
    description: args.text("description"),
    status: args.text("status"),
  }),
  told: (data, { endpointId }) =>
    `Endpoint ${shown(endpointId)} is changed and ${shown(memberOf(memberOf(data, "endpoint"), "status"))}.`,
});

export const webhookDelete = asking({
  name: "webhook delete",
  parameters: ["ENDPOINT_ID"],
  summary: "delete a webhook endpoint with its deliveries",
  operation: "webhook_endpoint_delete",
  input: (args) => ({ endpointId: args.parameter(0) }),
  told: (_data, { endpointId }) => `Endpoint ${shown(endpointId)} is deleted.`,
});

export const webhookRotate: RunnableCommand = asking({
  name: "webhook rotate",
  parameters: ["ENDPOINT_ID"],
  summary: "give a webhook endpoint a new secret, which is shown only now",
  options: { overlap: { value: "HOURS", help: "how long the secret before signs too (24)", member: "overlapHours" } },
  operation: "webhook_endpoint_rotate_secret",
  input: (args) => ({ endpointId: args.parameter(0), overlapHours: wholeNumber(args, "overlap", webhookRotate) }),
  told: (data) => [
    shown(memberOf(data, "secret")),
    `The secret before signs too until ${shown(memberOf(data, "previousSecretUntil"))}.`,
  ],
});

/** Returns the outcome of a delivery, as a line. */
function outcomeOf(delivery: unknown): string {
  const [state, status, error] = ["state", "lastStatus", "lastError"].map((field) => memberOf(delivery, field));
  const why = error === null ? (status === null ? "not tried yet" : `HTTP ${shown(status)}`) : shown(error);
  return `${shown(memberOf(delivery, "deliveryId"))}: ${shown(state)}, ${why}.`;
}

export const webhookTest = asking({
  name: "webhook test",
  parameters: ["ENDPOINT_ID"],
  summary: "send a test.ping to a webhook endpoint and show what became of it",
  operation: "webhook_endpoint_test",
  input: (args) => ({ endpointId: args.parameter(0) }),
  told: (data) => outcomeOf(memberOf(data, "delivery")),
});

const deliveryColumns = {
  DELIVERY: "deliveryId",
  TYPE: "type",
  STATE: "state",
  ATTEMPTS: "attempts",
  STATUS: "lastStatus",
  "NEXT ATTEMPT": "nextAttemptAt",
  ERROR: "lastError",
};

export const webhookDeliveries: RunnableCommand = asking({
  name: "webhook deliveries",
  parameters: ["ENDPOINT_ID"],
  summary: "list deliveries to a webhook endpoint, those of newer events first",
  options: {
    state: { value: "pending|delivered|failed", help: "only these" },
    events: { ...eventsOption, member: "type" },
    limit: { value: "N", help: "at most so many (50, up to 500)" },
    cursor: { value: "CURSOR", help: "go on after an earlier page" },
  },
  operation: "webhook_delivery_list",
  input: (args) => ({
    endpointId: args.parameter(0),
    state: args.text("state"),
    type: typesOf(args.text("events")),
    limit: wholeNumber(args, "limit", webhookDeliveries),
    cursor: args.text("cursor"),
  }),
  told: (data) => tableOf(data, "deliveries", deliveryColumns, "There are no deliveries."),
});

export const webhookRetry = asking({
  name: "webhook retry",
  parameters: ["ENDPOINT_ID", "DELIVERY_ID"],
  summary: "send a delivery again, now",
  operation: "webhook_delivery_retry",
  input: (args) => ({ endpointId: args.parameter(0), deliveryId: args.parameter(1) }),
  told: (_data, { deliveryId }) => `Delivery ${shown(deliveryId)} is sent again.`,
});

export const webhookReplay: RunnableCommand = asking({
  name: "webhook replay",
  parameters: ["ENDPOINT_ID"],
  summary: "send events of the past to a webhook endpoint, again or for the first time",
  options: {
    after: { value: "SEQUENCE", help: "those after this sequence; 0 for all that are kept", member: "afterSequence" },
    from: { value: "TIME", help: "in place of --after: those from this time on, as 2026-11-21T10:00:00Z" },
    to: { value: "TIME", help: "those up to this time" },
  },
  operation: "webhook_endpoint_replay",
  input: (args) => ({
    endpointId: args.parameter(0),
    afterSequence: wholeNumber(args, "after", webhookReplay),
    from: args.text("from"),
    to: args.text("to"),
  }),
  told: (data) => `${shown(memberOf(data, "replayed"))} events are sent again.`,
});
