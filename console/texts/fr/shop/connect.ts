/** Texts of the page on which a person lets an assistant in. They are loaded with it. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/connect.ts";
import type { Translated } from "../../languages.ts";

export const connectTexts: Translated<typeof english.connectTexts> = isolating({
  title: (client) => `Donner à ${client} accès à votre magasin ?`,
  asks: (client, host) => `${client} (${host}) demande à travailler dans OpenPO en votre nom.`,
  undocumented:
    "C’est lui-même qui se donne ce nom. N’autorisez que si vous venez de lancer ceci dans un assistant que vous connaissez.",
  inName: "Au nom de",
  shop: "Magasin",
  answerGoes: "La réponse va à",
  places: {
    web: (host) => host,
    loopback: () => "un programme sur cet ordinateur",
    app: (scheme) => `une application sur cet appareil (${scheme})`,
  },
  scope: "Ce qu’il peut faire",
  scopes: {
    read: {
      name: "Lecture",
      meaning: "Il voit les commandes, les fournisseurs, les produits et le stock, et ne modifie rien.",
    },
    propose: {
      name: "Lecture et proposition",
      meaning:
        "Ce qu’il veut modifier attend une personne sous Approbations et n’est fait qu’une fois approuvé par quelqu’un.",
    },
    write: {
      name: "Lecture et écriture",
      meaning: "Il crée et modifie aussi des commandes, comme vous. Ce qu’il fait se voit sous Activité.",
    },
  },
  ask: (scope) => `Il demande : ${scope}.`,
  readOnly: "Votre rôle ne permet que la lecture.",
  allow: "Autoriser",
  deny: "Refuser",
  ends: "Les propriétaires du magasin peuvent le suspendre ou le révoquer à tout moment sous Assistants et clés.",
  gone: "Réponse envoyée. Vous pouvez fermer cette page.",
  steps: {
    lead: "Un assistant qui se connecte n’a besoin que de cette adresse. Il agit en votre nom, sans plus de droits que vous.",
    assistant: "Assistant",
    names: {
      claude: "Claude",
      chatgpt: "ChatGPT",
      claudeCode: "Claude Code",
      vscode: "VS Code",
      cursor: "Cursor",
      codex: "Codex",
    },
    /** The two steps in the assistant. The third is here. */
    of: {
      claude: [
        "Sur le web ou l’application de bureau : Customize, Connectors, +, Add custom connector. Saisissez un nom et l’adresse. Dans une équipe, c’est un de ses propriétaires qui l’ajoute.",
        "Appuyez sur Connect à côté. Votre téléphone l’a ensuite aussi.",
      ],
      chatgpt: [
        "Sur le web : Settings, Apps, Advanced settings : activez Developer mode. Dans un espace de travail, un administrateur l’autorise.",
        "Settings, Apps, Create app : un nom, l’adresse, OAuth. Dans une discussion, choisissez-le sous +.",
      ],
      claudeCode: ["Dans un terminal :", "Dans Claude Code, tapez /mcp et choisissez openpo, Authenticate."],
      vscode: ["Dans .vscode/mcp.json :", "Appuyez sur Start au-dessus et laissez VS Code ouvrir le navigateur."],
      cursor: [
        "Dans ~/.cursor/mcp.json :",
        "Dans Cursor, sous Customize (versions antérieures : Settings, MCP), connectez-vous à openpo.",
      ],
      codex: ["Dans un terminal :", "Si aucun navigateur ne s’ouvre : codex mcp login openpo."],
    },
    here: "Vous arrivez ici. Connectez-vous, vérifiez qui demande, choisissez ce qu’il peut faire et appuyez sur Autoriser.",
    signIn: "La page de connexion",
    consent: "La page qui dit qui demande, avec ce qu’il peut faire, Autoriser et Refuser",
    hosted: "Il vient d’internet et n’accepte qu’une adresse https, ce que celle-ci n’est pas.",
    tried:
      "Les deux premières étapes viennent des éditeurs (novembre 2026), sans essai avec OpenPO ; la troisième est essayée avec le client du protocole.",
  },
});
