/** Texts of a shop's settings, for its owners and for the operator. They are loaded with the screens. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/settings.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 t/m ${most}`;

export const settingsTexts: Translated<typeof english.settingsTexts> = isolating({
  title: "Instellingen",
  why: "Eigenaren van de winkel wijzigen de instellingen.",
  views: { shop: "Winkel", approvals: "Goedkeuringen", documents: "Documenten" },
  lead: "Hoe deze winkel werkt. Wat je wijzigt, geldt vanaf het volgende verzoek voor iedereen, ook voor agents.",
  formOf: (name) => `Instellingen van ${name}`,
  groups: {
    shop: "Winkel",
    receiving: "Ontvangst en webshop",
    sending: "Verzenden",
    money: "Valuta’s",
    service: "Dienst",
    waiting: "Wachten",
  },
  settings: {
    name: { label: "Naam van de winkel", hint: "Zoals gebruikers en agents die zien." },
    autoSyncOnReceiving: {
      label: "Voorraad doorsturen bij ontvangst",
      hint: "Uit: ontvangen goederen blijven hier tot iemand ze synchroniseert.",
    },
    emailOnSent: {
      label: "Bestelling mailen bij verzenden",
      hint: "Naar het adres van de leverancier, met de PDF, en met een link om te antwoorden als het openbare adres van de dienst is ingesteld. Hiervoor is een mailserver nodig.",
    },
    replyTo: {
      label: "Antwoorden op e-mails gaan naar",
      hint: "Een eigen adres, zoals inkoop@winkel.example. Leeg: naar wie de bestelling verzendt.",
    },
    unconfirmedDays: {
      label: "Leveranciers bevestigen binnen (dagen)",
      hint: `Bestellingen die langer wachten, worden gemarkeerd en aan webhooks gemeld. ${zeroTo("365")}; 0: geen.`,
    },
    costSyncMode: { label: "Kostprijs bij afronden", hint: "Wat als kostprijs van een product naar de webshop gaat." },
    onOrderTag: {
      label: "Tag van bestelde producten",
      hint: "Producten die in bestelling zijn, hebben deze tag in de webshop. Leeg: geen.",
    },
    followOnWaitMs: {
      label: "Een antwoord wacht op vervolgstappen (ms)",
      hint: `Hoe lang opslaan wacht op voorraad, tags en mail voordat het meldt dat die nog bezig zijn. ${zeroTo("300.000")}; standaard 2.000.`,
    },
    confirmationWaitMs: {
      label: "Een sync met de webshop wacht op bevestiging (ms)",
      hint: `Hoe lang synchroniseren of afronden wacht tot de webshop de nieuwe voorraad toont. ${zeroTo("300.000")}; standaard 30.000.`,
    },
    restApi: { label: "REST-API in het abonnement", hint: "Uit: sleutels worden geweigerd, gebruikers niet." },
    capacity: {
      label: "Verzoeken tegelijk",
      hint: "Hoeveel er samen mogen komen: van alle sleutels, en nog eens van alle gebruikers.",
    },
    refillPerSecond: { label: "Verzoeken per seconde", hint: "Hoeveel er doorlopend mogen komen." },
    auditRetentionDays: {
      label: "Auditlog bewaren (dagen)",
      hint: "Verzoeken in de activiteit. 0: voor altijd. Niet minder dagen dan de beheerder heeft ingesteld.",
    },
    auditRetentionFloorDays: {
      label: "Auditlog minstens bewaren (dagen)",
      hint: "Wat eigenaren minstens moeten instellen. Standaard 30.",
    },
    timezone: {
      label: "Tijdzone",
      hint: "Bepaalt wanneer een dag begint. Uit de IANA-database, zoals Europe/Amsterdam.",
    },
  },
  costSyncModes: {
    "unit-cost": "Inkoopprijs van de bestelling",
    "moving-average": "Voortschrijdend gemiddelde",
    disabled: "Niet doorsturen",
  },
  rates: {
    title: "Wisselkoersen",
    hint: (shopCurrency) => `Bestellingen in een andere valuta worden hiermee omgerekend naar ${shopCurrency}.`,
    currency: "Valuta",
    rate: (currency, shopCurrency) => `1 ${currency === "" ? "…" : currency} in ${shopCurrency}`,
    remove: (currency) => (currency === "" ? "Verwijderen" : `${currency} verwijderen`),
    add: "Koers toevoegen",
    notNumber: (currency) => `De koers van ${currency === "" ? "een valuta" : currency} moet een getal zijn.`,
    noCurrency: "Een koers heeft geen valuta.",
    twice: (currency) => `${currency} staat er twee keer.`,
  },
  approvals: {
    lead: "Een bestelling waarvoor een regel geldt, wordt pas verzonden na goedkeuring door iemand uit die regel. De eerste regel die past, telt.",
    rules: "Regels",
    none: "Er zijn nog geen regels: wie een bestelling mag verzenden, verzendt die.",
    name: { label: "Naam", hint: "Zoals de aanvrager die ziet: “Boven 1.000”." },
    totalAbove: (currency) => ({ label: `Totaal boven (${currency})`, hint: "Leeg: elk totaal." }),
    suppliers: "Alleen bij deze leveranciers",
    locations: "Alleen voor deze locaties",
    anyPlace: "Alle",
    actors: { label: "Verzonden door", any: "Iedereen", agents: "Agents en programma’s", people: "Gebruikers" },
    roles: "Wie goedkeurt",
    people: "En deze gebruikers",
    nobody: "Kies een rol of een gebruiker.",
    remove: (name) => `${name === "" ? "Regel" : name} verwijderen`,
    add: "Regel toevoegen",
    rest: "Al het andere",
    approverRoles: "Wie beslist als geen regel geldt",
    approveOwnAgents: {
      label: "Gebruikers mogen goedkeuren wat hun eigen agents vragen",
      hint: "Wat je zelf hebt aangevraagd, kun je nooit goedkeuren.",
    },
    approvalMails: {
      label: "Mailen aan wie mag beslissen",
      hint: "Gebruikers met een e-mailadres, als de dienst e-mail verzendt. Een tweede mail binnen 15 minuten wacht op wat er nog bij komt.",
    },
    approvalDays: {
      label: "Een aanvraag wacht (dagen)",
      hint: "Daarna vervalt de aanvraag en gebeurt er niets. 1 t/m 90.",
    },
  },
  ofOperator: {
    title: "Ingesteld door de beheerder van de dienst",
    currency: "Valuta van de winkel",
    storefront: "Webshop",
    restApi: "REST-API",
    restApiOn: "in het abonnement: sleutels mogen de API aanroepen",
    restApiOff: "niet in het abonnement: sleutels worden geweigerd",
    rate: "Verzoeken",
    rateOf: (perSecond, atOnce) => `${perSecond} per seconde, ${atOnce} tegelijk`,
  },
  notNumber: "moet een getal zijn",
  save: "Opslaan",
  saved: "Opgeslagen.",
});
