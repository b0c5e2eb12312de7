/** Texts of a shop's settings, for its owners and for the operator. They are loaded with the screens. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/settings.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 à ${most}`;

export const settingsTexts: Translated<typeof english.settingsTexts> = isolating({
  title: "Paramètres",
  why: "Seuls les propriétaires du magasin modifient les paramètres.",
  views: { shop: "Magasin", approvals: "Approbations", documents: "Documents" },
  lead: "Le fonctionnement de ce magasin. Vos modifications valent pour tous, agents compris, dès la prochaine requête.",
  formOf: (name) => `Paramètres : ${name}`,
  groups: {
    shop: "Magasin",
    receiving: "Réception et boutique en ligne",
    sending: "Envoi",
    money: "Devises",
    service: "Service",
    waiting: "Attente",
  },
  settings: {
    name: { label: "Nom du magasin", hint: "Tel que le voient les utilisateurs et les agents." },
    autoSyncOnReceiving: {
      label: "Envoyer le stock à la boutique dès la réception",
      hint: "Désactivé : les marchandises reçues restent ici jusqu’à une synchronisation manuelle.",
    },
    emailOnSent: {
      label: "E-mail au fournisseur à l’envoi",
      hint: "À l’adresse du fournisseur, avec le PDF et, si l’adresse publique est définie, un lien de réponse. Nécessite un serveur de messagerie.",
    },
    replyTo: {
      label: "Réponses aux e-mails à",
      hint: "Une adresse à vous, comme achats@magasin.example. Vide : à la personne qui envoie la commande.",
    },
    unconfirmedDays: {
      label: "Délai de confirmation (jours)",
      hint: `Les commandes qui attendent plus longtemps sont signalées, et les webhooks informés. ${zeroTo("365")} ; 0 : aucune.`,
    },
    costSyncMode: {
      label: "Coûts à la clôture",
      hint: "Ce qui est transmis à la boutique en ligne comme coût unitaire d’un produit.",
    },
    onOrderTag: {
      label: "Balise des produits en commande",
      hint: "Les produits en commande la portent dans la boutique en ligne. Vide : aucune.",
    },
    followOnWaitMs: {
      label: "Attente des traitements associés (ms)",
      hint: `Durée pendant laquelle un enregistrement attend stock, balises et e-mail. ${zeroTo("300 000")} ; 2 000 au départ.`,
    },
    confirmationWaitMs: {
      label: "Attente de la boutique (ms)",
      hint: `Durée pendant laquelle une synchronisation ou une clôture attend le nouveau stock de la boutique en ligne. ${zeroTo("300 000")} ; 30 000 au départ.`,
    },
    restApi: {
      label: "API REST dans l’abonnement",
      hint: "Désactivé : les clés sont refusées, les utilisateurs non.",
    },
    capacity: {
      label: "Requêtes simultanées",
      hint: "Combien peuvent arriver ensemble : pour toutes les clés, et autant pour tous les utilisateurs.",
    },
    refillPerSecond: { label: "Requêtes par seconde", hint: "Combien peuvent arriver en continu." },
    auditRetentionDays: {
      label: "Conservation du journal d’audit (jours)",
      hint: "Les requêtes de l’activité. 0 : sans limite. Pas moins de jours que l’exploitant n’a fixé.",
    },
    auditRetentionFloorDays: {
      label: "Conservation minimale du journal d’audit (jours)",
      hint: "Le minimum que les propriétaires peuvent fixer. 30 au départ.",
    },
    timezone: {
      label: "Fuseau horaire",
      hint: "Détermine quand un jour commence. De la base IANA, comme Europe/Paris.",
    },
  },
  costSyncModes: {
    "unit-cost": "Coût unitaire de la commande",
    "moving-average": "Coût moyen pondéré",
    disabled: "Non transmis",
  },
  rates: {
    title: "Taux de change",
    hint: (shopCurrency) => `Les commandes dans une autre devise sont converties en ${shopCurrency} à ces taux.`,
    currency: "Devise",
    rate: (currency, shopCurrency) => `1 ${currency === "" ? "…" : currency} en ${shopCurrency}`,
    remove: (currency) => (currency === "" ? "Retirer" : `Retirer ${currency}`),
    add: "Ajouter un taux",
    notNumber: (currency) =>
      currency === "" ? "Le taux d’une devise doit être un nombre." : `Taux ${currency} : saisissez un nombre.`,
    noCurrency: "Un taux n’a pas de devise.",
    twice: (currency) => `${currency} figure deux fois.`,
  },
  approvals: {
    lead: "Une commande soumise à une règle part quand une personne de la règle l’approuve. La première règle applicable compte.",
    rules: "Règles",
    none: "Pas encore de règle : qui peut envoyer une commande l’envoie.",
    name: { label: "Nom", hint: "Tel que le lit le demandeur : « Plus de 1 000 »." },
    totalAbove: (currency) => ({ label: `Total supérieur à (${currency})`, hint: "Vide : tout total." }),
    suppliers: "Seulement ces fournisseurs",
    locations: "Seulement ces emplacements",
    anyPlace: "Tous",
    actors: { label: "Envoyée par", any: "Tous", agents: "Agents et programmes", people: "Utilisateurs" },
    roles: "Qui approuve",
    people: "Et ces utilisateurs",
    nobody: "Choisissez un rôle ou un utilisateur.",
    remove: (name) => `Retirer ${name === "" ? "la règle" : name}`,
    add: "Ajouter une règle",
    rest: "Tout le reste",
    approverRoles: "Qui décide quand aucune règle ne s’applique",
    approveOwnAgents: {
      label: "Chacun peut approuver ce que demandent ses propres agents",
      hint: "Personne n’approuve ce qu’il a demandé lui-même.",
    },
    approvalMails: {
      label: "Prévenir par e-mail ceux qui peuvent décider",
      hint: "Les utilisateurs qui ont une adresse e-mail, si le service en envoie. Un second e-mail en moins de 15 minutes attend la suite.",
    },
    approvalDays: {
      label: "Durée d’attente d’une demande (jours)",
      hint: "Ensuite elle expire, et rien n’est fait. 1 à 90.",
    },
  },
  ofOperator: {
    title: "Défini par l’exploitant du service",
    currency: "Devise du magasin",
    storefront: "Boutique en ligne",
    restApi: "API REST",
    restApiOn: "dans l’abonnement : les clés peuvent l’appeler",
    restApiOff: "hors abonnement : les clés sont refusées",
    rate: "Requêtes",
    rateOf: (perSecond, atOnce) => `${perSecond} par seconde, ${atOnce} à la fois`,
  },
  notNumber: "doit être un nombre",
  save: "Enregistrer",
  saved: "Enregistré.",
});
