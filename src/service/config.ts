/**
 * The environment, read once at start into one frozen value (contract §1). Only the command line (cli/cli.ts) reads it.
 */
import { z } from "zod";
import { type AllowedHosts, parseAllowedHosts } from "../storefront/hosts.ts";
import { secretKeyFrom } from "../base/secret-box.ts";
import { isMailAddress, mailsPerHourMax } from "../core/supplier/mail.ts";
import { onOneLine } from "../base/plain-text.ts";
import type { SmtpServer } from "../mail/smtp.ts";
import { bareHost, type ConnectPolicy, isLoopback, parseAllowed } from "../webhooks/addresses.ts";
import { bodiesBytesMax, connectionsMax, shopsOpenMax, storedAnswersBytesMax, unreadBytesMax } from "../base/limits.ts";

/** Values of OPENPO_LOG_LEVEL. */
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** The PostgreSQL database of a node. */
export interface DatabaseConfig {
  /** Contains the password: never show it; use `nameOfDatabase`. */
  readonly url: string;
  /** Most connections that this node opens. */
  readonly connectionsMax: number;
}

/** The mail server, and who writes. */
interface MailConfig {
  /** Contains the password: never show it. */
  readonly server: SmtpServer;
  /** `name` null: the shop's. */
  readonly from: { readonly name: string | null; readonly address: string };
  /** Mails that one shop may send within an hour. */
  readonly perHourMax: number;
}

/** The service's settings. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Further names by which agents and their pages reach `/mcp`, besides `host` and the names of this machine; without port. */
  readonly allowedHosts: readonly string[];
  readonly dataDir: string;
  /** Null: all data is in the data directory. Otherwise the data directory is not used. */
  readonly database: DatabaseConfig | null;
  /** Null: the one in the data directory, made at the first start. */
  readonly adminToken: string | null;
  /** An empty data directory or database gets the demo shop. */
  readonly demo: boolean;
  readonly logLevel: (typeof logLevels)[number];
  /** Where `/metrics` is served; null: on `port`, beside everything else. */
  readonly metricsPort: number | null;
  /** Threads that broad reads run on. Null: 2 to 4, by the number of processors. */
  readonly readerThreads: number | null;
  /** Where webhooks may connect, beside global addresses over https. */
  readonly webhooks: ConnectPolicy;
  /** Where people and suppliers reach the service, as `https://openpo.example.com`; null: where each of them asks it. */
  readonly publicUrl: string | null;
  /** A file with a font for characters that the shipped one lacks, in documents, or `COLLECTION#NAME`; null: there is none. */
  readonly documentFont: string | null;
  readonly storefronts: {
    /** Under which secrets of storefronts are stored; null: none can be. */
    readonly secretKey: Uint8Array | null;
    /** Hosts beside Shopify's own. */
    readonly allowed: AllowedHosts;
  };
  /** How mails are sent to suppliers; null: none are. */
  readonly mail: MailConfig | null;
  /** Bounds on what clients can make the process hold (base/limits.ts). */
  readonly limits: {
    readonly connectionsMax: number;
    readonly unreadBytesMax: number;
    readonly bodiesBytesMax: number;
    readonly storedAnswersBytesMax: number;
    readonly shopsOpenMax: number;
  };
}

/** A value of the environment cannot be used. The message is one line and names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** An empty variable counts as not set: many shells and container files clear a variable this way. */
const given = (fallback: string) =>
  z
    .string()
    .optional()
    .transform((value) => (value === undefined || value === "" ? fallback : value));

const adminTokenMin = 16;

/** Different characters that a token has at least. Of random ones of 16 hexadecimal digits one in 28,000 has fewer. */
const adminTokenCharactersMin = 6;

/** What examples and keyboards suggest, without case and punctuation. */
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

/** Usual words one after another, and digits between and after them: `password1234567890`, `openpo-admin-2026`, `secret1secret2secret3`. */
const usualWords =
  /^(?:(?:admin|administrator|change|changeme|default|demo|dev|example|is|letmein|me|my|openpo|passw(?:or|0r)d|please|prod|production|qwerty|qwertyuiop|replace|root|secret|super|test|this|token|user|welcome|your)\d*)+$/;

/** Whether somebody would try it first: few characters, a short text repeated, or a usual example. */
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

/** A name, an IPv4 address, or an IPv6 address in brackets. */
const hostName = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

const portMessage = "must be a port number, 0 to 65535 (0: any free port)";

const mebibyte = 1_048_576;

