/** German texts of a shop's settings, for its owners and for the operator. They are loaded with the screens. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/settings.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: string): string => `0 bis ${most}`;

export const settingsTexts: Translated<typeof english.settingsTexts> = isolating({
  title: "Einstellungen",
  why: "Einstellungen werden von Inhabern des Shops geändert.",
  views: { shop: "Shop", approvals: "Freigaben", documents: "Dokumente" },
  lead: "Wie dieser Shop arbeitet. Änderungen gelten für alle, auch für Agenten, ab der nächsten Anfrage.",
  formOf: (name) => `Einstellungen von ${name}`,
  groups: {
    shop: "Shop",
    receiving: "Wareneingang und Onlineshop",
    sending: "Senden",
    money: "Währungen",
    service: "Dienst",
    waiting: "Warten",
  },
  settings: {
    name: { label: "Name des Shops", hint: "Wie Benutzer und Agenten ihn sehen." },
    autoSyncOnReceiving: {
      label: "Bestand beim Wareneingang übertragen",
      hint: "Aus: Eingebuchte Ware bleibt hier, bis jemand sie überträgt.",
    },
    emailOnSent: {
      label: "Bestellung beim Senden per E-Mail schicken",
      hint: "An die Adresse des Lieferanten, mit dem PDF, und mit einem Link zum Antworten, wenn die öffentliche Adresse des Dienstes gesetzt ist. Braucht einen Mailserver.",
    },
    replyTo: {
      label: "Antworten auf E-Mails gehen an",
      hint: "Eine Ihrer Adressen, wie einkauf@shop.example. Leer: an die Person, die die Bestellung sendet.",
    },
    unconfirmedDays: {
      label: "Lieferanten bestätigen innerhalb von (Tagen)",
      hint: `Bestellungen, die länger warten, werden markiert und per Webhook gemeldet. ${zeroTo("365")}; 0: keine.`,
    },
    costSyncMode: {
      label: "EK-Preise beim Abschließen",
      hint: "Was in den Onlineshop als EK-Preis eines Produkts geschrieben wird.",
    },
    onOrderTag: {
      label: "Schlagwort bestellter Produkte",
      hint: "Bestellte Produkte tragen es im Onlineshop. Leer: keines.",
    },
    followOnWaitMs: {
      label: "Eine Antwort wartet auf Folgeschritte (ms)",
      hint: `Wie lange ein Speichern auf Bestand, Schlagwörter und E-Mail wartet, bevor es meldet, dass sie noch laufen. ${zeroTo("300.000")}; Standard 2.000.`,
    },
    confirmationWaitMs: {
      label: "Eine Übertragung wartet auf Bestätigung (ms)",
      hint: `Wie lange eine Übertragung oder ein Abschluss wartet, bis der Onlineshop den neuen Bestand zeigt. ${zeroTo("300.000")}; Standard 30.000.`,
    },
    restApi: { label: "REST-API im Tarif", hint: "Aus: Schlüssel werden abgewiesen, Benutzer nicht." },
    capacity: {
      label: "Gleichzeitige Anfragen",
      hint: "Wie viele zusammen kommen dürfen: von allen Schlüsseln und noch einmal von allen Benutzern.",
    },
    refillPerSecond: { label: "Anfragen pro Sekunde", hint: "Wie viele auf Dauer kommen dürfen." },
    auditRetentionDays: {
      label: "Audit-Protokoll aufbewahren (Tage)",
      hint: "Anfragen in der Aktivität. 0: für immer. Nicht weniger Tage, als der Betreiber gesetzt hat.",
    },
    auditRetentionFloorDays: {
      label: "Audit-Protokoll mindestens aufbewahren (Tage)",
      hint: "Was Inhaber mindestens setzen können. Standard 30.",
    },
    timezone: {
      label: "Zeitzone",
      hint: "Bestimmt, wann ein Tag beginnt. Aus der IANA-Datenbank, wie Europe/Amsterdam.",
    },
  },
  costSyncModes: {
    "unit-cost": "EK-Preis der Bestellung",
    "moving-average": "Gleitender Durchschnitt",
    disabled: "Nicht schreiben",
  },
  rates: {
    title: "Wechselkurse",
    hint: (shopCurrency) => `Bestellungen in anderer Währung werden damit in ${shopCurrency} umgerechnet.`,
    currency: "Währung",
    rate: (currency, shopCurrency) => `1 ${currency === "" ? "…" : currency} in ${shopCurrency}`,
    remove: (currency) => (currency === "" ? "Entfernen" : `${currency} entfernen`),
    add: "Kurs hinzufügen",
    notNumber: (currency) => `Der Kurs ${currency === "" ? "einer Währung" : `von ${currency}`} muss eine Zahl sein.`,
    noCurrency: "Bei einem Kurs fehlt die Währung.",
    twice: (currency) => `${currency} ist zweimal vorhanden.`,
  },
  approvals: {
    lead: "Eine Bestellung, auf die eine Regel zutrifft, wird gesendet, wenn jemand aus der Regel sie freigibt. Es zählt die erste zutreffende Regel.",
    rules: "Regeln",
    none: "Es gibt noch keine Regeln: Wer eine Bestellung senden darf, sendet sie.",
    name: { label: "Name", hint: "So liest ihn, wer anfragt: „Über 1.000“." },
    totalAbove: (currency) => ({ label: `Gesamtbetrag über (${currency})`, hint: "Leer: jeder Betrag." }),
    suppliers: "Nur von diesen Lieferanten",
    locations: "Nur für diese Standorte",
    anyPlace: "Beliebig",
    actors: { label: "Absender", any: "Alle", agents: "Agenten und Programme", people: "Benutzer" },
    roles: "Wer freigibt",
    people: "Und diese Benutzer",
    nobody: "Wählen Sie eine Rolle oder einen Benutzer.",
    remove: (name) => `${name === "" ? "Regel" : name} entfernen`,
    add: "Regel hinzufügen",
    rest: "Alles andere",
    approverRoles: "Wer entscheidet, wenn keine Regel gilt",
    approveOwnAgents: {
      label: "Benutzer dürfen freigeben, was ihre eigenen Agenten anfragen",
      hint: "Niemand gibt frei, was er selbst angefragt hat.",
    },
    approvalMails: {
      label: "E-Mail an alle, die entscheiden dürfen",
      hint: "Benutzer mit E-Mail-Adresse, wenn der Dienst E-Mails sendet. Weitere innerhalb von 15 Minuten werden zusammengefasst.",
    },
    approvalDays: {
      label: "Eine Freigabeanfrage wartet (Tage)",
      hint: "Danach endet sie, und nichts geschieht. 1 bis 90.",
    },
  },
  ofOperator: {
    title: "Vom Betreiber des Dienstes gesetzt",
    currency: "Währung des Shops",
    storefront: "Onlineshop",
    restApi: "REST-API",
    restApiOn: "im Tarif: Schlüssel dürfen sie aufrufen",
    restApiOff: "nicht im Tarif: Schlüssel werden abgewiesen",
    rate: "Anfragen",
    rateOf: (perSecond, atOnce) => `${perSecond} pro Sekunde, ${atOnce} gleichzeitig`,
  },
  notNumber: "muss eine Zahl sein",
  save: "Speichern",
  saved: "Gespeichert.",
});
