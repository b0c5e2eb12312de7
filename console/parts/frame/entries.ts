/** Places of the sidebar. The search for everything finds them too. */
import { hasRole, signedIn } from "../../data/session.ts";
import type { IconName } from "../../icons/names.ts";
import type { texts } from "../../texts/en/texts.ts";

interface Entry {
  /** The first step of the path. */
  readonly step: keyof typeof texts.navigation.places;
  readonly icon: IconName;
  /** People with at least this role see it; the operator has no account in the shop. */
  readonly least: "viewer" | "owner" | "operator";
  /** True if a group begins with it. */
  readonly isPart?: true;
  /** True if a phone does not have it in its bar of five. */
  readonly isFurther?: true;
}

const all: readonly Entry[] = [
  { step: "home", icon: "house", least: "viewer" },
  { step: "orders", icon: "shopping-cart", least: "viewer" },
  { step: "dock", icon: "package-check", least: "viewer" },
  { step: "reorder", icon: "refresh-cw", least: "viewer" },
  { step: "suppliers", icon: "truck", least: "viewer", isPart: true, isFurther: true },
  { step: "products", icon: "tag", least: "viewer", isFurther: true },
  { step: "locations", icon: "warehouse", least: "viewer", isFurther: true },
  { step: "stock", icon: "boxes", least: "viewer", isFurther: true },
  { step: "approvals", icon: "circle-check", least: "viewer", isPart: true, isFurther: true },
  { step: "activity", icon: "activity", least: "viewer", isFurther: true },
  { step: "keys", icon: "bot", least: "owner", isFurther: true },
  { step: "people", icon: "users", least: "owner", isFurther: true },
  { step: "import", icon: "upload", least: "owner", isPart: true, isFurther: true },
  { step: "storefront", icon: "store", least: "owner", isFurther: true },
  { step: "webhooks", icon: "webhook", least: "owner", isFurther: true },
  { step: "settings", icon: "settings", least: "owner", isFurther: true },
  { step: "shops", icon: "layers", least: "operator", isFurther: true },
];

/** Places that the person sees. */
export const entries = (): readonly Entry[] =>
  all.filter(({ least }) => (least === "operator" ? signedIn()?.person.personId === null : hasRole(least)));
