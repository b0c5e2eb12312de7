/**
 * Unit costs in a simulation: what the service was seen to write to the storefronts and to read back, and the judge of the rows that it has made
 * of that (C45, D346).
 *
 * The judge goes by when calls began and ended, in virtual time, and by what they were answered; the service's own times are only asked for what it
 * knew when it settled a row.
 */
import type { ItemResult, Storefront } from "../../src/storefront/storefront.ts";
import type { Row } from "../world/end.ts";

/** A call that has written costs. */
export interface CostCall {
  readonly shopId: string;
  readonly reference: string;
  /** By variant. */
  readonly costs: ReadonlyMap<string, number>;
  readonly begunMs: number;
  /** Infinity: the service has got no answer. */
  endedMs: number;
  /** By variant; null: the service has got none. */
  results: ReadonlyMap<string, ItemResult["outcome"]> | null;
}

/** A cost that was read back. */
export interface CostReading {
  readonly shopId: string;
  readonly variantId: string;
  readonly shown: number | null;
  readonly endedMs: number;
}

/** Notes the calls about costs. */
export class CostWatch {
  readonly calls: CostCall[] = [];
  readonly readings: CostReading[] = [];
  readonly #now: () => number;
  readonly #written: (shopId: string, variantIds: readonly string[]) => void;

  /** @param written is told of each call that was answered. */
  constructor(now: () => number, written: (shopId: string, variantIds: readonly string[]) => void) {
    this.#now = now;
    this.#written = written;
  }

