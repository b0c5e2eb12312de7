/**
 * The configuration: the options of the environment (options.ts), read once at start into one frozen value (contract
 * §1). Only the command line (cli/cli.ts) reads it.
 */
import { mailsPerHourMax } from "../core/supplier/mail.ts";
import type { SmtpServer } from "../mail/smtp.ts";
import type { AllowedHosts } from "../storefront/hosts.ts";
import type { ConnectPolicy } from "../webhooks/addresses.ts";
import { type DatabaseConfig, type MailSender, smtpForm, usualMegabytes } from "./option-values.ts";
import { type Environment, goneOptionIn, options } from "./options.ts";
import type { z } from "zod";

type Values = z.output<typeof options>;

/** The mail server, and who writes. */
interface MailConfig {
  /** Contains the password: never show it. */
  readonly server: SmtpServer;
  readonly from: MailSender;
  /** Mails that one shop may send within an hour. */
  readonly perHourMax: number;
}

/** The service's settings. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Null: all data is in the data directory. Otherwise the data directory is not used. */
  readonly database: DatabaseConfig | null;
  /** Null: the one in the data directory, made at the first start. */
  readonly adminToken: string | null;
  /** An empty data directory or database gets the demo shop. */
  readonly demo: boolean;
  readonly logLevel: Values["OPENPO_LOG_LEVEL"];
  /** Where `/metrics` is served; null: on `port`, beside everything else. */
  readonly metricsPort: number | null;
  /** Where webhooks may connect, beside global addresses over https. */
  readonly webhooks: ConnectPolicy;
  /** Where documents of assistants may be fetched from, beside global addresses; always over https (C73). */
  readonly connect: ConnectPolicy;
  /**
   * Where people, suppliers and assistants reach the service, as `https://openpo.example.com`; null: where each of them
   * asks it.
   */
  readonly publicUrl: string | null;
  /**
   * A file with a font for characters that the shipped one lacks, in documents, or `COLLECTION#NAME`; null: there is
   * none.
   */
  readonly documentFont: string | null;
  readonly storefronts: {
    /** Under which secrets of storefronts are stored; null: none can be. */
    readonly secretKey: Uint8Array | null;
    /** Hosts beside Shopify's own. */
    readonly allowed: AllowedHosts;
  };
  /** Sending of mails to suppliers; null: none are sent. */
  readonly mail: MailConfig | null;
  /** From which limits follow (memory-limits.ts). */
  readonly memoryMegabytes: number;
}

/** A value of the environment cannot be used. The message is one line and names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

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

/** @throws ConfigError when only one of the two variables is set. */
function mailOf({ OPENPO_SMTP_URL: server, OPENPO_MAIL_FROM: from }: Values): MailConfig | null {
  if (server === null && from === null) return null;
  if (server === null) throw new ConfigError(`OPENPO_SMTP_URL: is needed with OPENPO_MAIL_FROM; it ${smtpForm}`);
  if (from === null)
    throw new ConfigError("OPENPO_MAIL_FROM: is needed with OPENPO_SMTP_URL: the address that mails are sent from");
  return Object.freeze({ server, from, perHourMax: mailsPerHourMax });
}

/**
 * Reads the configuration.
 *
 * @throws ConfigError naming a variable that is gone, or the first one that cannot be used.
 */
export function readConfig(env: Environment): Config {
  const gone = goneOptionIn(env);
  if (gone !== null) throw new ConfigError(`${gone.name}: is gone: ${gone.instead}. Unset it.`);
  const parsed = options.safeParse(env);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(`${issue?.path.join(".") ?? "environment"}: ${issue?.message ?? "cannot be used"}`);
  }
  const { data } = parsed;
  return Object.freeze({
    port: data.PORT,
    host: data.OPENPO_HOST,
    dataDir: data.OPENPO_DATA_DIR,
    database: data.OPENPO_DATABASE_URL,
    adminToken: data.OPENPO_ADMIN_TOKEN,
    demo: data.OPENPO_DEMO,
    logLevel: data.OPENPO_LOG_LEVEL,
    metricsPort: data.OPENPO_METRICS_PORT,
    mail: mailOf(data),
    webhooks: Object.freeze({ ...data.OPENPO_WEBHOOK_ALLOW, http: data.OPENPO_WEBHOOK_HTTP }),
    connect: Object.freeze({ ...data.OPENPO_CONNECT_ALLOW, http: false }),
    publicUrl: data.OPENPO_PUBLIC_URL,
    documentFont: data.OPENPO_DOCUMENT_FONT,
    storefronts: Object.freeze({ secretKey: data.OPENPO_SECRET_KEY, allowed: data.OPENPO_STOREFRONT_ALLOW }),
    memoryMegabytes: data.OPENPO_MEMORY_MB ?? usualMegabytes(),
  });
}
