/** Texts of merging two Drafts. They are loaded with its menu entry. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/merge.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

export const mergeTexts: Translated<typeof english.mergeTexts> = isolating({
  into: "Fusionner dans…",
  alone: "Aucun autre brouillon n’a ce fournisseur, cet emplacement et cette devise.",
  of: (order) => `Fusionner ${order} dans un autre brouillon`,
  stays: "Brouillon conservé",
  size: (count, total) => `${plural(count, "ligne", "lignes")}, ${total}`,
  action: "Fusionner",
  title: (order, into) => `Fusionner ${order} dans ${into} ?`,
  text: (order, count, into, then) =>
    `${order} disparaît. ${into.title} reprend ses lignes (${number(count)}) : actuellement ${into.hint ?? ""}, ensuite ${then}. Les remarques, dates, frais de port et remises de ${order} ne sont pas repris. C’est irréversible.`,
  stale: (order) => ({
    message: `Quelqu’un a modifié ${order} entre-temps.`,
    action: "Relisez cette commande avant de la fusionner.",
  }),
});