  /** The storefront, watched. */
  of(shopId: string, storefront: Storefront): Storefront {
    return {
      ...storefront,
      writeCosts: async (costs, context) => {
        const call: CostCall = {
          shopId,
          reference: context.reference,
          costs: new Map(costs.map(({ variantId, unitCost }) => [variantId, unitCost])),
          begunMs: this.#now(),
          endedMs: Infinity,
          results: null,
        };
        this.calls.push(call);
        const results = await storefront.writeCosts(costs, context);
        call.endedMs = this.#now();
        call.results = new Map(costs.map(({ variantId }, index) => [variantId, results[index]?.outcome ?? "unknown"]));
        this.#written(shopId, [...call.costs.keys()]);
        return results;
      },
      readCosts: async (variantIds, context) => {
        const shown = await storefront.readCosts(variantIds, context);
        for (const [index, variantId] of variantIds.entries())
          this.readings.push({ shopId, variantId, shown: shown[index] ?? null, endedMs: this.#now() });
        return shown;
      },
    };
  }
}

interface CostsEnd {
  readonly shopId: string;
  readonly rows: readonly Row[];
  readonly orders: ReadonlyMap<string, Row>;
  readonly effects: readonly Row[];
  /** By variant, here and at the storefront. */
  readonly catalogue: ReadonlyMap<string, unknown>;
  readonly storefront: ReadonlyMap<string, unknown>;
  readonly calls: readonly CostCall[];
  readonly readings: readonly CostReading[];
  /** Costs that somebody else has set at the storefronts. */
  readonly pricesOfOthers: ReadonlySet<number>;
}

/** A row and the call that has written it. */
interface Written {
  readonly row: Row;
  readonly variantId: string;
  readonly cost: number;
  readonly call: CostCall;
  readonly isTaken: boolean;
}

export function judgeCosts(end: CostsEnd, tell: (finding: string) => void): void {
  const calls = end.calls.filter(({ shopId }) => shopId === end.shopId);
  const written = end.rows.flatMap((row): Written | [] => {
    if (row["outcome"] === "skipped") return [];
    const reference = `costs:${row["purchase_order_id"]}:${row["completion"]}:${row["attempt"]}`;
    const variantId = String(row["variant_id"]);
    const call = calls.find((each) => each.reference === reference && each.costs.has(variantId));
    // The process has ended between storing the row and the call.
    if (call === undefined) return [];
    const result = call.results?.get(variantId);
    const isTaken = result === "applied" || result === "unchanged";
    return { row, variantId, cost: Number(row["proposed_unit_cost"]), call, isTaken };
  });
  for (const each of written) judgeRow(each, written, end, tell);
  for (const row of end.rows) judgeRest(row, end, tell);
  judgeCatalogue(end, tell);
}

const hasEnded = (row: Row, orders: CostsEnd["orders"]): boolean =>
  row["completion"] !== (orders.get(String(row["purchase_order_id"]))?.["completed_at"] ?? 0);

function judgeRow(mine: Written, all: readonly Written[], end: CostsEnd, tell: (finding: string) => void): void {
  const { row, variantId, cost, call, isTaken } = mine;
  const { outcome, reason } = row;
  const told = `the cost ${cost} of ${variantId} (${row["cost_sync_id"]} of ${row["purchase_order_id"]}, ${outcome}: ${reason})`;
  const text = String(reason);
  const readings = end.readings.filter(
    (each) => each.shopId === end.shopId && each.variantId === variantId && each.endedMs >= call.begunMs,
  );
  const wasShown = readings.some(({ shown }) => shown === cost);
  const others = all.filter((other) => other !== mine && other.variantId === variantId);
  const orderOf = ({ row: of }: Written): unknown => end.orders.get(String(of["purchase_order_id"]));
  // Another write that can have come after this one, of the order that the reason names.
  const replacing = others.filter(
    (other) =>
      other.call.endedMs >= call.begunMs &&
      (other.isTaken || readings.some(({ shown }) => shown === other.cost)) &&
      (orderOf(other) === orderOf(mine)
        ? text.includes("another cost of this order")
        : text.includes(`replaced since by ${(orderOf(other) as Row | undefined)?.["po_number"]}`)),
  );
  const wasPartly = call.results !== null && [...call.results.values()].some((each) => each === "rejected");
  if (row["accepted_at"] !== null && !isTaken && !wasShown)
    tell(`${told} counts as taken, and the storefront has not said so`);
  if (outcome === "applied" && reason === null && !wasShown && !(isTaken && wasPartly)) tell(`${told} was never shown`);
  if (outcome === "applied" && reason !== null && (!isTaken || replacing.length === 0))
    tell(`${told} was replaced by nothing`);
  if (outcome !== "failed") return;
  if (text.startsWith("replaced since by")) {
    if (row["accepted_at"] !== null) tell(`${told} was taken`);
    if (replacing.length === 0) tell(`${told} was replaced by nothing`);
    return;
  }
  const shown = /^the storefront shows (?:(no unit cost)|([\d.]+))$/.exec(text);
  if (shown === null) return;
  const value = shown[2] === undefined ? null : Math.round(Number(shown[2]) * 10_000);
  if (!readings.some((each) => each.shown === value)) tell(`${told}: it was never read so`);
  // A write of which the service does not know whether it landed may have come late, and is nobody's last cost.
  const isStray = others.some((other) => other.cost === value && other.row["accepted_at"] === null);
  if (value !== null && !end.pricesOfOthers.has(value) && !isStray)
    tell(`${told}: a cost of the service itself has replaced it`);
  const isReplaced = others.some(
    (other) =>
      other.call.begunMs > call.endedMs &&
      other.row["accepted_at"] !== null &&
      Number(other.row["accepted_at"]) < Number(row["resolved_at"]),
  );
  if (isReplaced) tell(`${told}: a later cost was taken before it was given up`);
}

/** Everything is settled but what could not be read. */
function judgeRest(row: Row, { orders, effects }: CostsEnd, tell: (finding: string) => void): void {
  if (row["outcome"] !== "proposed" || !hasEnded(row, orders)) return;
  const reads = effects.filter(
    (effect) => effect["kind"] === "settle-costs" && effect["purchase_order_id"] === row["purchase_order_id"],
  );
  if (reads.every(({ state }) => state !== "failed"))
    tell(`the cost row ${row["cost_sync_id"]} of ${row["purchase_order_id"]} was never settled`);
}

/** D346: where all that was written is known, the catalogue has the storefront's cost. */
function judgeCatalogue(end: CostsEnd, tell: (finding: string) => void): void {
  for (const [variantId, here] of end.catalogue) {
    const there = end.storefront.get(variantId);
    const isKnown = end.rows.every(
      (row) => row["variant_id"] !== variantId || row["outcome"] === "applied" || row["outcome"] === "skipped",
    );
    if (isKnown && here !== there && !end.pricesOfOthers.has(Number(there)))
      tell(`the unit cost of ${variantId} is ${String(here)} here, and ${String(there)} at the storefront`);
  }
}
