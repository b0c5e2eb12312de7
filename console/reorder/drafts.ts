/**
 * Making the drafts of a plan: one call for each, under a key that stays the same for the same content.
 *
 * Invariant: trying again, also after the page was loaded anew, makes no draft twice (C17).
 */
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import type { Draft } from "./ticked.ts";

/** Lines of one order (spec "Limits"). */
const linesMax = 500;

export interface Made {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
}

const said = (message: string): Problem => ({
  message,
  action: null,
  requestId: null,
  code: "",
  reason: null,
  details: [],
});

/** The supplier whom alone the shop calls so. */
async function supplierCalled(name: string): Promise<string | Problem> {
  const result = await openpo.call("supplier_list", { shopId: shopId(), search: name, limit: 50 });
  if (!result.ok) return problemOf(result);
  const [found, ...others] = result.data.suppliers.filter(
    (supplier) => supplier.name === name && supplier.status === "active",
  );
  return found === undefined || others.length > 0 ? said(reorderTexts.plan.unknownSupplier(name)) : found.supplierId;
}

const storedUnder = "openpo reorder";

/** Keys by the content that they were made for, kept by this tab until the draft exists. */
function keys(): Map<string, string> {
  const stored: unknown = JSON.parse(sessionStorage.getItem(storedUnder) ?? "[]");
  // Only this file writes them.
  return new Map(Array.isArray(stored) ? stored : []);
}

const store = (next: ReadonlyMap<string, string>): void =>
  sessionStorage.setItem(storedUnder, JSON.stringify([...next]));

function keyFor(content: string): string {
  const known = keys();
  const key = known.get(content) ?? [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  store(known.set(content, key));
  return key;
}

/** Makes one draft, or finds the one that an earlier attempt has made. */
export async function makeDraft(draft: Draft, locationId: string): Promise<Made | Problem> {
  if (draft.lines.length > linesMax) return said(reorderTexts.plan.tooMany(String(linesMax)));
  const supplierId = draft.supplierId ?? (await supplierCalled(draft.supplierName));
  if (typeof supplierId !== "string") return supplierId;
  const input = {
    supplierId,
    locationId,
    lineItems: draft.lines,
    ...(draft.arrivalDate === null ? {} : { expectedDeliveryDate: draft.arrivalDate }),
  };
  const content = JSON.stringify(input);
  const result = await openpo.call("purchase_order_create", input, { idempotencyKey: keyFor(content) });
  // A refusal is stored under its key too. Without an answer, or with one that asks to try again, the key stays.
  if (result.ok || ("retryable" in result.error && !result.error.retryable)) {
    const rest = keys();
    rest.delete(content);
    store(rest);
  }
  if (!result.ok) return problemOf(result);
  const { purchaseOrderId, poNumber } = result.data.purchaseOrder;
  return { purchaseOrderId, poNumber };
}
