/**
 * Every field that a caller or an import file may set is set to a value of its own and read back from every place that shows it.
 *
 * The members are taken from the schemas of the operations and of the import records, so a new member is tested as soon as it is in its
 * schema. Members that are named below are the exceptions, each with its reason.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { fxRateFrom } from "../../src/core/money/money.ts";
import { purchaseOrderInput } from "../../src/exchange/records/purchase-orders.ts";
import { derived } from "../../src/exchange/record-type.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { bindingOf } from "../../src/http/routes.ts";
import type { RestOperation } from "../../src/requests/operation.ts";
import { restOperations } from "../../src/operations/registry.ts";
import type { Shop } from "../../src/shop/access/accounts.ts";
import { withShops } from "../support/admin.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { spelled } from "../support/openapi/requests.ts";
import {
  createValues,
  differences,
  emptied,
  entryOf,
  type Members,
  membersOf,
  neverGiven,
  nonsense,
  type Schema,
  takesNull,
} from "../support/openapi/schema-values.ts";
import { exportedRecords } from "../support/shops/exported-records.ts";

const shopCurrency = "EUR";

/** Stored in the supplier's catalogue entry only, which only an export shows (C36). */
const hiddenMembers = ["supplierVariantDetails"];

/** Other members that setting a member changes. Their new value is taken from the answer of the write; all other places must agree. */
const consequences: Readonly<Record<string, readonly string[]>> = {
  // A new supplier brings its currency and terms (C32); the rate of another currency is dropped.
  supplierId: ["currencyCode", "fxRateOverride", "paymentTerms", "incoterm"],
  // The rate was for the old currency.
  currencyCode: ["fxRateOverride"],
};

/** The value of a member after null was sent, where it is not null. */
const cleared: Readonly<Record<string, (header: JsonObject) => Json>> = {
  tags: () => [],
  // Derived again (C35). The supplier is cleared in the same call, so it is the shop's.
  currencyCode: () => shopCurrency,
  unitCostCurrencyCode: (header) => header["currencyCode"] ?? null,
};

/** The same in import records. */
const clearedInRecords: Readonly<Record<string, Json>> = {
  "purchaseOrder.tags": [],
  // The shop's currency, since no supplier has one; a line takes its order's.
  "purchaseOrder.currencyCode": shopCurrency,
  "purchaseOrder.lineItems.unitCostCurrencyCode": shopCurrency,
  "stockTake.currencyCode": shopCurrency,
  "stockAdjustment.currencyCode": shopCurrency,
  "transferOrder.currencyCode": shopCurrency,
};

/** Members of answers that never have a value in these tests. */
const withoutValue: readonly { readonly path: RegExp; readonly reason: string }[] = [
  { path: /\.cursor$/, reason: "no list here has a second page" },
];

const rates = { USD: 1.25, GBP: 0.8, SEK: 0.5, CHF: 1.5 };
const shopSettings: Partial<Shop> = {
  currencyCode: shopCurrency,
  fxRates: Object.fromEntries(
    Object.entries(rates).map(([code, rate]) => {
      const exact = fxRateFrom(rate);
      assert.ok(exact !== null);
      return [code, exact];
    }),
  ),
};

/** The shop has no rate for it, so a line in it is left out of the order's total. */
const withoutRate = "XAF";

const suppliers = ["supplier one", "supplier two"];
const locations = ["location one", "location two"];
const variants = ["variant one", "variant two"];
const items = ["item one", "item two"];
const lineIds = ["line one", "line two"];
const orderIds = ["order one", "order two"];
const transferIds = ["transfer one", "transfer two"];

const values = createValues({
  known: {
    supplierId: suppliers,
    supplierIds: suppliers,
    locationIds: locations,
    variantIds: variants,
    locationId: locations,
    fromLocationId: locations,
    toLocationId: locations,
    productionLocationId: locations,
    variantId: variants,
    // References within a file.
    poLineItemId: lineIds,
    moItemId: items,
    purchaseOrderId: orderIds,
    linkedPurchaseOrders: orderIds.toReversed(),
    transferOrderId: transferIds,
    linkedTransferOrders: transferIds.toReversed(),
  },
  raised: {
    // P1, P2, P3: ordered ≥ confirmed ≥ received + rejected + cancelled, received ≥ synced.
    quantityOrdered: 900_000,
    quantityConfirmed: 800_000,
    quantityReceived: 200_000,
    quantitySynced: 100_000,
    // A shipment's row of the receipt schedule needs more allocated than rejected.
    quantityAllocated: 10_000,
    // A credit's amount is at least its balance.
    amount: 100_000,
  },
  currencies: Object.keys(rates),
  derived,
});

const none = (faults: readonly string[], after: string): void => {
  assert.ok(faults.length === 0, `${after}:\n  ${faults.join("\n  ")}`);
};

