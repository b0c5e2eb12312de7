/**
 * The judge of what a shop holds when everything has come to rest: its rows, its stock and that of its storefront, and its audit log are what the model
 * (history.ts) has made of the requests, whoever has sent them and whatever went wrong meanwhile.
 */
import { isDeepStrictEqual } from "node:util";
import { isReplay } from "../../src/requests/envelope.ts";
import type { SentItem } from "../../src/core/storefront/stock-push.ts";
import type { Attempt } from "./client.ts";
import type { Approvals } from "./approvals.ts";
import { isDecision, locationId, variantIds } from "./deeds.ts";
import type { EventTold } from "./history.ts";
import { isCustom, type ModelOrder, openStatuses, pendingOf } from "./model.ts";

/** A row of a table as it is stored. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Tables whose rows tell what a shop holds. */
export const endTables = [
  "purchase_order",
  "purchase_order_line",
  "purchase_order_log",
  "receipt",
  "incoming",
  "inventory_level",
  "effect",
  "stock_push",
  "cost_sync",
  "variant",
  "audit_log",
  "idempotency_record",
  "shop",
  "approval_request",
  "order_spend",
] as const;

/** What a shop holds at the end. */
export interface ShopEnd {
  readonly shopId: string;
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  /** What the verification of its audit log has found. */
  readonly auditFindings: readonly { readonly kind: string; readonly message: string }[];
  readonly events: readonly EventTold[];
  /** Levels and unit costs of its variants at the storefront. */
  readonly storefront: readonly Row[];
}

interface EndOptions {
  readonly end: ShopEnd;
  readonly attempts: readonly Attempt[];
  /** Each order as the model has it. */
  readonly orders: ReadonlyMap<string, ModelOrder>;
  readonly approvals: Approvals;
  /** On hand of each variant at the start, in thousandths. */
  readonly openingOnHand: number;
  /** Whether a request that is answered so may lack its row in the audit log. Rows of what has changed nothing are not synced before the answer leaves. */
  readonly mayMissRow: (attempt: Attempt) => boolean;
  /** What a row may say of a request besides what it was answered. */
  readonly isUnknown?: (attempt: Attempt) => boolean;
  /** Whether the names of all requests are known, those of replays and of the shop's making too. */
  readonly knowsAll: boolean;
}

export function judgeEnd(options: EndOptions, tell: (finding: string) => void): void {
  new EndJudge(options, tell).judge();
}

/** Who has decided, as the log has it. */
function idOf(approvedBy: Row[string] | undefined): string | null {
  if (typeof approvedBy !== "string") return null;
  const { id, name }: { readonly id: string | null; readonly name: string } = JSON.parse(approvedBy);
  return id ?? name;
}

class EndJudge {
  readonly #options: EndOptions;
  readonly #end: ShopEnd;
  readonly #tell: (finding: string) => void;

  constructor(options: EndOptions, tell: (finding: string) => void) {
    this.#options = options;
    this.#end = options.end;
    this.#tell = tell;
  }

  judge(): void {
    this.#judgeRows();
    this.#judgeReceipts();
    this.#judgeStock();
    this.#judgeApprovals();
    this.#judgeLog();
    this.#judgeAudit();
  }

