/**
 * The options of the program: environment variables, each with its type, its default and one sentence.
 *
 * From this table follow what the program reads (config.ts), `openpo --help`, and the table in docs/operating.md. No
 * other file reads the process's environment.
 */
import { z } from "zod";
import {
  adminToken,
  countBetween,
  database,
  mailSender,
  mailServer,
  memoryMegabytesMin,
  portNumber,
  publicOrigin,
  secretKey,
  storefrontHosts,
  switched,
  webhookTargets,
} from "./option-values.ts";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const machineEnvironment = (): Environment => process.env;

/** Values of OPENPO_LOG_LEVEL. */
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Texts of an option for people. */
interface OptionText {
  /** Type of its value. */
  readonly type: string;
  readonly meaning: string;
  /** `all`: the commands of the operator read it too, when they work beside a server or without one. */
  readonly readBy: "server" | "all";
}

interface DescribedOption extends OptionText {
  /** As it is shown; null: none. */
  readonly shownDefault: string | null;
}

const described = z.registry<DescribedOption>();

/** An empty variable counts as not set: many shells and container files clear a variable this way. */
const setText = z
  .string()
  .optional()
  .transform((text) => (text === "" ? undefined : text));

/** An option that has a value without its variable: the text of its default is read like one. */
const option = <Value>(fallback: string, text: OptionText, value: z.ZodType<Value, string>) =>
  setText
    .transform((given) => given ?? fallback)
    .pipe(value)
    .register(described, { ...text, shownDefault: fallback === "" ? null : fallback });

/** An option that is null without its variable. `without`: what is then. */
const optional = <Value>(without: string | null, text: OptionText, value: z.ZodType<Value, string>) =>
  setText
    .transform((given) => given ?? null)
    .pipe(value.nullable())
    .register(described, { ...text, shownDefault: without });