const objects = (value: Json | undefined): readonly JsonObject[] =>
  value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];

function objectIn(value: Json | undefined, what: string): JsonObject {
  assert.ok(value !== undefined && isJsonObject(value), `${what} is no object`);
  return value;
}

function textIn(value: JsonObject, member: string): string {
  const text = value[member];
  assert.ok(typeof text === "string", `${member} is no text in ${JSON.stringify(value)}`);
  return text;
}

function operationNamed(name: string): RestOperation {
  const operation = restOperations.find((each) => each.name === name);
  assert.ok(operation !== undefined, name);
  return operation;
}

const without = (members: Members, names: readonly string[]): Members =>
  new Map([...members].filter(([name]) => !names.includes(name)));

/** Answers of reads over REST, by operation; the last test searches them. */
const readAnswers = new Map<string, Json[]>();

type Ask = (operation: string, input: JsonObject) => Promise<JsonObject>;

/** Asks over REST. */
const restOf =
  (server: GoodsServer): Ask =>
  async (name, input) => {
    const operation = operationNamed(name);
    const { target, body } = spelled(bindingOf(operation), input);
    const answer = await server.request(operation.route.method, target, { body });
    assert.equal(answer.status, operation.success, `${name}: ${answer.text}`);
    const data = answer.at("data");
    if (operation.scope === "read" && data !== undefined)
      readAnswers.set(name, [...(readAnswers.get(name) ?? []), data]);
    return objectIn(data, name);
  };

const sameAs = (members: Readonly<Record<string, string>>) => (record: JsonObject) =>
  Object.entries(members).every(([name, value]) => record[name] === value);

// Orders, written by their operations.

const createMembers = membersOf(operationNamed("purchase_order_create").input);
const headerMembers = without(createMembers, ["lineItems"]);
const updateMembers = without(membersOf(operationNamed("purchase_order_update").input), ["purchaseOrderId"]);
const createLineMembers = membersOf(entryOf(createMembers.get("lineItems")));
const addLineMembers = membersOf(
  entryOf(membersOf(operationNamed("purchase_order_line_item_add").input).get("lineItems")),
);
const customMembers = without(membersOf(operationNamed("purchase_order_line_item_add_custom").input), [
  "purchaseOrderId",
]);
const editMembers = without(
  membersOf(entryOf(membersOf(operationNamed("purchase_order_line_item_update").input).get("lines"))),
  ["lineItemId"],
);
/** Members that may be set on a custom line only; a catalogue line has them from the catalogue. */
const customOnly = [...customMembers.keys()].filter((name) => !addLineMembers.has(name));
const supplierVariantMembers = membersOf(recordTypes.supplierVariant.input);
/** Members of a new order that its supplier's record has, and of a new line that the supplier's catalogue has (C32). */
// Its note is about the supplier.
const supplierMembers = without(membersOf(recordTypes.supplier.input), ["note"]);
const ofSupplier = [...headerMembers.keys()].filter((name) => supplierMembers.has(name));
const ofCatalogue = [...addLineMembers.keys()].filter((name) => supplierVariantMembers.has(name));
/** Members of a line edit that updateSupplier writes to the supplier's catalogue. */
const carriedMembers = [...editMembers.keys()].filter((name) => supplierVariantMembers.has(name));

/** Reads that show an order's header, lines or addresses. */
const orderReads = restOperations.filter(
  ({ scope, output, route }) =>
    scope === "read" &&
    /^\/purchase-orders(\/\{purchaseOrderId\}.*)?$/.test(route.path) &&
    ["purchaseOrder", "purchaseOrders", "lineItems", "addresses"].some((name) => membersOf(output).has(name)),
);

/** What one place shows of an order. */
interface Showing {
  readonly place: string;
  /** With all members if `whole`. */
  readonly header: JsonObject | null;
  readonly whole: boolean;
  readonly lines: readonly JsonObject[] | null;
}

/** What an answer or a record shows of an order. */
function showingsIn(place: string, data: JsonObject, purchaseOrderId: string): readonly Showing[] {
  const isOrder = sameAs({ purchaseOrderId });
  const orders = [...objects([data["purchaseOrder"] ?? null]), ...objects(data["purchaseOrders"])].filter(isOrder);
  const addresses = [data, ...orders].flatMap((each) => objects([each["addresses"] ?? null]));
  return [
    ...orders.map((order): Showing => {
      const { lineItems } = order;
      return { place, header: order, whole: true, lines: lineItems === undefined ? null : objects(lineItems) };
    }),
    ...addresses.map((header): Showing => ({ place: `${place} (addresses)`, header, whole: false, lines: null })),
    ...(data["lineItems"] === undefined
      ? []
      : [{ place: `${place} (lineItems)`, header: null, whole: false, lines: objects(data["lineItems"]) }]),
  ];
}

