/**
 * The same random commands through REST on one shop and through MCP on its twin: the same answers, errors, orders, logs, side effects
 * and stock, but for ids, instants, who is said to have asked and what operations are called (M1, M2).
 *
 * Only on sqlite: its subject is the two surfaces, which know no engine; conformance/fuzz.slow.test.ts asks random requests of both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { restOperations } from "../../src/operations/registry.ts";
import type { SandboxFault } from "../../src/storefront/sandbox/faults.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { type Agent, connectAgent } from "../support/mcp.ts";
import { inToolNames } from "../support/openapi/wording.ts";
import { until } from "../support/until.ts";

interface Command {
  readonly tool: string;
  /** `order` and `line N` stand for ids, which differ between the twins. */
  readonly input: JsonObject;
  readonly idempotencyKey: string | null;
  readonly faults: readonly Partial<SandboxFault>[];
}

const units = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: min * 4, max: max * 4 }).map((quarters) => quarters / 4);
const line = fc.constantFrom("line 0", "line 1", "line 2", "line 9");
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const bulk = (members: Record<string, fc.Arbitrary<Json | undefined>>): fc.Arbitrary<Json> =>
  fc.array(
    fc.record({ lineItemId: line, ...members }).map((entry) => defined(entry)),
    { minLength: 0, maxLength: 3 },
  );

/** Without what is undefined: JSON has none. */
const defined = (members: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

const resolutions = optional(
  fc.array(fc.record({ itemId: line, action: fc.constantFrom("activate", "skip") }), { maxLength: 2 }),
);
const catalogueLines = fc.array(
  fc.record({
    variantId: fc.constantFrom("red", "blue", "unknown", "CSTM-1"),
    quantityOrdered: units(-1, 6),
    unitCost: units(0, 20),
  }),
  { maxLength: 3 },
);

/** What each tool is asked, sensible and not. */
const inputs: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<Json | undefined>>>>> = {
  purchase_order_create: { poName: optional(fc.string({ maxLength: 5 })), lineItems: catalogueLines },
  purchase_order_update: {
    poName: optional(fc.constantFrom("spring", null, 5)),
    locationId: optional(fc.constantFrom("warehouse", null)),
    fxRateOverride: optional(fc.constantFrom(1.5, null, -1)),
    status: optional(fc.constant("Sent")),
  },
  purchase_order_delete: {},
  purchase_order_line_item_add: { lineItems: catalogueLines },
  purchase_order_line_item_add_custom: { productName: fc.constantFrom("Pallet", ""), quantityOrdered: units(0, 3) },
  purchase_order_line_item_update: {
    lines: bulk({
      quantityOrdered: optional(units(0, 8)),
      quantityCancelled: optional(units(0, 3)),
      unitCost: optional(units(0, 20)),
      quantityReceived: optional(fc.constant(1)),
      supplierVariantDetails: optional(fc.constant({ a: [1] })),
    }),
    updateSupplier: optional(fc.boolean()),
  },
  purchase_order_line_item_delete: { lineItemIds: fc.array(line, { minLength: 1, maxLength: 2 }) },
  purchase_order_status: { status: fc.constantFrom(...statuses, "Lost"), resolutions },
  purchase_order_confirm: {
    lines: optional(bulk({ quantityConfirmed: units(0, 7) })),
    confirmAll: optional(fc.boolean()),
    resolutions,
  },
  purchase_order_receive: {
    lines: bulk({ quantityReceived: units(0, 7), quantityRejected: optional(units(0, 2)) }),
    allowOverReceipt: optional(fc.boolean()),
    resolutions,
  },
  purchase_order_unreceive: { lines: bulk({ quantity: units(0, 4) }), reason: optional(fc.constant("broken")) },
  purchase_order_complete: { nonsense: optional(fc.constant(1)) },
  purchase_order_quick_complete: { resolutions },
  purchase_order_storefront_sync: {
    lineItemIds: optional(fc.array(line, { maxLength: 2 })),
    awaitConfirmation: fc.constant(true),
  },
  purchase_order_storefront_sync_reset: {},
  purchase_order_get: {},
  purchase_order_log_list: { limit: optional(fc.constantFrom(1, 50, 51)) },
  purchase_order_list: {
    status: optional(fc.array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 3 })),
    search: optional(fc.constantFrom("PO-", "shirt")),
    dateFrom: optional(fc.constantFrom("2026-01-01", "yesterday")),
    limit: optional(fc.constantFrom(0, 1, 50)),
  },
};

