/** Texts of the page on which a person lets an assistant in. They are loaded with it. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/connect.ts";
import type { Translated } from "../../languages.ts";

export const connectTexts: Translated<typeof english.connectTexts> = isolating({
  title: (client) => `${client} toelaten tot je winkel?`,
  asks: (client, host) => `${client} (${host}) wil namens jou in OpenPO werken.`,
  undocumented:
    "De assistent heeft deze naam zelf opgegeven. Sta dit alleen toe als je dit zojuist zelf bent begonnen in een assistent die je kent.",
  inName: "Namens",
  shop: "Winkel",
  answerGoes: "Het antwoord gaat naar",
  places: {
    web: (host) => host,
    loopback: () => "een programma op deze computer",
    app: (scheme) => `een app op dit apparaat (${scheme})`,
  },
  scope: "Wat de assistent mag",
  scopes: {
    read: {
      name: "Lezen",
      meaning: "Ziet bestellingen, leveranciers, producten en voorraad, en wijzigt niets.",
    },
    propose: {
      name: "Lezen en voorstellen",
      meaning: "Wijzigingen wachten onder Goedkeuringen en worden uitgevoerd zodra iemand ze goedkeurt.",
    },
    write: {
      name: "Lezen en schrijven",
      meaning: "Maakt en wijzigt ook bestellingen, zoals jij dat kunt. Alles is te zien onder Activiteit.",
    },
  },
  ask: (scope) => `Gevraagd: ${scope}.`,
  readOnly: "Met jouw rol kun je alleen lezen toestaan.",
  allow: "Toestaan",
  deny: "Weigeren",
  ends: "Eigenaren van de winkel kunnen dit altijd pauzeren of intrekken onder Assistenten & sleutels.",
  gone: "Beantwoord. Je kunt deze pagina sluiten.",
  steps: {
    lead: "Een assistent die inlogt, heeft alleen dit adres nodig. Hij werkt namens jou en mag niet meer dan jij.",
    assistant: "Assistent",
    names: {
      claude: "Claude",
      chatgpt: "ChatGPT",
      claudeCode: "Claude Code",
      vscode: "VS Code",
      cursor: "Cursor",
      codex: "Codex",
    },
    /** The two steps in the assistant, whose menus are named in English. The third is here. */
    of: {
      claude: [
        "Op het web of in de desktop-app: Customize, Connectors, +, Add custom connector. Vul een naam en het adres in. In een team voegt een eigenaar ervan hem toe.",
        "Druk ernaast op Connect. Daarna staat hij ook op je telefoon.",
      ],
      chatgpt: [
        "Op het web: Settings, Apps, Advanced settings: zet Developer mode aan. In een workspace staat een beheerder dat toe.",
        "Settings, Apps, Create app: een naam, het adres, OAuth. Kies de app in een chat onder +.",
      ],
      claudeCode: ["In een terminal:", "Typ /mcp in Claude Code en kies openpo, Authenticate."],
      vscode: ["In .vscode/mcp.json:", "Druk erboven op Start en laat VS Code de browser openen."],
      cursor: [
        "In ~/.cursor/mcp.json:",
        "Log in Cursor in bij openpo, onder Customize (oudere versies: Settings, MCP).",
      ],
      codex: ["In een terminal:", "Als er geen browser opent: codex mcp login openpo."],
    },
    here: "Je komt hier terecht. Log in, kijk wie het vraagt, kies wat is toegestaan en druk op Toestaan.",
    signIn: "De pagina om in te loggen",
    consent: "De pagina die zegt wie het vraagt, met de rechten, Toestaan en Weigeren",
    hosted: "Deze assistent komt via internet en werkt alleen met een https-adres. Dit is geen https-adres.",
    tried:
      "De eerste twee stappen komen uit de documentatie van de makers van november 2026. Niemand heeft ze met OpenPO geprobeerd; de derde is geprobeerd met de eigen client van het protocol.",
  },
});
