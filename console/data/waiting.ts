/** Numbers of what waits for the person who is signed in, kept by the events of the shop. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { texts } from "../texts/en/texts.ts";
import { openpo } from "./client.ts";
import { hearEvents } from "./events.ts";
import { later, serially } from "./reading.ts";
import { shopId } from "./session.ts";

/** Requests that are counted at most. */
const countedMax = 50;

/** The number of approval requests as it is shown; empty: none wait. */
export const waiting = signal("");

/** Numbers at places where orders wait, as they are shown. A place without one has nothing that waits. */
export const placeCounts = signal<Readonly<Partial<Record<"orders" | "dock", string | undefined>>>>({});

const read = serially(async () => {
  const result = await openpo.call("approval_request_list", {
    shopId: shopId(),
    status: ["pending"],
    limit: countedMax,
  });
  if (!result.ok) return;
  const count = result.data.approvalRequests.filter(({ mayDecide }) => mayDecide).length;
  waiting.value = count === 0 ? "" : result.data.cursor === null ? String(count) : `${count}+`;
});

const lookMs = 250;

/** However much is asked for, it is counted this often at most. */
const restMs = 2_000;

const isLoading = (): boolean => document.getElementById("content")?.textContent.includes(texts.loading) ?? true;

/**
 * Counts once the screen has what it shows, then when something was asked for or decided. A screen that follows no
 * events learns of it with the next bearer.
 *
 * @param sequence  the newest event when the bearer was bought.
 * @param followCounts  begins with the numbers at places. @returns what ends it.
 */
export function useWaiting(sequence: number, followCounts: () => Promise<() => void>): void {
  useEffect(() => {
    let counting: Promise<() => void> | null = null;
    const start = later(() => {
      if (isLoading()) return start.in(lookMs);
      // Without its script there are no numbers.
      counting ??= followCounts().catch(() => () => {});
      void read();
    });
    start.in(lookMs);
    const unhear = hearEvents(({ type }) => {
      if (type.startsWith("approval.")) start.in(restMs);
    });
    return () => {
      unhear();
      start.cancel();
      void counting?.then((end) => end());
    };
  }, [sequence]);
  useEffect(
    () => () => {
      waiting.value = "";
      placeCounts.value = {};
    },
    [],
  );
}
