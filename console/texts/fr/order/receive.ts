/** Texts of receiving and of the dock. They are loaded with these screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/receive.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

const lines = (count: number): string => plural(count, "ligne", "lignes");

export const receiveTexts: Translated<typeof english.receiveTexts> = isolating({
  title: (poNumber) => `Réceptionner ${poNumber}`,
  back: (poNumber) => `Commande ${poNumber}`,
  to: (location) => `Vers ${location}`,
  notReceivable: (status) =>
    `La réception se fait sur une commande En cours, Reçue en partie ou Reçue. Statut de celle-ci : ${status}.`,
  toOrder: "Aller à la commande",
  elsewhere:
    "Cette commande est en cours de comptage dans un autre onglet de ce navigateur. Fermez-le pour continuer ici.",
  scan: "Scanner",
  ready: "Prêt à scanner",
  undo: "Annuler le dernier",
  all: "Réceptionner tout le reste",
  save: "Réceptionner",
  saveAgain: "Renvoyer",
  counted: (count) => `${lines(count)} ${count < 2 ? "comptée" : "comptées"}`,
  noneCounted: "Rien de compté",
  sending: "Enregistrement…",
  waiting: "Le serveur ne répond pas. Vos comptages sont gardés sur cet appareil et seront renvoyés automatiquement.",
  saved: (count) => `${lines(count)} ${count < 2 ? "reçue" : "reçues"}.`,
  allHere: "Tout ce qui était commandé est là ou réglé.",
  missing: (lines) =>
    lines < 2 ? `Il manque encore ${number(lines)} ligne :` : `Il manque encore ${number(lines)} lignes :`,
  next: (order) => `Réceptionner ensuite : ${order}`,
  syncAgain: "Renvoyer le stock",
  unkept: "Ce navigateur ne garde pas de données. Vos comptages seront perdus si vous fermez cette page.",
  doubtful: {
    message: "Cet enregistrement date d’un jour et a peut-être déjà abouti.",
    action: "Comparez les totaux aux marchandises. Puis réceptionnez de nouveau, ou abandonnez vos comptages.",
  },
  discard: "Abandonner les comptages",
  somebody: "quelqu’un d’autre",
  othersCounts: (name, count) => `Comptages non enregistrés sur cet appareil (${name}) : ${lines(count)}.`,
  othersDoubtful:
    "L’enregistrement était en cours, et la commande a changé : il a peut-être abouti. Comparez les totaux aux marchandises.",
  takeOver: "Les reprendre",
  discardOthers: (name) => `Abandonner les comptages (${name})`,
  asking: "D’autres ont réceptionné entre-temps. Avec vos comptages, cela dépasse la quantité confirmée :",
  askingLine: (product, over) => `${product} : ${over} de plus`,
  allowAll: "Réceptionner quand même",
  allow: "Compter quand même",
  activate: "Activer et réceptionner",
  skip: "Réceptionner sans la boutique en ligne",
  ofBase: (total, base) => `${total} sur ${base}`,
  mine: (amount) => `+${amount} à enregistrer`,
  parts: { received: "Reçu", rejected: "Refusé", cancelled: "Manquant" },
  more: "Refus ou manquant",
  short: "Le reste ne viendra pas",
  outcome: {
    countsAs: {
      piece: "",
      pack: " (un pack)",
      count: " (selon le code)",
      "unknown-pack": " (pack de taille inconnue, compté pour un)",
    },
    counted: (amount, total, base, product) => `${amount} → ${total} sur ${base}, ${product}`,
    unknown: (code) => `« ${code} » n’est pas dans cette commande. Rien n’a été compté.`,
    ambiguous: (code) => `« ${code} » est le code de plusieurs produits. Saisissez la quantité à la bonne ligne.`,
    unreadable: (text) => `« ${text} » n’est pas une quantité. Rien n’a été compté.`,
    over: (product) => `Au-delà du confirmé : ${product}. Rien n’a été compté.`,
    complete: (product) => `Déjà complet : ${product}. Rien n’a été compté.`,
    below: (least, product) => `Déjà enregistré : ${least} (${product}). Une réception s’annule sur la commande.`,
    undone: (product, more) =>
      more === 0 ? `Annulé : ${product}` : `Annulé : ${product} et ${plural(more, "autre", "autres")}`,
    countedAll: (count) => `${lines(count)} ${count < 2 ? "complétée" : "complétées"}`,
  },
});

export const dockTexts: Translated<typeof english.dockTexts> = isolating({
  title: "Quai de réception",
  lead: "Scannez un carton pour voir les commandes ouvertes qui l’attendent, ou un bon de livraison pour ouvrir sa commande.",
  none: (code) => `Aucune commande ouverte n’attend « ${code} ».`,
  found: (code, count) =>
    count < 2
      ? `${number(count)} ligne ouverte attend « ${code} »`
      : `${number(count)} lignes ouvertes attendent « ${code} »`,
  pending: (quantity) => `reste ${quantity}`,
  expected: (date) => `prévue le ${date}`,
  enter: "Entrée réceptionne sur la première.",
  pack: (pieces) => `Un scan compte un pack de ${pieces}`,
  count: (pieces) => `Un scan compte ${pieces}`,
  unknownPack: "Pack de taille inconnue : un scan compte pour un",
  notYet: "Pas encore en cours",
  nothing: "Rien n’est à réceptionner.",
  nothingHint:
    "Une commande apparaît ici dès qu’elle est en cours. Les marchandises se comptent alors au scanner ou à la main.",
  toOrders: "Voir toutes les commandes",
});
