/**
 * Random walks of one order: moves, edits of header and lines, and goods operations, compared with a reference written from the
 * specification's text. The reference predicts the result of every move, edit and deletion, including each refusal. Goods operations
 * (confirm, receive, …) have their own reference in test/goods/goods.test.ts; here the reference copies their result. After every step P1–P6 hold, the
 * log matches the change, and the effects contain exactly what has changed for the storefront.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import {
  decideAddLines,
  decideCreate,
  decideDelete,
  decideDeleteLines,
  decideEditLines,
  decideHeader,
  type LineEdit,
  type NewLine,
} from "../../../src/core/order/edit.ts";
import { Fault } from "../../../src/base/fault.ts";
import { decideComplete } from "../../../src/core/goods/complete.ts";
import { decideConfirm } from "../../../src/core/goods/confirm.ts";
import { decideReceive, decideUnreceive } from "../../../src/core/goods/receive.ts";
import { decideStatus } from "../../../src/core/order/status-move.ts";
import { asMoney, asQuantity } from "../../../src/core/money/money.ts";
import { type Decision, type PurchaseOrder, statuses } from "../../../src/core/order/purchase-order.ts";
import { context, fxRate, newLine, shop } from "../../support/goods.ts";
import {
  accountedOf,
  baseOf,
  editable,
  held,
  isCustom,
  isGone,
  type ModelLine,
  moves,
  openStatuses,
  pendingOf,
} from "../../world/model.ts";

/** A line of the reference: quantities in thousandths, cost in ten-thousandths. */
interface Row extends ModelLine {
  synced: number;
  readonly cost: number;
  readonly currency: string;
  readonly note: string | null;
  readonly sku: string | null;
}

interface Model {
  status: string;
  previous: string;
  location: string | null;
  currency: string;
  rows: Row[];
  version: number;
  /** How many lines were created so far; gives the next id. */
  made: number;
  /** Lines with an allowed over-receipt. */
  readonly overAllowed: Set<string>;
  /** Lines with un-received goods since their last push. */
  readonly takenBack: Set<string>;
  /** EUR → USD: the shop's of now, and the order's own (C35). Null: the order counts in no EUR. */
  shopRate: Rate;
  rate: Rate | null;
}

type Rate = 1.25 | 2;

interface Real {
  order: PurchaseOrder;
}

/** Picks a line by position; a position after the last gives an unknown id. */
type Place = number;

interface EditOf {
  readonly place: Place;
  readonly ordered?: number;
  readonly rejected?: number;
  readonly cancelled?: number;
  readonly cost?: number;
  readonly currency?: string | null;
  readonly note?: string | null;
  readonly sku?: string;
}

type Action =
  | { readonly do: "status"; readonly to: string }
  | {
      readonly do: "add";
      readonly ordered: number;
      readonly cost: number;
      readonly currency: string | null;
      readonly custom: boolean;
    }
  | { readonly do: "edit"; readonly edits: readonly EditOf[] }
  | { readonly do: "delete lines"; readonly places: readonly Place[] }
  | {
      readonly do: "header";
      readonly location?: string | null;
      readonly currency?: string | null;
      readonly name?: string;
    }
  | { readonly do: "delete" }
  | { readonly do: "shop rate"; readonly rate: Rate }
  | { readonly do: "confirm"; readonly place: Place; readonly total: number }
  | { readonly do: "confirm all" }
  | { readonly do: "receive"; readonly place: Place; readonly total: number; readonly over: boolean }
  | { readonly do: "take back"; readonly place: Place; readonly amount: number }
  | { readonly do: "complete" }
  | { readonly do: "land" };

/** An intention that is turned into an action by the order's state, so that walks reach late statuses and come back. */
type Wish =
  | { readonly do: "forward"; readonly place: Place; readonly total: number }
  | { readonly do: "listed move"; readonly pick: number }
  | { readonly do: "cancel line"; readonly place: Place }
  | { readonly do: "take all back"; readonly place: Place };

