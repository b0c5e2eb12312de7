/** Texts of importing files. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/import.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

const names: Readonly<Record<string, readonly [string, string]>> = {
  variant: ["produit", "produits"],
  supplier: ["fournisseur", "fournisseurs"],
  location: ["emplacement", "emplacements"],
  supplierVariant: ["prix fournisseur", "prix fournisseurs"],
  inventoryLevel: ["niveau de stock", "niveaux de stock"],
  sale: ["jour de ventes", "jours de ventes"],
  purchaseOrder: ["commande", "commandes"],
  forecastView: ["vue de prévision", "vues de prévision"],
};

export const importTexts: Translated<typeof english.importTexts> = isolating({
  title: "Import",
  lead: "Un fichier est d’abord vérifié. Vous voyez ce qu’il changerait avant que rien ne change.",
  why: "Seuls les propriétaires du magasin importent des fichiers.",
  drop: "Déposez un fichier ici, ou choisissez-en un",
  chosen: (name, size) => `${name}, ${size}`,
  kilobytes: (size) => `${number(size)} ko`,
  kind: "Contenu du fichier",
  kinds: {
    "shopify-products": {
      title: "Produits",
      hint: "L’export des produits de Shopify : Handle, Title, Variant SKU, Variant Price…",
    },
    "shopify-inventory": { title: "Stock", hint: "L’export du stock de Shopify : Handle, Location, On hand…" },
    "supplier-prices": {
      title: "Prix fournisseurs",
      hint: "Colonnes, en anglais : Supplier, SKU ou Product, Unit cost, Currency, MOQ, Pack size…",
    },
    suppliers: {
      title: "Fournisseurs",
      hint: "Colonnes, en anglais : Supplier, E-mail, Currency, Lead time, Payment terms, City…",
    },
    sales: { title: "Ventes", hint: "Colonnes, en anglais : Product, Date, Quantity, Location" },
    ndjson: { title: "Données d’OpenPO", hint: "Un objet JSON par ligne, comme dans un export." },
  },
  supplier: "Fournisseur, si le fichier n’en nomme pas",
  preview: (rows) => (rows < 2 ? "La première ligne" : `Les ${number(rows)} premières lignes`),
  line: "Ligne",
  checking: "Vérification…",
  importing: "Import en cours…",
  sent: (share) => `${share} envoyés`,
  good: "Le fichier est correct. À importer :",
  nothing: "Le fichier est correct, et il n’y a rien à importer.",
  records: (type, count) => plural(count, ...(names[type] ?? ([type, type] as const))),
  replaced: (count) => `, dont ${number(count)} ${count < 2 ? "remplace" : "remplacent"} l’existant`,
  counts: ({ changed, added, cleared }) =>
    [
      changed === 0 ? null : plural(changed, "modifié", "modifiés"),
      added === 0 ? null : plural(added, "nouveau", "nouveaux"),
      cleared === 0 ? null : plural(cleared, "vidé", "vidés"),
    ]
      .filter((part) => part !== null)
      .join(", "),
  changes: (rows) => `Avant et après${rows > 1 ? `, pour les ${number(rows)} premières` : ""}`,
  truncated: "Dans un long fichier, seuls les 20 000 premiers enregistrements ont été comparés.",
  rule: "Tout est importé, ou rien. Ce qui n’a pas de colonne dans le fichier reste tel quel.",
  go: "Importer",
  bad: "Rien n’a été importé. Ce qui ne va pas :",
  download: "Télécharger cette liste",
  heads: ["Ligne", "Colonne", "Erreur"],
  row: "La ligne dans le fichier",
  again: "Corrigez le fichier et choisissez-le de nouveau.",
  done: "Importé :",
  another: "Importer un autre fichier",
});
