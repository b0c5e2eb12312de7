/** Progress as a bar and in numbers. */
import type { FunctionComponent } from "preact";
import { number } from "../data/format.ts";
import { texts } from "../texts/texts.ts";

export const Progress: FunctionComponent<{ readonly received: number; readonly ordered: number }> = ({
  received,
  ordered,
}) => (
  <span class="progress">
    <progress max={Math.max(ordered, 1)} value={Math.min(received, ordered)} aria-hidden="true" />
    <span>{texts.orders.received(number(received), number(ordered))}</span>
  </span>
);