const operationNamed = (name: string) => {
  const operation = restOperations.find((each) => each.name === name);
  assert.ok(operation !== undefined, name);
  return operation;
};

const fault = fc.record({
  call: fc.constantFrom(
    "checkVariants" as const,
    "changeOnHand" as const,
    "writeCosts" as const,
    "setIncoming" as const,
  ),
  outcome: fc.constantFrom("error" as const, "refused" as const),
});

const commandOf = (tool: string): fc.Arbitrary<Command> => {
  const takesOrder = operationNamed(tool).route.path.includes("{");
  const write = operationNamed(tool).scope === "write";
  return fc.record({
    tool: fc.constant(tool),
    input: fc
      .record(inputs[tool] ?? {})
      .map((members) => ({ ...(takesOrder ? { purchaseOrderId: "order" } : {}), ...defined(members) })),
    idempotencyKey: write ? fc.option(fc.constantFrom("k1", "k2", ""), { freq: 3 }) : fc.constant(null),
    faults: fc.array(fault, { maxLength: 1 }),
  });
};

/** The way that most orders go, so that not only refusals are compared; whatever else happens in between. */
const onward = ["Sent", "confirm", "receive", "complete"].map((step): fc.Arbitrary<Command> => {
  const base = { idempotencyKey: null, faults: [] };
  const purchaseOrderId = "order";
  const lines = ["line 0", "line 1"];
  const all = (member: string, value: number): Json => lines.map((lineItemId) => ({ lineItemId, [member]: value }));
  const commands: Readonly<Record<string, Command>> = {
    Sent: { ...base, tool: "purchase_order_status", input: { purchaseOrderId, status: "Sent" } },
    confirm: { ...base, tool: "purchase_order_confirm", input: { purchaseOrderId, confirmAll: true } },
    receive: { ...base, tool: "purchase_order_receive", input: { purchaseOrderId, lines: all("quantityReceived", 2) } },
    complete: { ...base, tool: "purchase_order_complete", input: { purchaseOrderId } },
  };
  const command = commands[step];
  assert.ok(command !== undefined);
  return fc.constant(command);
});

const anyCommand = fc.oneof(...Object.keys(inputs).map(commandOf));
const story: fc.Arbitrary<readonly Command[]> = fc
  .tuple(...onward.flatMap((step) => [fc.array(anyCommand, { maxLength: 3 }), fc.option(step, { freq: 8 })]))
  .map((parts) => parts.flat().filter((part) => part !== null));

interface Told {
  readonly isError: boolean;
  /** `data`, or the error. */
  readonly content: Json;
}

/** One of the twins: its order, and how it is asked. */
interface Twin {
  readonly server: GoodsServer;
  readonly orderId: string;
  ask(tool: string, input: JsonObject, idempotencyKey: string | null): Promise<Told>;
}

const parameterText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An advice that names a tool where REST, which has no such search, names none. */
const inAgentWords = (text: string): string =>
  text.replaceAll("or an SKU: put a line", "or an SKU: find the variant with variant_search and put a line");

