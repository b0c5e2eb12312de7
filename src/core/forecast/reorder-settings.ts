/**
 * Settings by which a buyer steers the reorder of a variant, everywhere or at one location (C83). Pure data; what they
 * decide is in forecast.ts.
 */
import { type Quantity, quantityToNumberOrNull } from "../money/money.ts";

/** Settings; null: the forecast decides. */
interface ReorderRule {
  /** The reorder point is at least this. */
  readonly minimum: Quantity | null;
  /** An order restores at most this. */
  readonly maximum: Quantity | null;
  /** Days beyond the lead time that an order covers. */
  readonly coverDays: number | null;
  /** In place of the supplier's. */
  readonly leadTimeDays: number | null;
  /** Days of demand in place of the computed safety stock. */
  readonly safetyDays: number | null;
  /** Nothing is suggested. */
  readonly isExcluded: boolean | null;
}

/** Settings of one location, before those of the variant. */
interface PlacedReorderRule extends ReorderRule {
  readonly locationId: string;
}

/** Settings of a variant. */
export interface ReorderSettings extends ReorderRule {
  readonly locations: readonly PlacedReorderRule[];
}

/** Settings of a variant as they hold in a view. */
export interface Steering extends ReorderRule {
  /** It is no longer bought. */
  readonly isArchived: boolean;
  readonly preferredSupplierIds: readonly string[];
}

const noRule: ReorderRule = {
  minimum: null,
  maximum: null,
  coverDays: null,
  leadTimeDays: null,
  safetyDays: null,
  isExcluded: null,
};

/** The settings that hold in a view: of a view of one location its own, where they are set, else the variant's. */
export function ruleIn(settings: ReorderSettings | null, locationIds: readonly string[] | null): ReorderRule {
  if (settings === null) return noRule;
  const { locations, ...everywhere } = settings;
  const [only, ...others] = locationIds ?? [];
  const here = others.length > 0 ? undefined : locations.find(({ locationId }) => locationId === only);
  return {
    minimum: here?.minimum ?? everywhere.minimum,
    maximum: here?.maximum ?? everywhere.maximum,
    coverDays: here?.coverDays ?? everywhere.coverDays,
    leadTimeDays: here?.leadTimeDays ?? everywhere.leadTimeDays,
    safetyDays: here?.safetyDays ?? everywhere.safetyDays,
    isExcluded: here?.isExcluded ?? everywhere.isExcluded,
  };
}

const shownRule = <Rule extends ReorderRule>(rule: Rule) => ({
  ...rule,
  minimum: quantityToNumberOrNull(rule.minimum),
  maximum: quantityToNumberOrNull(rule.maximum),
});

/** Renders the settings as the API shows them. */
export const shownReorder = (settings: ReorderSettings) => ({
  ...shownRule(settings),
  locations: settings.locations.map(shownRule),
});
