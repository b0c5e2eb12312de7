/** Tells that others changed the order, by the events of the shop, and shows it as it is now unless the person is at work on it. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { followEvents } from "../data/events.ts";
import { texts } from "../texts.ts";
import type { OrderState } from "./order-state.ts";

/** How long an own change may take to be answered after it is told. */
const ownChangeMs = 500;

interface Live {
  readonly purchaseOrderId: string;
  readonly state: OrderState;
  /** What is being worked on needs the order as it was seen. */
  readonly isTask: boolean;
}

const isTyping = (): boolean =>
  document.activeElement instanceof HTMLInputElement ||
  document.activeElement instanceof HTMLTextAreaElement ||
  document.activeElement instanceof HTMLSelectElement;

export const LiveOrder: FunctionComponent<Live> = ({ purchaseOrderId, state, isTask }) => {
  const news = useSignal<{ readonly version: number; readonly who: string | null } | null>(null);
  useEffect(
    () =>
      followEvents(({ purchaseOrderId: id, version, actorName }) => {
        if (id !== purchaseOrderId || version === null) return;
        setTimeout(() => {
          const known = state.order.value?.version ?? version;
          if (version <= known) return;
          if (isTask || isTyping() || state.isSaving.value) news.value = { version, who: actorName };
          else void state.read();
        }, ownChangeMs);
      }),
    [purchaseOrderId, state, isTask],
  );
  const told = news.value;
  const known = state.order.value?.version ?? 0;
  return (
    <span role="status">
      {told === null || told.version <= known ? null : (
        <button type="button" onClick={() => void state.read()}>
          {texts.order.news(told.who)}
        </button>
      )}
    </span>
  );
};