/** How REST spells the call, told apart from how the agent surface does it. */
async function askRest(
  server: GoodsServer,
  tool: string,
  input: JsonObject,
  idempotencyKey: string | null,
): Promise<Told> {
  const { route } = operationNamed(tool);
  const { purchaseOrderId = "", ...members } = input;
  const inBody = route.method === "POST" || route.method === "PATCH";
  const query = Object.entries(members).map(([name, value]) => {
    const text = isJsonArray(value) ? value.map(parameterText).join(",") : parameterText(value);
    return `${name}=${encodeURIComponent(text)}`;
  });
  const target = `/api/v1${route.path.replace("{purchaseOrderId}", parameterText(purchaseOrderId))}`;
  const answer = await server.request(
    route.method,
    inBody || query.length === 0 ? target : `${target}?${query.join("&")}`,
    {
      ...(inBody ? { body: members } : {}),
      ...(idempotencyKey === null ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
    },
  );
  const error = answer.at("error");
  const content = error ?? answer.at("data");
  assert.ok(content !== undefined, answer.text);
  const told: Json = JSON.parse(inAgentWords(inToolNames(JSON.stringify(content))));
  return { isError: error !== undefined, content: told };
}

async function askAgent(agent: Agent, tool: string, input: JsonObject, idempotencyKey: string | null): Promise<Told> {
  const named: JsonObject = JSON.parse(inToolNames(JSON.stringify(input)));
  const answer = await agent.callWhole(tool, { ...named, ...(idempotencyKey === null ? {} : { idempotencyKey }) });
  const content = answer.isError ? answer.at("error") : answer.at();
  assert.ok(content !== undefined && isJsonObject(content));
  const { nextStep: _, replayed: __, writtenByOthers: ___, ...same } = content;
  return {
    isError: answer.isError,
    content: answer.isError && answer.at("replayed") === true ? asFirstTold(same) : same,
  };
}

/** A refusal that is told again as it was told first: only an agent is told that it is of an earlier call (C69). */
function asFirstTold({ message, action, ...others }: JsonObject): JsonObject {
  assert.ok(typeof message === "string" && typeof action === "string");
  const first = action
    .replace(
      / ?(?:The order is (?:now [\w ]+, version \d+|not there now)\. )?To try again, call with a new idempotencyKey\.$/,
      "",
    )
    .replace(/^The advice then was: /, "");
  const was = message.replace(/^This is the answer of an earlier call, of \S+; nothing was tried now\. It was: /, "");
  return { ...others, message: was, ...(first === "" ? {} : { action: first }) };
}

/** Everything of the order that can be read, and what the storefront has. */
async function standing({ server, orderId }: Twin): Promise<Json> {
  const order = `/api/v1/purchase-orders/${orderId}`;
  const reads = await Promise.all(["", "/log", "/cost-sync-history"].map((below) => server.get(`${order}${below}`)));
  const { variants } = await server.sandbox.state(["red", "blue"]);
  const state: Json = JSON.parse(JSON.stringify(variants));
  return [...reads.map((read) => read.at("data") ?? read.at("error", "code") ?? null), state];
}

/** Waits until nothing of the order is under way. */
async function atRest(twin: Twin): Promise<void> {
  const pending = "select count(*) as count from effect where shop_id = ? and state = 'pending'";
  await until("follow-on work has ended", async () => {
    const [row] = await twin.server.engine.read(twin.server.shopId, (tx) =>
      tx.all<{ count: number }>(pending, [twin.server.shopId]),
    );
    return row?.count === 0;
  });
}

/** Ids by their first appearance, instants and actors by a word. */
function normalised(value: Json, ids: Map<string, string>): Json {
  const text = (each: string): string =>
    each
      .replaceAll(/\b(?:[a-z]{2,4})_[0-9a-z]{26}\b/g, (id) => {
        const known = ids.get(id) ?? `id ${ids.size}`;
        ids.set(id, known);
        return known;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "an instant");
  if (typeof value === "string") return text(value);
  if (isJsonArray(value)) return value.map((each) => normalised(each, ids));
  if (!isJsonObject(value)) return value;
  const { cursor, actor, ...members } = value;
  const rest = Object.entries(members).map(([name, member]): [string, Json] => [name, normalised(member, ids)]);
  return {
    ...Object.fromEntries(rest),
    ...(cursor === undefined ? {} : { cursor: typeof cursor }),
    ...(actor === undefined ? {} : { actor: "the caller" }),
  };
}

/** The input with this twin's ids. */
async function ownInput(twin: Twin, input: JsonObject): Promise<JsonObject> {
  const order = await twin.server.get(`/api/v1/purchase-orders/${twin.orderId}`);
  const own = (value: Json): Json => {
    if (value === "order") return twin.orderId;
    if (typeof value === "string" && value.startsWith("line "))
      return order.at("data", "purchaseOrder", "lineItems", Number(value.slice(5)), "poLineItemId") ?? value;
    if (isJsonArray(value)) return value.map(own);
    return isJsonObject(value) ? objectOf(value) : value;
  };
  const objectOf = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, own(value)]));
  return objectOf(input);
}

