/** Texts of sending an order to its supplier and of what became of its e-mails. They are loaded with the order. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const sendTexts = isolating({
  title: (poNumber: string) => `Send ${poNumber} to the supplier`,
  goesTo: (address: string) => `It goes to ${address}.`,
  noAddress: "The supplier has no e-mail address. Write one, or ask an owner to add it.",
  moves: "The order is moved to Sent with it.",
  to: "To",
  toHint: "Several addresses are separated by commas.",
  cc: "Copy to",
  subject: "Subject",
  message: "Message",
  link: "Let the supplier answer by a link",
  linkHint: "The link stands where the message says {link}. It works for 14 days, without signing in.",
  csv: "Attach a CSV file too",
  attaches: (name: string, size: string) => `Attached: ${name}, ${size}`,
  send: "Send",
  sending: "The mail is being sent …",
  later: "Not now",
  preview: "What will be attached",
  drawing: "The document is made …",
  size: (bytes: number) => (bytes < 1000 ? `${number(bytes)} bytes` : `${number(Math.round(bytes / 100) / 10)} kB`),
  hash: (sha256: string) => `SHA-256 ${sha256}`,
  download: "Download",
  open: "Open in a tab of its own",
  noViewer: "This browser shows no PDF inside a page. Open it or download it.",
  changed:
    "The order was changed since you looked. This is the file as it is now; nothing was sent, and your text is kept.",
  off: "This service sends no e-mail yet.",
  offHint:
    "The operator sets OPENPO_SMTP_URL and OPENPO_MAIL_FROM and starts the service again. Until then download the file and send it with your own mail program.",
  mailProgram: "Open my mail program",
  mailProgramHint: "Attach the file that you have downloaded. Then mark the order as sent.",
  markSent: "Mark as sent",
  mails: "E-mails",
  allSent: (count: number) => plural(count, "e-mail was sent", "e-mails were sent"),
  states: { queued: "Not sent yet", sent: "Sent", failed: "Failed" },
  mailTo: (addresses: string) => `to ${addresses}`,
  by: (name: string) => `by ${name}`,
  next: (at: string) => `It is tried again on ${at}.`,
  firstTry: "It is being sent.",
  serverSays: (words: string) => `The mail server says: ${words}`,
  attached: (names: string, version: number) => `${names}, version ${number(version)}`,
  withLink: "with a link for the answer",
  sendAgain: "Send again",
  sendAgainOf: (addresses: string) => `Send again to ${addresses}`,
  anew: "Change it and send anew",
  more: (count: number) => `and ${number(count)} earlier`,
  pleaseCheck: "Please check",
  gone: {
    sent: (addresses: string) => `The mail server has taken the e-mail to ${addresses}.`,
    queued: "The mail server has not taken the e-mail yet. It is tried again for 24 hours; see below.",
    failed: "The e-mail failed. The order is saved; see below why, and send it again.",
  },
} as const);
