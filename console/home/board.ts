/**
 * Facts of the home screen: open orders, numbers of what waits for somebody, what runs out, and what happened lately.
 * Each part is shown once it is read; one that cannot be read is left out.
 */
import { signal } from "@preact/signals";
import type { Output, PurchaseOrderHeader } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { beginOf, todayIn } from "../data/format.ts";
import { shopId, today } from "../data/session.ts";
import { inputOf, views } from "../orders/filters.ts";
import { dayAfter } from "../orders/lateness.ts";
import type { ForecastRow } from "../reorder/ticked.ts";

/** Open orders that are read: the first that are expected. */
const nextRead = 20;

const latelyShown = 5;

/** Failures of each kind that are listed. */
export const failuresShown = 5;

const forecastRowsRead = 200;

export interface Board {
  /** The open orders that are expected next. */
  readonly next: readonly PurchaseOrderHeader[] | null;
  readonly figures: Output<"purchase_figures_get">["figures"] | null;
  readonly counts: Readonly<Partial<Record<CountName, number>>>;
  readonly answers: Output<"supplier_proposal_waiting">["proposals"] | null;
  readonly forecast: { readonly viewId: string; readonly rows: readonly ForecastRow[] } | null;
  readonly changes: Output<"change_list">["changes"] | null;
  /** Changes by assistants since yesterday began where the reader is. */
  readonly ofAssistants: number | null;
  /** Orders that read Sent while their e-mail has failed. */
  readonly mails: Output<"failed_mail_list">["mails"] | null;
  /** Some orders whose goods the storefront did not take. */
  readonly unsynced: readonly PurchaseOrderHeader[];
  /** Everything was asked for: what is not there by now could not be read. */
  readonly isOver: boolean;
}

/** Orders of which something is expected today, or was before. */
export const dueByToday = (): string => `${views.open}&expectedBefore=${dayAfter(today(), 1)}`;

const counted = {
  all: "",
  due: dueByToday,
  late: views.overdue,
  waiting: views.waiting,
  drafts: "status=Draft",
  failed: views.failed,
} as const;

type CountName = keyof typeof counted;

const empty: Board = {
  next: null,
  figures: null,
  counts: {},
  answers: null,
  forecast: null,
  changes: null,
  ofAssistants: null,
  mails: null,
  unsynced: [],
  isOver: false,
};

export function boardOf() {
  const board = signal<Board>(empty);
  const set = (part: Partial<Board>): void => {
    board.value = { ...board.value, ...part };
  };
  const readNext = async (): Promise<void> => {
    const input = inputOf(new URLSearchParams(`${views.open}&sort=nextExpectedDate`), today());
    const result = await openpo.call("purchase_order_list", { ...input, limit: nextRead });
    if (result.ok) set({ next: result.data.purchaseOrders });
  };
  const readFigures = async (): Promise<void> => {
    const result = await openpo.call("purchase_figures_get", { shopId: shopId() });
    if (result.ok) set({ figures: result.data.figures });
  };
  const readCount = async (name: CountName): Promise<void> => {
    const query = counted[name];
    const input = inputOf(new URLSearchParams(typeof query === "string" ? query : query()), today());
    const isListed = name === "failed";
    const result = await openpo.call("purchase_order_list", { ...input, limit: isListed ? failuresShown : 1 });
    if (!result.ok) return;
    set({ counts: { ...board.value.counts, [name]: result.data.totalCount } });
    if (isListed) set({ unsynced: result.data.purchaseOrders });
  };
  const readMails = async (): Promise<void> => {
    const result = await openpo.call("failed_mail_list", { shopId: shopId() });
    if (result.ok) set({ mails: result.data.mails });
  };
  const readAnswers = async (): Promise<void> => {
    const result = await openpo.call("supplier_proposal_waiting", { shopId: shopId() });
    if (result.ok) set({ answers: result.data.proposals });
  };
  const readForecast = async (): Promise<void> => {
    const listed = await openpo.call("forecast_view_list", { limit: 50 });
    if (!listed.ok) return;
    const { forecastViews } = listed.data;
    const viewId = (forecastViews.find(({ isStarred }) => isStarred) ?? forecastViews[0])?.viewId;
    if (viewId === undefined) return;
    const result = await openpo.call("forecast_view_rows", { viewId, limit: forecastRowsRead });
    if (result.ok) set({ forecast: { viewId, rows: result.data.rows } });
  };
  const readChanges = async (): Promise<void> => {
    const result = await openpo.call("change_list", { shopId: shopId(), limit: latelyShown });
    if (result.ok) set({ changes: result.data.changes });
  };
  const readAssistants = async (): Promise<void> => {
    const from = beginOf(dayAfter(todayIn(), -1));
    const result = await openpo.call("change_list", { shopId: shopId(), actorType: ["agent"], from, limit: 1 });
    if (result.ok) set({ ofAssistants: result.data.totalCount });
  };
  return {
    board,
    read: async (): Promise<void> => {
      const names: readonly CountName[] = ["all", "due", "late", "waiting", "drafts", "failed"];
      const reads = [
        readNext,
        readFigures,
        readAnswers,
        readForecast,
        readChanges,
        readAssistants,
        readMails,
        ...names.map((name) => () => readCount(name)),
      ];
      await Promise.allSettled(reads.map((read) => read()));
      set({ isOver: true });
    },
  };
}
