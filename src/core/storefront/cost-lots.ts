/**
 * Lots of an order in the moving average: each has the units that entered it at one cost. Units that were taken back
 * since and have not left it are counted beside them (C45).
 *
 * Owns: replaying an order's receipts and cost rows. Does not own: what an average becomes (cost-sync.ts). Nothing of
 * this is stored but the lots of each row: receipts say which units came and went between two rows. What is taken back
 * is what came last: first units that have not entered, then the last that have.
 */
import { asQuantity, type FxRate, type Money, type Quantity, zeroQuantity } from "../money/money.ts";
import type { LineItem, ReceiptDraft } from "../order/purchase-order.ts";

/** Units of a line that entered the average (quantity above 0) or left it (below 0), and at which cost. */
export interface CostLot {
  readonly poLineItemId: string;
  readonly quantity: Quantity;
  /** In `currencyCode`, the line's currency when the units entered. */
  readonly unitCost: Money;
  readonly currencyCode: string;
  /** To the shop's currency. */
  readonly fxRate: FxRate;
}

/** A cost row whose lots count. */
interface LotsRow {
  readonly costSyncId: string;
  readonly proposedAtMs: number;
  readonly variantId: string;
  /**
   * Null: the row is older than lots. All that its variant's lines had received by then entered with it, at its source
   * cost.
   */
  readonly lots: readonly CostLot[] | null;
  readonly sourceUnitCost: Money;
  readonly sourceCurrencyCode: string;
  readonly fxRate: FxRate;
}

/** Goods that came or were taken back. */
export interface GoodsMove extends Pick<ReceiptDraft, "lines"> {
  readonly receiptId: string;
  readonly receivedAtMs: number;
}

/** State of a variant's units, over all lines of the order. */
export interface VariantLots {
  /** In the average and still received; the last to enter comes last. */
  readonly entered: readonly CostLot[];
  /** In the average, and taken back since. Quantities are above 0. */
  readonly leaving: readonly CostLot[];
  /** Received and not in the average, by line. */
  readonly fresh: ReadonlyMap<string, Quantity>;
}

interface LineLots {
  readonly variantId: string;
  readonly entered: CostLot[];
  readonly leaving: CostLot[];
  fresh: number;
}

/** Takes so much off the end of the lots, and returns what was taken. */
function takeLast(lots: CostLot[], quantity: number): readonly CostLot[] {
  const taken: CostLot[] = [];
  for (let left = quantity; left > 0;) {
    const last = lots.pop();
    if (last === undefined) break;
    const part = Math.min(left, last.quantity);
    if (part < last.quantity) lots.push({ ...last, quantity: asQuantity(last.quantity - part) });
    taken.push({ ...last, quantity: asQuantity(part) });
    left -= part;
  }
  return taken;
}

const sumOf = (lots: readonly CostLot[]): number => lots.reduce((sum, lot) => sum + lot.quantity, 0);

/** Units are taken back: first those that have not entered. */
function takeBack(line: LineLots, quantity: number): void {
  const fresh = Math.min(quantity, Math.max(0, line.fresh));
  line.fresh -= fresh;
  const taken = takeLast(line.entered, quantity - fresh);
  line.leaving.push(...taken);
  line.fresh -= quantity - fresh - sumOf(taken);
}

/** Applies a row to the lots of a line. */
function applyLot(line: LineLots, lot: CostLot): void {
  if (lot.quantity > 0) {
    line.entered.push(lot);
    line.fresh -= lot.quantity;
    return;
  }
  const quantity = 0 - lot.quantity;
  const left = takeLast(line.leaving, quantity);
  // A lot whose cost was corrected leaves while its units stay received, and enters again.
  const corrected = takeLast(line.entered, quantity - sumOf(left));
  line.fresh += sumOf(corrected);
}

