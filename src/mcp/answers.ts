/**
 * Answers as agents read them (C69). A write shows what changed and what comes next, not the whole order.
 *
 * Does not own: what an operation answers (operations), the next step (core/order/advice/next-step.ts), the names of
 * members (names.ts), a text that is too long (cut-lists.ts).
 */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";
import { isJsonArray, isJsonObject, type JsonObject } from "../base/json.ts";
import { correctionStep, nextStepOf, unmailedStep } from "../core/order/advice/next-step.ts";
import { warningReasons } from "../core/order/advice/warnings.ts";
import { isHeld } from "../core/order/status.ts";
import {
  customVariantPrefix,
  statuses,
  type StorefrontSyncState,
  storefrontSyncStates,
} from "../core/order/purchase-order.ts";
import { cutMember, cutOf, type LinesOf } from "./cut-lists.ts";
import { asObject, objectsIn } from "./schemas.ts";

/** Changed lines that a write shows at most. */
export const changedLinesMax = 50;

/** Members of an order in a list, as far as they hold something. */
const listedMembers: readonly string[] = [
  "purchaseOrderId",
  "poNumber",
  "poName",
  "status",
  "supplierName",
  "currencyCode",
  "totalValue",
  "paidStatus",
  "quantityOrdered",
  "quantityPending",
  "nextExpectedDate",
  "storefrontSyncState",
  "createdAt",
];

/** Members of the order that a write shows unless they are null, beside the header fields that the call has set. */
const orderMembers: readonly string[] = [
  "purchaseOrderId",
  "poNumber",
  "status",
  "supplierName",
  "currencyCode",
  "totalValue",
  "grandTotal",
  "paidStatus",
  "itemCount",
  "quantityOrdered",
  "quantityConfirmed",
  "quantityReceived",
  "quantityPending",
  "nextExpectedDate",
  "storefrontSyncState",
];

/**
 * Members of a changed line that a write shows, beside the fields that the call has set. Zeros and nulls are left out.
 */
const lineMembers: readonly string[] = [
  "lineItemId",
  "variantId",
  "sku",
  "lineItemStatus",
  "quantityOrdered",
  "quantityConfirmed",
  "quantityReceived",
  "quantityRejected",
  "quantityCancelled",
  "quantityPending",
  "unitCost",
];

/** Members of a line in a list, as far as they hold something. */
const listedLineMembers: readonly string[] = [
  ...lineMembers,
  "productName",
  "variantName",
  "supplierSku",
  "unitCostCurrencyCode",
  "expectedDeliveryDate",
  "note",
];

/** Members of an operation's answer that a short one puts in other words: the changed lines themselves. */
const changedLineLists: readonly string[] = ["updatedLineItemIds", "receivedLineItemIds"];

/** A call of a tool that answers with an order. */
interface OrderCall {
  readonly shop: { readonly emailOnSent: boolean };
  /** The arguments as they were sent. */
  readonly input: JsonObject;
  /** True if the whole order is wanted. */
  readonly wantsOrder: boolean;
  /** The order whose lines were changed; null: nothing was. */
  readonly lines: LinesOf | null;
}

/** The answer of a write with its next step: in short, or with the whole order when that is asked for. */
export function writeAnswer(answer: JSONObject, { shop, input, wantsOrder, lines }: OrderCall): JSONObject {
  const order = asObject(answer["purchaseOrder"]);
  const nextStep = recoveryStep(order, answer) ?? nextStepFor(order, answer, shop);
  return { ...(wantsOrder ? answer : shortAnswer(answer, input, lines)), ...(nextStep === null ? {} : { nextStep }) };
}

/** The answer of a write that waits for a decision (C77): its preview is in short, as the answer would be. */
export function pendingAnswer(answer: JSONObject, input: JsonObject): JSONObject {
  const { preview, ...request } = asObject(answer["approvalRequest"]);
  const whole = asObject(preview);
  return {
    approvalRequest: { ...request, preview: "purchaseOrder" in whole ? shortAnswer(whole, input, null) : whole },
  };
}

