/**
 * Commands on a shop's webhook endpoints and their deliveries.
 */
import type { Arguments } from "../arguments.ts";
import {
  commonOptions,
  dataOf,
  given,
  type RunnableCommand,
  shopOption,
  withOperator,
  wholeNumber,
} from "../command.ts";
import { listIn, memberOf, shown, table } from "../output.ts";

const ofEndpoint = (args: Arguments) => ({ shopId: args.required("shop"), endpointId: args.parameter(0) });

/** `purchase_order.*,test.ping` as a list; null when it was not given. */
const typesOf = (text: string | null): readonly string[] | null =>
  text === null ? null : text.split(",").map((type) => type.trim());

const eventsOption = {
  value: "TYPES",
  help: "types of events, separated by commas: purchase_order.*,import.completed; * for all",
  member: "eventTypes",
} as const;

export const webhookCreate: RunnableCommand = {
  name: "webhook create",
  parameters: ["RECEIVER_URL"],
  summary: "add a webhook endpoint; its secret is shown only now",
  options: {
    ...shopOption,
    events: { ...eventsOption, help: `${eventsOption.help} (*)` },
    description: { value: "TEXT", help: "what it is for" },
    signature: { value: "hmac|ed25519", help: "how deliveries are signed (hmac)" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({
      shopId: args.required("shop"),
      url: args.parameter(0),
      eventTypes: typesOf(args.text("events")) ?? ["*"],
      description: args.text("description"),
      signature: args.text("signature"),
    });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_create", input));
      context.output.result(data, shown(memberOf(data, "secret")));
      context.output.message(`Endpoint ${shown(memberOf(data, "endpointId"))}. Its secret is not shown again.`);
    });
  },
};

export const webhookList: RunnableCommand = {
  name: "webhook list",
  parameters: [],
  summary: "list the webhook endpoints of a shop, without their secrets",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_list", { shopId }));
      const fields = ["endpointId", "status", "disabledReason", "lastDeliveredAt", "eventTypes", "url"];
      const rows = listIn(data, "endpoints").map((endpoint) => fields.map((field) => memberOf(endpoint, field)));
      const headings = ["ENDPOINT", "STATUS", "REASON", "LAST DELIVERED", "EVENTS", "URL"];
      context.output.result(data, rows.length === 0 ? "There are no webhook endpoints." : table(headings, rows));
    });
  },
};

export const webhookUpdate: RunnableCommand = {
  name: "webhook update",
  parameters: ["ENDPOINT_ID"],
  summary: "change a webhook endpoint; enable it again, or disable it",
  options: {
    ...shopOption,
    to: { value: "URL", help: "where events are sent from now on" },
    events: eventsOption,
    description: { value: "TEXT", help: "what it is for" },
    status: { value: "enabled|disabled", help: "enabled begins anew, and sends what waited" },
    ...commonOptions,
  },
  async run(args, context) {
    const endpoint = ofEndpoint(args);
    const input = given({
      ...endpoint,
      url: args.text("to"),
      eventTypes: typesOf(args.text("events")),
      description: args.text("description"),
      status: args.text("status"),
    });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_update", input));
      const status = shown(memberOf(memberOf(data, "endpoint"), "status"));
      context.output.result(data, `Endpoint ${endpoint.endpointId} is changed and ${status}.`);
    });
  },
};

export const webhookDelete: RunnableCommand = {
  name: "webhook delete",
  parameters: ["ENDPOINT_ID"],
  summary: "delete a webhook endpoint with its deliveries",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const input = ofEndpoint(args);
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_delete", input));
      context.output.result(data, `Endpoint ${input.endpointId} is deleted.`);
    });
  },
};

export const webhookRotate: RunnableCommand = {
  name: "webhook rotate",
  parameters: ["ENDPOINT_ID"],
  summary: "give a webhook endpoint a new secret, which is shown only now",
  options: {
    ...shopOption,
    overlap: { value: "HOURS", help: "how long the secret before signs too (24)", member: "overlapHours" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({ ...ofEndpoint(args), overlapHours: wholeNumber(args, "overlap", webhookRotate) });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_rotate_secret", input));
      context.output.result(data, shown(memberOf(data, "secret")));
      context.output.message(`The secret before signs too until ${shown(memberOf(data, "previousSecretUntil"))}.`);
    });
  },
};

/** Returns the outcome of a delivery, as a line. */
function outcomeOf(delivery: unknown): string {
  const [state, status, error] = ["state", "lastStatus", "lastError"].map((field) => memberOf(delivery, field));
  const why = error === null ? (status === null ? "not tried yet" : `HTTP ${shown(status)}`) : shown(error);
  return `${shown(memberOf(delivery, "deliveryId"))}: ${shown(state)}, ${why}.`;
}

export const webhookTest: RunnableCommand = {
  name: "webhook test",
  parameters: ["ENDPOINT_ID"],
  summary: "send a test.ping to a webhook endpoint and show what became of it",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const input = ofEndpoint(args);
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_test", input));
      context.output.result(data, outcomeOf(memberOf(data, "delivery")));
    });
  },
};

export const webhookDeliveries: RunnableCommand = {
  name: "webhook deliveries",
  parameters: ["ENDPOINT_ID"],
  summary: "list deliveries to a webhook endpoint, those of newer events first",
  options: {
    ...shopOption,
    state: { value: "pending|delivered|failed", help: "only these" },
    events: { ...eventsOption, member: "type" },
    limit: { value: "N", help: "at most so many (50, up to 500)" },
    cursor: { value: "CURSOR", help: "go on after an earlier page" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({
      ...ofEndpoint(args),
      state: args.text("state"),
      type: typesOf(args.text("events")),
      limit: wholeNumber(args, "limit", webhookDeliveries),
      cursor: args.text("cursor"),
    });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_delivery_list", input));
      const fields = ["deliveryId", "type", "state", "attempts", "lastStatus", "nextAttemptAt", "lastError"];
      const rows = listIn(data, "deliveries").map((delivery) => fields.map((field) => memberOf(delivery, field)));
      const headings = ["DELIVERY", "TYPE", "STATE", "ATTEMPTS", "STATUS", "NEXT ATTEMPT", "ERROR"];
      context.output.result(data, rows.length === 0 ? "There are no deliveries." : table(headings, rows));
    });
  },
};

export const webhookRetry: RunnableCommand = {
  name: "webhook retry",
  parameters: ["ENDPOINT_ID", "DELIVERY_ID"],
  summary: "send a delivery again, now",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const input = { ...ofEndpoint(args), deliveryId: args.parameter(1) };
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_delivery_retry", input));
      context.output.result(data, `Delivery ${input.deliveryId} is sent again.`);
    });
  },
};

export const webhookReplay: RunnableCommand = {
  name: "webhook replay",
  parameters: ["ENDPOINT_ID"],
  summary: "send events of the past to a webhook endpoint, again or for the first time",
  options: {
    ...shopOption,
    after: { value: "SEQUENCE", help: "those after this sequence; 0 for all that are kept", member: "afterSequence" },
    from: { value: "TIME", help: "in place of --after: those from this time on, as 2026-11-21T10:00:00Z" },
    to: { value: "TIME", help: "those up to this time" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({
      ...ofEndpoint(args),
      afterSequence: wholeNumber(args, "after", webhookReplay),
      from: args.text("from"),
      to: args.text("to"),
    });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("webhook_endpoint_replay", input));
      context.output.result(data, `${shown(memberOf(data, "replayed"))} events are sent again.`);
    });
  },
};
