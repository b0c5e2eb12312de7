/**
 * E-mail of orders to suppliers: whom it may go to, and what an attempt to send it means (C63).
 *
 * Owns: bounds, the form of addresses, the schedule of attempts. Does not own: what a mail says by itself
 * (mail-texts.ts), the rows (shop/supplier/mails.ts), when an attempt is made (mail/sender.ts), SMTP (mail/smtp.ts).
 */
import { doubledMs, scatteredMs, scatteredMsMax } from "../../base/time/backoff.ts";
import { hourMs } from "../../base/time/calendar.ts";
import { onOneLine } from "../../base/text/plain-text.ts";

/** Characters of an address at most (RFC 5321, 4.5.3.1.3). */
export const addressLengthMax = 254;

/** Addresses of one mail, `to` and `cc` together. */
export const mailRecipientsMax = 20;

/** Characters of a subject. */
export const mailSubjectMax = 200;

/** Characters of a message. */
export const mailMessageMax = 5_000;

/** Bytes of all that is attached to one mail. Base64 adds a third; many servers take no more than 25 MB. */
export const mailAttachedBytesMax = 10_485_760;

/** In what time a shop's mails are counted for their limit. */
export const mailWindowMs = hourMs;

/** Mails that a shop sends within `mailWindowMs`, unless the operator says otherwise. */
export const mailsPerHourMax = 60;

/** Time for which a mail is tried before it is given up, from its request on. */
export const mailTriedForMs = 24 * hourMs;

/** The delay before the second attempt; it doubles with each further one, up to `retryDelayMsMax`. */
const retryDelayMs = 30_000;

const retryDelayMsMax = hourMs;

/** No mail is put off for longer. One that is due later is from before the clock was set back (D98). */
export const mailDueAheadMsMax = scatteredMsMax(retryDelayMsMax);

/** For how long what a failed mail would have attached is kept, so that it can be sent again as it was. */
export const failedMailKeptMs = 30 * 24 * hourMs;

/** Characters that are kept of a server's words. */
const wordsMax = 300;

/** Characters of an address before the @, and what a domain is. Quoted and international forms are not taken. */
const addressPattern =
  /^(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** True if mail can be sent to it: `orders@supplier.example`, ASCII, without a name or angle brackets. */
export const isMailAddress = (text: string): boolean => text.length <= addressLengthMax && addressPattern.test(text);

/** Characters that no domain has before it is encoded. */
const notInDomain = /[\s/\\?#@:%[\]<>"]/u;

/** Beyond ASCII: such a domain is encoded for the mail server (`xn--`). */
const beyondAscii = /[^\p{ASCII}]/u;

/**
 * Returns the address for sending: without blanks around it and without the name before it (`Name <address>`). Its
 * domain is in lower case, and as `xn--` where it is outside ASCII. Null when it is none.
 */
export function mailAddressFrom(text: string): string | null {
  const plain = text.trim();
  const from = plain.endsWith(">") ? plain.lastIndexOf("<") + 1 : 0;
  if (plain.endsWith(">") && from === 0) return null;
  const address = (from === 0 ? plain : plain.slice(from, -1)).trim();
  const at = address.lastIndexOf("@");
  if (at === -1) return null;
  const domain = address.slice(at + 1).toLowerCase();
  if (notInDomain.test(domain)) return null;
  const encoded = beyondAscii.test(domain) ? (URL.parse(`http://${domain}`)?.hostname ?? "") : domain;
  const found = `${address.slice(0, at)}@${encoded}`;
  return isMailAddress(found) ? found : null;
}

/** The entries of a list, which `;` and `,` part outside of quotes. Empty ones are left out. */
function entriesOf(list: string): readonly string[] {
  const entries = [""];
  let isQuoted = false;
  for (const character of list) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && (character === ";" || character === ",")) entries.push("");
    else entries[entries.length - 1] += character;
  }
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== "");
}

