/**
 * Commands on a shop's API keys: create, list, revoke.
 */
import { commonOptions, dataOf, type RunnableCommand, shopOption, withOperator } from "../command.ts";
import { listIn, memberOf, shown, table } from "../output.ts";

export const keyCreate: RunnableCommand = {
  name: "key create",
  parameters: [],
  summary: "create an API key, which is shown only now",
  options: {
    ...shopOption,
    name: { value: "NAME", help: "what the key is for (required)" },
    scope: { value: "read|write", help: "what the key may do (read)" },
    "no-sign-in": { value: null, help: "nobody signs in at the console with it: for agents", member: "signIn" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = {
      shopId: args.required("shop"),
      name: args.required("name"),
      scope: args.text("scope") ?? "read",
      signIn: !args.flag("no-sign-in"),
    };
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("key_create", input));
      context.output.result(data, shown(memberOf(data, "apiKey")));
      context.output.message(`Key ${shown(memberOf(data, "keyId"))} (${input.scope}). It is not shown again.`);
    });
  },
};

export const keyList: RunnableCommand = {
  name: "key list",
  parameters: [],
  summary: "list the API keys of a shop, without their secrets",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("key_list", { shopId }));
      const fields = ["keyId", "name", "scope", "lastFour", "createdAt", "lastUsedAt", "revokedAt"];
      const rows = listIn(data, "keys").map((key) => fields.map((field) => memberOf(key, field)));
      const headings = ["KEY", "NAME", "SCOPE", "LAST FOUR", "CREATED", "LAST USED", "REVOKED"];
      context.output.result(data, rows.length === 0 ? "There are no keys." : table(headings, rows));
    });
  },
};

export const keyRevoke: RunnableCommand = {
  name: "key revoke",
  parameters: ["KEY_ID"],
  summary: "revoke an API key; its next request is refused",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    const keyId = args.parameter(0);
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("key_revoke", { shopId, keyId }));
      context.output.result(data, `Key ${keyId} is revoked.`);
    });
  },
};