/** What a rule is told while the shop has this rate from EUR to USD. */
const subscriptionsAt = ({ shopRate }: Pick<Model, "shopRate">) =>
  context({ shop: shop({ currencyCode: "USD", fxRates: { EUR: fxRate(shopRate) } }) });

// The reference.

const isListed = (from: string, to: string): boolean => moves[from]?.includes(to) === true;
const linesMayChange = (model: Model): boolean => editable.includes(model.status);

/** `moves`, `400`, or the reason of a 409. */
function verdictOnMove(model: Model, to: string): string {
  if (!statuses.some((status) => status === to)) return "400";
  if (to === "Completed" || to === model.status) return "400";
  if (held.includes(model.status)) {
    if (to !== model.previous) return "PREVIOUS_STATUS_MISMATCH";
  } else if (
    ["Sent", "Partially Confirmed"].includes(model.status) &&
    ["Partially Confirmed", "Confirmed"].includes(to)
  )
    return "USE_CONFIRM_ENDPOINT";
  else if (!isListed(model.status, to)) return "400";
  const back = ["Draft", "Sent", "Partially Confirmed", "Confirmed"].includes(to);
  if (back && model.rows.some((row) => row.received > 0 || row.synced > 0)) return "400";
  if (to === "Sent" && model.location === null) return "400";
  if (
    model.status === "Confirmed" &&
    to === "In Progress" &&
    model.rows.some((row) => row.confirmed === 0 && !isGone(row))
  )
    return "UNCONFIRMED_LINES";
  return "moves";
}

/** Returns the line after the edit, or null if the edit must fail (C30, C31, P1, P2). */
function editedRow(model: Model, row: Row, edit: EditOf): Row | null {
  if (edit.sku !== undefined && !isCustom(row)) return null;
  const next: Row = {
    ...row,
    ordered: edit.ordered ?? row.ordered,
    rejected: edit.rejected ?? row.rejected,
    cancelled: edit.cancelled ?? row.cancelled,
    cost: edit.cost ?? row.cost,
    currency: edit.currency === undefined ? row.currency : (edit.currency ?? model.currency),
    note: edit.note === undefined ? row.note : edit.note,
    sku: edit.sku ?? row.sku,
  };
  if (next.ordered < next.confirmed) return null;
  const excess = accountedOf(next) - baseOf(next);
  // The excess of an allowed over-receipt may stay or shrink.
  if (excess > 0 && excess > accountedOf(row) - baseOf(row)) return null;
  return next;
}

/** Σ ordered × cost in the order's currency: exact, half-up to cents; USD and EUR at 1.25, anything else left out. */
/** What is worth and owed in ten-thousandths, each rounded once to cents (C35). */
function total(model: Model): { readonly total: number; readonly owed: number; readonly unpriced: readonly string[] } {
  // 10^-7 of a currency unit, times 20 so that 1.25 and 1 / 1.25 are whole.
  let [sum, owed] = [0n, 0n];
  const unpriced: string[] = [];
  const isOver = ["Completed", "Cancelled"].includes(model.status);
  for (const row of model.rows) {
    const rate = rateOf(model, row.currency);
    if (rate === null) {
      unpriced.push(row.id);
      continue;
    }
    const pending = pendingOf(row);
    sum += BigInt(Math.max(0, row.ordered - row.cancelled)) * BigInt(row.cost) * rate;
    owed += BigInt(row.received + (isOver ? 0 : pending)) * BigInt(row.cost) * rate;
  }
  const cent = 20n * 10n ** 5n;
  const inCents = (exact: bigint): number => Number(((exact * 2n + cent) / (cent * 2n)) * 100n);
  return { total: inCents(sum), owed: inCents(owed), unpriced };
}

/** A row's currency in the order's, times 20; null when no rate is known. */
function rateOf({ currency, rate }: Model, rowCurrency: string): bigint | null {
  if (rowCurrency === currency) return 20n;
  if (rowCurrency === "JPY" || rate === null) return null;
  return BigInt(rowCurrency === "EUR" ? rate * 20 : 20 / rate);
}

