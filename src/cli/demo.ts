/**
 * The command that makes the demo shop.
 */
import { demoShopId } from "../demo/shop.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { commonOptions, type RunnableCommand, withOperator } from "./command.ts";
import { openedAt } from "./shops/console.ts";
import { findShop } from "./shops/shops.ts";

export const demo: RunnableCommand = {
  name: "demo",
  parameters: [],
  summary: "create the demo shop, an invitation to its console and two keys, which are shown only now",
  options: commonOptions,
  async run(_args, context) {
    await withOperator(
      context,
      async (ask) => {
        if ((await findShop(ask, demoShopId)) !== null)
          throw new CommandError(exitCodes.failed, `shop ${demoShopId} exists already.`, {
            action: `Delete it first: openpo shop delete ${demoShopId} --confirm ${demoShopId}`,
          });
        const { makeDemoShop } = await import("../demo/demo-shop.ts");
        const made = await makeDemoShop(ask, context.nowMs);
        const invitation = openedAt(made.invitation, context.config);
        context.output.result(
          { ...made, invitation },
          [
            `Shop ${made.shopId} is ready.`,
            `  console    ${invitation}`,
            `  read key   ${made.readKey}`,
            `  write key  ${made.writeKey}`,
          ].join("\n"),
        );
      },
      true,
    );
  },
};
