/** Texts of a supplier's link and of what suppliers have answered, which load with the order. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/supplier.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

export const supplierTexts: Translated<typeof english.supplierTexts> = isolating({
  title: "Réponse du fournisseur",
  waiting: "Des fournisseurs ont répondu",
  more: (count) => `et ${plural(count, "autre", "autres")}`,
  answered: (name, at) => `${name} a répondu le ${at}`,
  somebody: "Le fournisseur",
  waits: "Rien n’a encore changé. Acceptez ce qui convient ; le reste demeure tel quel.",
  overtaken:
    "La commande a changé depuis. Les lignes dépassées ne s’acceptent plus ; demandez une nouvelle réponse au fournisseur.",
  columns: { order: "Sur la commande" },
  accept: "Tout accepter",
  acceptSome: (count) => `Accepter ${plural(count, "ligne", "lignes")}`,
  reject: "Refuser",
  rejectTitle: "Refuser cette réponse ?",
  rejectText: "La commande reste telle quelle. Le fournisseur peut répondre de nouveau par le même lien.",
  choose: (name) => `Accepter ${name}`,
  quantity: (value) => `qté confirmée ${value}`,
  unconfirmed: (value) => `qté commandée ${value}, non confirmée`,
  expected: (date) => `prévue le ${date}`,
  noDate: "sans date",
  cannot: "ne peut pas être livré",
  state: { open: "", overtaken: "Dépassée", accepted: "Acceptée" },
  gone: "une ligne disparue",
  reference: (value) => `Numéro du fournisseur : ${value}`,
  tracking: (value) => `Numéro de suivi : ${value}`,
  earlier: "Réponses antérieures",
  earlierOf: {
    open: "ouverte",
    overtaken: "dépassée",
    accepted: "acceptée",
    rejected: "refusée",
    replaced: "remplacée par une plus récente",
  },
  by: (name) => `par ${name}`,
  link: "Lien pour le fournisseur",
  linkHelp: "Par un lien, le fournisseur voit cette commande, la télécharge et y répond, sans inscription.",
  make: "Créer un lien",
  made: "Lien pour le fournisseur",
  madeLabel: "Lien",
  madeHint: (until) => `Valable jusqu’au ${until}. Toute personne qui l’a voit cette commande.`,
  until: (until, who) => `Valable jusqu’au ${until}${who === null ? "" : ` · créé par ${who}`}`,
  revoke: "Révoquer",
  revokeOf: (until) => `Révoquer le lien valable jusqu’au ${until}`,
  noLinks: "Il n’y a pas de lien actuellement.",
});
