/** Texts of sending an order to its supplier and of what became of its e-mails. They are loaded with the order. */

import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/send.ts";
import type { Translated } from "../../languages.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const sendTexts: Translated<typeof english.sendTexts> = isolating({
  title: (poNumber) => `${poNumber} naar de leverancier verzenden`,
  goesTo: (address) => `De bestelling gaat naar ${address}.`,
  noAddress: "De leverancier heeft geen e-mailadres. Vul er een in of vraag een eigenaar het toe te voegen.",
  moves: "De bestelling krijgt daarmee de status Verzonden.",
  to: "Aan",
  toHint: "Scheid meerdere adressen met komma’s.",
  cc: "Kopie aan",
  subject: "Onderwerp",
  message: "Bericht",
  link: "Leverancier laten antwoorden via een link",
  linkHint: "De link staat waar in het bericht {link} staat. Hij werkt 14 dagen, zonder inloggen.",
  csv: "Ook een CSV-bestand bijvoegen",
  attaches: (name, size) => `Bijgevoegd: ${name}, ${size}`,
  send: "Verzenden",
  sending: "De e-mail wordt verzonden…",
  later: "Niet nu",
  preview: "Wat wordt bijgevoegd",
  drawing: "Het document wordt gemaakt…",
  size: (bytes) => (bytes < 1000 ? `${number(bytes)} bytes` : `${number(Math.round(bytes / 100) / 10)} kB`),
  hash: (sha256) => `SHA-256 ${sha256}`,
  download: "Downloaden",
  open: "Openen in een eigen tabblad",
  noViewer: "Deze browser toont geen PDF in een pagina. Open of download het bestand.",
  changed:
    "De bestelling is gewijzigd sinds je keek. Dit is het bestand zoals het nu is; er is niets verzonden en je tekst is bewaard.",
  off: "Deze dienst verzendt nog geen e-mail.",
  offHint:
    "De beheerder stelt OPENPO_SMTP_URL en OPENPO_MAIL_FROM in en start de dienst opnieuw. Download tot die tijd het bestand en verzend het met je eigen mailprogramma.",
  mailProgram: "Mijn mailprogramma openen",
  mailProgramHint: "Voeg het gedownloade bestand bij. Markeer de bestelling daarna als verzonden.",
  markSent: "Markeren als verzonden",
  mails: "E-mails",
  allSent: (count) => plural(count, "e-mail verzonden", "e-mails verzonden"),
  states: { queued: "Nog niet verzonden", sent: "Verzonden", failed: "Mislukt" },
  mailTo: (addresses) => `aan ${addresses}`,
  by: (name) => `door ${name}`,
  next: (at) => `Nieuwe poging op ${at}.`,
  firstTry: "Wordt verzonden.",
  serverSays: (words) => `De mailserver meldt: ${words}`,
  attached: (names, version) => `${names}, versie ${number(version)}`,
  withLink: "met een link om te antwoorden",
  sendAgain: "Opnieuw verzenden",
  sendAgainOf: (addresses) => `Opnieuw verzenden aan ${addresses}`,
  anew: "Aanpassen en opnieuw verzenden",
  more: (count) => `en ${number(count)} eerdere`,
  pleaseCheck: "Controleer",
  gone: {
    sent: (addresses) => `De mailserver heeft de e-mail aan ${addresses} aangenomen.`,
    queued: "De mailserver heeft de e-mail nog niet aangenomen. Er volgen 24 uur lang nieuwe pogingen; zie hieronder.",
    failed: "De e-mail is mislukt. De bestelling is opgeslagen; zie hieronder waarom en verzend de e-mail opnieuw.",
  },
});
