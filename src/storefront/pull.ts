/**
 * Records of a storefront, page by page (C66): its locations, catalogue, levels and sales. Part of the port
 * (storefront.ts).
 *
 * Owns: the shape of pages. Does not own: how a platform is asked for them (its adapter), when they are asked for and
 * what the shop keeps of them (pull/).
 */
import type { Money, Quantity } from "../core/money/money.ts";
import type { ReadContext, VariantState } from "./storefront.ts";

/** Parts of a pull, in this order: levels and sales name locations and variants. */
export type PullStage = "locations" | "variants" | "levels" | "sales";

/** Which page is asked for. */
export interface PullRequest {
  readonly stage: PullStage;
  /**
   * Where the page before has ended, as it said; null: the part's first page. It may be from another process, hours
   * ago.
   */
  readonly cursor: string | null;
  /** Only what may have changed since then; null: everything. More than that may come. */
  readonly changedSinceMs: number | null;
  /** Sales from before are left out. */
  readonly soldSinceMs: number;
}

/**
 * One thing that the storefront holds, as it is now; it replaces what the shop knows of it. Ids are in the first of the
 * platform's names for it (`StorefrontPull.names`).
 *
 * - `product`: all variants that the product has. Its others are deleted; with none it is deleted itself.
 * - `variant`: prices are in the shop's currency.
 * - `level`: `onHand` is null where the variant is not stocked. Nothing is on hand there then.
 * - `sale`: one order of a customer. It replaces what was known of the order. `lines`: what of it counts as sold,
 *   returns taken off; none when it was cancelled or a test. `locationId` is null when it is not known where.
 */
export type Pulled =
  | { readonly type: "location"; readonly locationId: string; readonly name: string }
  | { readonly type: "product"; readonly productId: string; readonly variantIds: readonly string[] }
  | {
      readonly type: "variant";
      readonly variantId: string;
      readonly productId: string;
      readonly productName: string;
      readonly variantName: string | null;
      readonly sku: string | null;
      readonly barcode: string | null;
      readonly price: Money | null;
      readonly unitCost: Money | null;
      readonly status: Exclude<VariantState, "deleted">;
      /** Of its product. */
      readonly imageUrl: string | null;
    }
  | {
      readonly type: "level";
      readonly variantId: string;
      readonly locationId: string;
      readonly onHand: Quantity | null;
    }
  | {
      readonly type: "sale";
      readonly saleId: string;
      readonly soldAtMs: number;
      readonly lines: readonly {
        readonly variantId: string;
        readonly locationId: string | null;
        readonly quantity: Quantity;
      }[];
    };

export interface PullPage {
  /** At most a few hundred: a page is held in memory and stored in slices. */
  readonly records: readonly Pulled[];
  /**
   * Where the next page begins; null: the part is over. The same as before, with `waitMs`, when the platform is not
   * ready.
   */
  readonly cursor: string | null;
  /** Wait before the next page that the platform asks for. */
  readonly waitMs?: number;
  /** Things in this part, as far as the platform says, for the progress. */
  readonly total?: number;
  /** Notes for the operator, like `sales reach back 60 days`. The same text is told once. */
  readonly notes?: readonly string[];
}

/** Port of a storefront that can be pulled. */
export interface StorefrontPull {
  /** The part `variants` brings all there are, also when it is asked for what has changed: others are deleted. */
  readonly bringsAllVariants: boolean;
  /** @throws StorefrontError; the page may then be asked for again. */
  page(request: PullRequest, context?: ReadContext): Promise<PullPage>;
  /**
   * Every name under which the shop may hold this id of the platform, the one for something new first: `4711`,
   * `gid://…/4711`.
   */
  names(kind: "location" | "product" | "variant", id: string): readonly string[];
}