/** Sync state of an order of which nothing was pushed yet: a list tells the others. */
const neverSynced: StorefrontSyncState = "never-synced";

/** A list of orders in short (C69). Only where it is held, an order has the status that it goes back to. */
export function listAnswer(answer: JSONObject): JSONObject {
  const rows = objectsIn(answer["purchaseOrders"]).map(({ status, ...order }) => {
    const isHeldNow = statuses.some((each) => each === status && isHeld({ status: each }));
    const shown = pick({ status: status ?? null, ...order }, [
      ...listedMembers,
      ...(isHeldNow ? ["previousStatus"] : []),
    ]);
    return withoutNulls({
      ...shown,
      ...(shown["storefrontSyncState"] === neverSynced ? { storefrontSyncState: null } : {}),
    });
  });
  return { ...answer, purchaseOrders: rows };
}

/** Rows without their members that are null. Members beside them stay: a cursor of null says that there is no more. */
export const lookUpAnswer = (answer: JSONObject): JSONObject =>
  Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? value.map(deepWithoutNulls) : value]),
  );

function deepWithoutNulls(value: JSONValue): JSONValue {
  if (Array.isArray(value)) return value.map(deepWithoutNulls);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(withoutNulls(value));
  return Object.fromEntries(members.map(([name, each]) => [name, deepWithoutNulls(each)]));
}

/** A list of lines in short (C69). */
export const linesAnswer = (answer: JSONObject): JSONObject => ({
  ...answer,
  lineItems: objectsIn(answer["lineItems"]).map((line) => lineShown(line, listedLineMembers)),
});

const resetTool = "purchase_order_storefront_sync_reset";

/**
 * The step that `recovery` begins with, so that both say the same; null where no stock and no incoming quantity has
 * failed. Tags alone keep no order from going on.
 */
function recoveryStep(
  { purchaseOrderId = null }: JSONObject,
  { sideEffects, recovery }: JSONObject,
): JSONObject | null {
  if (typeof recovery !== "string" || !recovery.includes(resetTool)) return null;
  const { storefrontSync, incoming } = asObject(sideEffects);
  const hasFailed = asObject(storefrontSync)["status"] === "failed" || asObject(incoming)["outcome"] === "failed";
  return hasFailed ? { tool: resetTool, arguments: { purchaseOrderId }, advice: "Do what recovery says." } : null;
}

function nextStepFor(
  order: JSONObject,
  { warnings, transition }: JSONObject,
  { emailOnSent }: OrderCall["shop"],
): JSONObject | null {
  const { purchaseOrderId, locationId, lineItems, quantityConfirmed, quantityPending } = order;
  const statusIn = (member: string) => statuses.find((status) => status === order[member]);
  const [status, previousStatus] = [statusIn("status"), statusIn("previousStatus")];
  const storefrontSyncState = storefrontSyncStates.find((state) => state === order["storefrontSyncState"]);
  if (typeof purchaseOrderId !== "string" || status === undefined || previousStatus === undefined) return null;
  if (storefrontSyncState === undefined) return null;
  const lines = objectsIn(lineItems);
  const usual = nextStepOf({
    purchaseOrderId,
    status,
    previousStatus,
    locationId: typeof locationId === "string" ? locationId : null,
    itemCount: lines.length,
    isConfirmedInPart: quantityConfirmed !== 0,
    isPending: quantityPending !== 0,
    isUnsynced: lines.some(isUnsynced),
    storefrontSyncState,
    isMailedOnSent: emailOnSent,
  });
  const reasons = objectsIn(warnings).flatMap(({ reason }) => correctable.find((each) => each === reason) ?? []);
  const step = reasons.length === 0 ? usual : correctionStep(purchaseOrderId, reasons, usual);
  const isJustSent = status === "Sent" && asObject(transition)["from"] === "Draft";
  const said = isJustSent && !emailOnSent ? unmailedStep(step) : step;
  return { ...said, arguments: { ...said.arguments } };
}

/** Reasons that ask for a correction; giving up what is pending is usually meant. */
const correctable = warningReasons.filter((reason) => reason !== "given-up");

