/** Texts of merging two Drafts. They are loaded with its menu entry. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/merge.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "regel", "regels");

export const mergeTexts: Translated<typeof english.mergeTexts> = isolating({
  into: "Samenvoegen met…",
  alone: "Er is geen ander concept met deze leverancier, locatie en valuta.",
  of: (order) => `${order} samenvoegen met een ander concept`,
  stays: "Concept dat blijft",
  size: (count, total) => `${lines(count)}, ${total}`,
  action: "Samenvoegen",
  title: (order, into) => `${order} samenvoegen met ${into}?`,
  text: (order, count, into, then) =>
    `${order} vervalt en ${lines(count)} ${count === 1 ? "gaat" : "gaan"} naar ${into.title}: nu ${into.hint ?? ""}, daarna ${then}. Notities, datums, verzendkosten en kortingen van ${order} gaan niet mee. Dit kan niet ongedaan worden gemaakt.`,
  stale: (order) => ({
    message: `Iemand heeft ${order} intussen gewijzigd.`,
    action: "Bekijk het concept opnieuw voordat je het samenvoegt.",
  }),
});
