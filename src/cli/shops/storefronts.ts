/**
 * Commands on a shop's storefront: connect, look, pull, disconnect.
 */
import { readFile } from "node:fs/promises";
import { sleep } from "../../base/time/waiting.ts";
import {
  asking,
  type CommandContext,
  commonOptions,
  dataOf,
  given,
  type RunnableCommand,
  shopOption,
  withOperator,
} from "../command.ts";
import { memberOf, type JsonObject } from "../../base/json.ts";
import type { Arguments } from "../arguments.ts";
import { CommandError, exitCodes, usageError } from "../errors.ts";
import { shown } from "../output.ts";

/**
 * The token: the first line of a file, or of stdin. It is never an argument, which other users of the machine could
 * read.
 */
async function tokenFrom(file: string, { stdin }: CommandContext): Promise<string> {
  try {
    const pieces: Uint8Array[] = [];
    if (file === "-") for await (const piece of stdin()) pieces.push(piece);
    else pieces.push(await readFile(file));
    return Buffer.concat(pieces).toString("utf8").split("\n", 1)[0]?.trim() ?? "";
  } catch (error) {
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${String(memberOf(error, "code"))}.`);
  }
}

/** Shows the warnings of an answer. */
function warn(data: unknown, { output }: CommandContext): void {
  const warnings = memberOf(data, "warnings");
  if (Array.isArray(warnings)) for (const warning of warnings) output.message(String(warning));
}

/** A Shopify store with its secrets, as they are named by the options. */
async function shopifyStore(
  args: Arguments,
  context: CommandContext,
  domain: string | null,
  apiVersion: string | null,
): Promise<JsonObject> {
  const [clientId, secretFile, tokenFile] = [args.text("client-id"), args.text("secret-file"), args.text("token-file")];
  const asksNoToken = clientId !== null && tokenFile === null;
  const secret = secretFile ?? (asksNoToken ? "-" : null);
  if (!asksNoToken && secret === "-" && (tokenFile ?? "-") === "-")
    throw usageError("Only one of --token-file and --secret-file can be stdin.");
  return given({
    kind: "shopify",
    domain,
    accessToken: asksNoToken ? null : await tokenFrom(tokenFile ?? "-", context),
    clientId,
    clientSecret: secret === null ? null : await tokenFrom(secret, context),
    apiVersion,
  });
}

export const storefrontConnect: RunnableCommand = {
  name: "storefront connect",
  parameters: [],
  summary: "connect a shop to its Shopify store or its Medusa",
  details: `The store is asked at once: what the secret lacks, another currency or a store that does not answer are refused, and nothing is
changed. docs/storefronts.md says how to make a token or a key.

  openpo storefront connect --shop demo --domain example.myshopify.com --token-file token.txt
  openpo storefront connect --shop demo --domain example.myshopify.com --client-id ID --secret-file secret.txt
  openpo storefront connect --shop demo --medusa https://medusa.example.com --token-file key.txt`,
  options: {
    ...shopOption,
    domain: { value: "HOST", help: "a Shopify store's domain, like example.myshopify.com", member: "storefront" },
    medusa: { value: "URL", help: "a Medusa's address, like https://medusa.example.com", member: "storefront" },
    "token-file": {
      value: "FILE",
      help: "a file with Shopify's Admin API access token or Medusa's secret API key; - for stdin (-)",
    },
    "client-id": {
      value: "ID",
      help: "the client id of a Shopify app of the Dev Dashboard: its tokens are renewed; needs --secret-file, and no token",
    },
    "secret-file": {
      value: "FILE",
      help: "a file with the Shopify app's client secret: tokens are renewed with it, and webhooks checked; - for stdin",
    },
    "api-version": { value: "VERSION", help: "version of Shopify's API (2026-10)" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    const [domain, url, apiVersion] = [args.text("domain"), args.text("medusa"), args.text("api-version")];
    if ((domain === null) === (url === null))
      throw usageError("Name the store with --domain (Shopify) or with --medusa.");
    if (url !== null && apiVersion !== null) throw usageError("--api-version is for a Shopify store.");
    const storefront =
      url === null
        ? await shopifyStore(args, context, domain, apiVersion)
        : { kind: "medusa", url, secretKey: await tokenFrom(args.text("token-file") ?? "-", context) };
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("shop_put", { shopId, storefront }));
      context.output.result(data, `Shop ${shopId} is connected to ${domain ?? url}.`);
      warn(data, context);
    });
  },
};

/** Returns the state of a Shopify store's token, and the rights of the app there. */
function tokenOf(storefront: unknown): readonly string[] {
  const token = memberOf(storefront, "token");
  if (token === null) return [];
  const expiresAt = memberOf(token, "expiresAt");
  const until = typeof expiresAt === "string" ? `until ${expiresAt}` : "no end is known";
  const scopes = memberOf(storefront, "scopes");
  const [granted, missing] = [listOf(scopes, "granted"), listOf(scopes, "missing")];
  return [
    `token       ${until}, ${memberOf(token, "renews") === true ? "renewed by itself" : "not renewed"}`,
    ...(granted === "" ? [] : [`scopes      ${granted}`]),
    ...(missing === "" ? [] : [`missing     ${missing}: not all sales can be pulled`]),
  ];
}

const listOf = (value: unknown, name: string): string => {
  const list = memberOf(value, name);
  return Array.isArray(list) ? list.map(String).join(", ") : "";
};

