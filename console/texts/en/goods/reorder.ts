/** Texts of reordering from a forecast. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const reorderTexts = isolating({
  title: "Reorder",
  views: "Forecast views",
  empty: "There is no forecast view yet.",
  emptyHint: "A view says which products and figures are shown. An owner of the shop can make one here, or import one.",
  makeView: "Make the view “To order”",
  viewName: "To order",
  noRows: "Nothing needs a reorder in this view.",
  noSuppliers:
    "This view does not show who supplies a product. What you order from it goes to the cheapest supplier of each.",
  shown: (loaded: number, total: number) =>
    loaded === total ? plural(total, "product", "products") : `${number(loaded)} of ${number(total)} products loaded`,
  search: "Search this view",
  searchHint: "Name, SKU or supplier",
  found: (found: number, total: number) => `${number(found)} of ${plural(total, "product", "products")}`,
  nothing: "Nothing in this view is called so.",
  toProduct: "The product's page",
  outlook: (days: string) => `Next ${days} days`,
  undated: "Goods are on their way, without a date",
  lasts: (days: string) => `There is stock for ${days} days and more`,
  out: (days: string) =>
    days === "0" ? "Nothing is left" : `Nothing is left in ${days} ${days === "1" ? "day" : "days"}`,
  grid: "Products and their figures",
  help: "Arrow keys walk, Space ticks, a quantity ticks its line.",
  tick: (product: string) => `Order ${product}`,
  quantity: (product: string) => `Quantity of ${product}`,
  order: "Order",
  product: "Product",
  notNumber: "Write a quantity.",
  terms: (moq: string | null, packSize: string | null) =>
    [moq === null ? null : `min ${moq}`, packSize === null ? null : `packs of ${packSize}`]
      .filter((part) => part !== null)
      .join(", "),
  roundTo: (quantity: string) => `→ ${quantity}`,
  roundToLabel: (quantity: string, product: string) => `Round ${product} up to ${quantity}`,
  onDraft: (quantity: string) => `${quantity} on a draft`,
  yes: "Yes",
  no: "No",
  tickAll: "Tick all suggested",
  untick: "Untick all",
  ticked: (lines: number, suppliers: number) =>
    `${plural(lines, "line", "lines")} of ${plural(suppliers, "supplier", "suppliers")}`,
  noneTicked: "Tick what to order.",
  make: (drafts: number) =>
    drafts === 0 ? "Make drafts" : drafts === 1 ? "Make 1 draft" : `Make ${number(drafts)} drafts`,
  plan: {
    title: (drafts: number) => (drafts === 1 ? "One draft" : `${number(drafts)} drafts`),
    lead: "One order for each supplier, as a draft: nothing is sent.",
    location: "Deliver to",
    noLocation: "The shop has no location yet. Add one first.",
    lines: (lines: number) => plural(lines, "line", "lines"),
    arrival: (date: string) => `arrives ${date}`,
    onDraft: (lines: number) => plural(lines, "line is on a draft already", "lines are on a draft already"),
    unsupplied: (products: string) => `Nobody supplies these, so they stay unticked: ${products}`,
    making: "Making …",
    unknownSupplier: (name: string) =>
      `No supplier, or more than one, is called “${name}”. Add the column supplierId to the view.`,
    tooMany: (max: string) => `An order has at most ${max} lines. Untick some.`,
    failed: "Drafts with a number exist. The others do not, or their answer was lost: trying again makes none twice.",
    done: (drafts: number) => (drafts === 1 ? "The draft exists." : `All ${number(drafts)} drafts exist.`),
    again: "Try the others again",
    close: "Close",
    cancel: "Cancel",
  },
} as const);