/** A whole number from `min` to `max`. */
function countBetween(min: number, max: number, things: string) {
  const message = `must be a number of ${things}, ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((count) => count >= min && count <= max, message);
}

/** Whether PostgreSQL's own clients would take it as an address. */
const isDatabaseUrl = (value: string): boolean =>
  ["postgres:", "postgresql:"].includes(URL.parse(value)?.protocol ?? "");

/** The database's address for messages: without user and password. */
export function nameOfDatabase({ url }: DatabaseConfig): string {
  const parsed = URL.parse(url);
  const host = parsed?.host || parsed?.searchParams.get("host") || "localhost";
  return `postgres://${host}${parsed?.pathname ?? ""}`;
}

/** The URL at which a client on this machine reaches a server; one that listens on every address, at 127.0.0.1. */
export function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** The origin of a URL that is nothing else; null for any other text. */
function originOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return null;
  // An empty user, query or fragment does not show in the parsed URL.
  return url.href === `${url.origin}/` && !/[@?#]/.test(text) ? url.origin : null;
}

const smtpForm =
  "must be like smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465, with special characters of user and password encoded (@ as %40)";

/** What is wrong with a text is told without showing it: it has a password. */
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

const fromNameMax = 100;

/** `orders@example.com` or `Example Orders <orders@example.com>`; null when it is neither. */
function senderOf(text: string): MailConfig["from"] | null {
  const [, name = "", inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const address = inBrackets ?? text.trim();
  const plain = name.trim().replace(/^"(.*)"$/, "$1");
  if (!isMailAddress(address) || onOneLine(plain) !== plain || plain.length > fromNameMax) return null;
  return { name: plain === "" ? null : plain, address };
}

const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, portMessage)
  .transform(Number)
  .refine((port) => port <= 65_535, portMessage);