/** The order's rate after a change: a Draft has the shop's if it needs one, any other keeps its own for good. */
function rateAfter(model: Model, before: Pick<Model, "status" | "rate">): Rate | null {
  if (before.status !== "Draft" && before.rate !== null) return before.rate;
  const hasEuros = model.currency === "EUR" || model.rows.some((row) => row.currency === "EUR");
  return hasEuros ? model.shopRate : null;
}

/** Returns the pending quantities of an open order, by location and variant. */
function incoming(model: Model): Map<string, number> {
  const sums = new Map<string, number>();
  if (!openStatuses.includes(model.status) || model.location === null) return sums;
  for (const row of model.rows) {
    const pending = pendingOf(row);
    if (isCustom(row) || pending === 0) continue;
    const key = `${model.location} ${row.variantId}`;
    sums.set(key, (sums.get(key) ?? 0) + pending);
  }
  return sums;
}

// The walk.

const idAt = (model: Model, place: Place): string => model.rows[place]?.id ?? `nowhere ${place}`;

const rowsOf = (order: PurchaseOrder): Row[] =>
  order.lineItems.map((line) => ({
    id: line.poLineItemId,
    variantId: line.variantId,
    ordered: line.quantityOrdered,
    confirmed: line.quantityConfirmed,
    received: line.quantityReceived,
    rejected: line.quantityRejected,
    cancelled: line.quantityCancelled,
    synced: line.quantitySynced,
    cost: line.unitCost,
    currency: line.unitCostCurrencyCode,
    note: line.note,
    sku: line.sku,
  }));

const addedLine = (id: string, variantId: string, action: Extract<Action, { do: "add" }>): NewLine =>
  newLine(id, {
    variantId,
    isCustom: action.custom,
    quantityOrdered: asQuantity(action.ordered),
    unitCost: asMoney(action.cost),
    unitCostCurrencyCode: action.currency,
  });

const lineEdit = (model: Model, edit: EditOf): LineEdit => ({
  lineItemId: idAt(model, edit.place),
  quantityOrdered: edit.ordered === undefined ? undefined : asQuantity(edit.ordered),
  quantityRejected: edit.rejected === undefined ? undefined : asQuantity(edit.rejected),
  quantityCancelled: edit.cancelled === undefined ? undefined : asQuantity(edit.cancelled),
  unitCost: edit.cost === undefined ? undefined : asMoney(edit.cost),
  unitCostCurrencyCode: edit.currency,
  note: edit.note,
  sku: edit.sku,
});

function refused(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  return assert.fail("The reference refuses this, the rule does not.");
}

/** Chooses the usual next step, one of the listed moves, or an edit of a whole line. */
function actionFor(model: Model, wish: Action | Wish): Action {
  if (wish.do === "listed move") {
    const targets = held.includes(model.status)
      ? [model.previous]
      : statuses.filter((to) => isListed(model.status, to));
    return { do: "status", to: targets[wish.pick % targets.length] ?? "Shipped" };
  }
  if (wish.do === "cancel line")
    return { do: "edit", edits: [{ place: wish.place, cancelled: model.rows[wish.place]?.ordered ?? 1 }] };
  if (wish.do === "take all back")
    return { do: "take back", place: wish.place, amount: model.rows[wish.place]?.received ?? 1 };
  if (wish.do !== "forward") return wish;
  const { place, total } = wish;
  switch (model.status) {
    case "Draft":
      return { do: "status", to: "Sent" };
    case "Sent":
    case "Partially Confirmed":
      return place === 0 ? { do: "confirm", place, total } : { do: "confirm all" };
    case "Confirmed":
      return { do: "status", to: "In Progress" };
    case "In Progress":
    case "Partially Received": {
      const row = model.rows[place];
      const rest = row === undefined ? total : Math.max(0, baseOf(row) - row.rejected - row.cancelled);
      return { do: "receive", place, total: total % 2 === 0 ? rest : Math.min(total, rest), over: false };
    }
    case "Received":
      return { do: "complete" };
    default:
      return { do: "status", to: model.previous };
  }
}