/** One order with the values it is expected to have. Each change goes through `ask` and is then checked in every place. */
async function orderStory(server: GoodsServer, ask: Ask, bySurface: string) {
  let purchaseOrderId = "";
  let header: JsonObject = {};
  const lines = new Map<string, JsonObject>();
  const catalogue = new Map<string, JsonObject>();
  /** Texts that may stand in the supplier's catalogue only. */
  const hidden: string[] = [];
  const keyOf = (entry: JsonObject): string => `${textIn(entry, "supplierId")} / ${textIn(entry, "variantId")}`;
  const variantRecords = new Map<Json | undefined, JsonObject>();
  const supplierRecords = new Map<Json | undefined, JsonObject>();
  for (const record of await exportedRecords(server.engine, server.shopId)) {
    if (record["type"] === "supplierVariant") catalogue.set(keyOf(record), record);
    if (record["type"] === "variant") variantRecords.set(record["variantId"], record);
    if (record["type"] === "supplier") supplierRecords.set(record["supplierId"], record);
  }

  const shown = (sent: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => {
        if (hiddenMembers.includes(name)) return [];
        return [[name, value === null ? (cleared[name]?.(header) ?? null) : value]];
      }),
    );

  /** The values that the record gives to members that were not sent. */
  const defaults = (names: readonly string[], record: JsonObject | undefined, sent: JsonObject): JsonObject =>
    record === undefined
      ? {}
      : Object.fromEntries(names.flatMap((name) => (name in sent ? [] : [[name, record[name] ?? null]])));

  /** What a new catalogue line has where nothing was sent: its supplier's terms, else the variant's cost in the shop's currency. */
  function lineDefaults(sent: JsonObject): JsonObject {
    const { supplierId = null } = header;
    const { variantId } = sent;
    // A custom line is in no catalogue, and a cost without a currency is in the order's.
    if (variantId === undefined || "unitCost" in sent) return {};
    const entry = supplierId === null ? undefined : catalogue.get(keyOf({ variantId, supplierId }));
    const { unitCost = null } = variantRecords.get(variantId) ?? {};
    return defaults(ofCatalogue, entry ?? { unitCost, unitCostCurrencyCode: shopCurrency }, sent);
  }

  /**
   * Expects of a new line what was sent, what the catalogue says and the supplier's terms; other editable members that were not sent
   * keep the answer's value.
   */
  function keepLine(line: JsonObject, sent: JsonObject): void {
    const variant = variantRecords.get(sent["variantId"]) ?? {};
    const fromCatalogue = customOnly.flatMap((name) => (name in variant ? [[name, variant[name] ?? null]] : []));
    const initial = [...editMembers.keys()].flatMap((name) => (name in line ? [[name, line[name] ?? null]] : []));
    lines.set(textIn(line, "poLineItemId"), {
      ...Object.fromEntries(initial),
      ...Object.fromEntries(fromCatalogue),
      ...lineDefaults(sent),
      ...shown(sent),
    });
  }

  const headerFaults = ({ place, header: shows, whole }: Showing): readonly string[] =>
    shows === null
      ? []
      : Object.entries(header)
          .filter(([name]) => whole || name in shows)
          .flatMap(([name, value]) => differences(value, shows[name], `${place}: ${name}`));

  const lineFaults = ({ place, lines: shows }: Showing, isAll: boolean): readonly string[] => {
    if (shows === null) return [];
    const ids = shows.map((line) => textIn(line, "poLineItemId"));
    const missing = [...lines.keys()].filter((id) => isAll && !ids.includes(id));
    return [
      ...missing.map((id) => `${place}: line ${id} is missing`),
      ...shows.flatMap((line) =>
        Object.entries(lines.get(textIn(line, "poLineItemId")) ?? {}).flatMap(([name, value]) =>
          differences(value, line[name], `${place}: line's ${name}`),
        ),
      ),
    ];
  };

  /** Checks every place that shows the order, and the suppliers' catalogue. */
  async function check(after: string, answer: JsonObject): Promise<void> {
    const answers: (readonly [string, JsonObject])[] = [[`the answer of ${after}`, answer]];
    for (const { name, input } of orderReads)
      answers.push([name, await ask(name, "purchaseOrderId" in input.shape ? { purchaseOrderId } : {})]);
    const records = await exportedRecords(server.engine, server.shopId);
    const exported = records.filter(sameAs({ type: "purchaseOrder", purchaseOrderId }));
    const entries = records.filter(sameAs({ type: "supplierVariant" }));
    const showings = [
      ...answers.flatMap(([place, data]) => showingsIn(place, data, purchaseOrderId)),
      ...exported.flatMap((order) => showingsIn("the export", { purchaseOrder: order }, purchaseOrderId)),
    ];
    assert.equal(exported.length, 1);
    const silent = answers.filter(([, data]) => showingsIn("", data, purchaseOrderId).length === 0);
    none(
      [
        ...silent.map(([place]) => `${place}: does not show the order`),
        ...showings.flatMap(headerFaults),
        ...showings.flatMap((showing) => lineFaults(showing, !showing.place.endsWith(`${after} (lineItems)`))),
        ...entries.flatMap((entry) => {
          const key = keyOf(entry);
          return differences(catalogue.get(key) ?? {}, entry, `the catalogue's export of ${key}`);
        }),
        ...leaks([answers, exported]),
      ],
      `${bySurface}: after ${after}`,
    );
  }

  const leaks = (shown: unknown): readonly string[] => {
    const all = JSON.stringify(shown);
    return hidden.filter((text) => all.includes(text)).map((text) => `${text} is shown outside the catalogue`);
  };

  /** Compares the newest entry of the activity log with what was sent. */
  async function checkLog(
    after: string,
    sent: JsonObject,
    was: JsonObject,
    is: JsonObject,
    poLineItemId: string | null,
  ): Promise<void> {
    const [entry = {}] = objects((await ask("purchase_order_log_list", { purchaseOrderId, limit: 1 }))["log"]);
    const changes = objects(entry["changes"]).filter((change) => change["poLineItemId"] === poLineItemId);
    const names = Object.keys(shown(sent));
    const moved = names.filter((name) => differences(was[name] ?? null, is[name], name).length > 0);
    const others = new Set(names.flatMap((name) => consequences[name] ?? []));
    none(
      [
        ...moved.flatMap((field) => {
          const [change] = changes.filter((each) => each["field"] === field);
          if (change === undefined) return [`the log has no change of ${field}`];
          const { before, after } = { before: was[field] ?? null, after: is[field] ?? null };
          return differences({ before, after }, change, `the log's ${field}`);
        }),
        ...changes
          .map((change) => textIn(change, "field"))
          .filter((field) => !moved.includes(field) && !others.has(field))
          .map((field) => `the log has a change of ${field}, which did not change`),
      ],
      `${bySurface}: after ${after}`,
    );
  }

  return {
    id: () => purchaseOrderId,
    header: () => header,
    lines: () => lines,

    /** Hidden members are in no log either. */
    async checkHidden(): Promise<void> {
      const logs = [await ask("purchase_order_log_list", { purchaseOrderId }), await server.audit(), server.logged];
      assert.ok(hidden.length > 0);
      none(leaks(logs), `${bySurface}: in the logs`);
    },

    async create(sent: JsonObject, sentLines: readonly JsonObject[]): Promise<void> {
      const answer = await ask("purchase_order_create", { ...sent, lineItems: sentLines });
      const order = objectIn(answer["purchaseOrder"], "purchaseOrder");
      purchaseOrderId = textIn(order, "purchaseOrderId");
      // A member that only an update takes keeps the answer's value.
      header = Object.fromEntries([...updateMembers.keys()].map((name) => [name, order[name] ?? null]));
      header = {
        ...header,
        ...defaults(ofSupplier, supplierRecords.get(sent["supplierId"]), sent),
        ...shown(sent),
      };
      for (const [index, line] of objects(order["lineItems"]).entries()) keepLine(line, sentLines[index] ?? {});
      await check("purchase_order_create", answer);
    },

    async update(sent: JsonObject, which: string): Promise<void> {
      const after = `purchase_order_update of ${which}`;
      const was = header;
      const answer = await ask("purchase_order_update", { purchaseOrderId, ...sent });
      const order = objectIn(answer["purchaseOrder"], "purchaseOrder");
      const follow = Object.keys(sent)
        .flatMap((name) => consequences[name] ?? [])
        .filter((name) => !(name in sent));
      header = { ...header, ...shown(sent), ...Object.fromEntries(follow.map((name) => [name, order[name] ?? null])) };
      if ("supplierId" in sent)
        for (const line of objects(order["lineItems"])) {
          const id = textIn(line, "poLineItemId");
          const terms = Object.fromEntries(ofCatalogue.map((name) => [name, line[name] ?? null]));
          lines.set(id, { ...lines.get(id), ...terms });
        }
      await check(after, answer);
      await checkLog(after, sent, was, header, null);
    },

    async addLines(operation: string, sent: readonly JsonObject[]): Promise<void> {
      const isCustom = operation.endsWith("_custom");
      const answer = await ask(operation, { purchaseOrderId, ...(isCustom ? sent[0] : { lineItems: sent }) });
      const added = objects(answer["lineItems"]);
      assert.equal(added.length, sent.length);
      for (const [index, line] of added.entries()) keepLine(line, sent[index] ?? {});
      await check(operation, answer);
      const [entry = {}] = objects((await ask("purchase_order_log_list", { purchaseOrderId, limit: 1 }))["log"]);
      // The log keeps a few members of a new line.
      none(
        objects(entry["changes"]).flatMap((change) => {
          const line = lines.get(textIn(change, "poLineItemId"));
          return Object.entries(objectIn(change["after"], "after")).flatMap(([name, value]) =>
            line?.[name] === undefined ? [] : differences(line[name], value, `the log's line's ${name}`),
          );
        }),
        `${bySurface}: after ${operation}`,
      );
    },

    async editLine(lineItemId: string, sent: JsonObject, updateSupplier: boolean, which: string): Promise<void> {
      const after = `purchase_order_line_item_update of ${which}`;
      const was = lines.get(lineItemId) ?? {};
      const answer = await ask("purchase_order_line_item_update", {
        purchaseOrderId,
        lines: [{ lineItemId, ...sent }],
        ...(updateSupplier ? { updateSupplier } : {}),
      });
      assert.deepEqual(answer["failed"], [], after);
      assert.deepEqual(
        objects(answer["lineItems"]).map((line) => line["poLineItemId"]),
        [lineItemId],
      );
      const is = { ...was, ...shown(sent) };
      lines.set(lineItemId, is);
      for (const name of hiddenMembers) hidden.push(...Object.keys(sent[name] ?? {}));
      if (updateSupplier) {
        const key = keyOf({ ...is, supplierId: header["supplierId"] ?? null });
        const entry = objectIn(catalogue.get(key), key);
        const carried = Object.entries(sent).filter(([name]) => carriedMembers.includes(name));
        // A cost is written together with its line's currency.
        const currency =
          "unitCost" in sent || "unitCostCurrencyCode" in sent
            ? { unitCostCurrencyCode: is["unitCostCurrencyCode"] ?? null }
            : {};
        catalogue.set(key, { ...entry, ...Object.fromEntries(carried), ...currency });
      }
      await check(after, answer);
      if (Object.keys(shown(sent)).length > 0) await checkLog(after, sent, was, is, lineItemId);
    },
  };
}

