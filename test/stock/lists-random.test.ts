/**
 * Lists of the read-only resources against a filter that walks all records, page by page; the plan of their statements; and the round
 * trip of their records.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { foldCase, fold, wordsOf } from "../../src/base/text/fold.ts";
import {
  executionModes,
  manufacturingDateFields,
  manufacturingOrderStatuses,
} from "../../src/core/stock/manufacturing-orders.ts";
import { stockAdjustmentStatuses } from "../../src/core/stock/stock-adjustments.ts";
import { stockTakeStatuses } from "../../src/core/stock/stock-takes.ts";
import { transferOrderStatuses } from "../../src/core/stock/transfer-orders.ts";
import {
  countStatement,
  type ResourceTable,
  listResources,
  pageStatement,
  type ResourcePage,
  type ResourcePosition,
  type ResourceQuery,
} from "../../src/shop/stock/read-only.ts";
import { manufacturingOrderQuery, manufacturingOrderTable } from "../../src/shop/stock/manufacturing-orders.ts";
import { stockAdjustmentQuery, stockAdjustmentTable } from "../../src/shop/stock/stock-adjustments.ts";
import { stockTakeQuery, stockTakeTable } from "../../src/shop/stock/stock-takes.ts";
import { transferOrderQuery, transferOrderTable } from "../../src/shop/stock/transfer-orders.ts";
import { type TestShop, withShops } from "../support/admin.ts";
import { world } from "../support/shops/read-only.ts";
import { onPostgres } from "../support/store.ts";

const dayMs = 86_400_000;
const firstMs = Date.parse("2026-01-01T00:00:00Z");
const count = 60;

/** Numbers that look random and are the same every time. */
function spread(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const draw = spread(7);
const oneOf = <T>(values: readonly T[]): T => {
  const value = values[draw(values.length)];
  assert.ok(value !== undefined);
  return value;
};

const places = ["loc_a", "loc_b", null] as const;
const people = ["Ada", "Bob", null] as const;
const words = ["Spring", "spring_50%", "Straße", "STRASSE 9", "ς", null] as const;
const reasonNames = ["Damaged", "damaged", "Found", null] as const;
const reasonIds = ["rsn_1", "Damaged", null] as const;
const skus = ["A-1", "a-1", "B"] as const;
const days = ["2026-01-03", "2026-01-04", "2026-01-05", null] as const;

/** Few instants, so that ids break ties. */
const createdAt = (): string => new Date(firstMs + draw(6) * (dayMs / 2)).toISOString();
const instant = (): string | null => (draw(3) === 0 ? null : createdAt());
const ids = (prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}_many_${index}`);

const takes = ids("st").map((stockTakeId) => ({
  type: "stockTake",
  stockTakeId,
  stockTakeNumber: oneOf(words),
  stockTakeName: oneOf(words),
  status: oneOf(stockTakeStatuses),
  locationId: oneOf(places),
  createdAt: createdAt(),
}));
const adjustments = ids("sa").map((stockAdjustmentId) => ({
  type: "stockAdjustment",
  stockAdjustmentId,
  stockAdjustmentNumber: oneOf(words),
  note: oneOf(words),
  status: oneOf(stockAdjustmentStatuses),
  locationId: oneOf(places),
  reasonId: oneOf(reasonIds),
  reason: oneOf(reasonNames),
  createdBy: oneOf(people),
  createdAt: createdAt(),
}));
const transfers = ids("to").map((transferOrderId) => ({
  type: "transferOrder",
  transferOrderId,
  transferNumber: oneOf(words),
  transferName: oneOf(words),
  status: oneOf(transferOrderStatuses),
  fromLocationId: oneOf(places),
  toLocationId: oneOf(places),
  createdAt: createdAt(),
  lineItems: Array.from({ length: draw(4) }, () => ({
    variantId: oneOf(["v_1", "v_2"]),
    sku: oneOf(skus),
    quantityRequested: 1 + draw(9),
  })),
}));
const manufacturing = ids("mo").map((manufacturingOrderId) => ({
  type: "manufacturingOrder",
  manufacturingOrderId,
  moNumber: oneOf(words),
  moName: oneOf(words),
  status: oneOf(manufacturingOrderStatuses),
  executionMode: oneOf(executionModes),
  productionLocationId: oneOf(places),
  plannedStartDate: oneOf(days),
  dueDate: oneOf(days),
  completedAt: instant(),
  createdAt: createdAt(),
}));

let shop: TestShop;
let close: () => void = () => {};
let closed: Promise<void> = Promise.resolve();

before(async () => {
  await new Promise<void>((resolve, reject) => {
    closed = withShops(async (open) => {
      shop = await open("lists", { timezone: "UTC" });
      await shop.bring([...takes, ...adjustments, ...transfers, ...manufacturing]);
      await new Promise<void>((end) => {
        close = end;
        resolve();
      });
    });
    closed.catch(reject);
  });
});

after(async () => {
  close();
  await closed;
});

/** The ids of all pages, and every total that was told. */
async function walk<Header extends { readonly createdAtMs: number }>(
  table: ResourceTable<Header>,
  query: ResourceQuery,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly totals: ReadonlySet<number> }> {
  const found: string[] = [];
  const totals = new Set<number>();
  let after: ResourcePosition | null = null;
  do {
    const position: ResourcePosition | null = after;
    const page: ResourcePage<Header> = await shop.engine.read(shop.shop.shopId, (tx) =>
      listResources(tx, table, shop.shop.shopId, query, position, limit),
    );
    assert.ok(page.headers.length === limit || page.end === null, "only the last page is short");
    found.push(...page.headers.map((header) => table.idOf(header)));
    totals.add(page.totalCount);
    after = page.end;
  } while (after !== null);
  return { ids: found, totals };
}

interface Aged {
  readonly createdAt: string;
}

/** The ids that the list must have: those of the matches, newest first with the id as tie-break. */
const expected = <R extends Aged>(
  records: readonly R[],
  idOf: (record: R) => string,
  matches: (record: R) => boolean,
): readonly string[] =>
  records
    .filter(matches)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || (idOf(a) < idOf(b) ? 1 : -1))
    .map(idOf);

async function agree<R extends Aged, Header extends { readonly createdAtMs: number }>(
  records: readonly R[],
  idOf: (record: R) => string,
  matches: (record: R) => boolean,
  table: ResourceTable<Header>,
  query: ResourceQuery,
  limit: number,
): Promise<void> {
  const wanted = expected(records, idOf, matches);
  const { ids, totals } = await walk(table, query, limit);
  assert.deepEqual(ids, wanted);
  assert.deepEqual([...totals], [wanted.length]);
}

const isIn = <T>(values: readonly T[] | null, value: T): boolean => values === null || values.includes(value);
const is = (wanted: string | null, value: string | null): boolean => wanted === null || wanted === value;
const has = (search: string | null, ...fields: readonly (string | null)[]): boolean =>
  wordsOf(search).every((word) => fields.some((field) => field !== null && fold(field).includes(word)));
const within = (fromMs: number | null, beforeMs: number | null, ms: number | null): boolean =>
  (fromMs === null && beforeMs === null) ||
  (ms !== null && (fromMs === null || ms >= fromMs) && (beforeMs === null || ms < beforeMs));

const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null, freq: 2 });
const listOf = <T>(values: readonly T[]): fc.Arbitrary<readonly T[] | null> =>
  orNull(fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 4 }));
const some = (...values: readonly string[]): fc.Arbitrary<string | null> => orNull(fc.constantFrom(...values));
const search = some("spring", "%", "_", "strasse", "ß", "Σ", "9", "none");
const place = some("loc_a", "loc_b", "loc_c");
const instantMs = orNull(fc.integer({ min: -1, max: 6 }).map((half) => firstMs + half * (dayMs / 2)));
const pageLength = fc.constantFrom(1, 7, 50);
const runs = { numRuns: 60 };

test("stock takes: every filter finds what a walk over all of them finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ statuses: listOf(stockTakeStatuses), locationId: place, search }),
      pageLength,
      (filters, limit) =>
        agree(
          takes,
          (take) => take.stockTakeId,
          (take) =>
            isIn(filters.statuses, take.status) &&
            is(filters.locationId, take.locationId) &&
            has(filters.search, take.stockTakeNumber, take.stockTakeName),
          stockTakeTable,
          stockTakeQuery(filters),
          limit,
        ),
    ),
    runs,
  );
});

test("stock adjustments: every filter finds what a walk over all of them finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        statuses: listOf(stockAdjustmentStatuses),
        locationId: place,
        reason: some("rsn_1", "Damaged", "DAMAGED", "found", "rsn"),
        createdBy: some("Ada", "bob", "Bob"),
        search,
      }),
      pageLength,
      (filters, limit) =>
        agree(
          adjustments,
          (adjustment) => adjustment.stockAdjustmentId,
          (adjustment) =>
            isIn(filters.statuses, adjustment.status) &&
            is(filters.locationId, adjustment.locationId) &&
            is(filters.createdBy, adjustment.createdBy) &&
            (filters.reason === null ||
              adjustment.reasonId === filters.reason ||
              (adjustment.reason !== null && foldCase(adjustment.reason) === foldCase(filters.reason))) &&
            has(filters.search, adjustment.stockAdjustmentNumber, adjustment.note),
          stockAdjustmentTable,
          stockAdjustmentQuery(filters),
          limit,
        ),
    ),
    runs,
  );
});

test("transfer orders: every filter finds what a walk over all of them finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        statuses: listOf(transferOrderStatuses),
        fromLocationId: place,
        toLocationId: place,
        variantId: some("v_1", "v_2", "v_3"),
        sku: some(...skus),
        search,
        createdFromMs: instantMs,
        createdBeforeMs: instantMs,
      }),
      pageLength,
      (filters, limit) =>
        agree(
          transfers,
          (transfer) => transfer.transferOrderId,
          (transfer) =>
            isIn(filters.statuses, transfer.status) &&
            is(filters.fromLocationId, transfer.fromLocationId) &&
            is(filters.toLocationId, transfer.toLocationId) &&
            (filters.variantId === null || transfer.lineItems.some((line) => line.variantId === filters.variantId)) &&
            (filters.sku === null ||
              transfer.lineItems.some((line) => line.sku?.toLowerCase() === filters.sku?.toLowerCase())) &&
            within(filters.createdFromMs, filters.createdBeforeMs, Date.parse(transfer.createdAt)) &&
            has(filters.search, transfer.transferNumber, transfer.transferName),
          transferOrderTable,
          transferOrderQuery("lists", filters),
          limit,
        ),
    ),
    runs,
  );
});

const allPlaces = ["loc_a", "loc_b", "loc_c"];

test("manufacturing orders: every filter finds what a walk over all of them finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        statuses: listOf(manufacturingOrderStatuses),
        executionModes: listOf(executionModes),
        productionLocationIds: listOf(allPlaces),
        search,
        dateField: fc.constantFrom(...manufacturingDateFields),
        dateFromMs: instantMs,
        dateBeforeMs: instantMs,
      }),
      pageLength,
      (filters, limit) =>
        agree(
          manufacturing,
          (order) => order.manufacturingOrderId,
          (order) => {
            const date = order[filters.dateField];
            return (
              isIn(filters.statuses, order.status) &&
              isIn(filters.executionModes, order.executionMode) &&
              isIn<string | null>(filters.productionLocationIds, order.productionLocationId) &&
              within(filters.dateFromMs, filters.dateBeforeMs, date === null ? null : Date.parse(date)) &&
              has(filters.search, order.moNumber, order.moName)
            );
          },
          manufacturingOrderTable,
          manufacturingOrderQuery("lists", filters),
          limit,
        ),
    ),
    runs,
  );
});

const noTake = { statuses: null, locationId: null, search: null };
const noAdjustment = { ...noTake, reason: null, createdBy: null };
const noTransfer = {
  statuses: null,
  fromLocationId: null,
  toLocationId: null,
  variantId: null,
  sku: null,
  search: null,
  createdFromMs: null,
  createdBeforeMs: null,
};
const noManufacturing = {
  statuses: null,
  executionModes: null,
  productionLocationIds: null,
  search: null,
  dateField: "createdAt",
  dateFromMs: null,
  dateBeforeMs: null,
} as const;

const plansOfSqlite = { skip: onPostgres && "what is looked at is a plan of sqlite" };

test("a page is found in the order of an index, and nothing is counted by walking a table", plansOfSqlite, async () => {
  const cases: readonly (readonly [
    string,
    ResourceTable<{ readonly createdAtMs: number }>["name"],
    string,
    ResourceQuery,
    boolean,
  ])[] = [
    ["stock takes", "stock_take", "stock_take_id", stockTakeQuery(noTake), true],
    ["by status", "stock_take", "stock_take_id", stockTakeQuery({ ...noTake, statuses: ["Draft", "Counted"] }), true],
    ["by location", "stock_take", "stock_take_id", stockTakeQuery({ ...noTake, locationId: "l" }), true],
    ["by text", "stock_take", "stock_take_id", stockTakeQuery({ ...noTake, search: "x" }), true],
    [
      "by reason",
      "stock_adjustment",
      "stock_adjustment_id",
      stockAdjustmentQuery({ ...noAdjustment, reason: "x" }),
      true,
    ],
    [
      "by operator",
      "stock_adjustment",
      "stock_adjustment_id",
      stockAdjustmentQuery({ ...noAdjustment, createdBy: "x" }),
      true,
    ],
    [
      "by origin",
      "transfer_order",
      "transfer_order_id",
      transferOrderQuery("s", { ...noTransfer, fromLocationId: "x" }),
      true,
    ],
    [
      "by destination",
      "transfer_order",
      "transfer_order_id",
      transferOrderQuery("s", { ...noTransfer, toLocationId: "x" }),
      true,
    ],
    [
      "by age",
      "transfer_order",
      "transfer_order_id",
      transferOrderQuery("s", { ...noTransfer, createdFromMs: 1 }),
      true,
    ],
    // The transfers with the line are few; they are sorted.
    ["by SKU", "transfer_order", "transfer_order_id", transferOrderQuery("s", { ...noTransfer, sku: "x" }), false],
    [
      "by both",
      "transfer_order",
      "transfer_order_id",
      transferOrderQuery("s", { ...noTransfer, sku: "x", variantId: "v" }),
      false,
    ],
    [
      "by mode",
      "manufacturing_order",
      "manufacturing_order_id",
      manufacturingOrderQuery("s", { ...noManufacturing, executionModes: ["in-house"] }),
      true,
    ],
    [
      "by place",
      "manufacturing_order",
      "manufacturing_order_id",
      manufacturingOrderQuery("s", { ...noManufacturing, productionLocationIds: ["a", "b"] }),
      true,
    ],
    // Those in the range are read by its index and sorted: no index has both orders.
    [
      "by due date",
      "manufacturing_order",
      "manufacturing_order_id",
      manufacturingOrderQuery("s", { ...noManufacturing, dateField: "dueDate", dateFromMs: 1, dateBeforeMs: 2 }),
      false,
    ],
  ];
  for (const [name, table, idColumn, query, inOrder] of cases) {
    const statements = {
      page: pageStatement({ name: table, idColumn }, "s", query, { createdAtMs: 1, resourceId: "x" }, 51),
      count: countStatement({ name: table, idColumn }, "s", query),
    };
    for (const [which, { sql, params }] of Object.entries(statements)) {
      const plan = await shop.engine.read("lists", (tx) =>
        tx.all<{ detail: string }>(`explain query plan ${sql}`, params),
      );
      const steps = plan.map((step) => step.detail);
      const walks = steps.filter((step) => /^SCAN (?!branch|page|i$|found|\(?subquery)/i.test(step));
      assert.deepEqual(walks, [], `${name}, ${which}: ${steps.join("; ")}`);
      // Sorting the few keys of the branches is no matter; sorting matches is.
      const sorted = steps.some(
        (step, index) => step.startsWith("SEARCH r ") && steps[index + 1]?.includes("ORDER BY"),
      );
      if (which === "page") assert.equal(sorted, !inOrder, `${name}: ${steps.join("; ")}`);
    }
  }
});

test("what is exported comes in as it was: the whole world, and random records", async () => {
  await withShops(async (open) => {
    const first = await open("first");
    await first.bring([...world, ...takes, ...adjustments, ...transfers, ...manufacturing]);
    const exported = await first.records();
    // Another currency and no catalogue: nothing may be filled in anew.
    const second = await open("second", { currencyCode: "JPY" });
    await second.bring(exported.filter((record) => record["type"] !== "variant" && record["type"] !== "location"));
    const kept = new Set(["stockTakeReason", "stockTake", "stockAdjustment", "transferOrder", "manufacturingOrder"]);
    const ofKept = (records: readonly Record<string, unknown>[]) =>
      records.filter((record) => kept.has(String(record["type"])));
    assert.deepEqual(ofKept(await second.records()), ofKept(exported));
    assert.equal(ofKept(exported).length, 2 + 1 + 4 + 1 + 1 + 4 * count);
    await second.bring(exported);
    assert.deepEqual(ofKept(await second.records()), ofKept(exported), "importing again replaces");
  });
});

test("a record that breaks a rule is refused with its line and field, and nothing comes in", async () => {
  await withShops(async (open) => {
    const shop = await open("refusing");
    const refused = async (record: object): Promise<string> => {
      const error: unknown = await shop.bring([...world, record]).catch((error: unknown) => error);
      assert.ok(error instanceof Error, `taken: ${JSON.stringify(record)}`);
      return error.message;
    };
    const line = world.length + 1;
    const at = (path: string): RegExp => new RegExp(`^line ${line}: ${path}: `);
    assert.match(await refused({ type: "stockTake", stockTakeId: "x", status: "Done" }), at("/status"));
    assert.match(await refused({ type: "stockTake", stockTakeId: "x", colour: 1 }), at("/colour"));
    assert.match(
      await refused({
        type: "stockAdjustment",
        stockAdjustmentId: "x",
        lineItems: [{ variantId: "v", quantityDelta: 0.0001 }],
      }),
      at("/lineItems/0/quantityDelta"),
    );
    assert.match(
      await refused({
        type: "stockAdjustment",
        stockAdjustmentId: "x",
        lineItems: [{ variantId: "v", quantityDelta: -1_000_000_000, unitCost: 101 }],
      }),
      at("/lineItems"),
    );
    assert.match(
      await refused({
        type: "transferOrder",
        transferOrderId: "x",
        lineItems: [
          { transferLineItemId: "a", variantId: "v", quantityRequested: 1 },
          { transferLineItemId: "a", variantId: "v", quantityRequested: 1 },
        ],
      }),
      at("/lineItems/1/transferLineItemId"),
    );
    assert.match(
      await refused({
        type: "manufacturingOrder",
        manufacturingOrderId: "x",
        materials: [{ moItemId: "none", variantId: "v", quantityRequired: 1 }],
      }),
      at("/materials/0/moItemId"),
    );
    assert.deepEqual(await shop.records(), []);
  });
});
