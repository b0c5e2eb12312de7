/** Texts of the shop's storefront. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/storefront.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

export const storefrontTexts: Translated<typeof english.storefrontTexts> = isolating({
  title: "Boutique en ligne",
  why: "Seuls les propriétaires du magasin gèrent sa boutique en ligne.",
  kinds: {
    sandbox: "Bac à sable",
    shopify: "Shopify",
    medusa: "Medusa",
    none: "Aucune : le magasin tient son propre stock",
  },
  states: { sandbox: "Non connectée", connected: "Connectée", failing: "À vérifier" },
  sandbox: "Ce magasin utilise le bac à sable intégré : ce qui est reçu et commandé va à une boutique simulée.",
  without: "Ce magasin n’a pas de boutique en ligne : il tient son propre stock.",
  sandboxHint: "Connectez la boutique où vend le magasin, puis récupérez ici ses produits, son stock et ses ventes.",
  operators: {
    title: "La connexion revient à l’exploitant",
    lead: "Qui exploite le service connecte et déconnecte la boutique. Envoyez-lui cette commande de terminal, avec l’adresse de la boutique :",
    command: "Commande de terminal pour l’exploitant",
  },
  locked: "Après un rechargement, cette page n’a plus le jeton d’administration. Saisissez-le de nouveau.",
  unlock: "Continuer",
  facts: {
    store: "Boutique",
    apiVersion: "Version de son API",
    token: "Jeton d’accès",
    scopes: "Autorisations",
    lastCall: "Dernier appel",
    lastError: "Dernière erreur",
    backlog: "En attente de la boutique",
    points: "Limite de débit",
  },
  token: {
    fixed: "n’expire pas",
    renewed: (until) => (until === null ? "renouvelé automatiquement" : `jusqu’au ${until}, renouvelé automatiquement`),
    until: (until) => `jusqu’au ${until}, non renouvelé`,
  },
  noScopes: "Inconnues : connexion antérieure à leur conservation",
  missing: (scopes, isNone) =>
    isNone
      ? `Sans ${scopes}, aucune vente n’est récupérée. Ajoutez les autorisations à l’application dans Shopify, puis reconnectez.`
      : `Sans ${scopes}, Shopify montre les ventes de 60 jours. Demandez l’autorisation à Shopify, puis reconnectez.`,
  never: "Pas depuis le démarrage du service",
  noError: "Aucune depuis le démarrage du service",
  backlog: (value) => plural(value, "modification", "modifications"),
  points: (left, max) => `${plural(left, "point restant", "points restants")} sur ${number(max)}`,
  pull: {
    title: "Produits, stock et ventes",
    lead: "Une récupération apporte emplacements, produits, stock et un an de ventes ; les suivantes, ce qui a changé.",
    none: "Rien n’a encore été récupéré.",
    noPull: "Rien ne peut être récupéré de cette boutique en ligne. Importez produits, stock et ventes par fichiers.",
    first: "Récupérer maintenant",
    changes: "Récupérer les changements",
    everything: "Tout récupérer de nouveau",
    again: "Récupérer de nouveau",
    running: (step, index, of) => `Récupération : ${step}, étape ${index} sur ${of}`,
    steps: {
      locations: "emplacements",
      variants: "produits",
      sweep: "suppressions",
      levels: "stock",
      sales: "ventes",
      settle: "demande",
    },
    counts: {
      locations: "Emplacements",
      variants: "Produits et variantes",
      levels: "Niveaux de stock",
      sales: "Commandes clients",
    },
    of: (value, total) => `${number(value)} sur ${number(total)}`,
    done: (at) => `Récupéré le ${at}.`,
    failed: (at) => `La récupération du ${at} a échoué :`,
    kept: "Ce qu’elle avait déjà apporté est conservé ; une nouvelle récupération apporte le reste.",
    retried: "Une tentative a échoué et sera refaite automatiquement :",
    deleted: (value) => `${plural(value, "variante supprimée", "variantes supprimées")} dans la boutique :`,
    inactive: (value) =>
      `${plural(value, "variante qui n’est plus en vente", "variantes qui ne sont plus en vente")} dans la boutique :`,
    goesOn: "Elle continue si vous quittez cette page.",
  },
  products: {
    title: "Ce qui est ici",
    lead: "Les premiers produits, tels qu’ils sont arrivés. Comparez-en quelques-uns à l’administration de la boutique.",
    columns: { product: "Produit", sku: "SKU", onHand: "En stock", status: "Statut" },
    next: "Les fournisseurs et leurs prix ne viennent pas de la boutique :",
    import: "les importer",
    reorder: "voir ce qu’il faut réapprovisionner",
  },
  webhooks: {
    title: "Changements dans la boutique",
    states: { on: "Signalés aussitôt", incomplete: "Signalés en partie", off: "Par récupération" },
    on: "La boutique signale les changements de produits, de stock et de commandes, récupérés alors en une minute environ.",
    at: (address) => `À ${address}`,
    ask: "Vérifier auprès de la boutique",
    asking: "Interrogation de la boutique…",
  },
  connect: {
    title: "Connecter une boutique",
    anew: "Reconnecter, avec un autre jeton ou une autre boutique",
    lead: "La boutique est interrogée aussitôt. S’il manque quelque chose, rien ne change et la page dit quoi.",
    platform: "Plateforme",
    way: "Secret",
    ways: {
      credentials: "ID client et secret d’une application (jetons renouvelés)",
      token: "Jeton d’accès d’une application personnalisée (shpat_…)",
    },
    domain: { label: "Boutique", hint: "Son propre domaine, comme example.myshopify.com." },
    accessToken: { label: "Jeton d’accès", hint: "Il est stocké chiffré et n’est plus jamais affiché." },
    clientId: { label: "ID client", hint: "De l’application dans le Dev Dashboard de Shopify, sous ses paramètres." },
    clientSecret: { label: "Secret client", hint: "Il est stocké chiffré et n’est plus jamais affiché." },
    hookSecret: {
      label: "Secret client (facultatif)",
      hint: "Il permet de vérifier les webhooks de la boutique : les changements sont alors signalés aussitôt.",
    },
    url: { label: "Adresse", hint: "Du serveur de Medusa lui-même, comme https://medusa.example.com." },
    secretKey: {
      label: "Clé API secrète",
      hint: "Elle commence par sk_. Elle est stockée chiffrée et n’est plus jamais affichée.",
    },
    scopes:
      "L’application lit et écrit les produits et le stock ; il lui faut read_locations et, pour les ventes, read_orders ou read_all_orders.",
    send: "Connecter",
    without: "Continuer sans boutique",
    doneWithout: "Le magasin tient son propre stock.",
    asking: "Interrogation de la boutique…",
    done: "La boutique est connectée.",
  },
  disconnect: {
    action: "Déconnecter",
    title: "Déconnecter cette boutique ?",
    text: (account) =>
      `Les arrivages annoncés à ${account} y sont retirés, ses webhooks supprimés, et le magasin continue avec le bac à sable. Produits, stock et ventes restent ici. Tant que le résultat d’un envoi de stock est inconnu, la déconnexion est refusée.`,
  },
});
