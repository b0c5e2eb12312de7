/** Texts of approval requests. They are loaded with what shows them. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/approvals.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const requests = (count: number): string => plural(count, "aanvraag", "aanvragen");

export const approvalTexts: Translated<typeof english.approvalTexts> = isolating({
  title: "Goedkeuringen",
  back: "Goedkeuringen",
  status: "Tonen",
  statuses: {
    pending: "Wacht",
    all: "Alle",
    approved: "Goedgekeurd",
    rejected: "Afgewezen",
    withdrawn: "Ingetrokken",
    expired: "Vervallen",
    overtaken: "Achterhaald",
    failed: "Mislukt",
  },
  shown: (count, total) => `${number(count)} van ${requests(total)}`,
  more: "Meer laden",
  yours: "Jij beslist",
  others: "Anderen beslissen",
  empty: "Er wacht niets op goedkeuring.",
  emptyOther: "Er zijn geen aanvragen met deze status.",
  emptyHint:
    "Hier wacht tot iemand ja zegt: wat een assistent alleen mag voorstellen, wat buiten zijn limieten valt, en bestellingen waarvoor een regel van de winkel geldt.",
  toKeys: "Geef een sleutel de rechten Voorstellen",
  toRules: "Stel regels in",
  moves: (order, status) => `${order}: naar status ${status}`,
  asks: (who) => `Aangevraagd door ${who}`,
  asked: "Aangevraagd door",
  inNameOf: (name) => `namens ${name}`,
  byKey: (keyId) => `sleutel ${keyId}`,
  askedAt: "Aangevraagd",
  until: "Wacht tot",
  supplier: "Leverancier",
  value: "Waarde",
  order: "Bestelling",
  why: "Waarom goedkeuring nodig is",
  causes: {
    scope: "De sleutel mag dit alleen voorstellen.",
    rule: (name) => `Regel “${name}”.`,
    supplierIds: "De sleutel mag niet bij deze leverancier bestellen.",
    locationIds: "De sleutel mag niet voor deze locatie bestellen.",
    orderValueMax: "Per bestelling",
    dayValueMax: "Bestelwaarde per dag",
    monthValueMax: "Bestelwaarde per maand",
    limit: (of, allowed) => `${of} maximaal ${allowed}`,
    used: (used) => `${used} gebruikt`,
    adds: (asked) => `hiervoor is ${asked} nodig`,
    unpriced: "hiervoor is geen wisselkoers bekend",
    rise: (allowed, asked) =>
      `Een inkoopprijs mag maximaal ${number(allowed)}% stijgen; ${asked === null ? "de eerdere prijs is niet bekend" : `hier stijgt er een met ${number(asked)}%`}.`,
  },
  cover: "Voorraad en dekking",
  stock: (onHand, incoming) => `${onHand} aanwezig, ${incoming} inkomend`,
  days: (before, after) =>
    before === null || after === null
      ? "Geen verkopen"
      : `Dekking: ${number(Math.floor(before))} → ${number(Math.floor(after))} dagen`,
  what: "Wat er zal wijzigen",
  wouldHave: "Wat er zou zijn gewijzigd",
  changed: "Wat er is gewijzigd",
  reason: "Reden",
  noFields: "Hiervoor is geen afzonderlijk veld vermeld.",
  lines: "Wat wordt besteld",
  moreLines: (count) => `en nog ${number(count)}`,
  comment: "Opmerking",
  commentHint: "De aanvrager leest dit.",
  approve: (count) => (count === 1 ? "Goedkeuren" : `${number(count)} goedkeuren`),
  reject: (count) => (count === 1 ? "Afwijzen" : `${number(count)} afwijzen`),
  withdraw: "Intrekken",
  tick: (title) => `Kies ${title}`,
  ticked: (count) => `${number(count)} gekozen`,
  working: "Een ogenblik…",
  othersDecide: "Over deze aanvraag kun jij niet beslissen.",
  needs: "Hiervoor is eerst goedkeuring nodig",
  askToSend: "Verzenden aanvragen",
  ask: "Goedkeuring vragen",
  ofOrder: "Wacht op goedkeuring",
  see: "Bekijken wat er zal wijzigen",
  became: {
    approved: (who) => `Goedgekeurd door ${who} en uitgevoerd.`,
    rejected: (who) => `Afgewezen door ${who}. Er is niets gedaan.`,
    withdrawn: (who) => `Ingetrokken door ${who}. Er is niets gedaan.`,
    expired: () => "Niemand heeft op tijd beslist. Er is niets gedaan.",
    overtaken: (who) =>
      `${who} heeft dit goedgekeurd, maar de bestelling was intussen gewijzigd: er zou iets anders zijn gebeurd dan getoond. Er is niets gedaan.`,
    failed: (who) => `${who} heeft dit goedgekeurd, maar het werd toen geweigerd. Er is niets gedaan.`,
  },
  shownThen: "Wat is aangevraagd",
  shownNow: "Wat er bij goedkeuring zou zijn gebeurd",
});
