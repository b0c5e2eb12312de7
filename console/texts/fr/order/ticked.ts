/** French texts of what is done with several orders at once. They are loaded when one is ticked in the list. */
import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/ticked.ts";
import type { Translated } from "../../languages.ts";

const orders = (count: number): string => (count <= 1 ? `${number(count)} commande` : `${number(count)} commandes`);

export const tickedTexts: Translated<typeof english.tickedTexts> = isolating({
  bar: "Avec les commandes sélectionnées",
  selected: (count) => (count <= 1 ? `${number(count)} sélectionnée` : `${number(count)} sélectionnées`),
  clear: "Annuler la sélection",
  send: "Envoyer",
  move: "Statut",
  noMove: "Aucune étape n’est possible pour toutes. Sélectionnez des commandes de même statut.",
  noSend: "Envoyer : seuls des brouillons peuvent être envoyés ensemble.",
  noMerge:
    "Fusionner : sélectionnez au moins deux brouillons ayant le même fournisseur, le même emplacement et la même devise.",
  more: "Plus",
  print: "Imprimer",
  pdf: "Télécharger en PDF",
  csv: "Exporter en CSV",
  tooMany: (max) => `${number(max)} documents au plus à la fois.`,
  running: (done, of) => `${number(done)} sur ${number(of)}…`,
  count: orders,
  done: (count) => (count <= 1 ? `${orders(count)} traitée` : `${orders(count)} traitées`),
  refused: (count) => (count <= 1 ? `${number(count)} refusée` : `${number(count)} refusées`),
  waiting: (count) => `${number(count)} en attente d’approbation`,
  noAddress:
    "Le fournisseur n’a pas d’adresse e-mail. Ajoutez-en une au fournisseur, ou envoyez la commande séparément.",
  stale: "Quelqu’un l’a modifiée entre-temps. Relisez-la, puis réessayez.",
  close: "Fermer",
  sendTitle: (count) => `Envoyer ${orders(count)} aux fournisseurs ?`,
  sendText:
    "Chaque fournisseur reçoit un e-mail avec la commande en PDF, le texte habituel et un lien pour répondre. Les commandes deviennent « Envoyée ». Un e-mail ne se rappelle pas.",
  moveTitle: (action, count) => `${action} : ${orders(count)} ?`,
  merge: "Fusionner",
  mergeTitle: (count) => `Fusionner ${number(count)} brouillons ?`,
  mergeInto: "Brouillon conservé",
  mergeText:
    "Les autres brouillons disparaissent et leurs lignes y sont reprises. Leurs remarques, dates, frais de port et remises ne le sont pas. C’est irréversible.",
  lines: (count) => (count <= 1 ? `${number(count)} ligne` : `${number(count)} lignes`),
  noSupplier: "sans fournisseur",
  records: {
    bar: "Avec les lignes sélectionnées",
    selected: (count) => `${number(count)} ${count <= 1 ? "sélectionné" : "sélectionnés"}`,
    archived: (count) => `${number(count)} ${count <= 1 ? "archivé" : "archivés"}`,
    broughtBack: (count) => `${number(count)} ${count <= 1 ? "désarchivé" : "désarchivés"}`,
    done: (count) => `${number(count)} ${count <= 1 ? "traité" : "traités"}`,
    refused: (count) => `${number(count)} ${count <= 1 ? "refusé" : "refusés"}`,
  },
});
