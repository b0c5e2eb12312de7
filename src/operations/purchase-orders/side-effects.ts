/**
 * Follow-on work in an answer: `data.sideEffects` and `data.recovery` (spec "sideEffects"; C38, C39).
 *
 * Owns: the slots and the recovery text. Does not own: which effects there are (shop/storefront/effects.ts) or their
 * outcomes (jobs/outbox/runner.ts). A slot is there only if its part ran. `recovery` is there exactly when a slot says
 * `failed`.
 */
import { z } from "zod";
import type { EffectOutcome } from "../../core/order/effect.ts";
import { type MentionedOperation, mention } from "../../core/order/guidance.ts";
import type { PurchaseOrder } from "../../core/order/purchase-order.ts";
import { permits } from "../../core/order/status.ts";
import type { QueuedEffect } from "../../shop/storefront/effects.ts";

type QueuedWork = QueuedEffect | QueuedMail;

/** A mail that a change asked for. */
export interface QueuedMail {
  readonly effectId: string;
  readonly kind: "send-mail";
}

export const idsOf = (effects: readonly QueuedEffect[]): readonly string[] => effects.map((effect) => effect.effectId);

const supplierUpdateLineSchema = z
  .strictObject({
    lineItemId: z.string(),
    variantId: z.string().nullable().meta({ description: "Null when the order has no such line." }),
    outcome: z.enum(["applied", "skipped", "failed"]),
    error: z.string().optional(),
  })
  .meta({ description: "What became of one line's write-back to the supplier's catalogue entry." });

const supplierUpdateSchema = z
  .strictObject({
    outcome: z.enum(["applied", "skipped", "failed"]),
    lines: z.array(supplierUpdateLineSchema),
  })
  .meta({ description: "Write-back to the supplier's catalogue; present only with `updateSupplier: true`." });

export type SupplierUpdate = z.output<typeof supplierUpdateSchema>;

export const sideEffectsSchema = z
  .strictObject({
    storefrontSync: z
      .strictObject({
        status: z.enum(["queued", "disabled", "skipped", "failed"]).meta({
          description:
            "queued: accepted, not yet confirmed applied. disabled: auto-sync on receiving is off. skipped: nothing needed syncing. failed: did not go through.",
        }),
        syncedLineItemCount: z.int().meta({ description: "Lines queued." }),
        detail: z.string().optional().meta({ description: "What failed; present exactly then." }),
      })
      .optional()
      .meta({ description: "The push of received stock to the storefront." }),
    incoming: z
      .strictObject({ outcome: z.enum(["applied", "failed"]), detail: z.string().optional() })
      .optional()
      .meta({ description: "The update of incoming quantities." }),
    supplierUpdate: supplierUpdateSchema.optional(),
    tagSync: z
      .strictObject({ outcome: z.enum(["applied", "skipped", "failed"]), detail: z.string().optional() })
      .optional()
      .meta({ description: "The on-order tag of the products concerned." }),
    email: z
      .strictObject({ status: z.enum(["queued", "sent", "failed"]), detail: z.string().optional() })
      .optional()
      .meta({ description: "The e-mail to the supplier." }),
  })
  .meta({ id: "SideEffects", description: "Follow-on work of this change; only the parts that ran appear." });

export type SideEffects = z.output<typeof sideEffectsSchema>;

/** The two members that every answer with follow-on work carries in `data`. */
export const followOnShape = {
  sideEffects: sideEffectsSchema,
  recovery: z
    .string()
    .optional()
    .meta({ description: "What to do about follow-on work that failed; present exactly then." }),
} as const;

/** Follow-on work in an answer. */
export interface FollowOn {
  readonly sideEffects: SideEffects;
  readonly recovery?: string | undefined;
}

/** The order that the follow-on work is for, as the change has left it. */
export type FollowedOrder = Pick<PurchaseOrder, "purchaseOrderId" | "status">;

/** Facts beside the effects that decide the slots. */
export interface SideEffectOptions {
  readonly order: FollowedOrder;
  /**
   * Given only by operations that may push stock: what to say when nothing was pushed, and how many lines the push is
   * of.
   */
  readonly storefrontSync?: {
    readonly unpushed:
      | { readonly status: "disabled" | "skipped" }
      | { readonly status: "failed"; readonly detail: string };
    readonly lineItemCount: number;
  };
  /** Given when the call asked for the write-back (`updateSupplier: true`). */
  readonly supplierUpdate?: SupplierUpdate;
  /** Given when a mail was to be sent by itself and could not be asked for: why. */
  readonly unsentMail?: string;
}

const pending: EffectOutcome = { state: "pending" };

