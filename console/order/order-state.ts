/**
 * One order as the page knows it, and the one way to change it.
 *
 * Owns: the order with its ETag, the last refusal, what others changed meanwhile, what became of follow-on work.
 * Invariants: every change is sent with If-Match, and changes of one page are sent one after another. A 412 reads the
 * order again, and the change is sent once more only if nobody else changed a value that it replaces.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type {
  ApprovalCause,
  Output,
  PurchaseOrder,
  Result,
  SideEffects,
  Success,
  Warning,
} from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { serially } from "../data/reading.ts";
import { hasApprovalRules } from "../data/session.ts";
import { noteOrder } from "../orders/kept.ts";
import { told } from "../parts/frame/told.ts";
import type { telling } from "./undo/undo.ts";
import { conflictsOf, differenceOf, type Difference, joinedDifference, type Touched } from "./merge.ts";

export type FullOrder = Output<"purchase_order_get">["purchaseOrder"];

/** Answers to variants that the storefront cannot take. */
export type Resolution = { readonly itemId: string; readonly action: "activate" | "skip" };

/** Operations that change an order and answer with it. */
export type Writing =
  | "purchase_order_update"
  | "purchase_order_line_item_add"
  | "purchase_order_line_item_add_custom"
  | "purchase_order_line_item_update"
  | "purchase_order_line_item_delete"
  | "purchase_order_status"
  | "purchase_order_confirm"
  | "purchase_order_complete"
  | "purchase_order_quick_complete"
  | "purchase_order_storefront_sync"
  | "purchase_order_storefront_sync_reset";

/** A change that a person asked for. */
interface Change<Name extends Writing> {
  /** Sends it, for the version of the order that `ifMatch` names. */
  readonly send: (
    ifMatch: string,
    resolutions: readonly Resolution[],
    how: { readonly dryRun?: true },
  ) => Promise<Result<Name>>;
  /** True if it may raise an order beyond what was approved: where it would, the person is told first. */
  readonly isTried?: boolean;
  /** Values that it replaces. Null: it depends on the whole order, so the person looks again before it is repeated. */
  readonly touches: readonly Touched[] | null;
  /** The order that the person looked at; left out: the latest. */
  readonly seen?: PurchaseOrder;
  /** Is told when it was made, at once or after the person has answered what stood in its way. */
  readonly made?: (made: Made<Name>) => void;
}

/** A change that was made. */
export interface Made<Name extends Writing> {
  readonly before: FullOrder;
  readonly answer: Output<Name>;
  /** For If-Match: of the version that it has led to. */
  readonly etag: string;
}

/** Changes of the order by others while the person was working on it. */
export interface Meanwhile {
  readonly names: readonly string[];
  readonly difference: Difference;
  /** The person's own change that was not saved; null when each was saved with it. */
  readonly unsaved: Unsaved | null;
}

/** A change that waits for the person, because others changed the same values. */
interface Unsaved {
  readonly touches: readonly Touched[] | null;
  /** Values that others changed too. */
  readonly conflicts: readonly Touched[];
  /** Makes the change on what the order is now. */
  readonly again: () => Promise<void>;
}

/** A change that was refused, with the way to send it again. */
export interface Refusal {
  readonly problem: Problem;
  /** Of a change that was not sent, since it would only make a request. */
  readonly causes?: readonly ApprovalCause[];
  readonly again: (resolutions: readonly Resolution[]) => Promise<void>;
}

/** Result of a change beside the order itself. */
export interface Outcome {
  readonly sideEffects: SideEffects;
  readonly recovery: string | null;
  readonly warnings: readonly Warning[];
}

export interface OrderState {
  readonly order: ReadonlySignal<FullOrder | null>;
  /** Why the order could not be read. */
  readonly problem: ReadonlySignal<Problem | null>;
  readonly refusal: ReadonlySignal<Refusal | null>;
  readonly meanwhile: ReadonlySignal<Meanwhile | null>;
  readonly outcome: ReadonlySignal<Outcome | null>;
  readonly isSaving: ReadonlySignal<boolean>;
  /** The version of the order that was read last, for If-Match. */
  etag(): string;
  read(): Promise<void>;
  /** Makes a change. @returns its answer; null when it was not made, which `refusal` or `meanwhile` explains. */
  change<Name extends Writing>(change: Change<Name>): Promise<Output<Name> | null>;
  /** Takes a change back, after those that are being made. Whatever has changed the order since stands in its way. */
  takeBack<Name extends Writing>(send: () => Promise<Result<Name>>): Promise<Result<Name>>;
  /** Tells the person of what was done. */
  tell(say: (by: typeof telling) => void): void;
  dismiss(): void;
}

/** Actors of changes made after an instant, by name. */
async function namesSince(purchaseOrderId: string, instant: string): Promise<readonly string[]> {
  const result = await openpo.call("purchase_order_log_list", { purchaseOrderId, limit: 50 });
  if (!result.ok) return [];
  const entries = result.data.log.filter((entry) => entry.occurredAt > instant);
  return [...new Set(entries.map(({ actor }) => actor.name ?? actor.type))];
}