test("any commands through REST and through MCP leave twin shops alike, and are answered alike", async () => {
  const options = {
    outboxLimits: { attemptsMax: 2, backoffMs: 1 },
    shop: { followOnWaitMs: 3_000, confirmationWaitMs: 3_000 },
  } as const;
  await using rest = await startGoodsServer(options);
  await using mcp = await startGoodsServer(options);
  await using agent = await connectAgent(mcp, { revision: "2025-11-25" });
  const seen = { stories: 0, answered: 0, refused: 0, replayable: 0 };
  await fc.assert(
    fc.asyncProperty(story, async (commands) => {
      seen.stories += 1;
      const keyOf = (key: string | null): string | null =>
        key === null || key === "" ? key : `${key} of story ${seen.stories}`;
      const first: JsonObject = {
        supplierId: "mill",
        locationId: "warehouse",
        lineItems: [
          { variantId: "red", quantityOrdered: 4, unitCost: 2.5 },
          { variantId: "blue", quantityOrdered: 2, unitCost: 19.99 },
        ],
      };
      const asks: readonly (readonly [GoodsServer, Twin["ask"]])[] = [
        [rest, (tool, input, key) => askRest(rest, tool, input, key)],
        [mcp, (tool, input, key) => askAgent(agent, tool, input, key)],
      ];
      const twins = await Promise.all(
        asks.map(async ([server, ask]): Promise<Twin> => {
          const { content } = await ask("purchase_order_create", first, null);
          const order = isJsonObject(content) ? content["purchaseOrder"] : undefined;
          const orderId = order !== undefined && isJsonObject(order) ? order["purchaseOrderId"] : undefined;
          assert.ok(typeof orderId === "string");
          return { server, orderId, ask };
        }),
      );
      const ids = twins.map(() => new Map<string, string>());
      for (const { tool, input, idempotencyKey, faults } of commands) {
        const outcomes = await Promise.all(
          twins.map(async (twin, index) => {
            await twin.server.faults(faults);
            const told = await twin.ask(tool, await ownInput(twin, input), keyOf(idempotencyKey));
            await atRest(twin);
            const known = ids[index] ?? new Map<string, string>();
            return {
              told: normalised([told.isError, told.content], known),
              left: normalised(await standing(twin), known),
              ...told,
            };
          }),
        );
        const [one, other] = outcomes;
        const what = `${tool} ${JSON.stringify(input)}`;
        assert.deepEqual(other?.told, one?.told, what);
        assert.deepEqual(other?.left, one?.left, `${what}: what it left`);
        if (one?.isError === true) seen.refused += 1;
        else seen.answered += 1;
        if (idempotencyKey !== null) seen.replayable += 1;
      }
    }),
    // The twins live on from story to story: once they differ, every later story would.
    { numRuns: 20, endOnFailure: true },
  );
  // Stories that are refused from end to end would prove little.
  const enough = seen.stories / 2;
  assert.ok(seen.answered > enough && seen.refused > enough && seen.replayable > enough / 2, JSON.stringify(seen));
});
