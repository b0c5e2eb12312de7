/**
 * Commands on a shop's storefront: connect, look, disconnect.
 */
import { readFile } from "node:fs/promises";
import {
  type CommandContext,
  commonOptions,
  dataOf,
  given,
  type RunnableCommand,
  shopOption,
  withOperator,
} from "./command.ts";
import { CommandError, exitCodes, usageError } from "./errors.ts";
import { memberOf, shown } from "./output.ts";

/** The token: the first line of a file, or of stdin. It is never an argument, which other users of the machine could read. */
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

/** What an answer warns of. */
function warn(data: unknown, { output }: CommandContext): void {
  const warnings = memberOf(data, "warnings");
  if (Array.isArray(warnings)) for (const warning of warnings) output.message(String(warning));
}

export const storefrontConnect: RunnableCommand = {
  name: "storefront connect",
  parameters: [],
  summary: "connect a shop to its Shopify store or its Medusa",
  details: `The store is asked at once: what the secret lacks, another currency or a store that does not answer are refused, and nothing is
changed. docs/storefronts.md says how to make a token or a key.

  openpo storefront connect --shop demo --domain example.myshopify.com --token-file token.txt
  openpo storefront connect --shop demo --medusa https://medusa.example.com --token-file key.txt`,
  options: {
    ...shopOption,
    domain: { value: "HOST", help: "a Shopify store's domain, like example.myshopify.com", member: "storefront" },
    medusa: { value: "URL", help: "a Medusa's address, like https://medusa.example.com", member: "storefront" },
    "token-file": {
      value: "FILE",
      help: "a file with Shopify's Admin API access token or Medusa's secret API key; - for stdin (-)",
    },
    "api-version": { value: "VERSION", help: "version of Shopify's API (2026-10)" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    const [domain, url, apiVersion] = [args.text("domain"), args.text("medusa"), args.text("api-version")];
    if ((domain === undefined) === (url === undefined))
      throw usageError("Name the store with --domain (Shopify) or with --medusa.");
    if (url !== undefined && apiVersion !== undefined) throw usageError("--api-version is for a Shopify store.");
    const secret = await tokenFrom(args.text("token-file") ?? "-", context);
    const storefront =
      url === undefined
        ? given({ kind: "shopify", domain, accessToken: secret, apiVersion })
        : { kind: "medusa", url, secretKey: secret };
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("shop_put", { shopId, storefront }));
      context.output.result(data, `Shop ${shopId} is connected to ${domain ?? url}.`);
      warn(data, context);
    });
  },
};

export const storefrontStatus: RunnableCommand = {
  name: "storefront status",
  parameters: [],
  summary: "show how a shop's storefront is connected and doing",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("storefront_get", { shopId }));
      const storefront = memberOf(data, "storefront");
      const error = memberOf(storefront, "lastError");
      const lines = [
        `${shown(memberOf(storefront, "kind"))} ${shown(memberOf(storefront, "account"))}`.trimEnd(),
        `last call   ${shown(memberOf(storefront, "lastCallAt"))}`,
        `last error  ${error === null ? "" : `${shown(memberOf(error, "at"))} ${shown(memberOf(error, "message"))}`}`,
        `backlog     ${shown(memberOf(storefront, "backlog"))}`,
      ];
      context.output.result(data, lines.map((line) => line.trimEnd()).join("\n"));
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
