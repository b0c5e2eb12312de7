/** Progress as a bar and in numbers. */
import type { FunctionComponent } from "preact";
import { number } from "../data/format.ts";
import { texts } from "../texts/en/texts.ts";

interface ProgressProps {
  readonly received: number;
  readonly ordered: number;
  /** Quantity that is still to come: too much of one product does not stand for another one. */
  readonly pending: number;
}

export const Progress: FunctionComponent<ProgressProps> = ({ received, ordered, pending }) => {
  const counted = Math.max(0, Math.min(received, ordered - pending));
  const words = texts.orders;
  return (
    <span class="progress">
      <progress max={Math.max(ordered, 1)} value={counted} aria-hidden="true" />
      <span>
        {words.received(number(counted), number(ordered))}
        {received > counted ? <span class="quiet"> {words.over(number(received - counted))}</span> : null}
      </span>
    </span>
  );
};