/** @param loadUndo  loads what tells of changes, and takes them back, when the first is made. */
export function orderState(purchaseOrderId: string, loadUndo: () => Promise<typeof telling>): OrderState {
  const order = signal<FullOrder | null>(null);
  const problem = signal<Problem | null>(null);
  const refusal = signal<Refusal | null>(null);
  const meanwhile = signal<Meanwhile | null>(null);
  const outcome = signal<Outcome | null>(null);
  const saving = signal(0);
  const isSaving = signal(false);
  let etag = "";
  let last: Promise<unknown> = Promise.resolve();

  const read = serially(async (): Promise<void> => {
    const result = await openpo.call("purchase_order_get", { purchaseOrderId });
    if (!result.ok) {
      problem.value = problemOf(result);
      return;
    }
    problem.value = null;
    etag = result.etag ?? "";
    order.value = result.data.purchaseOrder;
    noteOrder(order.value);
  });

  const keep = (result: { readonly etag: string | null }, next: PurchaseOrder): void => {
    if (order.value === null) return;
    etag = result.etag ?? etag;
    order.value = { ...order.value, ...next };
    noteOrder(order.value);
  };

  const keepAnswer = <Name extends Writing>(result: Success<Name>): void => {
    // Which members an answer has is known for each operation, not for a type variable over them.
    const data: Output<Writing> = result.data;
    keep(result, data.purchaseOrder);
    const recovery = "recovery" in data ? (data.recovery ?? null) : null;
    const warnings = "warnings" in data ? (data.warnings ?? []) : [];
    outcome.value = { sideEffects: "sideEffects" in data ? data.sideEffects : {}, recovery, warnings };
  };

  /** Reads what others made of the order. @returns whether the change still fits it. */
  const catchUp = async <Name extends Writing>(seen: PurchaseOrder, change: Change<Name>): Promise<boolean> => {
    await read();
    const now = order.value;
    if (now === null || problem.value !== null) return false;
    const { touches } = change;
    const conflicts = touches === null ? [] : conflictsOf(seen, now, touches);
    const isMerged = touches !== null && conflicts.length === 0;
    const again = async (): Promise<void> => void (await enqueue({ ...change, seen: now }, []));
    const names = await namesSince(purchaseOrderId, seen.updatedAt);
    const difference = differenceOf(seen, now);
    const before = meanwhile.value;
    // What was told stays told until the person has closed it: somebody who types on sees no notice that lasts a
    // moment.
    meanwhile.value = {
      names: [...new Set([...(before?.names ?? []), ...names])],
      difference: before === null ? difference : joinedDifference(before.difference, difference),
      unsaved: isMerged ? (before?.unsaved ?? null) : { touches, conflicts, again },
    };
    return isMerged;
  };

  /** The change that waited for the person is being made. */
  const settle = (touches: readonly Touched[] | null): void => {
    const waiting = meanwhile.value?.unsaved;
    if (waiting && JSON.stringify(waiting.touches) === JSON.stringify(touches)) meanwhile.value = null;
  };

  /** Causes for which the change would need a decision. Nothing of a draft was approved, so it is not asked. */
  const causesOf = async <Name extends Writing>(
    { send, isTried = false }: Change<Name>,
    { status }: PurchaseOrder,
    resolutions: readonly Resolution[],
  ): Promise<readonly ApprovalCause[]> => {
    if (!isTried || status === "Draft" || !hasApprovalRules()) return [];
    const result = await send(etag, resolutions, { dryRun: true });
    const data: { readonly approvalCauses?: readonly ApprovalCause[] | undefined } = result.ok ? result.data : {};
    return data.approvalCauses ?? [];
  };

  const attempt = async <Name extends Writing>(
    change: Change<Name>,
    resolutions: readonly Resolution[],
  ): Promise<Output<Name> | null> => {
    const seen = change.seen ?? order.value;
    if (seen === null) return null;
    refusal.value = null;
    const { touches } = change;
    settle(touches);
    const isStale = order.value !== null && touches !== null && conflictsOf(seen, order.value, touches).length > 0;
    if (isStale && !(await catchUp(seen, change))) return null;
    const causes = await causesOf(change, seen, resolutions);
    if (causes.length > 0) {
      const problem = { message: "", action: null, requestId: null, code: "", reason: null, details: [] };
      const again: Refusal["again"] = async (answers) => void (await enqueue({ ...change, isTried: false }, answers));
      refusal.value = { problem, again, causes };
      return null;
    }
    let before = order.value;
    let result = await change.send(etag, resolutions, {});
    if (!result.ok && result.status === 412) {
      if (!(await catchUp(seen, change))) return null;
      before = order.value;
      result = await change.send(etag, resolutions, {});
    }
    if (!result.ok) {
      refusal.value = {
        problem: problemOf(result),
        again: async (answers) =>
          void (await enqueue({ ...change, ...(order.value === null ? {} : { seen: order.value }) }, answers)),
      };
      return null;
    }
    keepAnswer(result);
    // What was told before cannot be taken back any more.
    told.value = null;
    if (before !== null) change.made?.({ before, answer: result.data, etag: result.etag ?? "" });
    return result.data;
  };

  /** Runs after what was to be saved before. */
  const queued = <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    saving.value += 1;
    isSaving.value = true;
    const done = last.then(run).finally(() => {
      saving.value -= 1;
      isSaving.value = saving.value > 0;
    });
    last = done.catch(() => null);
    return done;
  };

  const enqueue = <Name extends Writing>(
    change: Change<Name>,
    resolutions: readonly Resolution[],
  ): Promise<Output<Name> | null> => queued(() => attempt(change, resolutions));

  const takeBack = <Name extends Writing>(send: () => Promise<Result<Name>>): Promise<Result<Name>> =>
    queued(async () => {
      const result = await send();
      if (result.ok) {
        refusal.value = null;
        keepAnswer(result);
      } else if (result.status === 412) await read();
      return result;
    });

  return {
    order,
    problem,
    refusal,
    meanwhile,
    outcome,
    isSaving,
    etag: () => etag,
    read,
    change: (change) => enqueue(change, []),
    takeBack,
    // A person who is not told of it still sees it.
    tell: (say) => void loadUndo().then(say, () => {}),
    dismiss: () => {
      refusal.value = null;
      meanwhile.value = null;
      outcome.value = null;
    },
  };
}