/** One outcome for several effects of a kind: failed if any failed, else pending if any is, else applied if any was. */
function combined(outcomes: readonly EffectOutcome[]): EffectOutcome {
  const failures = outcomes.filter((outcome) => outcome.state === "failed");
  const itemCount = outcomes.reduce((sum, outcome) => sum + ("itemCount" in outcome ? outcome.itemCount : 0), 0);
  if (failures.length > 0) {
    const details = new Set(failures.map((failure) => failure.detail));
    return { state: "failed", detail: [...details].join(" "), itemCount };
  }
  if (outcomes.some((outcome) => outcome.state === "pending")) return pending;
  return outcomes.some((outcome) => outcome.state === "applied")
    ? { state: "applied", itemCount }
    : { state: "skipped" };
}

function storefrontSyncSlot(
  outcome: EffectOutcome | null,
  queued: NonNullable<SideEffectOptions["storefrontSync"]>,
): NonNullable<SideEffects["storefrontSync"]> {
  if (outcome === null) return { ...queued.unpushed, syncedLineItemCount: 0 };
  switch (outcome.state) {
    case "pending":
      return { status: "queued", syncedLineItemCount: queued.lineItemCount };
    case "applied":
      return { status: "queued", syncedLineItemCount: outcome.itemCount };
    case "skipped":
      return { status: "skipped", syncedLineItemCount: 0 };
    case "failed":
      return { status: "failed", syncedLineItemCount: outcome.itemCount, detail: outcome.detail };
  }
}

function emailSlot(outcome: EffectOutcome | null, unsentMail: string | undefined): Pick<SideEffects, "email"> {
  if (unsentMail !== undefined) return { email: { status: "failed", detail: unsentMail } };
  switch (outcome?.state) {
    case undefined:
      return {};
    case "pending":
    case "skipped":
      return { email: { status: "queued" } };
    case "applied":
      return { email: { status: "sent" } };
    case "failed":
      return { email: { status: "failed", detail: outcome.detail } };
  }
}

/** The follow-on work of one order's change. An effect that `outcomes` does not have counts as pending. */
export function renderSideEffects(
  effects: readonly QueuedWork[],
  outcomes: ReadonlyMap<string, EffectOutcome>,
  options: SideEffectOptions,
): FollowOn {
  const outcomeOf = (kind: QueuedWork["kind"]): EffectOutcome | null => {
    const queued = effects.filter((effect) => effect.kind === kind);
    return queued.length === 0 ? null : combined(queued.map((effect) => outcomes.get(effect.effectId) ?? pending));
  };
  const incoming = outcomeOf("mirror-incoming");
  const tags = outcomeOf("sync-tags");
  const sideEffects: SideEffects = {
    ...(options.storefrontSync === undefined
      ? {}
      : { storefrontSync: storefrontSyncSlot(outcomeOf("push-stock"), options.storefrontSync) }),
    ...(incoming === null
      ? {}
      : {
          incoming:
            incoming.state === "failed"
              ? { outcome: "failed" as const, detail: incoming.detail }
              : { outcome: "applied" as const },
        }),
    ...(options.supplierUpdate === undefined ? {} : { supplierUpdate: options.supplierUpdate }),
    ...(tags === null
      ? {}
      : {
          tagSync:
            tags.state === "failed"
              ? { outcome: "failed" as const, detail: tags.detail }
              : { outcome: tags.state === "skipped" ? ("skipped" as const) : ("applied" as const) },
        }),
    ...emailSlot(outcomeOf("send-mail"), options.unsentMail),
  };
  const recovery = recoveryText(sideEffects, options.order);
  return recovery === null ? { sideEffects } : { sideEffects, recovery };
}

/** A mention of the operation, to be called on this order. */
export const onOrder = (order: Pick<PurchaseOrder, "purchaseOrderId">, name: MentionedOperation): string =>
  mention(name, order.purchaseOrderId);

/** Returns the advice for the slots that failed; null when none did. */
export function recoveryText(sideEffects: SideEffects, order: FollowedOrder): string | null {
  const failed: string[] = [];
  if (sideEffects.storefrontSync?.status === "failed") failed.push("received stock was not pushed to the storefront");
  if (sideEffects.incoming?.outcome === "failed") failed.push("the storefront's incoming quantities were not updated");
  if (sideEffects.tagSync?.outcome === "failed") failed.push("the storefront's on-order tags were not updated");
  const steps: string[] = [];
  if (failed.length > 0)
    steps.push(
      `The order is saved, but ${failed.join(" and ")}. ${
        permits(order, "sync")
          ? `Use ${onOrder(order, "purchase_order_storefront_sync_reset")}, then ${onOrder(order, "purchase_order_storefront_sync")}.`
          : `The storefront gets them with the next order that changes the incoming quantity of these variants; an order that is ${order.status} cannot be synced by itself.`
      }`,
    );
  if (sideEffects.supplierUpdate?.outcome === "failed")
    steps.push(
      "The lines are saved, but the supplier's catalogue was not updated for every one. Add the missing variants to the supplier's catalogue, then repeat the call with updateSupplier: true.",
    );
  if (sideEffects.email?.status === "failed")
    steps.push(
      "The order is saved, but not everybody has the e-mail. A person can see why and send it again at the order's page in the console.",
    );
  return steps.length === 0 ? null : steps.join(" ");
}