/** The members of the order that this walk changes. */
const factsOf = (model: Model, order: PurchaseOrder): unknown => [
  model.status,
  model.location,
  model.currency,
  order.poName,
  model.rows.map((row) => ({ ...row })),
];

class Step implements fc.Command<Model, Real> {
  private readonly wish: Action | Wish;

  constructor(wish: Action | Wish) {
    this.wish = wish;
  }

  check(): boolean {
    return true;
  }

  toString(): string {
    return JSON.stringify(this.wish);
  }

  run(model: Model, real: Real): void {
    const before = real.order;
    const rowsBefore = model.rows.map((row) => ({ ...row }));
    const incomingBefore = incoming(model);
    const { status, previous, rate } = model;
    const facts = factsOf(model, before);
    const decided = this.predicted(model, before, actionFor(model, this.wish));
    if (decided === null) {
      assert.deepEqual(model.rows, rowsBefore);
      return;
    }
    real.order = decided.next;
    const changed = !isDeepStrictEqual(factsOf(model, decided.next), facts);
    assert.equal(decided.next !== before, changed, "P5: what changes nothing leaves the order as it was");
    if (decided.next !== before) {
      model.version += 1;
      if (decided.log[0]?.action !== "land") model.rate = rateAfter(model, { status, rate });
    }
    if (model.status === status) assert.equal(decided.next.previousStatus, previous, "P4");
    else assert.equal(decided.next.previousStatus, status, "P4");
    model.previous = decided.next.previousStatus;
    holds(model, before, decided, rowsBefore, incomingBefore);
  }

