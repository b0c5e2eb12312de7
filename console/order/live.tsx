/**
 * Shows that others changed the order, by the events of the shop. Shows its present state unless the person is at work
 * on it.
 */
import { type Signal, signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { followEvents } from "../data/events.ts";
import { texts } from "../texts/en/texts.ts";
import type { OrderState } from "./order-state.ts";

/** Longest time between the event of an own change and its answer. */
const ownChangeMs = 500;

/** A version that somebody has made. */
interface OrderNews {
  readonly version: number;
  readonly who: string | null;
}

interface Heard {
  newest: OrderNews | null;
  /** Said to a person who is at work on an older version. */
  readonly news: Signal<OrderNews | null>;
}

interface Live {
  readonly purchaseOrderId: string;
  readonly state: OrderState;
  /** True if the person's work needs the order as it was seen. */
  readonly isTask: boolean;
}

const isTyping = (): boolean =>
  document.activeElement instanceof HTMLInputElement ||
  document.activeElement instanceof HTMLTextAreaElement ||
  document.activeElement instanceof HTMLSelectElement;

/**
 * Follows the order from before it is read. @returns what a person who is at work on it is told; null when nothing is.
 */
export function useLiveOrder({ purchaseOrderId, state, isTask }: Live): OrderNews | null {
  const heard = useMemo<Heard>(() => ({ newest: null, news: signal(null) }), [state]);
  const known = state.order.value?.version;
  const applyNews = (): void => {
    const { newest } = heard;
    const version = state.order.peek()?.version;
    if (newest === null || version === undefined || newest.version <= version) return;
    if (isTask || isTyping() || state.isSaving.peek()) heard.news.value = newest;
    else void state.read();
  };
  const latestApplyNews = useRef(applyNews);
  latestApplyNews.current = applyNews;
  useEffect(
    () =>
      followEvents(({ purchaseOrderId: id, version, actorName: who }) => {
        if (id !== purchaseOrderId || version === null) return;
        setTimeout(() => {
          if (version > (heard.newest?.version ?? 0)) heard.newest = { version, who };
          latestApplyNews.current();
        }, ownChangeMs);
      }),
    [purchaseOrderId, heard],
  );
  // What was told while the order was being read.
  useEffect(() => latestApplyNews.current(), [heard, known]);
  const news = heard.news.value;
  return news === null || news.version <= (known ?? 0) ? null : news;
}

/** Notice of the news from `useLiveOrder`. */
export const News: FunctionComponent<{ readonly news: OrderNews | null; readonly state: OrderState }> = ({
  news,
  state,
}) => (
  <span role="status">
    {news === null ? null : (
      <button type="button" onClick={() => void state.read()}>
        {texts.order.news(news.who)}
      </button>
    )}
  </span>
);