/** The addresses of a list (`a@x.example; Name <b@y.example>`), and its first entry that is none. */
export function mailAddressesFrom(list: string): {
  readonly addresses: readonly string[];
  /** Null: all entries are addresses. */
  readonly wrong: string | null;
} {
  const entries = entriesOf(list);
  const read = entries.map(mailAddressFrom);
  const wrongAt = read.indexOf(null);
  return {
    addresses: [...new Set(read.filter((address) => address !== null))],
    wrong: entries.length === 0 ? list : wrongAt === -1 ? null : (entries[wrongAt] ?? null),
  };
}

/**
 * The name before the sender's address: whose order it is, and that it comes by this service. It cannot pass for
 * another address.
 */
export function senderName(shopName: string): string {
  const apart = Array.from(shopName, (letter) => (/[<>@"]/.test(letter.normalize("NFKC")) ? " " : letter)).join("");
  const plain = onOneLine(apart).replaceAll(/ +/g, " ");
  return plain === "" ? "OpenPO" : `${plain} via OpenPO`;
}

/** A header's text that no reader takes for an encoded word (RFC 2047), and shows as another one. */
export const notEncoded = (text: string): string => text.replaceAll("=?", "= ?");

/** States of a mail. */
export const mailStates = ["queued", "sent", "failed"] as const;

/** Somebody whom a mail goes to. `refused`: the server has said for good that it does not take the mail for them. */
export interface MailRecipient {
  readonly address: string;
  readonly role: "to" | "cc";
  readonly state: "pending" | "sent" | "refused";
  /** The server's words, if it has not taken the mail for them. */
  readonly detail: string | null;
}

/** Result of one attempt for a recipient. */
export interface RecipientResult {
  readonly outcome: "sent" | "refused" | "later";
  readonly detail: string | null;
}

/** State of a mail after an attempt. `dueAtMs` is null when it is not tried again. */
export interface MailStanding {
  readonly state: (typeof mailStates)[number];
  readonly recipients: readonly MailRecipient[];
  readonly detail: string | null;
  readonly dueAtMs: number | null;
}

/**
 * Returns what an attempt means for its mail. Who has it is not sent it again.
 *
 * @param results by address; recipients that it does not name stay as they are.
 * @param attempts those made, this one included.
 * @param sinceMs since when the mail is tried.
 * @param random  from 0 to below 1.
 * Source: C63.
 */
export function afterMailAttempt(
  { recipients: before, attempts, sinceMs }: Pick<MailStanding, "recipients"> & { attempts: number; sinceMs: number },
  results: ReadonlyMap<string, RecipientResult>,
  nowMs: number,
  random: number,
): MailStanding {
  const recipients = before.map((recipient): MailRecipient => {
    const result = recipient.state === "pending" ? results.get(recipient.address) : undefined;
    if (result === undefined) return recipient;
    const state = result.outcome === "later" ? "pending" : result.outcome;
    return { ...recipient, state, detail: state === "sent" ? null : serverWords(result.detail ?? "") };
  });
  const detail = undelivered(recipients);
  if (!recipients.some(({ state }) => state === "pending"))
    return { state: detail === null ? "sent" : "failed", recipients, detail, dueAtMs: null };
  const dueAtMs = nowMs + scatteredMs(doubledMs(attempts, retryDelayMs, retryDelayMsMax), random);
  if (dueAtMs <= sinceMs + mailTriedForMs) return { state: "queued", recipients, detail, dueAtMs };
  const tries = `tried ${attempts} times in ${mailTriedForMs / hourMs} hours`;
  return { state: "failed", recipients, detail: `${detail ?? "no answer"} (${tries})`, dueAtMs: null };
}

/** Who does not have the mail, and why; null when everybody has it. */
function undelivered(recipients: readonly MailRecipient[]): string | null {
  const without = recipients.filter(({ state }) => state !== "sent");
  if (without.length === 0) return null;
  const words = [...new Set(without.map(({ detail }) => detail ?? "not tried yet"))].join("; ");
  if (without.length === recipients.length) return words;
  return `not delivered to ${without.map(({ address }) => address).join(", ")}: ${words}`;
}

/** A server's words as they may be shown and kept: on one line, without control characters, cut. */
export function serverWords(text: string): string {
  const plain = onOneLine(text);
  return plain.length <= wordsMax ? plain : `${plain.slice(0, wordsMax - 1).toWellFormed()}…`;
}