/** The answers of all reads of one order. */
async function allReadsOf(server: GoodsServer, purchaseOrderId: string): Promise<JsonObject> {
  const answers: Record<string, Json> = {};
  for (const { name, scope, route } of restOperations)
    if (scope === "read" && route.path.includes("{purchaseOrderId}"))
      answers[name] = await restOf(server)(name, { purchaseOrderId });
  return answers;
}

/** Imports the shop's export into a fresh shop and compares all reads and the export of that one. */
async function checkMove(server: GoodsServer, purchaseOrderIds: readonly string[]): Promise<void> {
  await using fresh = await startGoodsServer({ shop: shopSettings });
  const records = await exportedRecords(server.engine, server.shopId);
  await fresh.bring(records);
  assert.deepEqual(await exportedRecords(fresh.engine, fresh.shopId), records, "the export of the import");
  for (const id of purchaseOrderIds)
    none(differences(await allReadsOf(server, id), await allReadsOf(fresh, id), id), "in a fresh shop");
}

async function startCatalogue(): Promise<GoodsServer & AsyncDisposable> {
  const server = await startGoodsServer({ shop: shopSettings });
  const recordOf = (type: keyof typeof recordTypes, key: JsonObject): JsonObject => ({
    ...values.ofMembers(membersOf(recordTypes[type].input), type),
    ...key,
  });
  await server.bring([
    ...locations.map((locationId) => recordOf("location", { locationId })),
    ...suppliers.map((supplierId) => recordOf("supplier", { supplierId })),
    ...variants.map((variantId) => recordOf("variant", { variantId })),
    ...suppliers.flatMap((supplierId) =>
      variants.map((variantId) => recordOf("supplierVariant", { supplierId, variantId })),
    ),
  ]);
  return server;
}

