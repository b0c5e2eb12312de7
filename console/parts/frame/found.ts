/** Places, actions and records of the shop that some words may mean. */
import { statusName } from "../../data/format.ts";
import { openpo } from "../../data/client.ts";
import { density, theme } from "../../data/look.ts";
import { type Choice, locations, suppliers } from "../../data/look-ups.ts";
import { hasRole, shopId, signOut } from "../../data/session.ts";
import type { IconName } from "../../icons/names.ts";
import { entries } from "./entries.ts";
import { go, hrefOf } from "../../router.ts";
import { findTexts as words } from "../../texts/en/find.ts";
import { texts } from "../../texts/en/texts.ts";

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
    action(words.dark, "moon", () => (theme.value = "dark")),
    action(words.light, "sun", () => (theme.value = "light")),
    density.value === "compact"
      ? action(words.comfortable, "rows-2", () => (density.value = "comfortable"))
      : action(words.compact, "rows-3", () => (density.value = "compact")),
    action(words.keysHelp, "keyboard", showKeys),
    action(words.signOut, "log-out", () => void signOut()),
  ];
  const places = entries().map(({ step, icon }): Found => ({
    group: "places",
    id: step,
    title: texts.navigation.places[step],
    hint: null,
    icon,
    run: () => go(hrefOf(step)),
  }));
  return text === "" ? [...places, ...actions] : [...places, ...actions].filter(({ title }) => isMeant(title, text));
}

/** Records of the shop by that name. Those that cannot be read are left out. */
export async function foundBy(text: string): Promise<readonly Found[]> {
  const ofOrders = async (): Promise<readonly Found[]> => {
    const result = await openpo.call("purchase_order_list", { search: text, limit: foundMax });
    if (!result.ok) return [];
    return result.data.purchaseOrders.map(({ purchaseOrderId, poNumber, poName, supplierName, status }) => ({
      group: "orders",
      id: purchaseOrderId,
      title: [poNumber, poName].filter((part) => part !== null).join(" "),
      hint: [supplierName, statusName(status)].filter((part) => part !== null).join(" · "),
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
      title: [productName, variantName].filter((part) => part !== null).join(" · "),
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
