/**
 * Approvals (C77 to C80): why a write needs a decision, who may decide, and whether what would be done is still what
 * was asked for. Pure.
 *
 * Does not own: limits of keys (limits.ts), requests as they are kept (shop/access/approval-requests.ts), running what
 * was approved (operations/approvals).
 */
import { hash } from "node:crypto";
import { dayMs } from "../../base/time/calendar.ts";
import type { LimitDetail } from "../../base/fault.ts";
import type { Money } from "../money/money.ts";
import { customVariantPrefix, type PurchaseOrder } from "../order/purchase-order.ts";
import { type Actor, keyOf } from "./actor.ts";
import { type Merges, presentIds, type ValueRise } from "./limits.ts";
import type { Role } from "./role.ts";

/** Statuses of a request. A pending one that nobody decides in time is `expired`. */
export const approvalStatuses = [
  "pending",
  "approved",
  "rejected",
  "withdrawn",
  "expired",
  "overtaken",
  "failed",
] as const;
/** Status of an approval request (C80). */
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** Callers that a rule is about. A program counts as an agent, and so does who has signed in with an API key. */
export const ruleActors = ["any", "agents", "people"] as const;

/** People who may approve: those with one of these roles, and these. */
interface Approvers {
  readonly roles: readonly Role[];
  readonly personIds: readonly string[];
}

/** A rule of the shop (C79): orders that are not sent without a decision. Null: any. */
export interface ApprovalRule {
  readonly ruleId: string;
  readonly name: string;
  readonly when: {
    /** In the shop's currency; the value itself needs no decision. */
    readonly totalAbove: Money | null;
    readonly supplierIds: readonly string[] | null;
    readonly locationIds: readonly string[] | null;
    readonly actors: (typeof ruleActors)[number];
  };
  readonly approvers: Approvers;
}

/** The rules after these merges. */
export const rulesAfter = (rules: readonly ApprovalRule[], merges: Merges): readonly ApprovalRule[] =>
  rules.map((rule) => {
    const { supplierIds } = rule.when;
    return supplierIds === null
      ? rule
      : { ...rule, when: { ...rule.when, supplierIds: presentIds(supplierIds, merges) } };
  });

/** Cause for which a write needs a decision: the scope of its key, a limit that it is beyond, or a rule of the shop. */
export type ApprovalCause =
  | { readonly cause: "scope" }
  | ({ readonly cause: "limit" } & LimitDetail)
  | {
      readonly cause: "rule";
      readonly ruleId: string;
      readonly name: string;
      readonly approvers: Approvers;
    };

/** The causes of a write by a key that may only propose, or by any other caller. */
export const causesWith = (isProposed: boolean, found: readonly ApprovalCause[]): readonly ApprovalCause[] =>
  isProposed ? [{ cause: "scope" }, ...found] : found;

/** An order as it was approved: as long as it is worth no more, nobody is asked again. */
export interface Cleared {
  readonly purchaseOrderId: string;
  /** In the shop's currency. */
  readonly value: Money;
  readonly supplierId: string | null;
  readonly locationId: string | null;
}

const isPerson = (actor: Actor): boolean =>
  (actor.type === "user" || actor.type === "supplier") && keyOf(actor) === null;

const includes = (ids: readonly string[] | null, id: string | null): boolean =>
  ids === null || (id !== null && ids.includes(id));

/** The first of the shop's rules that an order meets; null: none. What has no price is above every total. */
export function ruleMet(
  rules: readonly ApprovalRule[],
  actor: Actor,
  next: Pick<PurchaseOrder, "supplierId" | "locationId">,
  { value, addsUnpriced }: Pick<ValueRise, "value" | "addsUnpriced">,
): ApprovalRule | null {
  const met = rules.find(
    ({ when: { totalAbove, supplierIds, locationIds, actors } }) =>
      (actors === "any" || (actors === "people") === isPerson(actor)) &&
      (totalAbove === null || addsUnpriced || value > totalAbove) &&
      includes(supplierIds, next.supplierId) &&
      includes(locationIds, next.locationId),
  );
  return met ?? null;
}

/** True if the order, as it would be, was approved before. */
export const isCleared = (cleared: readonly Cleared[], next: Omit<Cleared, "purchaseOrderId">): boolean =>
  cleared.some(
    ({ value, supplierId, locationId }) =>
      next.value <= value && next.supplierId === supplierId && next.locationId === locationId,
  );

/** Somebody who decides. */
interface Decider {
  /** Null: the operator. */
  readonly personId: string | null;
  readonly role: Role;
  /** The API key by which the person has signed in, or is one of the shop at all. */
  readonly keyId: string | null;
}

