/** The title of each place of the console: what the tab, the history and the switcher of windows show. */
import { signal } from "@preact/signals";
import type { places } from "./places.ts";
import { texts } from "./texts/en/texts.ts";

type PlacePath = (typeof places)[number];

/**
 * The name of the record that a place shows, as it is known once the record was read; before that it is the place's
 * own.
 */
const named = signal<{ readonly id: string; readonly name: string } | null>(null);

/** A record is shown: its name stands in the title. */
export function nameRecord(id: string, name: string): void {
  if (named.value?.id !== id || named.value.name !== name) named.value = { id, name };
}

/** The words of a place. @param record names the record that it shows. */
const namedIn = (names: Readonly<Record<string, string>>, step: string): string => names[step] ?? step;

const words: Readonly<Record<PlacePath, (record: string) => string>> = {
  home: () => texts.titles.home,
  orders: () => texts.titles.orders,
  "orders/:purchaseOrderId": (record) => texts.titles.order(record),
  "orders/:purchaseOrderId/confirm": (record) => texts.titles.confirm(record),
  "orders/:purchaseOrderId/complete": (record) => texts.titles.complete(record),
  "orders/:purchaseOrderId/print": (record) => texts.titles.print(record),
  "new-order": () => texts.titles.newOrder,
  dock: () => texts.titles.dock,
  "receive/:purchaseOrderId": (record) => texts.titles.receive(record),
  reorder: () => texts.titles.reorder,
  import: () => texts.titles.import,
  stock: () => texts.titles.stock,
  "stock/:kind": (kind) => namedIn(texts.titles.stocks, kind),
  "stock/:kind/:recordId": (record) => texts.titles.stockRecord(record),
  suppliers: () => texts.titles.suppliers,
  "suppliers/:supplierId": (record) => record,
  products: () => texts.titles.products,
  "products/:variantId": (record) => record,
  locations: () => texts.titles.locations,
  "locations/:locationId": (record) => record,
  "new/:kind": (kind) => namedIn(texts.titles.newRecords, kind),
  connect: () => texts.titles.connect,
  keys: () => texts.titles.keys,
  approvals: () => texts.titles.approvals,
  "approvals/:approvalRequestId": (record) => texts.titles.approval(record),
  activity: () => texts.titles.activity,
  people: () => texts.titles.people,
  account: () => texts.titles.account,
  webhooks: () => texts.titles.webhooks,
  "webhooks/:endpointId": (record) => texts.titles.webhook(record),
  storefront: () => texts.titles.storefront,
  settings: () => texts.titles.settings,
  "settings/documents": () => texts.titles.documents,
  "settings/approvals": () => texts.titles.approvalRules,
  shops: () => texts.titles.shops,
  "shops/:shopId": (record) => texts.titles.shop(record),
};

const isPlace = (path: string): path is PlacePath => Object.hasOwn(words, path);

/** True if the steps of a path are those of a place, in which a step with a colon stands for anything. */
function matches(path: string, steps: readonly string[]): boolean {
  const wanted = path.split("/");
  return wanted.length === steps.length && wanted.every((step, index) => step.startsWith(":") || step === steps[index]);
}

/**
 * The title of the place with these steps of its path, `PO-1042 · Tideline`. @param record the record's name, where it
 * is known.
 */
export function titleOf(
  steps: readonly string[],
  shopName: string | null,
  record: { readonly id: string; readonly name: string } | null = named.value,
): string {
  const shownSteps = steps.length === 0 ? ["home"] : steps;
  const exact = shownSteps.join("/");
  const path = isPlace(exact) ? exact : Object.keys(words).find((each) => matches(each, shownSteps));
  if (path === undefined || !isPlace(path)) return shopName ?? texts.titles.console;
  const id = shownSteps[path.split("/").findLastIndex((step) => step.startsWith(":"))] ?? "";
  return `${words[path](record?.id === id ? record.name : id)} · ${shopName ?? texts.titles.console}`;
}
