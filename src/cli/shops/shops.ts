/**
 * Commands on shops: create, list, delete.
 */
import { memberOf } from "../../base/json.ts";
import type { Ask } from "../../admin/ask.ts";
import { CommandError, exitCodes, usageError } from "../errors.ts";
import { commonOptions, dataOf, given, membersIn, type RunnableCommand, withOperator } from "../command.ts";
import { listIn, table } from "../output.ts";

export const shopCreate: RunnableCommand = {
  name: "shop create",
  parameters: ["SHOP_ID"],
  summary: "create a shop, or change it with --update",
  details: `SHOP_ID is 1 to 40 lower-case letters, digits and hyphens.

Settings: followOnWaitMs, confirmationWaitMs, autoSyncOnReceiving, costSyncMode, onOrderTag, fxRates, rateLimit, timezone.

  openpo shop create tideline --name "Tideline Coffee" --currency EUR --setting 'fxRates={"USD":0.92}'`,
  options: {
    name: { value: "NAME", help: "its name for people (its id)" },
    currency: { value: "CODE", help: "its currency (USD)", member: "currencyCode" },
    "rest-api": { value: "yes|no", help: "whether its plan includes the REST API (yes)", member: "plan" },
    standalone: { value: null, help: "it has no storefront and keeps its stock itself", member: "storefront" },
    setting: {
      value: "NAME=VALUE",
      help: "a setting; the value is JSON or plain text; may be repeated",
      repeats: true,
      member: "settings",
    },
    update: { value: null, help: "change the shop if it exists; options that are not given change nothing" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.parameter(0);
    const restApi = args.text("rest-api");
    if (restApi !== null && restApi !== "yes" && restApi !== "no")
      throw usageError("--rest-api must be yes or no.", "See openpo shop create --help.");
    const settings = membersIn(args, "setting", shopCreate);
    await withOperator(
      context,
      async (ask) => {
        const before = await findShop(ask, shopId);
        if (before !== null && !args.flag("update"))
          throw new CommandError(exitCodes.failed, `shop ${shopId} exists already.`, {
            action: "Add --update to change it.",
          });
        const name = memberOf(before, "name");
        const input = given({
          shopId,
          name: args.text("name") ?? (typeof name === "string" ? name : shopId),
          currencyCode: args.text("currency"),
          plan: restApi === null ? null : { restApi: restApi === "yes" },
          storefront: args.flag("standalone") ? { kind: "none" } : null,
          settings: Object.keys(settings).length === 0 ? null : settings,
        });
        const data = dataOf(await ask("shop_put", input));
        context.output.result(data, `Shop ${shopId} is ${before === null ? "created" : "changed"}.`);
      },
      true,
    );
  },
};

/** The shop as it is listed, or null when there is none. */
export async function findShop(ask: Ask, shopId: string): Promise<unknown> {
  const shops = listIn(dataOf(await ask("shop_list", {})), "shops");
  return shops.find((shop) => memberOf(shop, "shopId") === shopId) ?? null;
}

export const shopList: RunnableCommand = {
  name: "shop list",
  parameters: [],
  summary: "list the shops with their numbers of records",
  options: commonOptions,
  async run(_args, context) {
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("shop_list", {}));
      const rows = listIn(data, "shops").map((shop) => {
        const counts = memberOf(shop, "counts");
        return [
          memberOf(shop, "shopId"),
          memberOf(shop, "name") ?? memberOf(shop, "unavailable"),
          memberOf(shop, "currencyCode"),
          memberOf(counts, "purchaseOrders"),
          memberOf(counts, "variants"),
          memberOf(counts, "apiKeys"),
        ];
      });
      context.output.result(
        data,
        rows.length === 0
          ? "There are no shops."
          : table(["SHOP", "NAME", "CURRENCY", "ORDERS", "VARIANTS", "KEYS"], rows),
      );
    });
  },
};

export const shopDelete: RunnableCommand = {
  name: "shop delete",
  parameters: ["SHOP_ID"],
  summary: "delete a shop with all its data",
  options: {
    confirm: { value: "SHOP_ID", help: "the shop's id again (required); this cannot be undone" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.parameter(0);
    const confirm = args.required("confirm");
    if (confirm !== shopId)
      throw usageError(`--confirm says ${confirm}, not ${shopId}.`, "See openpo shop delete --help.");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("shop_delete", { shopId, confirm }));
      context.output.result(data, `Shop ${shopId} is deleted.`);
    });
  },
};