/** Creates, changes and clears every member of an order over one surface. */
async function everyField(server: GoodsServer, ask: Ask, bySurface: "REST" | "MCP"): Promise<void> {
  const story = await orderStory(server, ask, bySurface);
  const draw = (members: Members): JsonObject => values.ofMembers(members, bySurface);
  /** One member with another value than it has now; there are only a few ids and currencies to draw from. */
  function drawOther(name: string, member: Schema, now: JsonObject | undefined): JsonObject {
    const value = values.of(member, `${bySurface}.${name}`);
    return differences(value, now?.[name], name).length > 0 ? { [name]: value } : drawOther(name, member, now);
  }
  // A tool call is the REST request it stands for (M1), so changing one member at a time is tested over REST only.
  const alone = (members: Members): Members =>
    bySurface === "REST" ? members : without(members, [...members.keys()].slice(1));
  const nulls = (members: Members): JsonObject =>
    Object.fromEntries([...members].flatMap(([name, member]) => (takesNull(member) ? [[name, null]] : [])));

  await story.create(draw(headerMembers), [draw(createLineMembers), draw(createLineMembers)]);
  await story.update(draw(updateMembers), "everything");
  for (const [name, member] of alone(updateMembers))
    await story.update(drawOther(name, member, story.header()), `${name} alone`);

  await story.addLines("purchase_order_line_item_add", [draw(addLineMembers), draw(addLineMembers)]);
  await story.addLines("purchase_order_line_item_add_custom", [draw(customMembers)]);

  const added = [...story.lines().keys()];
  const onCatalogueLine = without(editMembers, customOnly);
  const edits = [
    // Sent one at a time: on the catalogue line what goes to the supplier's catalogue, on the custom line every member.
    { lineItemId: added[0] ?? "", members: onCatalogueLine, updateSupplier: true },
    { lineItemId: added.at(-1) ?? "", members: editMembers, updateSupplier: false },
  ];
  for (const { lineItemId, members, updateSupplier } of edits) {
    await story.editLine(lineItemId, draw(members), false, "everything");
    await story.editLine(lineItemId, draw(members), updateSupplier, "everything again");
    const single = updateSupplier ? new Map([...members].filter(([name]) => carriedMembers.includes(name))) : members;
    for (const [name, member] of alone(single))
      await story.editLine(
        lineItemId,
        drawOther(name, member, story.lines().get(lineItemId)),
        updateSupplier,
        `${name} alone`,
      );
  }
  await story.checkHidden();
  await checkMove(server, [story.id()]);

  for (const { lineItemId, members, updateSupplier } of edits)
    await story.editLine(lineItemId, nulls(members), updateSupplier, "everything to null");
  await story.update(nulls(updateMembers), "everything to null");

  const bare = await orderStory(server, ask, bySurface);
  const cleanLine = (members: Members): JsonObject => ({ ...draw(members), ...nulls(members) });
  await bare.create(nulls(headerMembers), [cleanLine(createLineMembers)]);
  await bare.addLines("purchase_order_line_item_add", [cleanLine(addLineMembers)]);
  await bare.addLines("purchase_order_line_item_add_custom", [cleanLine(customMembers)]);

  // Nothing but what must be sent: everything else reads back its default.
  const lean = await orderStory(server, ask, bySurface);
  const leanLine = { variantId: variants[1] ?? "", quantityOrdered: 2 };
  await lean.create({ supplierId: suppliers[1] ?? "" }, [leanLine]);
  await lean.addLines("purchase_order_line_item_add", [leanLine]);
  const unsupplied = await orderStory(server, ask, bySurface);
  await unsupplied.create({}, [leanLine]);
  await unsupplied.addLines("purchase_order_line_item_add", [leanLine]);
  await checkMove(server, [story.id(), bare.id(), lean.id(), unsupplied.id()]);
}

