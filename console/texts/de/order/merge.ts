/** German texts of merging two Drafts. They are loaded with its menu entry. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/merge.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const positions = (count: number): string => plural(count, "Position", "Positionen");

export const mergeTexts: Translated<typeof english.mergeTexts> = isolating({
  into: "Zusammenführen mit …",
  alone: "Es gibt keinen anderen Entwurf mit diesem Lieferanten, Standort und dieser Währung.",
  of: (order) => `${order} mit einem anderen Entwurf zusammenführen`,
  stays: "Entwurf, der bleibt",
  size: (count, total) => `${positions(count)}, ${total}`,
  action: "Zusammenführen",
  title: (order, into) => `${order} mit ${into} zusammenführen?`,
  text: (order, count, into, then) =>
    `${order} entfällt, und ${positions(count)} ${count === 1 ? "geht" : "gehen"} auf ${into.title} über: bisher ${into.hint ?? ""}; danach ${then}. Notizen, Termine, Versand und Rabatte von ${order} werden nicht übernommen. Das lässt sich nicht rückgängig machen.`,
  stale: (order) => ({
    message: `Inzwischen hat jemand ${order} geändert.`,
    action: "Sehen Sie sich die Bestellung noch einmal an, bevor Sie sie zusammenführen.",
  }),
});