/** The table, in the order of the help. */
export const options = z.object({
  PORT: option(
    "8080",
    {
      type: "port",
      readBy: "all",
      meaning: "port to listen on; 0: any free port. A command asks no server at another port",
    },
    portNumber,
  ),
  OPENPO_HOST: option("127.0.0.1", { type: "address", readBy: "server", meaning: "address to listen on" }, z.string()),
  OPENPO_PUBLIC_URL: optional(
    null,
    {
      type: "origin",
      readBy: "all",
      meaning:
        "where people, suppliers and agents reach the service, like https://openpo.example.com: links begin with it, and /mcp answers at its host",
    },
    publicOrigin,
  ),
  OPENPO_DATA_DIR: option(
    "./data",
    { type: "directory", readBy: "all", meaning: "where all data is stored; one process at a time" },
    z.string(),
  ),
  OPENPO_DATABASE_URL: optional(
    null,
    {
      type: "URL",
      readBy: "all",
      meaning:
        "store all data at postgres://USER:PASSWORD@HOST:5432/DATABASE, for any number of nodes; ?connections=20 after it: most connections of a node (2 to 200; 10)",
    },
    database,
  ),
  OPENPO_ADMIN_TOKEN: optional(
    "made at the first start, kept in the data directory",
    { type: "16 characters or more", readBy: "all", meaning: "the operator's token; required with a database" },
    adminToken,
  ),
  OPENPO_SECRET_KEY: optional(
    null,
    {
      type: "32 bytes in base64",
      readBy: "all",
      meaning:
        "encrypts stored tokens of storefronts and secrets of webhook endpoints; make one with openssl rand -base64 32",
    },
    secretKey,
  ),
  OPENPO_DEMO: option(
    "1",
    { type: "0 or 1", readBy: "server", meaning: "1: create the demo shop at the first start" },
    switched("make a demo shop when there is no data yet"),
  ),
  OPENPO_MEMORY_MB: optional(
    "a quarter of the machine's or container's, 1024 to 4096",
    {
      type: "megabytes",
      readBy: "server",
      meaning:
        "memory by which the process limits connections, bodies, unread answers, open shops, caches and reader threads",
    },
    countBetween(memoryMegabytesMin, 1_000_000, "megabytes"),
  ),
  OPENPO_METRICS_PORT: optional(
    null,
    { type: "port", readBy: "server", meaning: "a port of its own for /metrics, which is then 404 on PORT" },
    portNumber,
  ),
  OPENPO_LOG_LEVEL: option(
    "info",
    { type: "level", readBy: "server", meaning: `${logLevels.join(", ")}; the log is JSON on stderr` },
    z.enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` }),
  ),
  OPENPO_WEBHOOK_ALLOW: option(
    "",
    {
      type: "hosts and networks",
      readBy: "all",
      meaning: "where webhooks may connect beside public addresses: erp.internal,192.168.10.0/24",
    },
    webhookTargets,
  ),
  OPENPO_CONNECT_ALLOW: option(
    "",
    {
      type: "hosts and networks",
      readBy: "server",
      meaning: "where assistants' client documents may be fetched from beside public addresses, always over https",
    },
    webhookTargets,
  ),
  OPENPO_WEBHOOK_HTTP: option(
    "0",
    { type: "0 or 1", readBy: "all", meaning: "1: webhooks may be sent to http URLs too" },
    switched("webhooks may be sent to http URLs"),
  ),
  OPENPO_STOREFRONT_ALLOW: option(
    "",
    {
      type: "hosts",
      readBy: "all",
      meaning: "hosts of storefronts beside *.myshopify.com: [scheme://]host[:port], separated by commas",
    },
    storefrontHosts,
  ),
  OPENPO_SMTP_URL: optional(
    null,
    {
      type: "URL",
      readBy: "all",
      meaning:
        "the mail server for e-mail to suppliers and approvers: smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465",
    },
    mailServer,
  ),
  OPENPO_MAIL_FROM: optional(
    null,
    {
      type: "e-mail address",
      readBy: "all",
      meaning: "the address that e-mail comes from, or a name with it; set with OPENPO_SMTP_URL",
    },
    mailSender,
  ),
  OPENPO_DOCUMENT_FONT: optional(
    null,
    {
      type: "font file",
      readBy: "server",
      meaning:
        "a font for characters that documents otherwise lack, such as Chinese ones; FILE.ttc#NAME for one of several",
    },
    z.string(),
  ),
});

/** An option as the help and the documents show it. */
interface ShownOption extends DescribedOption {
  readonly name: string;
}

export const shownOptions: readonly ShownOption[] = Object.entries(options.shape).flatMap(([name, schema]) => {
  const text = described.get(schema);
  return text === undefined ? [] : [{ name, ...text }];
});

/**
 * Variables of earlier versions, and what stands in place of each. A start with one is refused: its limit would change
 * without a word.
 */
const goneOptions: Readonly<Record<string, string>> = {
  OPENPO_ALLOWED_HOSTS: "OPENPO_PUBLIC_URL names the host at which agents reach /mcp",
  OPENPO_BODIES_MB: "OPENPO_MEMORY_MB sets it",
  OPENPO_CONNECTIONS_MAX: "OPENPO_MEMORY_MB sets it",
  OPENPO_DATABASE_CONNECTIONS: "OPENPO_DATABASE_URL has it as ?connections=20",
  OPENPO_MAILS_PER_HOUR: "a shop sends 60 e-mails within an hour at most",
  OPENPO_READER_THREADS: "OPENPO_MEMORY_MB and the number of processors set it",
  OPENPO_SHOPS_OPEN_MAX: "OPENPO_MEMORY_MB sets it",
  OPENPO_STORED_ANSWERS_MB: "a shop stores 4096 megabytes at most",
  OPENPO_UNREAD_MB: "OPENPO_MEMORY_MB sets it",
  OPENPO_URL: "commands take the server's address by --url",
};

/** The first variable that is gone and set, with what stands in its place; null without one. */
export function goneOptionIn(env: Environment): { readonly name: string; readonly instead: string } | null {
  const found = Object.entries(goneOptions).find(([name]) => (env[name] ?? "") !== "");
  return found === undefined ? null : { name: found[0], instead: found[1] };
}

/** Letters to insert, remove or replace to make one name of the other. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of one.split("").entries()) {
    const next = [index + 1];
    for (const [column, wanted] of other.split("").entries())
      next.push(
        Math.min((row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1, (row[column] ?? 0) + (letter === wanted ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Names of variables that begin like ours and that nothing reads, each with the name that is most like it. */
export function unknownOptionsIn(env: Environment): readonly { readonly name: string; readonly nearest: string }[] {
  const known = Object.keys(options.shape);
  const [first = ""] = known;
  return Object.keys(env)
    .filter((name) => name.startsWith("OPENPO_") && !known.includes(name) && !(name in goneOptions))
    .toSorted()
    .map((name) => ({
      name,
      nearest: known.reduce((best, each) => (editsBetween(name, each) < editsBetween(name, best) ? each : best), first),
    }));
}
