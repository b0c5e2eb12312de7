/**
 * Values of options: each schema takes the text of a variable, and its message says what the variable must be.
 *
 * No message repeats a secret.
 */
import { totalmem } from "node:os";
import { z } from "zod";
import { onOneLine } from "../base/text/plain-text.ts";
import { secretKeyFrom } from "../base/secret-box.ts";
import { isMailAddress } from "../core/supplier/mail.ts";
import type { SmtpServer } from "../mail/smtp.ts";
import { parseAllowedHosts } from "../storefront/hosts.ts";
import { bareHost, isLoopback, parseAllowed } from "../webhooks/addresses.ts";

/** A value that `parse` reads; null from it is refused with the form that is expected. */
const parsed = <Value>(parse: (text: string) => Value | null, form: string) =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: "custom", message: form });
    return z.NEVER;
  });

/** A whole number from `min` to `max`. */
export function countBetween(min: number, max: number, things: string) {
  const message = `must be a number of ${things}, ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((count) => count >= min && count <= max, message);
}

const portMessage = "must be a port number, 0 to 65535 (0: any free port)";

export const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, portMessage)
  .transform(Number)
  .refine((port) => port <= 65_535, portMessage);

/** The memory for which the limits were measured that follow from it (memory-limits.ts). */
export const measuredMegabytes = 1_024;

/** The least memory that can be set. */
export const memoryMegabytesMin = 256;

/**
 * Highest default of `OPENPO_MEMORY_MB`; an operator can set more. V8 by itself gives a process a heap of about as
 * much.
 */
const usualMegabytesMax = 4_096;

const mebibyte = 1_048_576;

/**
 * A quarter of the memory that the machine or its container grants, as V8 takes for its heap. It is never less than the
 * memory for which the limits were measured.
 */
export function usualMegabytes(machineBytes = totalmem(), containerBytes = process.constrainedMemory()): number {
  const granted = containerBytes > 0 ? Math.min(machineBytes, containerBytes) : machineBytes;
  return Math.min(Math.max(Math.floor(granted / 4 / mebibyte), measuredMegabytes), usualMegabytesMax);
}

/** 1 or 0, as a boolean. */
export const switched = (on: string) =>
  z.enum(["0", "1"], { error: `must be 1 (${on}) or 0` }).transform((text) => text === "1");

const adminTokenMin = 16;

/** Different characters that a token has at least. Of random ones of 16 hexadecimal digits one in 28,000 has fewer. */
const adminTokenCharactersMin = 6;

/** Tokens that examples and keyboards suggest, without case and punctuation. */
const usualTokens: ReadonlySet<string> = new Set([
  "0123456789abcdef",
  "0123456789012345",
  "01234567890123456789",
  "1234567890123456",
  "12345678901234567890",
  "1234567890abcdef",
  "123456789abcdefg",
  "1q2w3e4r5t6y7u8i",
  "1q2w3e4r5t6y7u8i9o0p",
  "1qaz2wsx3edc4rfv",
  "1qaz2wsx3edc4rfv5tgb",
  "abcdefghijklmnop",
  "abcdefghijklmnopqrstuvwxyz",
  "admintokenchangeme",
  "administratorpassword",
  "changemeadmintoken",
  "changethisadmintoken",
  "changethispassword",
  "changethissecret",
  "changethistoken",
  "defaultadmintoken",
  "exampleadmintoken",
  "insertyourtokenhere",
  "openpoadmintoken",
  "yourtokenhere",
  "pleasechangeme",
  "pleasechangethis",
  "pleasechangethistoken",
  "pleasechangethissecret",
  "qazwsxedcrfvtgby",
  "qazwsxedcrfvtgbyhnujm",
  "qwertyuiopasdfgh",
  "qwertyuiopasdfghjklzxcvbnm",
  "replacethistoken",
  "supersecretadmintoken",
  "supersecrettoken",
  "thisisasecrettoken",
  "youradmintoken",
  "youradmintokenhere",
]);

/**
 * Usual words one after another, and digits between and after them: `password1234567890`, `openpo-admin-2026`,
 * `secret1secret2secret3`.
 */
const usualWords =
  /^(?:(?:admin|administrator|change|changeme|default|demo|dev|example|is|letmein|me|my|openpo|passw(?:or|0r)d|please|prod|production|qwerty|qwertyuiop|replace|root|secret|super|test|this|token|user|welcome|your)\d*)+$/;

/** True if somebody would try it first: few characters, a short text repeated, or a usual example. */
function isWeak(token: string): boolean {
  // What the program's own tokens begin with makes another one no better.
  const bare = token.replace(/^opa_/i, "");
  const plain = bare.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return (
    new Set(bare).size < adminTokenCharactersMin ||
    /^(.{1,10}?)\1+\d{0,9}$/.test(plain) ||
    usualWords.test(plain) ||
    usualTokens.has(plain)
  );
}

export const adminToken = z
  .string()
  .regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces")
  .refine(
    (token) => token.length >= adminTokenMin,
    `must have at least ${adminTokenMin} characters; leave it unset to have one made`,
  )
  .refine(
    (token) => !isWeak(token),
    "is easy to guess: it repeats a few characters, or is a usual example; leave it unset to have one made, or use the output of: openssl rand -hex 24",
  );

/** The PostgreSQL database of a node. */
export interface DatabaseConfig {
  /** As PostgreSQL's own clients take it. Contains the password: never show it; use `nameOfDatabase`. */
  readonly url: string;
  /** Most connections that a node opens, beside one for each reader thread. */
  readonly connectionsMax: number;
}

const connectionCount = countBetween(2, 200, "connections");

/** Connections of a node whose address names no number. */
const connectionsUsual = 10;

/** The address may have a parameter of the program's own, `connections`, which the database is not given. */
function databaseFrom(text: string): DatabaseConfig | null {
  const url = URL.parse(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol)) return null;
  const connections = url.searchParams.get("connections");
  if (connections === null) return { url: text, connectionsMax: connectionsUsual };
  const count = connectionCount.safeParse(connections);
  url.searchParams.delete("connections");
  return count.success ? { url: url.href, connectionsMax: count.data } : null;
}

export const database = parsed(
  databaseFrom,
  "must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password encoded (@ as %40); ?connections= at its end is 2 to 200",
);

/** The origin of a URL that is nothing else; null for any other text. */
function originOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return null;
  // An empty user, query or fragment does not show in the parsed URL.
  return url.href === `${url.origin}/` && !/[@?#]/.test(text) ? url.origin : null;
}

export const publicOrigin = parsed(
  originOf,
  "must be like https://openpo.example.com, http or https, without user, path and query",
);

export const secretKey = parsed(
  secretKeyFrom,
  "must be 32 bytes in base64, like the output of: openssl rand -base64 32",
);

/** Hosts and networks beside public ones. */
export const webhookTargets = parsed(
  parseAllowed,
  "must be hosts and networks, separated by commas: erp.internal,192.168.10.0/24",
);

export const storefrontHosts = parsed(
  parseAllowedHosts,
  "must be [scheme://]host[:port], separated by commas: shop.example.com,http://localhost:9000. http is for this machine only",
);

export const smtpForm =
  "must be like smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465, with special characters of user and password encoded (@ as %40)";

/** Fault of a text that is not shown: it has a password. */
class SmtpUrlFault extends Error {}

/** @throws SmtpUrlFault */
function smtpServerOf(text: string): SmtpServer {
  const url = URL.parse(text);
  const secure = url?.protocol === "smtps:";
  if (url === null || (!secure && url.protocol !== "smtp:") || url.hostname === "" || url.hash !== "")
    throw new SmtpUrlFault(smtpForm);
  if (!["", "/"].includes(url.pathname)) throw new SmtpUrlFault(`${smtpForm}, without a path`);
  const [option, ...others] = [...url.searchParams];
  if (others.length > 0 || (option !== undefined && option.join("=") !== "tls=none"))
    throw new SmtpUrlFault("may have no parameter but ?tls=none");
  const host = bareHost(url);
  if (option !== undefined && (secure || !isLoopback(host)))
    throw new SmtpUrlFault(
      "may have ?tls=none only with smtp:// and a mail server on this machine (localhost, 127.0.0.1, [::1])",
    );
  if ((url.username === "") !== (url.password === ""))
    throw new SmtpUrlFault("must have both a user and a password, or neither");
  try {
    return {
      host,
      port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
      tls: secure ? "implicit" : option === undefined ? "starttls" : "none",
      user: url.username === "" ? null : decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    throw new SmtpUrlFault(smtpForm);
  }
}

/** Who sends the mails. `name` null: the shop's. */
export interface MailSender {
  readonly name: string | null;
  readonly address: string;
}

const fromNameMax = 100;

/** The sender that a text names: `orders@example.com` or `Example Orders <orders@example.com>`. Null: it is neither. */
function senderOf(text: string): MailSender | null {
  const [, name = "", inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const address = inBrackets ?? text.trim();
  const plain = name.trim().replace(/^"(.*)"$/, "$1");
  if (!isMailAddress(address) || onOneLine(plain) !== plain || plain.length > fromNameMax) return null;
  return { name: plain === "" ? null : plain, address };
}

export const mailServer = z.string().transform((url, context) => {
  try {
    return smtpServerOf(url);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof SmtpUrlFault ? error.message : smtpForm });
    return z.NEVER;
  }
});

export const mailSender = parsed(
  senderOf,
  "must be an e-mail address, or a name with one: Example Orders <orders@example.com>",
);
