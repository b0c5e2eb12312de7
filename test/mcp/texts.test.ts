/** Every text that an agent is told before it calls anything: in tools and arguments, never in what REST alone has (C69). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { nextStepOf } from "../../src/core/order/advice/next-step.ts";
import { instructionsFor, prompts } from "../../src/mcp/resources/guide.ts";
import { guides } from "../../src/operations/agent/guides.ts";
import { definitionIn, toolOf } from "../../src/mcp/tools.ts";
import { operations } from "../../src/operations/registry.ts";
import { assertForAgents, assertWorded } from "../support/openapi/wording.ts";

const order = {
  purchaseOrderId: "po",
  previousStatus: "Sent",
  storefrontSyncState: "failed",
  isMailedOnSent: false,
} as const;

const texts: readonly (readonly [string, unknown])[] = [
  ["the instructions", [true, false].map((emailOnSent) => instructionsFor({ emailOnSent }))],
  ...operations.flatMap((operation) =>
    [true, false].map((emailOnSent) => [operation.name, definitionIn(toolOf(operation), { emailOnSent })] as const),
  ),
  ...guides.map((guide) => [guide.uri, { ...guide, mimeType: "" }] as const),
  ...prompts.map((prompt) => [prompt.name, [prompt, prompt.text({ viewId: "v", locationId: "l" })]] as const),
  ...statuses.flatMap((status) =>
    [true, false].map((isUnsynced) => {
      const facts = { ...order, locationId: isUnsynced ? "l" : null };
      const open = { isPending: isUnsynced, isConfirmedInPart: isUnsynced };
      const step = nextStepOf({ ...facts, ...open, status, isUnsynced, itemCount: isUnsynced ? 0 : 1 });
      return [`the next step from ${status}`, step] as const;
    }),
  ),
];

test("no text of this surface speaks of methods, paths, headers, comma lists, other names of a line's id or files", () => {
  for (const [where, text] of texts) {
    const json = JSON.stringify(text);
    try {
      assertWorded(json);
      assertForAgents(json);
    } catch (error) {
      throw new Error(`${where}: ${json}`, { cause: error });
    }
  }
});

test("every tool that a text names is there, with the arguments that a next step fills in", () => {
  const members = new Map(
    operations.map((operation) => [operation.name, toolOf(operation).definition.inputSchema.properties ?? {}]),
  );
  for (const [where, text] of texts)
    for (const [name] of JSON.stringify(text).matchAll(
      /\b(?:purchase_order|stock_take|stock_adjustment|transfer_order|manufacturing_order|forecast_view)_[a-z_]+|\b(?:supplier_list|location_list|variant_search|orders_needing_attention|reorder_from_view)\b/g,
    ))
      assert.ok(members.has(name), `${where} names ${name}`);
  for (const status of statuses) {
    const facts = { ...order, locationId: "l", itemCount: 1 };
    const open = { isPending: true, isConfirmedInPart: false };
    const step = nextStepOf({ ...facts, ...open, status, isUnsynced: false });
    for (const argument of Object.keys(step.arguments))
      assert.ok(argument in (members.get(step.tool) ?? {}), `${status}: ${argument}`);
  }
});

test("it is said what Sent does, what numbers of a receipt mean, and what is left when goods are taken back", () => {
  const told = (name: string): string =>
    operations
      .flatMap((operation) => (operation.name === name ? [toolOf(operation).definition.description ?? ""] : []))
      .join();
  const status = operations.find(({ name }) => name === "purchase_order_status") ?? assert.fail();
  const inShop = (emailOnSent: boolean): string => definitionIn(toolOf(status), { emailOnSent }).description ?? "";
  assert.match(inShop(false), /In this shop Sent mails nothing to the supplier\.$/);
  assert.match(inShop(true), /In this shop a draft's move to Sent mails it to the supplier: ask first\.$/);
  assert.match(told("purchase_order_status"), /from Sent on to Cancelled.*A Draft is not cancelled but deleted/);
  assert.match(told("purchase_order_receive"), /quantityReceived 70, quantityRejected 2/);
  assert.match(told("purchase_order_unreceive"), /pending again.*purchase_order_line_item_update/);
});