function applyRow(
  lines: ReadonlyMap<string, LineLots>,
  row: LotsRow,
  lineOf: (id: string, of: LotsRow) => LineLots,
): void {
  if (row.lots !== null) {
    for (const lot of row.lots) applyLot(lineOf(lot.poLineItemId, row), lot);
    return;
  }
  for (const [poLineItemId, line] of lines) {
    if (line.variantId !== row.variantId || line.fresh <= 0) continue;
    const { sourceUnitCost: unitCost, sourceCurrencyCode: currencyCode, fxRate } = row;
    applyLot(line, { poLineItemId, quantity: asQuantity(line.fresh), unitCost, currencyCode, fxRate });
  }
}

/** The part of an id that orders ids of all prefixes by time. */
const orderOf = (id: string): string => id.slice(id.indexOf("_") + 1);

/**
 * The lots of each variant of an order.
 *
 * @param lineItems as they are now.
 * @param rows      those whose lots count.
 * @param receipts  all of the order, in any order.
 * Source: C45.
 */
export function lotsByVariant(
  lineItems: readonly Pick<LineItem, "poLineItemId" | "variantId" | "quantityReceived">[],
  rows: readonly LotsRow[],
  receipts: readonly GoodsMove[],
): ReadonlyMap<string, VariantLots> {
  const lines = new Map<string, LineLots>(
    lineItems.map(({ poLineItemId, variantId, quantityReceived: fresh }) => [
      poLineItemId,
      { variantId, entered: [], leaving: [], fresh },
    ]),
  );
  const lineOf = (poLineItemId: string, { variantId }: Pick<LotsRow, "variantId">): LineLots => {
    const line = lines.get(poLineItemId) ?? { variantId, entered: [], leaving: [], fresh: zeroQuantity };
    lines.set(poLineItemId, line);
    return line;
  };
  // From what is received now back to the beginning, and then forward through all that has happened.
  for (const receipt of receipts)
    for (const each of receipt.lines) lineOf(each.poLineItemId, each).fresh -= each.quantityDelta;
  const events = [
    ...receipts.map((receipt) => ({ atMs: receipt.receivedAtMs, id: orderOf(receipt.receiptId), receipt, row: null })),
    ...rows.map((row) => ({ atMs: row.proposedAtMs, id: orderOf(row.costSyncId), receipt: null, row })),
  ].sort((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1));
  for (const { receipt, row } of events) {
    if (row !== null) applyRow(lines, row, lineOf);
    for (const each of receipt?.lines ?? []) {
      const line = lineOf(each.poLineItemId, each);
      if (each.quantityDelta > 0) line.fresh += each.quantityDelta;
      else takeBack(line, 0 - each.quantityDelta);
    }
  }
  // Of a history that does not add up, what is received now decides.
  for (const line of lines.values()) if (line.fresh < 0) line.leaving.push(...takeLast(line.entered, -line.fresh));
  return new Map(
    [...Map.groupBy(lines, ([, line]) => line.variantId)].map(([variantId, ofVariant]) => [
      variantId,
      {
        entered: ofVariant.flatMap(([, line]) => line.entered),
        leaving: ofVariant.flatMap(([, line]) => line.leaving),
        fresh: new Map(
          ofVariant.flatMap(([id, line]) => (line.fresh > 0 ? [[id, asQuantity(line.fresh)] as const] : [])),
        ),
      },
    ]),
  );
}

/** The lots in short: those of one line and cost together, and nothing of what has come and gone. */
export function netLots(lots: readonly CostLot[]): readonly CostLot[] {
  const byCost = Map.groupBy(lots, ({ poLineItemId, unitCost, currencyCode, fxRate }) =>
    JSON.stringify([poLineItemId, unitCost, currencyCode, fxRate]),
  );
  return [...byCost.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const quantity = asQuantity(sumOf([first, ...others]));
    return quantity === 0 ? [] : [{ ...first, quantity }];
  });
}

/** The same lots the other way: what has entered leaves. */
export const reversed = (lots: readonly CostLot[]): readonly CostLot[] =>
  lots.map((lot) => ({ ...lot, quantity: asQuantity(0 - lot.quantity) }));
