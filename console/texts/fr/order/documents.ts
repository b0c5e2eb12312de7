/** Texts of an order's document and of how documents look. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/documents.ts";
import type { Translated } from "../../languages.ts";

export const documentTexts: Translated<typeof english.documentTexts> = isolating({
  print: "Imprimer",
  back: "Retour à la commande",
  page: "Aspect sur papier",
  hint: "Le PDF a cet aspect, avec des numéros de page et un code-barres. Il est le même pour tous tant que ni commande ni en-tête ne changent.",
  title: "Aspect des documents",
  lead: "Ce que vos fournisseurs voient en haut et en bas de chaque bon de commande, et les colonnes de ses lignes.",
  language: "Langue",
  paper: "Papier",
  papers: { A4: "A4", Letter: "Letter" },
  columns: "Colonnes en plus de la désignation et de la quantité",
  columnNames: {
    position: "Numéro de ligne",
    supplierSku: "Référence du fournisseur",
    sku: "Notre référence",
    barcode: "Code-barres",
    expectedDeliveryDate: "Date prévue",
    packSize: "Conditionnement",
    unitCost: "Prix unitaire",
    lineTotal: "Montant",
  },
  address: "Votre adresse",
  fields: {
    companyName: "Société",
    contactName: "Contact",
    address1: "Rue",
    address2: "Rue, deuxième ligne",
    zip: "Code postal",
    city: "Ville",
    province: "État ou province",
    country: "Pays",
    phone: "Téléphone",
    email: "E-mail",
  },
  footer: "Pied de chaque page",
  footerHint: "Numéros d’immatriculation et de TVA, compte bancaire. 600 caractères au plus.",
  logo: "Logo",
  logoHint: (kilobytes) =>
    `PNG, JPEG ou SVG fait de tracés ; au plus ${number(kilobytes)} ko et 1 000 000 de pixels. Il figure en haut de la première page.`,
  logoTooLarge: (kilobytes) => `Le fichier dépasse ${number(kilobytes)} ko. Enregistrez-le en plus petit.`,
  removeLogo: "Retirer le logo",
  currentLogo: "Le logo actuel",
  save: "Enregistrer",
  saving: "Enregistrement…",
  saved: "Enregistré. Les documents créés désormais auront cet aspect.",
});
