/** Texts of the operator's screen. They are loaded with it. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/operator.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 à ${most}`;

export const operatorTexts: Translated<typeof english.operatorTexts> = isolating({
  lead: "Vous êtes l’exploitant : tous les magasins de ce service.",
  locked:
    "Pour voir et modifier les magasins, saisissez à nouveau le jeton d’administration. Il reste dans la mémoire de cette page.",
  unlock: "Afficher plus",
  open: (name) => `Ouvrir ${name}`,
  allShops: "Tous les magasins",
  noShop: (shopId) => `Le magasin ${shopId} n’existe pas.`,
  notYours: "Cette page est réservée à l’exploitant",
  notYoursHint: "Elle montre tous les magasins du service. Connectez-vous avec le jeton d’administration pour la voir.",
  empty: "Il n’y a pas encore de magasin.",
  emptyHint: "Sur le serveur, openpo shop create en crée un, et openpo demo un avec des données d’essai.",
  columns: {
    shop: "Magasin",
    orders: "Commandes",
    suppliers: "Fournisseurs",
    locations: "Emplacements",
    variants: "Produits",
    keys: "Clés",
    settings: "Paramètres",
  },
  health: { good: "Le service est prêt.", bad: "Le service n’est pas prêt." },
  faults: {
    title: "Pannes du bac à sable",
    lead: "Pour s’exercer. Ce qui est réglé ici remplace le réglage précédent ; sans panne, le bac à sable fonctionne.",
    latencyMs: { label: "Durée de chaque appel (ms)", hint: `${zeroTo("600 000")}.` },
    applyDelayMs: {
      label: "Délai d’affichage d’un changement de stock (ms)",
      hint: `${zeroTo("600 000")}.`,
    },
    fault: (number) => `Panne ${number}`,
    call: "Appel",
    everyCall: "tous les appels",
    outcome: "Ce qui se passe",
    outcomes: {
      error: "erreur : rien n’est fait",
      throttled: "débit limité : rien n’est fait",
      timeout: "délai dépassé : pas de réponse, rien n’est fait",
      refused: "refus : ces produits, définitivement",
      "lost-response": "réponse perdue : c’est fait, sans réponse",
    },
    variantIds: {
      label: "Seulement pour ces variantes",
      hint: "Identifiants de variantes séparés par des virgules ; vide : toutes.",
    },
    times: { label: "Nombre de fois", hint: "Vide : toujours." },
    add: "Ajouter une panne",
    remove: (number) => `Retirer la panne ${number}`,
    set: "Appliquer les pannes",
  },
});
