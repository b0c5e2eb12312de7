/**
 * The shape of an operation: the only place where something that can be asked of a shop exists.
 *
 * From an operation follow its REST route (if any), its 405 set, validation, OpenAPI entry, agent tool and scope check.
 * So do audit tag, idempotency, rate limit and generated contract tests. Surfaces read this shape and never know an
 * operation's name.
 */
import type { z } from "zod";
import type { Actor } from "../core/access/actor.ts";
import type { ApprovalCause, Cleared } from "../core/access/approvals.ts";
import type { Role } from "../core/access/role.ts";
import type { FaultCode, FaultReason } from "../base/fault.ts";
import type { EffectOutcome } from "../core/order/effect.ts";
import type { NextStep } from "../core/order/advice/next-step.ts";
import type { PurchaseOrder } from "../core/order/purchase-order.ts";
import type { Shop } from "../shop/access/accounts.ts";
import type { ShownChange } from "../shop/catalogue/record-log.ts";
import type { QueuedEffect } from "../shop/storefront/effects.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Tx } from "../store/store.ts";
import type { BroadQuery } from "./broad-read.ts";
import type { Storefront } from "../storefront/storefront.ts";
import type { ToolSet } from "./tool-sets.ts";

/** An operation reads, or it writes. */
type Scope = "read" | "write";
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Route {
  readonly method: Method;
  /** Below `/api/v1`, parameters in braces named as in the input: `/purchase-orders/{purchaseOrderId}/status`. */
  readonly path: string;
}

/**
 * Repeat rule of a call without a key (spec "Repeat safety without a key"); agent annotations follow from it. What is
 * safe to repeat may be refused the second time (/complete, DELETE): nothing is done twice.
 */
export type Repeat = "read" | "safe" | "adds-again" | "refused" | "partly";

/**
 * One thing that can be asked. `Input` is what the schema parses to, `Output` what the answer's `data` is made from.
 */
export interface OperationShape<Input, Output> {
  /** snake_case, resource first: `purchase_order_receive`. */
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  /** One line for people. */
  readonly summary: string;
  /** For agents: what it does, when not to use it, what comes next. */
  readonly description: string;
  /** For agents, behind `description`: what holds in this shop. */
  inShop?(shop: Pick<Shop, "emailOnSent">): string;
  /** Its group in documents: `Purchase orders`. */
  readonly tag: string;
  /** The sets of tools that it is in (C76). */
  readonly toolSets: readonly ToolSet[];
  readonly scope: Scope;
  /** A write that belongs to receiving goods: receivers may call it (C50). */
  readonly receiving?: true;
  /** Null: REST has no path for it; only agents get it, as a tool (C68). */
  readonly route: Route | null;
  readonly success: 200 | 201;
  readonly repeat: Repeat;
  /** It may delete or replace something that cannot be restored; agents ask before they call it. */
  readonly destructive: boolean;
  /**
   * It changes the storefront's stock, although the storefront cannot refuse the call (`UPSTREAM_STOREFRONT` says that
   * it can).
   */
  readonly pushesStock?: true;
  /** Its failures besides those of every operation: codes, and reasons of INVALID_INPUT. */
  readonly faults: readonly (FaultCode | FaultReason)[];
  /**
   * One strict object of all members. On HTTP those named in `route.path` come from the path, the others from the query
   * (GET, DELETE) or the body (POST, PATCH).
   */
  readonly input: z.ZodType<Input> & { readonly shape: Readonly<Record<string, z.ZodType>> };
  readonly output: z.ZodType<Output>;
  /**
   * Answers have an order's version as ETag although they do not show the order (C37). Answers that show one have it
   * anyway.
   */
  readonly versioned?: true;
  /** It is about approval requests: it is never one itself, nor run dry. */
  readonly aboutApprovals?: true;
  /** For agents: members of its rows that are null are left out. */
  readonly leavesOutNulls?: true;
  /** It is an approval request whatever the key may do: no agent does it without a person (C85). */
  readonly isProposed?: true;
  /** For agents: the next step after an answer that shows no order, whose next step follows from the order (C69). */
  nextStep?(input: NoInfer<Input>, output: NoInfer<Output>): NextStep;
  /** The least role of people who may call it, where that does not follow from what it does. */
  readonly leastRole?: Role;
  /** True if the query, or an argument, may ask for a dry run (C81). `operation` sets it. */
  readonly takesDryRun?: boolean;
  /** It is run dry unless `dryRun: false` is sent. A key that only reads may have it run dry (C68). */
  readonly dryByDefault?: true;
  /** The answer of a dry run, where it differs: ids and numbers of what was not made are null. */
  dryAnswer?(output: NoInfer<Output>): NoInfer<Output>;
  /**
   * Reads the order that `run` looks at first. On a network engine this is done in the round trip that claims a write's
   * key, and `run` gets it as `call.ahead`.
   */
  lookAhead?(tx: Tx, shopId: string, input: NoInfer<Input>): Promise<PurchaseOrder | null>;
  /** @param input what `input` has parsed. */
  run(call: Call, input: Input): Promise<Answer<NoInfer<Output>>>;
}

