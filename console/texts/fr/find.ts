/** Texts of the search for everything, and of the list of keys. */

import { isolating } from "../isolated.ts";
import type * as english from "../en/find.ts";
import type { Translated } from "../languages.ts";

export const findTexts: Translated<typeof english.findTexts> = isolating({
  title: "Rechercher ou agir",
  hint: "Commandes, produits, fournisseurs, pages, actions",
  nothing: "Rien n’a été trouvé.",
  groups: {
    actions: "Action",
    places: "Aller à",
    orders: "Commandes",
    products: "Produits",
    suppliers: "Fournisseurs",
    locations: "Emplacements",
  },
  newOrder: "Nouvelle commande",
  invite: "Inviter quelqu’un",
  keysHelp: "Raccourcis clavier",
  dark: "Thème sombre",
  light: "Thème clair",
  compact: "Lignes compactes",
  comfortable: "Lignes aérées",
  signOut: "Se déconnecter",
  close: "Fermer",
  keys: {
    title: "Raccourcis clavier",
    rows: [
      ["Ctrl K, ⌘ K", "Tout rechercher, ou agir"],
      ["?", "Cette liste"],
      ["Ctrl B, ⌘ B", "Replier ou déplier la barre latérale"],
      ["/", "Rechercher dans la liste"],
      ["N", "Nouvelle commande, depuis la liste des commandes"],
      ["X", "Sélectionner la ligne de la liste ; Maj et clic sélectionnent jusque-là"],
      ["↑ ↓ ← →", "Se déplacer dans les lignes et les prévisions"],
      ["Entrée", "Modifier une cellule ; l’enregistrer et descendre"],
      ["Échap", "Abandonner, ou fermer"],
      ["Ctrl Z, ⌘ Z", "Annuler la dernière action, tant que c’est proposé"],
      ["Espace", "Cocher un produit à commander"],
    ],
  },
});
