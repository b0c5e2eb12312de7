/** Instants and days as people read them, which programs read by the element's attribute. */
import type { FunctionComponent } from "preact";
import { day, moment, shortDay } from "../data/format.ts";

interface Timed {
  readonly at: string;
  /** The words around it; without them it stands alone. */
  readonly says?: ((shown: string) => string) | undefined;
}

/** Stands for the time in the words around it; no text has it. */
const gap = "\u0000";

const timed =
  (shownOf: (value: string) => string): FunctionComponent<Timed> =>
  ({ at, says = (shown) => shown }) => {
    const [before, after] = says(gap).split(gap);
    return (
      <>
        {before}
        <time dateTime={at}>{shownOf(at)}</time>
        {after}
      </>
    );
  };

/** An instant, in the reader's time zone. */
export const Moment = timed(moment);

/** A day (`YYYY-MM-DD`), which belongs to no time zone. */
export const Day = timed(day);

/** The same in few letters: the year stands only where it is another than this one. */
export const ShortDay = timed(shortDay);
