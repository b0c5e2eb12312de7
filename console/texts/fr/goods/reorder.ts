/** Texts of reordering from a forecast. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/goods/reorder.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

const lines = (count: number): string => plural(count, "ligne", "lignes");

export const reorderTexts: Translated<typeof english.reorderTexts> = isolating({
  title: "Réapprovisionnement",
  views: "Vues de prévision",
  empty: "Il n’y a pas encore de vue de prévision.",
  emptyHint:
    "Une vue définit les produits et les chiffres affichés. Un propriétaire du magasin peut en créer une ici, ou en importer une.",
  makeView: "Créer la vue « À commander »",
  viewName: "À commander",
  noRows: "Rien à réapprovisionner dans cette vue.",
  noSuppliers: "Cette vue n’indique pas qui fournit un produit. Chacun est commandé à son fournisseur le moins cher.",
  shown: (loaded, total) =>
    loaded === total
      ? plural(total, "produit", "produits")
      : `${number(loaded)} sur ${plural(total, "produit chargé", "produits chargés")}`,
  search: "Rechercher dans la vue",
  searchHint: "Nom, SKU ou fournisseur",
  found: (found, total) => `${number(found)} sur ${plural(total, "produit", "produits")}`,
  nothing: "Rien dans cette vue n’y correspond.",
  toProduct: "Page du produit",
  outlook: (days) => `${days} prochains jours`,
  undated: "Marchandise en route, sans date",
  lasts: (days) => `Stock pour ${days} jours et plus`,
  out: (days) =>
    days === "0" ? "Plus rien en stock" : `Plus rien en stock dans ${days} ${days === "1" ? "jour" : "jours"}`,
  grid: "Produits et leurs chiffres",
  help: "Flèches pour se déplacer, Espace pour cocher ; saisir une quantité coche la ligne.",
  tick: (product) => `Commander ${product}`,
  quantity: (product) => `Quantité : ${product}`,
  order: "Commander",
  product: "Produit",
  notNumber: "Saisissez une quantité.",
  terms: (moq, packSize) =>
    [moq === null ? null : `min. ${moq}`, packSize === null ? null : `packs de ${packSize}`]
      .filter((part) => part !== null)
      .join(", "),
  roundTo: (quantity) => `→ ${quantity}`,
  roundToLabel: (quantity, product) => `Arrondir à ${quantity} : ${product}`,
  onDraft: (quantity) => `${quantity} en brouillon`,
  yes: "Oui",
  no: "Non",
  tickAll: "Cocher les suggestions",
  untick: "Tout décocher",
  ticked: (count, suppliers) => `${lines(count)} chez ${plural(suppliers, "fournisseur", "fournisseurs")}`,
  noneTicked: "Cochez ce qu’il faut commander.",
  make: (drafts) => (drafts === 0 ? "Créer des brouillons" : `Créer ${plural(drafts, "brouillon", "brouillons")}`),
  plan: {
    title: (drafts) => plural(drafts, "brouillon", "brouillons"),
    lead: "Une commande par fournisseur, en brouillon : rien n’est envoyé.",
    location: "Livrer à",
    noLocation: "Le magasin n’a pas encore d’emplacement. Ajoutez-en un d’abord.",
    lines,
    arrival: (date) => `arrivée le ${date}`,
    onDraft: (count) => `${lines(count)} déjà en brouillon`,
    unsupplied: (products) => `Sans fournisseur, donc non repris : ${products}`,
    making: "Création…",
    unknownSupplier: (name) =>
      `Aucun fournisseur, ou plus d’un, ne s’appelle « ${name} ». Ajoutez la colonne supplierId à la vue.`,
    tooMany: (max) => `Une commande compte au plus ${max} lignes. Décochez-en.`,
    failed:
      "Les brouillons numérotés existent. Les autres non, ou la réponse s’est perdue : réessayer n’en crée aucun en double.",
    done: (drafts) => (drafts < 2 ? "Le brouillon est créé." : `Les ${number(drafts)} brouillons sont créés.`),
    again: "Réessayer les autres",
    close: "Fermer",
    cancel: "Annuler",
  },
});
