/**
 * One order's counting on this device: the order as it was last read, the counts, and their way to the service.
 *
 * Owns: reading and re-reading the order, keeping the counts, saving once. Does not own: what a scan counts (count.ts),
 * the page. Invariants: (R1) a save is kept before it is sent, and sent again under its key until it is answered. (R2)
 * Every save names the version that it was computed from. (R3) A save that was refused for its version is computed
 * again from the counts and the new totals.
 */
import { batch, signal } from "@preact/signals";
import type { PurchaseOrder } from "../../client/index.ts";
import { followEvents } from "../data/events.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { receiveTexts } from "../texts/en/order/receive.ts";
import { changedLines, type CountedLine, type Counts, joined, linesToAllow, noCounts } from "./amounts.ts";
import { counted } from "./count.ts";
import type { CountEvent, Outcome } from "./events.ts";
import {
  alone,
  keep,
  type Kept,
  keptByOthers,
  keptUnder,
  nameOfKept,
  type OthersKept,
  type Save,
  takeOver,
} from "./keeping.ts";
import { lineOf } from "./lines.ts";
import { type GuardIssue, guardIssuesOf, saveOf, verdictOf } from "./save.ts";

/** The order at a version. */
export interface Read {
  readonly order: PurchaseOrder;
  readonly etag: string;
  readonly lines: readonly CountedLine[];
}

/**
 * State of the counts at the service. `waiting`: a save has no answer and is sent again. `asking`: a person has to
 * allow more.
 */
type Saving = "idle" | "sending" | "waiting" | "asking";

/** Record of the last save. */
interface Saved {
  readonly lines: number;
  /** Amounts that came, by line. */
  readonly came: Counts["sent"];
  readonly recovery: string | null;
}

/** Time for another tab to end its counting before this one says so. */
const elsewhereMs = 500;
const againMsMin = 2_000;
const againMsMax = 30_000;
const mergesMax = 5;

export type Counting = ReturnType<typeof countingOf>;

/** Who counts what. */
export interface Place {
  readonly shopId: string;
  readonly personId: string;
  readonly personName: string;
  readonly purchaseOrderId: string;
}

