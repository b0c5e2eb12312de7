/** German texts of the page on which a person lets an assistant in. They are loaded with it. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/connect.ts";
import type { Translated } from "../../languages.ts";

/** Names of buttons and menus of the assistants are those of their English versions. */
export const connectTexts: Translated<typeof english.connectTexts> = isolating({
  title: (client) => `${client} in Ihrem Shop zulassen?`,
  asks: (client, host) => `${client} (${host}) möchte in Ihrem Namen in OpenPO arbeiten.`,
  undocumented:
    "Diesen Namen gibt der Anfragende sich selbst. Erlauben Sie es nur, wenn Sie das gerade in einem Assistenten begonnen haben, den Sie kennen.",
  inName: "Im Namen von",
  shop: "Shop",
  answerGoes: "Die Antwort geht an",
  places: {
    web: (host) => host,
    loopback: () => "ein Programm auf diesem Computer",
    app: (scheme) => `eine App auf diesem Gerät (${scheme})`,
  },
  scope: "Was erlaubt ist",
  scopes: {
    read: { name: "Lesen", meaning: "Sieht Bestellungen, Lieferanten, Produkte und Bestand und ändert nichts." },
    propose: {
      name: "Lesen und vorschlagen",
      meaning:
        "Gewünschte Änderungen warten unter „Freigaben“ auf einen Menschen und werden ausgeführt, wenn jemand sie freigibt.",
    },
    write: {
      name: "Lesen und schreiben",
      meaning: "Legt auch Bestellungen an und ändert sie, wie Sie es können. Was geschieht, steht unter „Aktivität“.",
    },
  },
  ask: (scope) => `Gewünscht: ${scope}.`,
  readOnly: "Ihre Rolle erlaubt nur das Lesen.",
  allow: "Erlauben",
  deny: "Ablehnen",
  ends: "Inhaber des Shops können das jederzeit unter „Assistenten & Schlüssel“ pausieren oder widerrufen.",
  gone: "Beantwortet. Sie können diese Seite schließen.",
  steps: {
    lead: "Ein Assistent, der sich anmeldet, braucht nur diese Adresse. Er handelt in Ihrem Namen und darf nicht mehr als Sie.",
    assistant: "Assistent",
    names: {
      claude: "Claude",
      chatgpt: "ChatGPT",
      claudeCode: "Claude Code",
      vscode: "VS Code",
      cursor: "Cursor",
      codex: "Codex",
    },
    of: {
      claude: [
        "Im Web oder auf dem Desktop: Customize, Connectors, +, Add custom connector. Geben Sie einen Namen und die Adresse ein. In einem Team fügt ihn ein Inhaber des Teams hinzu.",
        "Klicken Sie daneben auf Connect. Ab dann ist er auch auf Ihrem Telefon.",
      ],
      chatgpt: [
        "Im Web: Settings, Apps, Advanced settings: Schalten Sie Developer mode ein. In einem Workspace erlaubt das ein Admin.",
        "Settings, Apps, Create app: ein Name, die Adresse, OAuth. Wählen Sie die App in einem Chat unter +.",
      ],
      claudeCode: ["In einem Terminal:", "Geben Sie in Claude Code /mcp ein und wählen Sie openpo, Authenticate."],
      vscode: ["In .vscode/mcp.json:", "Klicken Sie darüber auf Start und lassen Sie VS Code den Browser öffnen."],
      cursor: [
        "In ~/.cursor/mcp.json:",
        "Melden Sie sich in Cursor unter Customize (älter: Settings, MCP) bei openpo an.",
      ],
      codex: ["In einem Terminal:", "Falls sich kein Browser öffnet: codex mcp login openpo."],
    },
    here: "Sie kommen hierher. Melden Sie sich an, sehen Sie, wer fragt, wählen Sie, was erlaubt ist, und klicken Sie auf „Erlauben“.",
    signIn: "Die Seite zum Anmelden",
    consent: "Die Seite, die zeigt, wer fragt und was erlaubt wird, mit „Erlauben“ und „Ablehnen“",
    hosted: "Dieser Assistent kommt aus dem Internet und akzeptiert nur eine https-Adresse; das ist hier keine.",
    tried:
      "Die ersten beiden Schritte stammen aus den Anleitungen der Hersteller vom November 2026. Niemand hat sie mit OpenPO erprobt; der dritte wurde mit dem Client des Protokolls selbst erprobt.",
  },
});