  #rows(table: (typeof endTables)[number]): readonly Row[] {
    return this.#end.tables[table] ?? [];
  }

  /** What is stored at the end is what the model has made. */
  #judgeRows(): void {
    const orders = new Map(this.#rows("purchase_order").map((row) => [row["purchase_order_id"], row]));
    for (const [orderId, order] of this.#options.orders) {
      const row = orders.get(orderId);
      orders.delete(orderId);
      if (row === undefined) {
        if (order.deleted !== "gone") this.#tell(`${orderId} is not stored`);
        continue;
      }
      const stored = {
        status: row["status"],
        previous: row["previous_status"],
        number: row["po_number"],
        deleted: row["deleted_at"] === null ? "no" : "hidden",
        lines: this.#rows("purchase_order_line")
          .filter((line) => line["purchase_order_id"] === orderId)
          .sort((a, b) => Number(a["position"]) - Number(b["position"]))
          .map((line) => [
            line["po_line_item_id"],
            line["quantity_ordered"],
            line["quantity_confirmed"],
            line["quantity_received"],
          ]),
      };
      const expected = {
        status: order.status,
        previous: order.previous,
        number: order.poNumber,
        deleted: order.deleted,
        lines: order.lines.map((line) => [line.id, line.ordered, line.confirmed, line.received]),
      };
      if (!isDeepStrictEqual(stored, expected))
        this.#tell(`${orderId} is stored as ${JSON.stringify(stored)} instead of ${JSON.stringify(expected)}`);
    }
    for (const orderId of orders.keys()) this.#tell(`${orderId} is stored, and no event tells of it`);
  }

  /** Each line has received what its receipts say. */
  #judgeReceipts(): void {
    const sums = new Map<string, number>();
    for (const { lines } of this.#rows("receipt"))
      for (const line of JSON.parse(String(lines)) as readonly { poLineItemId: string; quantityDelta: number }[])
        sums.set(line.poLineItemId, (sums.get(line.poLineItemId) ?? 0) + line.quantityDelta);
    for (const line of this.#rows("purchase_order_line")) {
      const id = String(line["po_line_item_id"]);
      if (line["quantity_received"] !== (sums.get(id) ?? 0))
        this.#tell(`line ${id} has received ${line["quantity_received"]}, and ${sums.get(id) ?? 0} by its receipts`);
    }
  }

  /** C78, C80: each request has ended as it was decided, and the keys with limits have spent what the model says. */
  #judgeApprovals(): void {
    const { approvals } = this.#options;
    const { requests, spent } = approvals;
    const stored = new Map(this.#rows("approval_request").map((row) => [row["approval_request_id"], row["status"]]));
    for (const [id, { status }] of requests)
      if (stored.get(id) !== status) this.#tell(`the request ${id} is stored as ${stored.get(id)}, and is ${status}`);
    for (const { approval_request_id: id, status, content } of this.#rows("approval_request")) {
      const { begunBy }: { readonly begunBy: object | null } = JSON.parse(String(content));
      if (status === "pending" && begunBy !== null && !approvals.mayBeBegun(String(id)))
        this.#tell(`the request ${id} is stored as begun, and nobody has begun it`);
    }
    if (stored.size !== requests.size) this.#tell(`${stored.size} requests are stored, and ${requests.size} were made`);
    const sums = new Map<string, number>();
    const add = (row: readonly unknown[], amount: number): void =>
      void sums.set(row.join(" "), (sums.get(row.join(" ")) ?? 0) + amount);
    for (const row of this.#rows("order_spend"))
      add([row["key_id"], row["purchase_order_id"], row["day"]], Number(row["amount"]) / 100);
    for (const { keyId, orderId, day, amount } of spent) add([keyId, orderId, day], -amount);
    for (const [row, left] of sums) if (left !== 0) this.#tell(`${row}: ${left} too much is stored as spent`);
  }

  /** C80: the log names who has asked and, where somebody has decided, them too. */
  #judgeLog(): void {
    const attempts = new Map(this.#options.attempts.map((attempt) => [attempt.requestId, attempt]));
    for (const row of this.#rows("purchase_order_log")) {
      const attempt = attempts.get(String(row["request_id"]));
      if (attempt === undefined || row["actor_type"] === "system") continue;
      const { deed, keyId } = attempt;
      const request = isDecision(deed) ? this.#options.approvals.requests.get(deed.approvalRequestId) : undefined;
      const named = [row["actor_id"], idOf(row["approved_by"])];
      if (!isDeepStrictEqual(named, request === undefined ? [keyId, null] : [request.askerId, keyId]))
        this.#tell(`the log names ${named.join(" and ")} of ${attempt.requestId} ${JSON.stringify(deed)} by ${keyId}`);
    }
  }

  /** C40, C41: on hand and incoming, here and at the storefront. */
  #judgeStock(): void {
    const lines = this.#rows("purchase_order_line");
    const orders = new Map(this.#rows("purchase_order").map((row) => [row["purchase_order_id"], row]));
    const refusedForGood = this.#rows("effect").some(
      (row) => row["kind"] === "mirror-incoming" && row["state"] === "failed",
    );
    for (const variantId of variantIds) {
      const own = lines.filter((line) => line["variant_id"] === variantId);
      const synced = own.reduce((sum, line) => sum + Number(line["quantity_synced"]), 0);
      const level = this.#rows("inventory_level").find((row) => row["variant_id"] === variantId);
      const storefront = this.#end.storefront.find(
        (row) => row["variantId"] === variantId && row["locationId"] === locationId,
      );
      const expected = this.#options.openingOnHand + synced;
      if (level?.["on_hand"] !== expected)
        this.#tell(`on hand of ${variantId} is ${level?.["on_hand"]} here, and ${expected} by what was synced`);
      if (!this.#mayHave(variantId, expected).includes(Number(storefront?.["onHand"])))
        this.#tell(
          `on hand of ${variantId} is ${storefront?.["onHand"]} at the storefront, ${expected} by what was synced`,
        );
      let incoming = 0;
      for (const order of this.#options.orders.values()) {
        if (order.deleted !== "no" || !openStatuses.includes(order.status)) continue;
        for (const line of order.lines)
          if (line.variantId === variantId && !isCustom(line) && order.located) incoming += pendingOf(line);
      }
      const ledger = this.#rows("incoming").find((row) => row["variant_id"] === variantId)?.["quantity"] ?? 0;
      if (ledger !== incoming) this.#tell(`incoming of ${variantId} is ${ledger}, and ${incoming} by the model`);
      if (!refusedForGood && (storefront?.["incoming"] ?? 0) !== incoming)
        this.#tell(
          `incoming of ${variantId} is ${storefront?.["incoming"]} at the storefront, ${incoming} by the model`,
        );
    }
    // After the pushes of the end nothing is left to push.
    for (const line of lines) {
      const order = orders.get(line["purchase_order_id"] ?? "");
      const isOpen = ["In Progress", "Partially Received", "Received"].includes(String(order?.["status"]));
      const isPushed = String(line["variant_id"]).startsWith("CSTM-") || order?.["deleted_at"] !== null || !isOpen;
      if (!isPushed && line["quantity_synced"] !== line["quantity_received"])
        this.#tell(
          `line ${line["po_line_item_id"]} has received ${line["quantity_received"]} and synced ${line["quantity_synced"]} at the end`,
        );
    }
  }

  /** What the storefront can have of a variant: what is synced, with or without each push that was given up without an outcome. */
  #mayHave(variantId: string, synced: number): readonly number[] {
    let may = [synced];
    for (const push of this.#rows("stock_push")) {
      if (push["settled_at"] !== null) continue;
      const items = JSON.parse(String(push["items"])) as readonly SentItem[];
      for (const item of items)
        if (item.variantId === variantId && item.result === null)
          may = [...may, ...may.map((onHand) => onHand + item.delta)];
    }
    return may;
  }

  /** H1: every request that was answered has one row, with what it was answered, and the chain of hashes has all rows as they are. */
  #judgeAudit(): void {
    const { attempts, knowsAll, mayMissRow, isUnknown = () => false } = this.#options;
    for (const { kind, message } of this.#end.auditFindings)
      this.#tell(`the audit log does not verify: ${kind}: ${message}`);
    // Where the service names requests, a replay has a name of its own that nobody is told.
    const rows = Map.groupBy(
      this.#rows("audit_log").filter((row) => knowsAll || row["replayed"] === 0),
      (row) => String(row["request_id"]),
    );
    const known = new Set(attempts.map(({ requestId }) => requestId));
    for (const [requestId, found] of rows) {
      if (knowsAll && !known.has(requestId) && requestId !== "req_import")
        this.#tell(`the audit log has ${requestId}, which nobody has sent`);
      if (found.length > 1 && known.has(requestId))
        this.#tell(`the audit log has ${found.length} rows of ${requestId}`);
    }
    for (const attempt of attempts) {
      const { requestId, reply, deed } = attempt;
      if (reply === null || (!knowsAll && isReplay(reply))) continue;
      const [row] = rows.get(requestId) ?? [];
      const isCertain = reply.status < 300 && !isReplay(reply) && deed.op !== "read" && deed.op !== "list";
      if (row === undefined) {
        if (isCertain || !mayMissRow(attempt))
          this.#tell(`the audit log has no row of ${requestId}, answered ${reply.status}`);
      } else if (!isUnknown(attempt) && (row["status"] !== reply.status || (row["replayed"] === 1) !== isReplay(reply)))
        this.#tell(`the audit log says ${row["status"]} of ${requestId}, which was answered ${reply.status}`);
    }
  }
}