/** The caller who has asked, and in whose name. */
export interface Asker {
  readonly actor: Actor;
  /** The person of an agent: who has connected it, or made its key. Null: a person asks, the operator, an older key. */
  readonly personId: string | null;
}

/** Settings of the shop about approvals. */
export interface ApprovalSettings {
  readonly approvalRules: readonly ApprovalRule[];
  /** Who decides what no rule names. */
  readonly approverRoles: readonly Role[];
  /** False: nobody approves what his own agents have asked for. */
  readonly approveOwnAgents: boolean;
  /** Days after which a request that nobody has decided ends. */
  readonly approvalDays: number;
  /** Whoever may decide gets a mail, where there is a mail server. */
  readonly approvalMails: boolean;
}

/** The settings of a new shop. */
export const approvalDefaults: ApprovalSettings = {
  approvalRules: [],
  approverRoles: ["owner"],
  approveOwnAgents: true,
  approvalDays: 7,
  approvalMails: true,
};

/** Days that a request may wait at most. */
export const approvalDaysMax = 90;

/** The instant at which a request ends that is made now. */
export const expiryOf = ({ approvalDays }: ApprovalSettings, nowMs: number): number => nowMs + approvalDays * dayMs;

/** Reason for which somebody may not decide. */
export type Undecidable = "by-key" | "own" | "own-agent" | "not-approver";

/**
 * Returns why somebody may not decide; null: they may. The operator may always, but for what he has asked for himself.
 *
 * Source: C79.
 */
export function undecidable(
  { personId, role, keyId }: Decider,
  asker: Asker,
  causes: readonly ApprovalCause[],
  { approverRoles, approveOwnAgents }: ApprovalSettings,
): Undecidable | null {
  if (keyId !== null) return "by-key";
  if (asker.actor.type === "user" && asker.actor.id === personId) return "own";
  if (personId === null) return null;
  if (!approveOwnAgents && asker.personId === personId) return "own-agent";
  const rules = causes.flatMap((cause) => (cause.cause === "rule" ? [cause.approvers] : []));
  const groups: readonly Approvers[] = rules.length > 0 ? rules : [{ roles: approverRoles, personIds: [] }];
  return groups.every(({ roles, personIds }) => roles.includes(role) || personIds.includes(personId))
    ? null
    : "not-approver";
}

/** An order before a write and after it. Null: there is none. */
export interface OrderStates {
  readonly before: PurchaseOrder | null;
  readonly after: PurchaseOrder | null;
}

/** A mail that a write sends, as far as it counts for what the write does. */
export interface MailSent {
  readonly recipients: readonly { readonly address: string; readonly role: string }[];
  readonly subject: string;
  readonly text: string;
  readonly contentTypes: readonly string[];
}

/** Ids that say what is ordered, of whom and where to. */
const keptIds: ReadonlySet<string> = new Set(["supplierId", "locationId", "variantId"]);

/** Members that follow from the instant of a write: its days, and the size of a document that shows its day. */
const ofInstant: ReadonlySet<string> = new Set(["sentDate", "nextExpectedDate", "fileSizeBytes"]);

/** Members that differ each time: times, ids, numbers and versions (C80). */
const isVolatile = (name: string): boolean =>
  ofInstant.has(name) || (/(AtMs|At|Id|Ids|Number|version)$/i.test(name) && !keptIds.has(name));

function settled(value: unknown): unknown {
  if (typeof value === "string" && value.startsWith(customVariantPrefix)) return customVariantPrefix;
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isVolatile(name) ? [] : [[name, settled(member)]])),
  );
}

/** The members that differ, each with its new value, by path. */
function differences(before: unknown, after: unknown, path: string, into: [string, unknown][]): void {
  if (typeof before === "object" && before !== null && typeof after === "object" && after !== null) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const name of names) differences(Reflect.get(before, name), Reflect.get(after, name), `${path}/${name}`, into);
  } else if (before !== after) into.push([path, after ?? null]);
}

/**
 * Digest of what a write changes: two writes with the same one change the same. Times, ids, numbers and versions do
 * not count; the order's value, status, supplier and place do, and the mails that it sends.
 *
 * @param answer  the data of its answer, which counts where it is about no order.
 * Source: C80.
 */
export function changeDigest(orders: readonly OrderStates[], answer: unknown, mails: readonly MailSent[] = []): string {
  const effects = orders.map(({ before, after }) => {
    const changed: [string, unknown][] = [];
    differences(settled(before), settled(after), "", changed);
    // One that is deleted counts as it was.
    const order = after ?? before;
    const facts =
      order === null ? null : [order.grandTotal, order.currencyCode, order.status, order.supplierId, order.locationId];
    return { facts, changed };
  });
  const changed = orders.length > 0 ? effects : settled(answer);
  return hash("sha256", JSON.stringify(mails.length > 0 ? { changed, mails } : changed));
}