  /** Applies an action to model and order. Returns the decision, or null if both refuse. */
  private predicted(model: Model, order: PurchaseOrder, action: Action): Decision | null {
    switch (action.do) {
      case "status": {
        const verdict = verdictOnMove(model, action.to);
        if (verdict !== "moves") {
          const fault = refused(() => decideStatus(order, action.to, subscriptionsAt(model)));
          assert.equal(fault.reason ?? `${fault.status}`, verdict);
          return null;
        }
        model.status = action.to;
        return decideStatus(order, action.to, subscriptionsAt(model));
      }
      case "add": {
        const id = `l${model.made}`;
        const variantId = action.custom ? `CSTM-${model.made}` : `v${model.made % 3}`;
        const work = (): Decision => decideAddLines(order, [addedLine(id, variantId, action)], subscriptionsAt(model));
        if (!linesMayChange(model)) {
          refused(work);
          return null;
        }
        model.made += 1;
        model.rows.push({
          id,
          variantId,
          ordered: action.ordered,
          confirmed: 0,
          received: 0,
          rejected: 0,
          cancelled: 0,
          synced: 0,
          cost: action.cost,
          currency: action.currency ?? model.currency,
          note: null,
          sku: null,
        });
        return work();
      }
      case "edit": {
        const edits = action.edits.map((edit) => lineEdit(model, edit));
        const after = model.rows.map((row, place) => {
          const edit = action.edits.find((each) => each.place === place);
          return edit === undefined ? row : editedRow(model, row, edit);
        });
        const applied = action.edits.filter((edit) => (after[edit.place] ?? null) !== null);
        if (!linesMayChange(model) || applied.length === 0) {
          refused(() => decideEditLines(order, edits, subscriptionsAt(model)));
          return null;
        }
        const decided = decideEditLines(order, edits, subscriptionsAt(model));
        assert.deepEqual(
          decided.updatedLineItemIds,
          applied.map((edit) => idAt(model, edit.place)),
        );
        assert.deepEqual(
          decided.failed.map((failure) => failure.lineItemId),
          action.edits.filter((edit) => !applied.includes(edit)).map((edit) => idAt(model, edit.place)),
        );
        for (const [index, row] of model.rows.entries())
          if (isDeepStrictEqual(after[index] ?? row, row))
            assert.equal(decided.next.lineItems[index], order.lineItems[index], "an unchanged line is the same object");
        model.rows = model.rows.map((row, place) => after[place] ?? row);
        return decided;
      }
      case "delete lines": {
        const ids = action.places.map((place) => idAt(model, place));
        if (!linesMayChange(model)) {
          refused(() => decideDeleteLines(order, ids, subscriptionsAt(model)));
          return null;
        }
        const decided = decideDeleteLines(order, ids, subscriptionsAt(model));
        const gone = action.places.flatMap((place) => {
          const row = model.rows[place];
          return row !== undefined && row.received === 0 && row.rejected === 0 && row.synced === 0 ? [row.id] : [];
        });
        assert.deepEqual(decided.deletedLineItemIds, gone);
        assert.equal(decided.failed.length, ids.length - gone.length);
        model.rows = model.rows.filter((row) => !gone.includes(row.id));
        return decided;
      }
      case "header": {
        const location = action.location === undefined ? model.location : action.location;
        const work = (): Decision =>
          decideHeader(
            order,
            { locationId: action.location, currencyCode: action.currency, poName: action.name },
            { supplier: null, locationName: null, change: null },
            subscriptionsAt(model),
          );
        const touched = model.rows.some((row) => row.received > 0 || row.synced > 0);
        if (location !== model.location && (touched || (location === null && model.status !== "Draft"))) {
          assert.match(refused(work).message, /locationId/);
          return null;
        }
        model.location = location;
        model.currency = action.currency === undefined ? model.currency : (action.currency ?? "USD");
        const decided = work();
        assert.equal(decided.next.poName, action.name ?? order.poName);
        return decided;
      }
      case "delete": {
        const mode = model.status === "Draft" ? "deleted" : model.status === "Cancelled" ? "soft-deleted" : null;
        if (mode === null) refused(() => decideDelete(order));
        else assert.equal(decideDelete(order), mode);
        return null;
      }
      case "shop rate":
        model.shopRate = action.rate;
        return null;
      case "land": {
        // The storefront has accepted the push. This is done by the outbox, not by a rule.
        model.takenBack.clear();
        if (model.rows.every((row) => row.synced === row.received)) return null;
        for (const row of model.rows) row.synced = row.received;
        const next = {
          ...order,
          version: order.version + 1,
          lineItems: order.lineItems.map((line) => ({ ...line, quantitySynced: line.quantityReceived })),
        };
        return { next, log: [{ action: "land", message: "Landed.", changes: [] }], receipts: [], effects: [] };
      }
      case "confirm":
      case "confirm all":
      case "receive":
      case "take back":
      case "complete":
        return this.goods(model, order, action);
    }
  }

  private goods(
    model: Model,
    order: PurchaseOrder,
    action: Extract<Action, { do: "confirm" | "confirm all" | "receive" | "take back" | "complete" }>,
  ): Decision | null {
    const lineItemId = "place" in action ? idAt(model, action.place) : "";
    let decided: Decision;
    try {
      switch (action.do) {
        case "confirm":
          decided = decideConfirm(
            order,
            { lines: [{ lineItemId, quantityConfirmed: asQuantity(action.total) }] },
            subscriptionsAt(model),
          );
          break;
        case "confirm all":
          decided = decideConfirm(order, { confirmAll: true }, subscriptionsAt(model));
          break;
        case "receive":
          decided = decideReceive(
            order,
            {
              lines: [{ lineItemId, quantityReceived: asQuantity(action.total) }],
              allowOverReceipt: action.over,
            },
            subscriptionsAt(model),
          );
          if (action.over) model.overAllowed.add(lineItemId);
          break;
        case "take back":
          decided = decideUnreceive(
            order,
            { lines: [{ lineItemId, quantity: asQuantity(action.amount) }], reason: null },
            subscriptionsAt(model),
          );
          model.takenBack.add(lineItemId);
          break;
        case "complete":
          decided = decideComplete(order, false, subscriptionsAt(model));
          break;
      }
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      return null;
    }
    model.rows = rowsOf(decided.next);
    model.status = decided.next.status;
    return decided;
  }
}