/** Returns the state of the store's webhooks, and the advice. */
function webhooksOf(webhooks: unknown): readonly string[] {
  if (webhooks === null) return [];
  const words = ["state", "address", "reason", "action"].map((name) => memberOf(webhooks, name));
  return [`webhooks    ${words.filter((word) => typeof word === "string").join(" ")}`];
}

function lastPullOf(pull: unknown): string {
  if (pull === null) return "none";
  const error = memberOf(pull, "error");
  const why = error === null ? "" : `: ${shown(memberOf(error, "message"))}`;
  return `${shown(memberOf(pull, "endedAt") ?? memberOf(pull, "startedAt"))} ${shown(memberOf(pull, "state"))}${why}; ${progressOf(pull)}`;
}

export const storefrontWebhooks = asking({
  name: "storefront webhooks",
  summary: "ask a shop's Shopify store again to tell of its changes",
  details: `Connecting does so by itself, where the service has an OPENPO_PUBLIC_URL and knows the app's client secret. Ask again after
the public address has changed, or when the status says that the store does not tell of everything.

  openpo storefront webhooks --shop demo`,
  operation: "storefront_subscribe",
  told: (data) => {
    const webhooks = memberOf(data, "webhooks");
    if (memberOf(webhooks, "state") !== "on")
      throw new CommandError(exitCodes.failed, shown(memberOf(webhooks, "reason")), {
        action: shown(memberOf(webhooks, "action")),
      });
    return `The store tells of its changes at ${shown(memberOf(webhooks, "address"))}.`;
  },
});

export const storefrontStatus = asking({
  name: "storefront status",
  summary: "show how a shop's storefront is connected and doing",
  operation: "storefront_get",
  told: (data) => {
    const storefront = memberOf(data, "storefront");
    const error = memberOf(storefront, "lastError");
    const lines = [
      `${shown(memberOf(storefront, "kind"))} ${shown(memberOf(storefront, "account"))}`.trimEnd(),
      `last call   ${shown(memberOf(storefront, "lastCallAt"))}`,
      `last error  ${error === null ? "" : `${shown(memberOf(error, "at"))} ${shown(memberOf(error, "message"))}`}`,
      `backlog     ${shown(memberOf(storefront, "backlog"))}`,
      ...tokenOf(storefront),
      ...webhooksOf(memberOf(storefront, "webhooks")),
      `last pull   ${lastPullOf(memberOf(storefront, "pull"))}`,
    ];
    return lines.map((line) => line.trimEnd()).join("\n");
  },
});

/** Between two looks at a pull. */
const pullPollMs = 1_000;

/** Returns the counts of a pull, in one line. */
function progressOf(pull: unknown): string {
  const progress = memberOf(pull, "progress");
  const counts = ["locations", "variants", "levels", "sales"].map(
    (name) => `${shown(memberOf(progress, name))} ${name}`,
  );
  const total = memberOf(progress, "total");
  const step = `${shown(memberOf(progress, "step"))}${total === null ? "" : ` of ${shown(total)}`}`;
  return `${counts.join(", ")} (${step})`;
}

/** Returns the findings of a pull, and the records that it could not bring. */
function foundBy(pull: unknown): readonly string[] {
  const progress = memberOf(pull, "progress");
  const lines = (["deleted", "inactive"] as const).flatMap((state) => {
    const names = memberOf(progress, `${state}Names`);
    const count = memberOf(progress, state);
    if (typeof count !== "number" || count === 0) return [];
    return [`${count} variants are ${state} at the storefront: ${Array.isArray(names) ? names.join(", ") : ""}`];
  });
  const notes = memberOf(pull, "notes");
  return [...lines, ...(Array.isArray(notes) ? notes.map(String) : [])];
}

export const storefrontPull: RunnableCommand = {
  name: "storefront pull",
  parameters: [],
  summary: "bring catalogue, levels and sales from a shop's storefront",
  details: `The first pull brings everything, later ones what has changed; a Medusa is asked for its whole catalogue each time, and for the orders that
have changed. The command waits until it is over; ended early, the pull goes on. The sandbox has nothing to pull.

  openpo storefront pull --shop demo`,
  options: {
    ...shopOption,
    everything: { value: null, help: "bring everything again, also what has not changed" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const begun = dataOf(await ask("storefront_pull", { shopId, everything: args.flag("everything") }));
      const pullId = memberOf(memberOf(begun, "pull"), "pullId");
      for (let latestLine = ""; ; await sleep(pullPollMs)) {
        const data = dataOf(await ask("storefront_get", { shopId }));
        const pull = memberOf(memberOf(data, "storefront"), "pull");
        const isOurs = memberOf(pull, "pullId") === pullId;
        if (isOurs && memberOf(pull, "state") === "running") {
          const line = progressOf(pull);
          if (line !== latestLine) context.output.message(line);
          latestLine = line;
          continue;
        }
        // Another one can follow only when ours is over.
        if (memberOf(pull, "state") === "failed" && isOurs)
          throw new CommandError(
            exitCodes.failed,
            `The pull has failed: ${shown(memberOf(memberOf(pull, "error"), "message"))}.`,
          );
        for (const line of foundBy(pull)) context.output.message(line);
        context.output.result({ pull }, `Pulled: ${progressOf(pull)}.`);
        return;
      }
    });
  },
};

export const storefrontDisconnect: RunnableCommand = {
  name: "storefront disconnect",
  parameters: [],
  summary: "take back what is incoming at a shop's storefront and go on with the sandbox",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("shop_put", { shopId, storefront: { kind: "sandbox" } }));
      context.output.result(data, `Shop ${shopId} is on the sandbox.`);
      warn(data, context);
    });
  },
};
