/** Texts of the home screen. They are loaded with it. */

import { isolating } from "../isolated.ts";
import { number } from "../../data/format.ts";
import type * as english from "../en/home.ts";
import type { Translated } from "../languages.ts";
import { plural } from "./plural.ts";

export const homeTexts: Translated<typeof english.homeTexts> = isolating({
  hello: (name) => `Bonjour ${name}`,
  todo: "À faire",
  tasks: {
    approvals: "À approuver",
    late: "En retard",
    today: "Prévues aujourd’hui",
    waiting: "Attente fournisseur",
    answers: "Réponses à accepter",
    reorder: "À commander",
    drafts: "Brouillons à envoyer",
    failed: "Échecs de synchro",
    mails: "Échecs d’e-mail",
  },
  failures: "Échecs d’e-mail et de synchro",
  mailFailed: "Échec de l’e-mail",
  syncFailures: "Tous les échecs de synchro",
  moreFailures: (count) => `et ${number(count)} de plus`,
  arriving: "Prochaines arrivées",
  unread: "Impossible de lire les commandes. Rechargez la page dans un instant.",
  nothingArriving: "Rien n’est en route.",
  allOpen: "Commandes ouvertes",
  value: "En route, par semaine",
  valueHint: (amount, count) => `Valeur en cours : ${amount} pour ${plural(count, "commande", "commandes")}`,
  nothingExpected: "Rien n’en est attendu ces semaines-ci.",
  lateWeek: "Retard",
  week: "Semaine du",
  amount: "Montant",
  supplier: "Fournisseur",
  received: "Réceptions, par semaine",
  receivedHint: (amount, weeks) => `${amount} en ${number(weeks)} semaines`,
  nothingReceived: "Rien n’a été réceptionné pendant ces semaines.",
  spend: "Dépenses par fournisseur",
  spendHint: (amount, count) =>
    `Commandé ces 90 derniers jours : ${amount} pour ${plural(count, "commande", "commandes")}`,
  nothingOrdered: "Rien n’a été commandé ces 90 derniers jours.",
  calendar: "Livraisons",
  deliveries: (count) => plural(count, "livraison", "livraisons"),
  today: "aujourd’hui",
  runsOut: "Bientôt en rupture",
  runsOutHint: "Stock et quantités en route, face à la demande prévue.",
  days: (days) => (days <= 0 ? "en rupture" : `reste ${plural(days, "jour", "jours")}`),
  order: (quantity) => `commander ${number(quantity)}`,
  nothingRunsOut: "Chaque produit tient jusqu’à sa prochaine livraison.",
  toReorder: "Réapprovisionnement",
  lately: "Récemment",
  nothingLately: "Personne n’a encore modifié de commande.",
  allActivity: "Toute l’activité",
  ofAssistants: (count) =>
    count === 0
      ? "Les assistants n’ont rien modifié depuis hier"
      : `Ce que les assistants ont fait depuis hier (${number(count)})`,
  first: {
    title: "Cinq étapes vers votre première commande",
    more: "Et aussi",
    idle: "Pas encore de commandes. Vous verrez ensuite ici ce qu’il y a à faire.",
    done: "Fait.",
    locations: "Ajouter un emplacement",
    locationsHint: "Le lieu où arrivent les marchandises.",
    suppliers: "Ajouter un fournisseur",
    suppliersHint: "Chez qui vous achetez, et à quelles conditions.",
    products: "Ajouter un produit",
    productsHint: "Ce que vous achetez, avec son SKU ou son code-barres.",
    prices: "Indiquer le coût du produit",
    pricesHint: "Sur la page de son fournisseur : cherchez-y le produit, ou collez le tarif du fournisseur.",
    import: "Tout importer depuis un fichier",
    importHint: "CSV ou JSON, d’autres logiciels.",
    storefront: "Connecter votre boutique en ligne",
    storefrontHint:
      "Stock, produits et ventes arrivent automatiquement, et les réceptions y repartent. Ou continuez sans boutique.",
    people: "Inviter vos collègues",
    peopleHint: "Réceptionner, commander ou seulement consulter : à chacun son rôle.",
    assistant: "Donner accès à un assistant",
    assistantHint: "Il prépare des commandes et relance les fournisseurs ; vous voyez tout ce qu’il fait.",
    order: "Créer la première commande",
    orderHint: "Choisissez un fournisseur et un emplacement. Le reste tient en une liste.",
  },
});
