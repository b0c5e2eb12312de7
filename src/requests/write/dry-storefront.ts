/**
 * The storefront of a dry run (C81): it is read and never written. What would be written is noted, and taken as done.
 */
import { type Money, moneyToNumber, quantityToNumber } from "../../core/money/money.ts";
import type { ItemResult, Storefront, VariantState } from "../../storefront/storefront.ts";
import type { LookUps } from "./look-ups.ts";
import { withinLimit } from "./upstream-time-limit.ts";

/** Messages of a write to the storefront. Quantities in pieces, costs in the shop's currency. */
interface StorefrontWrites {
  readonly activate: string[];
  /** Changes of on-hand stock. */
  readonly onHand: { readonly variantId: string; readonly locationId: string; readonly quantity: number }[];
  /** Incoming quantities as they would be set. */
  readonly incoming: { readonly variantId: string; readonly locationId: string; readonly quantity: number }[];
  readonly unitCosts: { readonly variantId: string; readonly unitCost: number }[];
  readonly tags: { readonly variantId: string; readonly tag: string; readonly present: boolean }[];
}

interface DryStorefront {
  readonly storefront: Storefront;
  readonly writes: StorefrontWrites;
}

const applied: ItemResult = { outcome: "applied" };

const appliedTo = (items: readonly unknown[]): Promise<ItemResult[]> => Promise.resolve(items.map(() => applied));

export function dryStorefront(real: Storefront, lookUps: LookUps): DryStorefront {
  const writes: StorefrontWrites = { activate: [], onHand: [], incoming: [], unitCosts: [], tags: [] };
  const pushed = new Set<string>();
  const costs = new Map<string, Money>();
  const statesOf = async (variantIds: readonly string[]): Promise<VariantState[]> => {
    const key = JSON.stringify(["variants", variantIds]);
    const states = await lookUps.of(key, () => withinLimit((signal) => real.checkVariants(variantIds, { signal })));
    const activated = new Set(writes.activate);
    return states.map((state, index) => (activated.has(variantIds[index] ?? "") ? "active" : state));
  };
  const storefront: Storefront = {
    capabilities: real.capabilities,
    checkVariants: statesOf,
    async activateVariants(variantIds) {
      const states = await statesOf(variantIds);
      return variantIds.map((variantId, index): ItemResult => {
        if (states[index] === "active") return { outcome: "unchanged" };
        if (states[index] !== "inactive") return { outcome: "rejected", reason: "error", message: "it is not there" };
        writes.activate.push(variantId);
        return applied;
      });
    },
    changeOnHand(changes, { reference }) {
      pushed.add(reference);
      for (const { variantId, locationId, delta } of changes)
        writes.onHand.push({ variantId, locationId, quantity: quantityToNumber(delta) });
      return appliedTo(changes);
    },
    readOnHand(changes, context) {
      if (pushed.has(context.reference)) return Promise.resolve(changes.map(() => ({ verified: true, onHand: null })));
      const key = JSON.stringify(["on hand", context.reference]);
      return lookUps.of(key, () => withinLimit((signal) => real.readOnHand(changes, { ...context, signal })));
    },
    setIncoming(levels) {
      if (!real.capabilities.incoming) return Promise.resolve(levels.map(() => ({ outcome: "unchanged" })));
      for (const { variantId, locationId, incoming } of levels)
        writes.incoming.push({ variantId, locationId, quantity: quantityToNumber(incoming) });
      return appliedTo(levels);
    },
    writeCosts(changes) {
      for (const { variantId, unitCost } of changes) {
        costs.set(variantId, unitCost);
        writes.unitCosts.push({ variantId, unitCost: moneyToNumber(unitCost) });
      }
      return appliedTo(changes);
    },
    async readCosts(variantIds) {
      const others = variantIds.filter((variantId) => !costs.has(variantId));
      const key = JSON.stringify(["costs", others]);
      const found =
        others.length === 0
          ? []
          : await lookUps.of(key, () => withinLimit((signal) => real.readCosts(others, { signal })));
      const foundOf = new Map(others.map((variantId, index) => [variantId, found[index] ?? null]));
      return variantIds.map((variantId) => costs.get(variantId) ?? foundOf.get(variantId) ?? null);
    },
    setTags(changes) {
      writes.tags.push(...changes);
      return appliedTo(changes);
    },
  };
  return { storefront, writes };
}