const isUnsynced = ({ variantId, quantityReceived, quantitySynced }: JSONObject): boolean =>
  quantityReceived !== quantitySynced && typeof variantId === "string" && !variantId.startsWith(customVariantPrefix);

function shortAnswer(answer: JSONObject, input: JsonObject, order: LinesOf | null): JSONObject {
  const { purchaseOrder, lineItems, confirmation, sideEffects, warnings, ...others } = answer;
  for (const name of changedLineLists) delete others[name];
  const { lineItems: all, ...header } = asObject(purchaseOrder);
  const changed = lineItems === undefined ? linesNamed(objectsIn(all), answer, input) : objectsIn(lineItems);
  // A new line is sent as members that an order has too, like its note: they are the line's.
  const sent = lineItems === undefined ? Object.keys(input) : [];
  return {
    purchaseOrder: { ...withoutNulls(pick(header, orderMembers)), ...pick(header, sent) },
    ...(changed === null ? {} : linesShown(changed, input, order)),
    ...others,
    ...(warnings === undefined ? {} : { warnings: [...warningsShown(objectsIn(warnings))] }),
    ...(confirmation === undefined ? {} : { confirmation: confirmationShown(asObject(confirmation), order) }),
    ...(hasMembers(sideEffects) ? { sideEffects: sideEffectsShown(asObject(sideEffects), header) } : {}),
  };
}

/**
 * The lines that a call has changed; null when it is not about lines. All of them are new when it brought lines itself.
 */
function linesNamed(lines: readonly JSONObject[], answer: JSONObject, input: JsonObject): readonly JSONObject[] | null {
  const name = changedLineLists.find((list) => answer[list] !== undefined);
  if (name === undefined) return input["lineItems"] === undefined ? null : lines;
  const ids = new Set([answer[name]].flat());
  return lines.filter((line) => ids.has(line["lineItemId"]));
}

function linesShown(lines: readonly JSONObject[], input: JsonObject, order: LinesOf | null): JSONObject {
  const entries = [input["lines"] ?? [], input["lineItems"] ?? []].flatMap((list) => (isJsonArray(list) ? list : []));
  // The call itself is the entry where it brings one line.
  const sent = [input, ...entries.filter(isJsonObject)].flatMap((entry) => Object.keys(entry));
  const { lineItems, ...cut } = firstOf("lineItems", lines, order);
  return { ...cut, lineItems: objectsIn(lineItems).map((line) => lineShown(line, [...lineMembers, ...sent])) };
}

/** The first `changedLinesMax` of a list under its name, and what was cut of it. */
function firstOf(name: string, entries: readonly JSONValue[], order: LinesOf | null): JSONObject {
  const shown = entries.slice(0, changedLinesMax);
  const isCut = shown.length < entries.length;
  return { ...(isCut ? { [cutMember(name)]: cutOf(shown, entries.length, order) } : {}), [name]: shown };
}

const lineShown = (line: JSONObject, names: readonly string[]): JSONObject =>
  Object.fromEntries(
    Object.entries(pick(line, names)).filter(
      ([name, value]) => name === "quantityPending" || (value !== 0 && value !== null),
    ),
  );

/** Warnings of one reason that are shown one by one. */
const warningsApartMax = 5;

/** Warnings in short: more of one reason are one, with the first one's message and the paths of all. */
const warningsShown = (warnings: readonly JSONObject[]): readonly JSONObject[] =>
  [...Map.groupBy(warnings, ({ reason }) => reason).values()].flatMap((group): readonly JSONObject[] =>
    group.length <= warningsApartMax ? group : [gathered(group)],
  );

function gathered(group: readonly JSONObject[]): JSONObject {
  const { reason = null, message = "" } = group[0] ?? {};
  const first = typeof message === "string" ? message : "";
  return {
    paths: group.map(({ path }) => path ?? null),
    reason,
    message: `${first} The same holds at all paths.`,
  };
}