const environment = z.object({
  PORT: given("8080").pipe(portNumber),
  OPENPO_METRICS_PORT: given("")
    .transform((port) => (port === "" ? null : port))
    .pipe(portNumber.nullable()),
  OPENPO_HOST: given("127.0.0.1"),
  OPENPO_ALLOWED_HOSTS: given("")
    .transform((names) => (names === "" ? [] : names.split(",").map((name) => name.trim().toLowerCase())))
    .refine((names) => names.every((name) => hostName.test(name)), {
      error: "must be host names or addresses without port, separated by commas: po.example.com,[fd00::5]",
    }),
  OPENPO_DATA_DIR: given("./data"),
  OPENPO_ADMIN_TOKEN: given("").pipe(
    z
      .string()
      .regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces")
      .refine(
        (token) => token === "" || token.length >= adminTokenMin,
        `must have at least ${adminTokenMin} characters; leave it unset to have one made`,
      )
      .refine(
        (token) => token === "" || !isWeak(token),
        "is easy to guess: it repeats a few characters, or is a usual example; leave it unset to have one made, or use the output of: openssl rand -hex 24",
      )
      .transform((token) => (token === "" ? null : token)),
  ),
  OPENPO_DEMO: given("1").pipe(
    z.enum(["0", "1"], { error: "must be 1 (make a demo shop when there is no data yet) or 0" }),
  ),
  OPENPO_DATABASE_URL: given("")
    .refine((url) => url === "" || isDatabaseUrl(url), {
      error:
        "must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password encoded (@ as %40)",
    })
    .transform((url) => (url === "" ? null : url)),
  OPENPO_DATABASE_CONNECTIONS: given("10").pipe(countBetween(2, 200, "connections")),
  OPENPO_CONNECTIONS_MAX: given(String(connectionsMax)).pipe(countBetween(10, 100_000, "connections")),
  OPENPO_UNREAD_MB: given(String(unreadBytesMax / mebibyte)).pipe(countBetween(16, 1_000_000, "megabytes")),
  OPENPO_BODIES_MB: given(String(bodiesBytesMax / mebibyte)).pipe(countBetween(4, 1_000_000, "megabytes")),
  OPENPO_STORED_ANSWERS_MB: given(String(storedAnswersBytesMax / mebibyte)).pipe(
    countBetween(64, 1_000_000, "megabytes"),
  ),
  OPENPO_READER_THREADS: given("")
    .transform((threads) => (threads === "" ? null : threads))
    .pipe(countBetween(1, 64, "threads").nullable()),
  OPENPO_WEBHOOK_ALLOW: given("").transform((allowed, context) => {
    const parsed = parseAllowed(allowed);
    if (parsed !== null) return parsed;
    context.addIssue({
      code: "custom",
      message: "must be hosts and networks, separated by commas: erp.internal,192.168.10.0/24",
    });
    return z.NEVER;
  }),
  OPENPO_SECRET_KEY: given("").transform((text, context) => {
    const key = text === "" ? null : secretKeyFrom(text);
    if (text === "" || key !== null) return key;
    context.addIssue({
      code: "custom",
      message: "must be 32 bytes in base64, like the output of: openssl rand -base64 32",
    });
    return z.NEVER;
  }),
  OPENPO_STOREFRONT_ALLOW: given("").transform((text, context) => {
    const allowed = parseAllowedHosts(text);
    if (allowed !== null) return allowed;
    context.addIssue({
      code: "custom",
      message:
        "must be [scheme://]host[:port], separated by commas: shop.example.com,http://localhost:9000. http is for this machine only",
    });
    return z.NEVER;
  }),
  OPENPO_WEBHOOK_HTTP: given("0").pipe(
    z.enum(["0", "1"], { error: "must be 1 (webhooks may be sent to http URLs) or 0" }),
  ),
  OPENPO_PUBLIC_URL: given("").transform((text, context) => {
    const origin = text === "" ? null : originOf(text);
    if (text === "" || origin !== null) return origin;
    context.addIssue({
      code: "custom",
      message: "must be like https://openpo.example.com, http or https, without user, path and query",
    });
    return z.NEVER;
  }),
  OPENPO_DOCUMENT_FONT: given("").transform((file) => (file === "" ? null : file)),
  OPENPO_SMTP_URL: given("").transform((url, context) => {
    if (url === "") return null;
    try {
      return smtpServerOf(url);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof SmtpUrlFault ? error.message : smtpForm });
      return z.NEVER;
    }
  }),
  OPENPO_MAIL_FROM: given("").transform((text, context) => {
    if (text === "") return null;
    const from = senderOf(text);
    if (from !== null) return from;
    context.addIssue({
      code: "custom",
      message: "must be an e-mail address, or a name with one: Example Orders <orders@example.com>",
    });
    return z.NEVER;
  }),
  OPENPO_MAILS_PER_HOUR: given(String(mailsPerHourMax)).pipe(countBetween(1, 100_000, "e-mails")),
  OPENPO_SHOPS_OPEN_MAX: given(String(shopsOpenMax)).pipe(countBetween(8, 100_000, "shops")),
  OPENPO_LOG_LEVEL: given("info").pipe(z.enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` })),
});

/** @throws ConfigError when only one of the two variables is set. */
function mailOf({
  OPENPO_SMTP_URL: server,
  OPENPO_MAIL_FROM: from,
  OPENPO_MAILS_PER_HOUR: perHourMax,
}: z.output<typeof environment>): MailConfig | null {
  if (server === null && from === null) return null;
  if (server === null) throw new ConfigError(`OPENPO_SMTP_URL: is needed with OPENPO_MAIL_FROM; it ${smtpForm}`);
  if (from === null)
    throw new ConfigError("OPENPO_MAIL_FROM: is needed with OPENPO_SMTP_URL: the address that mails are sent from");
  return Object.freeze({ server, from, perHourMax });
}

/**
 * Reads the configuration.
 *
 * @throws ConfigError naming the first variable that cannot be used.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(`${issue?.path.join(".") ?? "environment"}: ${issue?.message ?? "cannot be used"}`);
  }
  const { OPENPO_DATABASE_URL: url, OPENPO_DATABASE_CONNECTIONS: databaseConnections } = parsed.data;
  return Object.freeze({
    port: parsed.data.PORT,
    host: parsed.data.OPENPO_HOST,
    allowedHosts: parsed.data.OPENPO_ALLOWED_HOSTS,
    dataDir: parsed.data.OPENPO_DATA_DIR,
    database: url === null ? null : Object.freeze({ url, connectionsMax: databaseConnections }),
    adminToken: parsed.data.OPENPO_ADMIN_TOKEN,
    demo: parsed.data.OPENPO_DEMO === "1",
    logLevel: parsed.data.OPENPO_LOG_LEVEL,
    metricsPort: parsed.data.OPENPO_METRICS_PORT,
    readerThreads: parsed.data.OPENPO_READER_THREADS,
    mail: mailOf(parsed.data),
    webhooks: Object.freeze({ ...parsed.data.OPENPO_WEBHOOK_ALLOW, http: parsed.data.OPENPO_WEBHOOK_HTTP === "1" }),
    publicUrl: parsed.data.OPENPO_PUBLIC_URL,
    documentFont: parsed.data.OPENPO_DOCUMENT_FONT,
    storefronts: Object.freeze({
      secretKey: parsed.data.OPENPO_SECRET_KEY,
      allowed: parsed.data.OPENPO_STOREFRONT_ALLOW,
    }),
    limits: Object.freeze({
      connectionsMax: parsed.data.OPENPO_CONNECTIONS_MAX,
      unreadBytesMax: parsed.data.OPENPO_UNREAD_MB * mebibyte,
      bodiesBytesMax: parsed.data.OPENPO_BODIES_MB * mebibyte,
      storedAnswersBytesMax: parsed.data.OPENPO_STORED_ANSWERS_MB * mebibyte,
      shopsOpenMax: parsed.data.OPENPO_SHOPS_OPEN_MAX,
    }),
  });
}
