/** Places of the sidebar. The search for everything finds them too. */
import { hasRole, type Role, signedIn } from "../../data/session.ts";
import type { IconName } from "../../icons/names.ts";
import type { texts } from "../../texts/en/texts.ts";

type Step = keyof typeof texts.navigation.places;

interface Entry {
  /** The first step of the path. */
  readonly step: Step;
  readonly icon: IconName;
  /** People with at least this role see it; the operator has no account in the shop. */
  readonly least: "viewer" | "owner" | "operator";
  /** True if a group begins with it. */
  readonly isPart?: true;
}

const all: readonly Entry[] = [
  { step: "home", icon: "house", least: "viewer" },
  { step: "orders", icon: "shopping-cart", least: "viewer" },
  { step: "dock", icon: "package-check", least: "viewer" },
  { step: "reorder", icon: "refresh-cw", least: "viewer" },
  { step: "suppliers", icon: "truck", least: "viewer", isPart: true },
  { step: "products", icon: "tag", least: "viewer" },
  { step: "locations", icon: "warehouse", least: "viewer" },
  { step: "stock", icon: "boxes", least: "viewer" },
  { step: "approvals", icon: "circle-check", least: "viewer", isPart: true },
  { step: "activity", icon: "activity", least: "viewer" },
  { step: "keys", icon: "bot", least: "owner" },
  { step: "people", icon: "users", least: "owner" },
  { step: "import", icon: "upload", least: "owner", isPart: true },
  { step: "storefront", icon: "store", least: "owner" },
  { step: "webhooks", icon: "webhook", least: "owner" },
  { step: "settings", icon: "settings", least: "owner" },
  { step: "shops", icon: "layers", least: "operator" },
];

/** The place that a phone has in its bar beside those that all have there. */
const fifth: Readonly<Record<Role, Step>> = {
  viewer: "products",
  receiver: "stock",
  purchaser: "approvals",
  owner: "approvals",
};

/** The five places of a phone's bar. */
export const barOf = (role: Role): readonly Step[] => ["home", "orders", "dock", "reorder", fifth[role]];

/** Places that the person sees. */
export const entries = (): readonly Entry[] =>
  all.filter(({ least }) => (least === "operator" ? signedIn()?.person.personId === null : hasRole(least)));
