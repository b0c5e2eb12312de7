/** Texts of sending an order to its supplier and of what became of its e-mails. They are loaded with the order. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/send.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../plural.ts";

export const sendTexts: Translated<typeof english.sendTexts> = isolating({
  title: (poNumber) => `Envoyer ${poNumber} au fournisseur`,
  goesTo: (address) => `Envoi à ${address}.`,
  noAddress: "Le fournisseur n’a pas d’adresse e-mail. Saisissez-en une, ou demandez à un propriétaire de l’ajouter.",
  moves: "La commande passe alors à Envoyée.",
  to: "À",
  toHint: "Séparez plusieurs adresses par des virgules.",
  cc: "Copie à",
  subject: "Objet",
  message: "Message",
  link: "Permettre au fournisseur de répondre par un lien",
  linkHint: "Le lien prend la place de {link} dans le message. Il est valable 14 jours, sans inscription.",
  csv: "Joindre aussi un fichier CSV",
  attaches: (name, size) => `Pièce jointe : ${name}, ${size}`,
  send: "Envoyer",
  sending: "Envoi de l’e-mail…",
  later: "Plus tard",
  preview: "Ce qui sera joint",
  drawing: "Création du document…",
  size: (bytes) => (bytes < 1000 ? plural(bytes, "octet", "octets") : `${number(Math.round(bytes / 100) / 10)} ko`),
  hash: (sha256) => `SHA-256 ${sha256}`,
  download: "Télécharger",
  open: "Ouvrir dans un nouvel onglet",
  noViewer: "Ce navigateur n’affiche pas de PDF dans une page. Ouvrez-le ou téléchargez-le.",
  changed: "La commande a changé depuis. Voici le fichier actuel ; rien n’a été envoyé, et votre texte est conservé.",
  off: "Ce service n’envoie pas encore d’e-mails.",
  offHint:
    "L’exploitant définit OPENPO_SMTP_URL et OPENPO_MAIL_FROM, puis redémarre le service. D’ici là, téléchargez le fichier et envoyez-le vous-même.",
  mailProgram: "Ouvrir ma messagerie",
  mailProgramHint: "Joignez le fichier téléchargé. Puis marquez la commande comme envoyée.",
  markSent: "Marquer comme envoyée",
  mails: "E-mails",
  allSent: (count) => plural(count, "e-mail envoyé", "e-mails envoyés"),
  states: { queued: "Pas encore envoyé", sent: "Envoyé", failed: "Échec" },
  mailTo: (addresses) => `à ${addresses}`,
  by: (name) => `par ${name}`,
  next: (at) => `Nouvel essai le ${at}.`,
  firstTry: "Envoi en cours.",
  serverSays: (words) => `Le serveur de messagerie répond : ${words}`,
  attached: (names, version) => `${names}, version ${number(version)}`,
  withLink: "avec un lien de réponse",
  sendAgain: "Renvoyer",
  sendAgainOf: (addresses) => `Renvoyer à ${addresses}`,
  anew: "Modifier et renvoyer",
  more: (count) => `et ${plural(count, "plus ancien", "plus anciens")}`,
  pleaseCheck: "À vérifier",
  gone: {
    sent: (addresses) => `Le serveur de messagerie a accepté l’e-mail pour ${addresses}.`,
    queued: "Le serveur n’a pas encore accepté l’e-mail. L’envoi est réessayé pendant 24 heures ; voir ci-dessous.",
    failed: "L’e-mail a échoué. La commande est enregistrée ; voyez ci-dessous pourquoi, et renvoyez-le.",
  },
});