/**
 * An operation without its input and output types, as in the registry. `run` takes only what `input` of the same
 * operation has parsed.
 */
export type Operation = OperationShape<unknown, unknown>;

/** An operation with a path on REST. */
export type RestOperation = Operation & { readonly route: Route };

/** True if REST has a path for the operation. Agents get every operation. */
export const isRestOperation = (operation: Operation): operation is RestOperation => operation.route !== null;

/** The query parameter, or argument of a tool, that asks for a dry run (C81). */
export const dryRunMember = "dryRun";

/** Makes an operation: checks its types and freezes it. Every write of records can be run dry. */
export function operation<Input, Output>(shape: OperationShape<Input, Output>): OperationShape<Input, Output> {
  const { scope, aboutApprovals = false } = shape;
  return Object.freeze({ ...shape, takesDryRun: scope === "write" && !aboutApprovals });
}

/** Answer of an operation, before it becomes the envelope and headers of a surface. */
export interface Answer<Output> {
  readonly data: Output;
  /** Path of what was created, without the host: `/api/v1/purchase-orders/po_…`. */
  readonly location?: string;
  /** The order's version as a strong validator, without quotes (C37). */
  readonly etag?: string;
  /** Something beside the order's version has changed since the version was made, so the answer is never 304 (D268). */
  readonly isNewerThanEtag?: boolean;
}

/**
 * The result of an operation's last change: the effects it asked for, and the answer once they have had their first
 * attempts.
 */
export interface Committed<Output> {
  /** The effects of this change. The answer waits for them, up to `followOnWaitMs` (C38). */
  readonly effects: readonly QueuedEffect[];
  /** Effects of earlier changes of the call that the answer waits for too. */
  readonly earlierEffectIds?: readonly string[];
  /** The record that the change is about, as an approval request shows it; absent: it is about orders. */
  readonly record?: { readonly name: string; readonly changes: readonly ShownChange[] };
  /** Mails of this change (shop/supplier/mails.ts), whose first attempts the answer waits for too. */
  readonly mailIds?: readonly string[];
  /**
   * The answer for these outcomes. Called in the transaction with every outcome `pending`, for the stored answer (D3),
   * and again with the outcomes of the first attempts. Pure.
   */
  readonly answer: (outcomes: ReadonlyMap<string, EffectOutcome>) => Answer<Output>;
  /**
   * Replaces the second `answer` where first attempts change what the answer shows: reads that again. Null: it no
   * longer exists, and `answer` is used after all.
   */
  readonly answerAfter?: (tx: Tx, outcomes: ReadonlyMap<string, EffectOutcome>) => Promise<Answer<Output> | null>;
}

/** An order's document as it is sent to the supplier. */
export interface SentDocument {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Printable ASCII without quotes and slashes. */
  readonly fileName: string;
  /** Of the bytes, in hexadecimal digits. */
  readonly sha256: string;
  readonly orderVersion: number;
}

