/** Texts of a supplier's link and of what suppliers have answered, which load with the order. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/supplier.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "regel", "regels");

export const supplierTexts: Translated<typeof english.supplierTexts> = isolating({
  title: "Antwoord van de leverancier",
  waiting: "Leveranciers hebben geantwoord",
  more: (count) => `en nog ${number(count)}`,
  answered: (name, at) => `${name} antwoordde op ${at}`,
  somebody: "De leverancier",
  waits: "Er is nog niets gewijzigd. Accepteer wat past; de rest blijft zoals het is.",
  overtaken:
    "De bestelling is sindsdien gewijzigd. Achterhaalde regels kun je niet accepteren; vraag de leverancier opnieuw te antwoorden.",
  columns: { order: "In bestelling" },
  accept: "Alles accepteren",
  acceptSome: (count) => `${lines(count)} accepteren`,
  reject: "Afwijzen",
  rejectTitle: "Dit antwoord afwijzen?",
  rejectText: "De bestelling blijft ongewijzigd. De leverancier kan via dezelfde link opnieuw antwoorden.",
  choose: (name) => `${name} accepteren`,
  quantity: (value) => `${value} bevestigd`,
  unconfirmed: (value) => `${value} besteld, niet bevestigd`,
  expected: (date) => `verwacht ${date}`,
  noDate: "geen datum",
  cannot: "niet leverbaar",
  state: { open: "", overtaken: "Achterhaald", accepted: "Geaccepteerd" },
  gone: "een vervallen regel",
  reference: (value) => `Nummer van de leverancier: ${value}`,
  tracking: (value) => `Trackingnummer: ${value}`,
  earlier: "Eerdere antwoorden",
  earlierOf: {
    open: "open",
    overtaken: "achterhaald",
    accepted: "geaccepteerd",
    rejected: "afgewezen",
    replaced: "vervangen door een nieuwer antwoord",
  },
  by: (name) => `door ${name}`,
  link: "Link voor de leverancier",
  linkHelp: "Via een link ziet de leverancier deze bestelling, downloadt en beantwoordt die, zonder in te loggen.",
  make: "Link maken",
  made: "Link voor de leverancier",
  madeLabel: "Link",
  madeHint: (until) => `Werkt tot ${until}. Wie de link heeft, ziet deze bestelling.`,
  until: (until, who) => `Werkt tot ${until}${who === null ? "" : ` · gemaakt door ${who}`}`,
  revoke: "Intrekken",
  revokeOf: (until) => `Link intrekken die werkt tot ${until}`,
  noLinks: "Er is nu geen link.",
});