/** Checks P1–P6, the log and the effects after one step. */
function holds(
  model: Model,
  before: PurchaseOrder,
  decided: Decision,
  rowsBefore: readonly Row[],
  incomingBefore: ReadonlyMap<string, number>,
): void {
  const { next } = decided;
  assert.deepEqual(rowsOf(next), model.rows);
  assert.equal(next.status, model.status);
  assert.equal(next.locationId, model.location);
  assert.equal(next.currencyCode, model.currency);
  for (const row of model.rows) {
    assert.ok(row.ordered > 0 && row.confirmed >= 0 && row.confirmed <= row.ordered, "P1");
    assert.ok(accountedOf(row) <= baseOf(row) || model.overAllowed.has(row.id), "P2");
    assert.ok(row.synced <= row.received || model.takenBack.has(row.id), "P3");
    assert.ok(row.received >= 0 && row.rejected >= 0 && row.cancelled >= 0);
  }
  assert.equal(next.version, model.version, "P5");
  if (next === before) {
    assert.deepEqual([decided.log, decided.receipts, decided.effects], [[], [], []], "P5");
    return;
  }
  const sums = total(model);
  assert.equal(next.totalValue, sums.total, "P6");
  assert.equal(next.grandTotal, sums.owed, "P6");
  assert.deepEqual(next.fxRates, model.rate === null ? {} : { EUR: fxRate(model.rate) }, "P6");
  assert.deepEqual(next.unpricedLineItemIds, sums.unpriced, "P6");
  assert.equal(next.itemCount, model.rows.length);

  assert.ok(decided.log.length > 0, "no change without a word in the log");
  const shown: Readonly<Record<string, (row: Row) => unknown>> = {
    quantityOrdered: (row) => row.ordered / 1_000,
    quantityConfirmed: (row) => row.confirmed / 1_000,
    quantityReceived: (row) => row.received / 1_000,
    quantityRejected: (row) => row.rejected / 1_000,
    quantityCancelled: (row) => row.cancelled / 1_000,
    unitCost: (row) => row.cost / 10_000,
    unitCostCurrencyCode: (row) => row.currency,
    note: (row) => row.note,
    sku: (row) => row.sku,
  };
  for (const change of decided.log.flatMap((entry) => entry.changes)) {
    assert.notDeepEqual(change.before, change.after, `${change.field} did not change`);
    const show = shown[change.field];
    if (change.poLineItemId === null || show === undefined) continue;
    const [was, is] = [rowsBefore, model.rows].map((rows) => rows.find((row) => row.id === change.poLineItemId));
    assert.ok(was !== undefined && is !== undefined);
    assert.deepEqual([change.before, change.after], [show(was), show(is)], change.field);
  }

  const incomingAfter = incoming(model);
  const changed = [...new Set([...incomingBefore.keys(), ...incomingAfter.keys()])].filter(
    (key) => incomingBefore.get(key) !== incomingAfter.get(key),
  );
  const mirrored = decided.effects.flatMap((effect) =>
    effect.kind === "mirror-incoming" ? effect.variantIds.map((variantId) => `${effect.locationId} ${variantId}`) : [],
  );
  assert.deepEqual(
    mirrored.sort(),
    changed.sort(),
    "the storefront is subscriptionsAt(model) of what moved, no more and no less",
  );
}

const place = fc.integer({ min: 0, max: 4 });
const thousandths = fc.oneof(fc.integer({ min: 1, max: 12_000 }), fc.constantFrom(1, 2_500, 5_000, 10_000, 12_000));
const orZero = fc.oneof(thousandths, fc.constant(0));
const cost = fc.oneof(fc.integer({ min: 0, max: 2_000_000 }), fc.constantFrom(0, 50, 199_900, 10_000));
const currencyOrNull = fc.constantFrom("USD", "EUR", "JPY", null);
const places = fc.uniqueArray(place, { minLength: 1, maxLength: 3 });

const forward = fc.record({ do: fc.constant("forward" as const), place, total: thousandths });
const listedMove = fc.record({ do: fc.constant("listed move" as const), pick: fc.nat(11) });