/** Facts for mailing orders beside the shop's data (C63). */
export interface Mailing {
  /** Mails that a shop may ask for within an hour; null: no mail server is configured. */
  readonly perHourMax: number | null;
  /** Where suppliers reach the service; null: where it is asked. */
  readonly publicUrl: string | null;
  /**
   * The order's document as it is stored, or as a change that is about to be made will leave it.
   *
   * @param next what differs then from the stored order, at the version that follows the stored one; null: nothing.
   * @throws Fault INVALID_INPUT  it cannot be made.
   * @throws Fault DO_OVERLOADED  it cannot be made for now, or the stored order is at another version by now.
   */
  documentOf(
    shopId: string,
    purchaseOrderId: string,
    kind: "pdf" | "csv",
    next: Pick<PurchaseOrder, "status" | "version"> | null,
  ): Promise<SentDocument>;
}

/** No mail can be sent. */
export const noMailing: Mailing = {
  perHourMax: null,
  publicUrl: null,
  documentOf: () => Promise.reject(new Error("no documents are made here")),
};

/** A write that was run and taken back. */
export interface Rehearsal {
  readonly answer: Answer<unknown>;
  /** Messages to the storefront that were not sent, by kind; without the kinds of which there is nothing. */
  readonly writes: object;
  /** Why it needs a decision; empty: it does not. */
  readonly causes: readonly ApprovalCause[];
}

/** One request, as an operation sees it. */
export interface Call {
  readonly shop: Shop;
  readonly actor: Actor;
  /** Who has approved what is done (C80); null: it was not asked for before. */
  readonly approvedBy: Actor | null;
  /** API key whose limits hold for the call (C78); null: it has none, or there is none. */
  readonly limitedKeyId: string | null;
  readonly operation: string;
  readonly requestId: string;
  /** Kept with what the request asks to be done later, and passed on then; null: no request came by HTTP. */
  readonly traceparent: string | null;
  /** Where the service was asked, as `https://openpo.example.com`; null where that is not known. */
  readonly baseUrl: string | null;
  /** Where people reach the console, whatever the caller's address is; null where that is not known. */
  readonly consoleOrigin: string | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly storefront: Storefront;
  readonly mailing: Mailing;
  /**
   * The versions that the caller accepts (`If-Match`), without quotes; `*` alone for any version, null when not sent
   * (C37).
   */
  readonly ifMatch: readonly string[] | null;
  /**
   * Order that the operation's `lookAhead` has found; null where nothing was read ahead. It may be older than what
   * `read` would find.
   */
  readonly ahead: PurchaseOrder | null;
  /** Reads a consistent, durable state. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Reads what a write begins with and that may be broad: on a reader thread if it is (broad-read.ts). */
  readQuery<QueryInput, Found>(query: BroadQuery<QueryInput, Found>, queryInput: QueryInput): Promise<Found>;
  /**
   * Moves a read that may hold the event loop for too long (loop-limits.ts) to a reader thread. The operation runs
   * there from its start (broad-read.ts). Called before the work that may take so long. Does nothing on a thread, and
   * in a write.
   */
  leaveLoop(): void;
  /**
   * Runs `work` as writes of its own, again and again until it answers false. Nobody waits for it, and no answer may
   * depend on it; one at a time for each shop and operation. Does nothing on a reader thread: the event loop has asked
   * for it before.
   */
  afterwards(work: (tx: Tx) => Promise<boolean>): void;
  /**
   * Says that the change under way needs somebody's decision (C77): it ends here, unless it is rehearsed or was
   * approved. Called in its transaction.
   *
   * @throws Fault which the request pipeline makes an approval request of.
   */
  needDecision(causes: readonly ApprovalCause[], order: Cleared): void;
  /** Runs a write in full and takes everything back (C81). @throws Fault what it would be refused with. */
  rehearse(run: (call: Call) => Promise<Answer<unknown>>): Promise<Rehearsal>;
  /**
   * Makes an intermediate change. It commits without the stored answer, so a retry must be able to continue from it.
   */
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Makes the last change, once per call. It commits with the stored answer and the audit row, and then waits for its
   * effects' first attempts.
   */
  commit<Output>(work: (tx: Tx) => Promise<Committed<Output>>): Promise<Answer<Output>>;
  /**
   * Starts these effects if they have not started and waits for their first attempts, at most `waitMs`. For operations
   * that continue after follow-on work (/complete, /quick-complete, a waiting /storefront-sync).
   */
  settle(effectIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
}