/** Starts counting. Call `stop` at the end. */
export function countingOf({ shopId, personId, personName, purchaseOrderId }: Place) {
  // Counts belong to a person, like the key that saves them.
  const keptName = nameOfKept(shopId, personId, purchaseOrderId);
  const read = signal<Read | null>(null);
  const counts = signal<Counts>(noCounts);
  const outcome = signal<{ readonly is: Outcome; readonly nth: number }>({ is: { kind: "nothing" }, nth: 0 });
  const saving = signal<Saving>("idle");
  const saved = signal<Saved | null>(null);
  const problem = signal<Problem | null>(null);
  const issues = signal<readonly GuardIssue[]>([]);
  const isKept = signal(true);
  const isElsewhere = signal(false);
  const others = signal<readonly OthersKept[]>([]);
  const stopping = new AbortController();
  let save: Save | null = null;
  let againMs = againMsMin;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const keepAll = async (): Promise<void> => {
    // A save that is answered after the end is sent again by who counts next, and answered from its key.
    if (stopping.signal.aborted) return;
    const isEmpty = save === null && Object.keys(counts.value.added).length === 0;
    const kept: Kept | null = isEmpty ? null : { counts: { ...counts.value, question: null }, save, by: personName };
    await keep(keptName, kept).then(
      () => (isKept.value = true),
      () => (isKept.value = false),
    );
  };
  const take = (order: PurchaseOrder, etag: string | null): void => {
    // An answer that was overtaken by a newer one is dropped.
    if (etag === null || (read.value !== null && read.value.order.version > order.version)) return;
    if (read.value?.etag !== etag) read.value = { order, etag, lines: order.lineItems.map(lineOf) };
  };
  const reread = async (): Promise<boolean> => {
    const result = await openpo.call("purchase_order_get", { purchaseOrderId });
    if (result.ok) take(result.data.purchaseOrder, result.etag);
    else if (read.value === null) problem.value = problemOf(result);
    return result.ok;
  };
  const apply = (event: CountEvent): Outcome => {
    const next = counted(read.value?.lines ?? [], counts.value, event);
    counts.value = next.counts;
    void keepAll();
    return next.outcome;
  };
  const happen = (event: CountEvent): void => {
    batch(() => {
      const is = apply(event);
      outcome.value = { is, nth: outcome.value.nth + 1 };
      if (is.kind !== "nothing") saved.value = null;
    });
  };
  const later = (): void => {
    saving.value = "waiting";
    clearTimeout(timer);
    if (!stopping.signal.aborted) timer = setTimeout(() => void send(), againMs);
    againMs = Math.min(againMs * 2, againMsMax);
  };

  /** Sends what is kept, or what was counted, until it is answered for good. */
  async function send(resolutions: Parameters<typeof saveOf>[3] = []): Promise<void> {
    if (saving.value === "sending" || read.value === null) return;
    clearTimeout(timer);
    saving.value = "sending";
    problem.value = null;
    saved.value = null;
    issues.value = [];
    for (let merges = 0; merges <= mergesMax; merges += 1) {
      const { order, etag, lines } = read.value;
      if (save === null) {
        if (changedLines(lines, counts.value).length === 0) return void (saving.value = "idle");
        if (linesToAllow(lines, counts.value).length > 0) return void (saving.value = "asking");
        save = saveOf({ purchaseOrderId: order.purchaseOrderId, etag }, lines, counts.value, resolutions);
        apply({ kind: "sending" });
        await keepAll();
      }
      const sent = save;
      const { idempotencyKey, ifMatch } = sent;
      const result = await openpo.call("purchase_order_receive", sent.input, { idempotencyKey, ifMatch });
      if (result.ok) {
        const { purchaseOrder, recovery } = result.data;
        save = null;
        againMs = againMsMin;
        const { sent: came } = counts.value;
        // A stored answer of an earlier attempt has the totals of that time: the counts go, the order is read again.
        batch(() => {
          take(purchaseOrder, result.etag);
          apply({ kind: "saved" });
          saved.value = { lines: sent.input.lines.length, came, recovery: recovery ?? null };
          saving.value = "idle";
        });
        if (result.replayed) await reread();
        return;
      }
      const verdict = verdictOf(result, sent, Date.now());
      if (verdict === "again") return later();
      save = null;
      apply({ kind: "not-saved" });
      if (verdict !== "merge" || !(await reread())) {
        issues.value = guardIssuesOf(result);
        problem.value = verdict === "doubtful" ? { ...problemOf(result), ...receiveTexts.doubtful } : problemOf(result);
        return void (saving.value = "idle");
      }
    }
    later();
  }

  const onOnline = (): void => {
    if (saving.value === "waiting") void send();
  };
  /** True if the order was changed since its latest read. */
  let hasNews = false;
  const catchUp = (): void => {
    // Totals that have a save in them already would be shown with it twice.
    if (!hasNews || read.value === null || save !== null) return;
    hasNews = false;
    void reread();
  };
  const unfollow = followEvents((event) => {
    if (event.purchaseOrderId !== purchaseOrderId) return;
    hasNews = true;
    catchUp();
  });
  addEventListener("online", onOnline);
  const start = async (): Promise<void> => {
    problem.value = null;
    const kept = await keptUnder(keptName).catch(() => null);
    if (kept !== null) {
      counts.value = kept.counts;
      ({ save } = kept);
    }
    others.value = await keptByOthers(shopId, purchaseOrderId, keptName).catch(() => []);
    if ((await reread()) && save !== null) await send();
    catchUp();
  };
  /** True if the counts may be recorded already: their save was sent, and the order has changed since. */
  const isDoubtful = ({ kept }: OthersKept): boolean => kept.save !== null && kept.save.ifMatch !== read.value?.etag;
  /** Adds what another person has counted, or forgets it. */
  const settle = async (other: OthersKept, how: "take-over" | "discard"): Promise<void> => {
    others.value = others.value.filter((each) => each !== other);
    if (how === "take-over") counts.value = joined(counts.value, other.kept.counts);
    const kept = { counts: { ...counts.value, question: null }, save, by: personName };
    await (how === "take-over" ? takeOver(other.keptName, keptName, kept) : keep(other.keptName, null)).catch(
      () => (isKept.value = false),
    );
  };
  const elsewhere = setTimeout(() => (isElsewhere.value = true), elsewhereMs);
  void alone(keptName, stopping.signal, async () => {
    clearTimeout(elsewhere);
    isElsewhere.value = false;
    await start();
  });

  return {
    read,
    counts,
    outcome,
    saving,
    saved,
    problem,
    issues,
    isKept,
    isElsewhere,
    others,
    isDoubtful,
    settle,
    start,
    happen,
    send,
    stop: (): void => {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(elsewhere);
      unfollow();
      removeEventListener("online", onOnline);
    },
  };
}