const wishes: readonly fc.Arbitrary<Action | Wish>[] = [
  // Listed more than once to be more likely.
  forward,
  forward,
  forward,
  forward,
  listedMove,
  listedMove,
  fc.record({ do: fc.constant("status" as const), to: fc.constantFrom(...statuses, "Shipped") }),
  fc.record({
    do: fc.constant("add" as const),
    ordered: thousandths,
    cost,
    currency: currencyOrNull,
    custom: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("edit" as const),
    edits: fc.uniqueArray(
      fc.oneof(
        fc.record({ place }),
        fc.record(
          {
            place,
            ordered: thousandths,
            rejected: orZero,
            cancelled: orZero,
            cost,
            currency: currencyOrNull,
            note: fc.constantFrom("n", null),
            sku: fc.constant("S"),
          },
          { requiredKeys: ["place"] },
        ),
      ),
      { minLength: 1, maxLength: 3, selector: (edit) => edit.place },
    ),
  }),
  fc.record({ do: fc.constant("delete lines" as const), places }),
  fc.record(
    {
      do: fc.constant("header" as const),
      location: fc.constantFrom("depot", "warehouse", null),
      currency: fc.constantFrom("USD", "EUR", null),
      name: fc.constantFrom("N", "M"),
    },
    { requiredKeys: ["do"] },
  ),
  fc.constant({ do: "delete" as const }),
  fc.record({ do: fc.constant("shop rate" as const), rate: fc.constantFrom<Rate[]>(1.25, 2) }),
  fc.record({ do: fc.constant("confirm" as const), place, total: orZero }),
  fc.constant({ do: "confirm all" as const }),
  fc.record({
    do: fc.constant("receive" as const),
    place,
    total: fc.oneof(orZero, fc.constantFrom(13_000, 15_000)),
    over: fc.boolean(),
  }),
  fc.record({ do: fc.constant("cancel line" as const), place }),
  fc.record({ do: fc.constant("take all back" as const), place }),
  fc.record({ do: fc.constant("take back" as const), place, amount: thousandths }),
  fc.constant({ do: "complete" as const }),
  fc.constant({ do: "land" as const }),
];

const start = (): { model: Model; real: Real } => {
  const told = subscriptionsAt({ shopRate: 1.25 });
  const { next } = decideCreate(
    {
      purchaseOrderId: "po_1",
      poNumber: "PO-1001",
      createdBy: null,
      header: { locationId: "warehouse" },
      lineItems: [],
    },
    { supplier: null, locationName: null },
    told,
  );
  const add = { do: "add", ordered: 10_000, cost: 199_900, currency: null, custom: false } as const;
  const { next: order } = decideAddLines(
    next,
    [addedLine("l0", "v0", add), addedLine("l1", "CSTM-1", { ...add, custom: true })],
    told,
  );
  const model: Model = {
    status: "Draft",
    previous: "Draft",
    location: "warehouse",
    currency: "USD",
    rows: rowsOf(order),
    version: 2,
    made: 2,
    overAllowed: new Set(),
    takenBack: new Set(),
    shopRate: 1.25,
    rate: null,
  };
  return { model, real: { order } };
};

test("an order changes as the specification says, and P1–P6 hold after every step", () => {
  const steps = wishes.map((wish) => wish.map((each) => new Step(each)));
  fc.assert(
    fc.property(fc.commands(steps, { maxCommands: 60, size: "max" }), (commands) => fc.modelRun(start, commands)),
    { numRuns: 1_000 },
  );
});

test("walks reach every status", () => {
  const reached = new Set<string>();
  const steps = wishes.map((wish) => wish.map((each) => new Step(each)));
  for (const commands of fc.sample(fc.commands(steps, { maxCommands: 80, size: "max" }), { numRuns: 400, seed: 1 })) {
    const { model, real } = start();
    for (const command of commands) {
      command.run(model, real);
      reached.add(model.status);
    }
  }
  assert.deepEqual([...reached].sort(), [...statuses].sort());
});
