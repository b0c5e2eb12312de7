/** The scan field with what the last scan came to: large, in words, colour and sound. */
import { useSignalEffect } from "@preact/signals";
import type { FunctionComponent, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { number } from "../data/format.ts";
import { ScanField } from "../parts/fields/scan-field.tsx";
import { receiveTexts } from "../texts/en/order/receive.ts";
import type { Outcome } from "./events.ts";
import type { Counting, Read } from "./counting.ts";
import { productOf } from "./lines.ts";
import { play } from "./sounds.ts";

/** Some scanners end with two Enters: the second one saves nothing. */
const secondEnterMs = 300;

const tones: Readonly<Record<Outcome["kind"], "good" | "unknown" | "over" | "plain">> = {
  counted: "good",
  "counted-all": "good",
  undone: "plain",
  unknown: "unknown",
  ambiguous: "unknown",
  unreadable: "unknown",
  over: "over",
  complete: "over",
  below: "over",
  nothing: "plain",
};

/** An outcome in words. */
function wordsOf(outcome: Outcome, { order, lines }: Read): string {
  const { outcome: words } = receiveTexts;
  switch (outcome.kind) {
    case "counted": {
      const sign = outcome.amount < 0 ? "−" : "+";
      const base = lines.find(({ lineId }) => lineId === outcome.lineId)?.base ?? 0;
      const amount = sign + number(Math.abs(outcome.amount));
      const { countsAs = "piece" } = outcome;
      return words.counted(
        amount + words.countsAs[countsAs],
        number(outcome.total),
        number(base),
        productOf(order, outcome.lineId),
      );
    }
    case "unknown":
    case "ambiguous":
    case "unreadable":
      return words[outcome.kind](outcome.text);
    case "over":
    case "complete":
      return words[outcome.kind](productOf(order, outcome.lineId));
    case "below":
      return words.below(number(outcome.least), productOf(order, outcome.lineId));
    case "undone":
      return words.undone(productOf(order, outcome.lineId), outcome.lines - 1);
    case "counted-all":
      return words.countedAll(outcome.lines);
    case "nothing":
      return receiveTexts.ready;
  }
}

export const ScanPanel: FunctionComponent<{
  readonly counting: Counting;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly toScan: () => void;
}> = ({ counting, field, toScan }) => {
  const scannedAtMs = useRef(Number.NEGATIVE_INFINITY);
  const { is, nth } = counting.outcome.value;
  const { question, steps } = counting.counts.value;
  const read = counting.read.value;
  const played = useRef(nth);
  useSignalEffect(() => {
    const { is, nth } = counting.outcome.value;
    if (played.current !== nth) play(is.kind);
    played.current = nth;
  });
  const onScan = (code: string): void => {
    if (code !== "") {
      scannedAtMs.current = performance.now();
      counting.happen({ kind: "scan", code });
    } else if (performance.now() - scannedAtMs.current > secondEnterMs && question === null) void counting.send();
  };
  const press = (event: Parameters<Counting["happen"]>[0]) => (): void => {
    counting.happen(event);
    toScan();
  };
  return (
    <div class="scan-panel">
      <ScanField field={field} onScan={onScan} />
      <p class={`outcome ${tones[is.kind]}`} role="status" aria-atomic="true" data-nth={nth}>
        {read === null ? null : wordsOf(is, read)}
      </p>
      <div class="buttons">
        {question === null ? null : (
          <button type="button" class="over" onClick={press({ kind: "allow" })}>
            {receiveTexts.allow}
          </button>
        )}
        <button type="button" disabled={steps.length === 0} onClick={press({ kind: "undo" })}>
          {receiveTexts.undo}
        </button>
        <button type="button" onClick={press({ kind: "all-remaining" })}>
          {receiveTexts.all}
        </button>
      </div>
    </div>
  );
};