/** Lines that the storefront shows are only counted. */
function confirmationShown({ lines, ...others }: JSONObject, order: LinesOf | null): JSONObject {
  const all = objectsIn(lines);
  const open = all.filter(({ status }) => status !== "verified");
  return { ...others, verifiedLineCount: all.length - open.length, ...firstOf("lines", open, order) };
}

/**
 * Of the write-back to the supplier's catalogue, lines with the same outcome are told together; those that it took are
 * only counted.
 */
function sideEffectsShown({ supplierUpdate, ...rest }: JSONObject, header: JSONObject): JSONObject {
  const others = syncShown(rest, header);
  if (supplierUpdate === undefined) return others;
  const { lines, ...update } = asObject(supplierUpdate);
  const groups = Map.groupBy(objectsIn(lines), ({ outcome, error }) => JSON.stringify([outcome, error]));
  const shown = [...groups.values()].map((group): JSONObject => {
    const ids = group.map(({ lineItemId }) => lineItemId ?? null);
    const isApplied = group[0]?.["outcome"] === "applied";
    return {
      ...pick(group[0] ?? {}, ["outcome", "error"]),
      lineCount: group.length,
      ...(isApplied ? {} : firstOf("lineItemIds", ids, null)),
    };
  });
  return { ...others, supplierUpdate: { ...update, lines: shown } };
}

/** A push that the order is synced by has been done: `queued` beside it would say that it is still to come. */
function syncShown({ storefrontSync, ...others }: JSONObject, { storefrontSyncState }: JSONObject): JSONObject {
  if (storefrontSync === undefined) return others;
  const { status, ...sync } = asObject(storefrontSync);
  const isDone = status === "queued" && storefrontSyncState === "synced";
  return { storefrontSync: { status: isDone ? "applied" : (status ?? null), ...sync }, ...others };
}

const hasMembers = (value: JSONValue | undefined): boolean => Object.keys(asObject(value)).length > 0;

const withoutNulls = (members: JSONObject): JSONObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** The members of these names, in this order. */
const pick = (from: JSONObject, names: readonly string[]): JSONObject =>
  Object.fromEntries(
    [...new Set(names)].flatMap((name) => {
      const value = from[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const objectOf = (properties: JSONObject): JSONObject => ({ type: "object", properties });

const listOf = (items: JSONObject): JSONObject => ({ type: "array", items });

const [text, count]: readonly [JSONObject, JSONObject] = [{ type: "string" }, { type: "integer" }];

const propertiesOf = (schema: JSONValue | undefined): JSONObject => asObject(asObject(schema)["properties"]);

/** The schema of what a write answers, from the schema of the operation's answer. */
export function writeAnswerSchema(schema: JSONObject): JSONObject {
  const { purchaseOrder, lineItems: _lines, sideEffects, confirmation, ...others } = propertiesOf(schema);
  const flag: JSONObject = { type: "boolean" };
  const ofEvery = {
    replayed: flag,
    dryRun: flag,
    storefrontWrites: objectOf({}),
    approvalRequest: objectOf({}),
    approvalCauses: listOf(objectOf({})),
  };
  // orders_needing_attention shows what is in one.
  const nextStep = objectOf({});
  if (purchaseOrder === undefined) return objectOf({ nextStep, ...others, ...ofEvery });
  for (const name of changedLineLists) delete others[name];
  const { lineItems, ...header } = propertiesOf(purchaseOrder);
  const supplierUpdate = objectOf({
    outcome: text,
    lines: listOf(objectOf({ outcome: text, error: text, lineCount: count, lineItemIds: listOf(text) })),
  });
  return objectOf({
    purchaseOrder: objectOf(pick(header, orderMembers)),
    lineItems: listOf(objectOf(pick(propertiesOf(asObject(lineItems)["items"]), lineMembers))),
    [cutMember("lineItems")]: objectOf({}),
    ...others,
    ...(confirmation === undefined
      ? {}
      : { confirmation: objectOf({ ...propertiesOf(confirmation), verifiedLineCount: count }) }),
    ...(sideEffects === undefined ? {} : { sideEffects: objectOf({ ...propertiesOf(sideEffects), supplierUpdate }) }),
    nextStep,
    ...ofEvery,
  });
}
