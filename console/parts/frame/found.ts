/** Places, actions and records of the shop that some words may mean. */
import { statusName } from "../../data/format.ts";
import { openpo } from "../../data/client.ts";
import { density, theme } from "../../data/look.ts";
import { type Choice, locations, suppliers } from "../../data/look-ups.ts";
import { hasRole, hasStorefront, platform, shopId, signedIn, signOut } from "../../data/session.ts";
import type { IconName } from "../../icons/names.ts";
import { builtInViews, views } from "../../orders/filters.ts";
import { addressOf } from "../../orders/view-bar.tsx";
import { entries } from "./entries.ts";
import { actionsHere } from "./here.ts";
import { go, hrefOf } from "../../router.ts";
import { findTexts as words } from "../../texts/en/find.ts";
import { texts } from "../../texts/en/texts.ts";
import { dotted, isolated } from "../../texts/isolated.ts";

export interface Found {
  readonly group: keyof typeof words.groups;
  readonly id: string;
  readonly title: string;
  readonly hint: string | null;
  readonly icon: IconName;
  readonly run: () => void;
}

const foundMax = 5;

const isMeant = (title: string, text: string): boolean =>
  text.split(/\s+/).every((part) => title.toLocaleLowerCase().includes(part.toLocaleLowerCase()));

const placeOf = (title: string, icon: IconName, href: string): Found => ({
  group: "places",
  id: href,
  title,
  hint: null,
  icon,
  run: () => go(href),
});

/** Places below those of the sidebar. Only who writes finds them. */
function placesBelow(): readonly Found[] {
  const { titles, navigation } = texts;
  const orderViews = builtInViews.filter(({ query }) => query !== views.failed || hasStorefront());
  return [
    ...orderViews.map(({ name, query }) =>
      placeOf(`${navigation.places.orders}: ${name}`, "shopping-cart", addressOf(query)),
    ),
    ...Object.entries(titles.stocks).map(([kind, title]) => placeOf(title, "boxes", hrefOf("stock", kind))),
    placeOf(titles.connect, "bot", hrefOf("connect")),
    ...(signedIn()?.person.personId === null ? [] : [placeOf(titles.account, "user", hrefOf("account"))]),
    ...(hasRole("owner")
      ? [
          placeOf(titles.documents, "settings", hrefOf("settings", "documents")),
          placeOf(titles.approvalRules, "settings", hrefOf("settings", "approvals")),
        ]
      : []),
  ];
}

/** Records that the person may make. Those of a storefront are made there. */
const makes = (): readonly ("suppliers" | "products" | "locations")[] =>
  !hasRole("purchaser") ? [] : platform() === null ? ["suppliers", "products", "locations"] : ["suppliers"];

const recordIcons = { suppliers: "truck", products: "tag", locations: "warehouse" } as const;

/** Actions of the place that is shown, by their names and their record's. */
export const doneHere = (text: string): readonly Found[] =>
  actionsHere.value
    .filter(({ title, hint }) => isMeant(`${title} ${hint}`, text))
    .map((action) => ({ group: "actions", id: `here ${action.title}`, ...action }));

/** @param showKeys  shows the list of keys. */
export function namedBy(text: string, showKeys: () => void): readonly Found[] {
  const action = (title: string, icon: IconName, run: () => void): Found => ({
    group: "actions",
    id: title,
    title,
    hint: null,
    icon,
    run,
  });
  const actions = [
    ...(hasRole("purchaser") ? [action(words.newOrder, "plus", () => go(hrefOf("new-order")))] : []),
    ...makes().map((kind) => action(texts.titles.newRecords[kind], recordIcons[kind], () => go(hrefOf("new", kind)))),
    ...(hasRole("owner") ? [action(words.invite, "users", () => go(hrefOf("people")))] : []),
    action(words.dark, "moon", () => (theme.value = "dark")),
    action(words.light, "sun", () => (theme.value = "light")),
    density.value === "compact"
      ? action(words.comfortable, "rows-2", () => (density.value = "comfortable"))
      : action(words.compact, "rows-3", () => (density.value = "compact")),
    action(words.keysHelp, "keyboard", showKeys),
    action(words.signOut, "log-out", () => void signOut()),
  ];
  const places = entries().map(({ step, icon }) => placeOf(texts.navigation.places[step], icon, hrefOf(step)));
  if (text === "") return [...places, ...actions];
  return [...places, ...placesBelow(), ...actions].filter(({ title }) => isMeant(title, text));
}

/** Records of the shop by that name. Those that cannot be read are left out. */
export async function foundBy(text: string): Promise<readonly Found[]> {
  const ofOrders = async (): Promise<readonly Found[]> => {
    const result = await openpo.call("purchase_order_list", { search: text, limit: foundMax });
    if (!result.ok) return [];
    return result.data.purchaseOrders.map(({ purchaseOrderId, poNumber, poName, supplierName, status }) => ({
      group: "orders",
      id: purchaseOrderId,
      title: [poNumber, poName]
        .filter((part) => part !== null)
        .map(isolated)
        .join(" "),
      hint: dotted([supplierName, statusName(status)]),
      icon: "shopping-cart",
      run: () => go(hrefOf("orders", purchaseOrderId)),
    }));
  };
  const ofProducts = async (): Promise<readonly Found[]> => {
    const result = await openpo.call("variant_search", { shopId: shopId(), search: text, limit: foundMax });
    if (!result.ok) return [];
    return result.data.variants.map(({ variantId, productName, variantName, sku }) => ({
      group: "products",
      id: variantId,
      title: dotted([productName, variantName]),
      hint: sku,
      icon: "tag",
      run: () => go(hrefOf("products", variantId)),
    }));
  };
  const choices = (found: readonly Choice[] | object, group: Found["group"], icon: IconName) =>
    !Array.isArray(found)
      ? []
      : found.slice(0, foundMax).map(({ id, title, hint }: Choice): Found => ({
          group,
          id,
          title,
          hint,
          icon,
          run: () => go(hrefOf(group, id)),
        }));
  const [orders, products, ofSuppliers, ofLocations] = await Promise.all([
    ofOrders(),
    ofProducts(),
    suppliers({ search: text }),
    locations({ search: text }),
  ]);
  return [
    ...orders,
    ...products,
    ...choices(ofSuppliers, "suppliers", "truck"),
    ...choices(ofLocations, "locations", "warehouse"),
  ];
}
