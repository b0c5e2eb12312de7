/**
 * The operator's side of the sandbox: its state, changes to it, and the records that an import brings.
 */
import { asQuantity, type Money, type Quantity } from "../../core/money/money.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine } from "../../store/store.ts";
import type { OwnVariant, VariantState } from "../storefront.ts";
import type { SandboxCalls } from "./calls.ts";
import { faultStatements, type SandboxCall, type SandboxFaults } from "./faults.ts";
import {
  costStatement,
  loadCallCounts,
  loadState,
  loadUnseen,
  seedVariant,
  setLevel,
  statusStatement,
} from "./state.ts";
import { levelKey } from "../../core/goods/incoming.ts";

export interface SandboxLevel {
  readonly locationId: string;
  /** Stock that can be read by now: accepted changes less those still within `applyDelayMs`. */
  readonly onHand: Quantity;
  readonly incoming: Quantity;
}

export interface SandboxVariant {
  readonly variantId: string;
  readonly status: VariantState;
  readonly unitCost: Money | null;
  /** Tags of its product. */
  readonly tags: readonly string[];
  readonly levels: readonly SandboxLevel[];
}

/** A change to a variant; members that are left out stay as they are. */
interface SandboxVariantPatch {
  readonly status?: VariantState | undefined;
  readonly unitCost?: Money | null | undefined;
  readonly levels?:
    | readonly {
        readonly locationId: string;
        readonly onHand?: Quantity | undefined;
        readonly incoming?: Quantity | undefined;
      }[]
    | undefined;
}

/** The operator's side of the sandbox. Every method rejects with a `Fault` when the store cannot be used. */
export interface SandboxControl {
  /**
   * Returns the sandbox's stock, and the counts of its calls.
   *
   * @param variantIds  only these; null for all. Variants and levels come in code-point order.
   */
  state(variantIds: readonly string[] | null): Promise<{
    readonly variants: readonly SandboxVariant[];
    readonly calls: Readonly<Partial<Record<SandboxCall, number>>>;
  }>;
  /** Changes a variant, as an edit at the platform would. @returns null when the sandbox does not have it. */
  patchVariant(variantId: string, patch: SandboxVariantPatch): Promise<SandboxVariant | null>;
  /** Replaces delays and all faults; what is left out is none. */
  replaceFaults(faults: SandboxFaults): Promise<void>;
  /** Adds these variants, or replaces what the sandbox has of them. Levels and tags stay. */
  seedVariants(variants: readonly OwnVariant[]): Promise<void>;
  /** Sets what is on hand; incoming stays. */
  seedLevels(
    levels: readonly { readonly variantId: string; readonly locationId: string; readonly onHand: Quantity }[],
  ): Promise<void>;
  /** Deletes all of it. */
  remove(): Promise<void>;
}

export function createControl(
  calls: SandboxCalls,
  { engine, clock, shopId }: { readonly engine: Engine; readonly clock: Clock; readonly shopId: string },
): SandboxControl {
  return {
    state: (variantIds) =>
      calls.turn(async (tx) => ({
        variants: await loadState(tx, shopId, variantIds, clock.now()),
        calls: await loadCallCounts(tx, shopId),
      })),

    patchVariant: (variantId, patch) =>
      calls.turn(async (tx) => {
        const nowMs = clock.now();
        const [before] = await loadState(tx, shopId, [variantId], nowMs);
        if (before === undefined) return null;
        const unseen = await loadUnseen(tx, shopId, nowMs);
        await tx.batch([
          ...(patch.status === undefined ? [] : [statusStatement(shopId, variantId, patch.status)]),
          ...(patch.unitCost === undefined ? [] : [costStatement(shopId, variantId, patch.unitCost)]),
          ...(patch.levels ?? []).map(({ locationId, onHand, incoming }) =>
            setLevel(shopId, variantId, locationId, {
              ...(onHand === undefined ? {} : { onHand: withUnseen(unseen, variantId, locationId, onHand) }),
              ...(incoming === undefined ? {} : { incoming }),
            }),
          ),
        ]);
        const [after] = await loadState(tx, shopId, [variantId], nowMs);
        return after ?? null;
      }),

    replaceFaults: (faults) => calls.turn((tx) => tx.batch(faultStatements(shopId, faults))),

    seedVariants: (variants) => calls.turn((tx) => tx.batch(variants.map((variant) => seedVariant(shopId, variant)))),

    seedLevels: (levels) =>
      calls.turn(async (tx) => {
        const unseen = await loadUnseen(tx, shopId, clock.now());
        await tx.batch(
          levels.map(({ variantId, locationId, onHand }) =>
            setLevel(shopId, variantId, locationId, { onHand: withUnseen(unseen, variantId, locationId, onHand) }),
          ),
        );
      }),

    remove: () => engine.remove(shopId),
  };
}

/**
 * Returns the figure to store so that this much is readable now: changes that are accepted but not readable yet are
 * added (X4).
 */
const withUnseen = (
  unseen: ReadonlyMap<string, number>,
  variantId: string,
  locationId: string,
  onHand: Quantity,
): Quantity => asQuantity(onHand + (unseen.get(levelKey(variantId, locationId)) ?? 0));
