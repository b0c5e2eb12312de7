/** Pulling what a shop's storefront holds (C66). */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { askForPull } from "../../shop/storefront/storefront-pulls.ts";
import { data, inShop, operation, shopOf } from "../operation.ts";
import { pullJson, pullSchema } from "./storefront.ts";
import { checkSubscription } from "./storefront-webhooks.ts";

export const pullStorefront = operation({
  name: "storefront_pull",
  route: { method: "POST", path: "/shops/{shopId}/storefront/pull" },
  role: "owner",
  describes: {
    summary: "Brings locations, catalogue, levels and sales from a shop's storefront.",
    description:
      "The first pull brings everything, with 365 days of sales; later ones what has changed since; from a Medusa, catalogue and levels whole. A second call joins the pull under way. Its progress is in `GET /shops/{shopId}/storefront`.",
    output: z.strictObject({ pull: pullSchema }),
    status: 202,
  },
  input: z.strictObject({
    ...inShop,
    everything: z
      .boolean()
      .default(false)
      .meta({ description: "Brings everything again, also what has not changed. A pull under way stays what it is." }),
  }),
  async run(context, { shopId, everything }) {
    const { engine, clock, ids, calls, wakePull } = context;
    const shop = await engine.read(shopId, (tx) => shopOf(tx, shopId));
    if ((await calls.storefrontOf(shop)).pull === undefined)
      throw new Fault(
        "INVALID_INPUT",
        `Shop ${shopId} is on the storefront ${shop.storefront.kind}: there is nothing to pull.`,
        {
          action: "Connect the shop to its store first, then pull.",
        },
      );
    if (wakePull === undefined)
      throw new Fault("INVALID_INPUT", "A pull needs a running service.", {
        action: "Start the service, then ask it.",
      });
    const pull = await engine.write(shopId, async (tx) => {
      await shopOf(tx, shopId);
      return await askForPull(tx, shopId, everything, ids.next("pull"), clock.now());
    });
    wakePull(shopId);
    await checkSubscription(context, shop);
    return data({ pull: pullJson(pull) }, 202);
  },
});