test("over REST every header and line field reads back everywhere after create, change and clear", async () => {
  await using server = await startCatalogue();
  await everyField(server, restOf(server), "REST");
});

test("over MCP every header and line field reads back everywhere after create, change and clear", async () => {
  await using server = await startCatalogue();
  await using agent = await connectAgent(server);
  await everyField(
    server,
    async (name, input) => {
      const answer = await agent.callWhole(name, input);
      assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer.result.content)}`);
      // Agents know the id of a line by one name.
      const named: Json = JSON.parse(JSON.stringify(answer.at()).replaceAll('"lineItemId":', '"poLineItemId":'));
      return objectIn(named, name);
    },
    "MCP",
  );
});

// Import records.

const recordSchemas: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ...Object.entries(recordTypes).map(([type, { input }]) => [type, input] as const),
  ["purchaseOrder", purchaseOrderInput],
]);

/** The record without these members. */
const less = (record: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

/** What of the two records of a type is replaced, so that rules between members hold and each member takes effect in one of them. */
const adjusted: Readonly<Record<string, (record: JsonObject, isFirst: boolean) => JsonObject>> = {
  // A supplier that is there was merged into none.
  supplierMerge: (record, isFirst) => ({ ...record, supplierId: isFirst ? "merged" : "merged too" }),
  // The supplier of the order whose credits are read.
  supplierCredit: (record) => ({ ...record, supplierId: suppliers[0] ?? "" }),
  purchaseOrder: (record, isFirst) => ({
    // Only the export shows a deleted order. `addresses` is another spelling of both addresses. Of the sync state a record can only say
    // `failed`, which shows where nothing is synced.
    ...(isFirst
      ? less(record, "deletedAt", "addresses", "storefrontSyncState")
      : { ...less(record, "billingAddress", "shippingAddress"), storefrontSyncState: "failed" }),
    supplierId: suppliers[0] ?? "",
    lineItems: objects(record["lineItems"]).map((line, index) => ({
      // Exported only where more was received than confirmed.
      ...(line["allowOverReceipt"] === true
        ? { ...line, quantityReceived: 900_000.123 }
        : less(line, "allowOverReceipt")),
      ...(isFirst ? {} : { quantitySynced: 0 }),
      ...(index === 0 ? {} : { unitCostCurrencyCode: withoutRate }),
    })),
  }),
  stockTake: (record) => ({ ...record, lineItems: objects(record["lineItems"]).map(valuedByHand("valueVariance")) }),
  stockAdjustment: (record) => ({
    ...record,
    lineItems: objects(record["lineItems"]).map(valuedByHand("valueChange")),
  }),
  // `shipment` is another spelling of `shipments` with one entry. The reads show the current one.
  transferOrder: (record, isFirst) =>
    isFirst
      ? { ...less(record, "shipment"), shipments: objects(record["shipments"]).slice(0, 1) }
      : less(record, "shipments"),
  // What a logo is follows from its bytes.
  documentSettings: (record) => ({
    ...record,
    logo: {
      base64: Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><path d="M0 0h8v4H0z"/></svg>',
      ).toString("base64"),
      contentType: "image/svg+xml",
      width: 8,
      height: 4,
    },
  }),
  manufacturingOrder: (record) => ({
    ...record,
    itemsToBuild: objects(record["itemsToBuild"]).map((item, index) => ({ ...item, moItemId: items[index] ?? "" })),
  }),
};

/** How an export spells what a record may spell in two ways. */
const respelled: Readonly<Record<string, (record: JsonObject) => JsonObject>> = {
  purchaseOrder: (record) => ({ ...less(record, "addresses"), ...objects([record["addresses"] ?? null])[0] }),
  transferOrder: (record) =>
    record["shipment"] === undefined || record["shipment"] === null
      ? less(record, "shipment")
      : { ...less(record, "shipment"), shipments: [record["shipment"]] },
  manufacturingOrder: (record) => ({
    ...record,
    linkedPurchaseOrders: byId(record["linkedPurchaseOrders"], "purchaseOrderId"),
    linkedTransferOrders: byId(record["linkedTransferOrders"], "transferOrderId"),
  }),
  // A view of a person whom the shop does not know is everybody's (C54).
  consoleView: (record) => ({ ...record, personId: null, isShared: true }),
};

/** Ids alone as objects with an id. */
const byId = (entries: Json | undefined, name: string): readonly Json[] =>
  entries !== undefined && isJsonArray(entries)
    ? entries.map((entry) => (typeof entry === "string" ? { [name]: entry } : entry))
    : [];

/** A stated value is kept where there is no unit cost: the first line has the one, the others have the other. */
const valuedByHand =
  (member: string) =>
  (line: JsonObject, index: number): JsonObject =>
    index === 0 ? { ...line, unitCost: null } : less(line, member);

/** Types of which a shop has one record. */
const oneOfAShop: ReadonlySet<string> = new Set(["documentSettings"]);

/** Two records of each type, every member given. */
const fullRecords: readonly JsonObject[] = [...recordSchemas].flatMap(([type, schema]) =>
  (oneOfAShop.has(type) ? [0] : [0, 1]).map((index) =>
    (adjusted[type] ?? ((record) => record))(values.ofMembers(membersOf(schema), type), index === 0),
  ),
);

const fullOrder =
  fullRecords.find((record) => record["type"] === "purchaseOrder" && record["deletedAt"] === undefined) ?? {};

/** Members that stay when a record is emptied. */
const keptMembers: Readonly<Record<string, readonly string[]>> = {
  // Part of the record's key.
  sale: ["locationId"],
  // Required outside Draft, and on custom lines.
  purchaseOrder: ["locationId", "productName"],
};

const emptyRecords = fullRecords.map((record): JsonObject => {
  const type = textIn(record, "type");
  const options = { kept: keptMembers[type] ?? [], derived };
  const { version, ...empty } = objectIn(emptied(recordSchemas.get(type) ?? purchaseOrderInput, record, options), type);
  // A replaced order's version rises (C37).
  const risen = typeof version === "number" ? { ...empty, version: version + 1 } : empty;
  // The export leaves it out when it is null.
  return less(risen, "deletedAt");
});

/** The value with the defaults that nulls of a record become. */
function withDefaults(value: Json, path: string): Json {
  if (value === null) return clearedInRecords[path] ?? null;
  if (isJsonArray(value)) return value.map((entry) => withDefaults(entry, path));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withDefaults(member, `${path}.${name}`)]),
  );
}

/** Compares each record with the exported one that shares most ids with it, so that a lost id is reported as such. */
function exportFaults(records: readonly JsonObject[], exported: readonly JsonObject[]): readonly string[] {
  return [...Map.groupBy(records, (record) => textIn(record, "type"))].flatMap(([type, ofType]) => {
    const found = exported.filter(sameAs({ type }));
    assert.equal(found.length, ofType.length, `${type} in the export`);
    return ofType.flatMap((record) => {
      const keys = Object.keys(record).filter((name) => /Id$|^date$/.test(name));
      const shared = (other: JsonObject): number => keys.filter((name) => other[name] === record[name]).length;
      const [same] = found.toSorted((a, b) => shared(b) - shared(a));
      return differences((respelled[type] ?? ((given) => given))(record), same, type);
    });
  });
}

test("every member of every import record is exported, survives a second import and is cleared by null", async () => {
  await withShops(async (open) => {
    const [first, second, empty] = [
      await open("first", shopSettings),
      await open("second", shopSettings),
      await open("empty", shopSettings),
    ];
    await first.bring(fullRecords);
    const exported: readonly JsonObject[] = JSON.parse(JSON.stringify(await first.records()));
    none(exportFaults(fullRecords, exported), "exported after the import");

    await second.bring(exported);
    assert.deepEqual(await second.records(), exported, "the export of the import");

    await first.bring(emptyRecords);
    const left: readonly JsonObject[] = JSON.parse(JSON.stringify(await first.records()));
    none(
      exportFaults(
        emptyRecords.map((record) => objectIn(withDefaults(record, textIn(record, "type")), "")),
        left,
      ),
      "exported after the import of emptied records",
    );
    await empty.bring(emptyRecords);
    assert.deepEqual(await empty.records(), left, "an emptied record leaves nothing of the one it replaces");
  });
});

/** Reads that show records of a type without having its id in their path. */
const alsoReads: Readonly<Record<string, readonly string[]>> = {
  stockTakeReason: ["stock_take_reason_list"],
  supplierCredit: ["purchase_order_credit_list"],
};

/** Types that only the operator's side shows. One has an id of the same name as another's in these paths. */
const withoutRead: readonly string[] = ["consoleView"];

/** The member that names a record in paths: the first one after `type`. */
const idMemberOf = (schema: Schema): string => [...membersOf(schema).keys()].find((name) => name !== "type") ?? "";

/** Every scalar in a value, with the name of its member. */
const scalarsOf = (value: Json, name: string): readonly (readonly [name: string, value: Json])[] =>
  isJsonArray(value)
    ? value.flatMap((entry) => scalarsOf(entry, name))
    : isJsonObject(value)
      ? Object.entries(value).flatMap(([member, inner]) => scalarsOf(inner, member))
      : [[name, value]];

test("every imported value is shown by the reads that have a member of its name", async () => {
  await using server = await startGoodsServer({ shop: shopSettings });
  await server.bring(fullRecords);
  const ask = restOf(server);
  const faults: string[] = [];
  for (const [type, schema] of recordSchemas) {
    if (withoutRead.includes(type)) continue;
    const idMember = idMemberOf(schema);
    const records = fullRecords.filter((record) => record["type"] === type && record["deletedAt"] === undefined);
    const reads = restOperations.filter(({ scope, route }) => scope === "read" && route.path.includes(`{${idMember}}`));
    const lists = restOperations.filter(({ scope, route }) =>
      reads.some((read) => scope === "read" && read.route.path.startsWith(`${route.path}/{${idMember}}`)),
    );
    const answers: JsonObject[] = [];
    const askAlso = async (operation: RestOperation, input: JsonObject): Promise<void> => {
      const flags = [...bindingOf(operation).query].filter(([, kind]) => kind === "boolean");
      answers.push(await ask(operation.name, { ...input, ...Object.fromEntries(flags.map(([name]) => [name, true])) }));
    };
    for (const record of records)
      for (const read of reads) await askAlso(read, { [idMember]: record[idMember] ?? null });
    for (const list of lists) await askAlso(list, {});
    for (const name of alsoReads[type] ?? [])
      await askAlso(operationNamed(name), { purchaseOrderId: textIn(fullOrder, "purchaseOrderId") });

    const shown = scalarsOf(answers, "");
    const names = new Set(shown.map(([name]) => name));
    const pairs = new Set(shown.map((pair) => JSON.stringify(pair)));
    faults.push(
      ...records
        .flatMap((record) => scalarsOf(less((respelled[type] ?? ((given) => given))(record), "type"), ""))
        .filter(([name, value]) => value !== nonsense && names.has(name) && !pairs.has(JSON.stringify([name, value])))
        .map(([name, value]) => `${type}: no read shows ${name} ${JSON.stringify(value)}`),
    );
  }
  none(faults, "read after the import");
});

test("every member of every read's answer had a value in these tests", () => {
  assert.ok(readAnswers.size > 0, "run the whole file: this test searches the answers of the other tests");
  const paths = restOperations
    .filter(({ scope }) => scope === "read")
    .flatMap(({ name, output }) => neverGiven(output, readAnswers.get(name) ?? [], name));
  const isExcepted = (path: string): boolean => withoutValue.some((exception) => exception.path.test(path));
  none(
    paths.filter((path) => !isExcepted(path)).map((path) => `${path}: nothing ever gave it a value`),
    "these tests",
  );
  for (const { path } of withoutValue)
    assert.ok(
      paths.some((each) => path.test(each)),
      `${path}: has a value by now`,
    );
});
