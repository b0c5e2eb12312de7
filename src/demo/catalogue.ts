/**
 * The demo's suppliers and what they sell: products, prices and opening stock.
 */
import { randomFrom } from "./random.ts";
import { demoShop, store, warehouse } from "./shop.ts";

export interface DemoSupplier {
  readonly supplierId: string;
  readonly name: string;
  readonly email: string;
  readonly currencyCode: "EUR" | "USD";
  readonly leadTimeDays: number;
  readonly countryCode: string;
}

export const suppliers: readonly DemoSupplier[] = [
  {
    supplierId: "sup_roastery",
    name: "Maasbrand Roastery",
    email: "orders@maasbrand.example",
    currencyCode: "EUR",
    leadTimeDays: 5,
    countryCode: "NL",
  },
  {
    supplierId: "sup_leaf",
    name: "High Garden Tea Estates",
    email: "export@highgarden.example",
    currencyCode: "USD",
    leadTimeDays: 35,
    countryCode: "LK",
  },
  {
    supplierId: "sup_gear",
    name: "Brewright Instruments",
    email: "trade@brewright.example",
    currencyCode: "USD",
    leadTimeDays: 21,
    countryCode: "US",
  },
  {
    supplierId: "sup_clay",
    name: "Atelier Vaarzon Ceramics",
    email: "atelier@vaarzon.example",
    currencyCode: "EUR",
    leadTimeDays: 28,
    countryCode: "NL",
  },
];

/** A product, its sizes or colours, and the price of the first of them. */
type Family = readonly [name: string, options: readonly string[], price: number];

const families: Readonly<Record<string, readonly Family[]>> = {
  sup_roastery: [
    ["Dockside Espresso", ["250 g", "1 kg"], 9.5],
    ["Lighthouse Filter", ["250 g", "1 kg"], 10.5],
    ["Slack Water Decaf", ["250 g", "1 kg"], 10],
    ["Spring Tide Ethiopia", ["250 g", "1 kg"], 12.5],
    ["Ballast Brazil", ["250 g", "1 kg"], 9],
    ["North Pier Colombia", ["250 g", "1 kg"], 11.5],
  ],
  sup_leaf: [
    ["Harbour Breakfast", ["100 g", "250 g tin"], 7.5],
    ["Misty Quay Green", ["100 g", "250 g tin"], 8.5],
    ["Lantern Earl Grey", ["100 g", "250 g tin"], 8],
    ["Jasmine Rigging", ["100 g", "250 g tin"], 9.5],
    ["Rooibos Sunset", ["100 g", "250 g tin"], 7],
  ],
  sup_gear: [
    ["Pour-over Kettle", ["0.6 l", "0.9 l"], 54],
    ["Hand Grinder", ["Steel", "Black"], 89],
    ["Paper Filters", ["Size 2, 100 pieces", "Size 4, 100 pieces"], 4.95],
    ["Pocket Scale", ["2 kg"], 34.5],
    ["Milk Pitcher", ["350 ml", "600 ml"], 22],
    ["Gooseneck Thermometer", ["Clip-on"], 16.5],
  ],
  sup_clay: [
    ["Tideline Mug", ["Sand", "Sea", "Slate"], 18],
    ["Espresso Cup", ["Sand", "Sea"], 12],
    ["Stoneware Teapot", ["0.8 l", "1.2 l"], 58],
    ["Dripper", ["Size 2", "Size 4"], 29],
  ],
};

export interface DemoVariant {
  readonly variantId: string;
  readonly productId: string;
  readonly productName: string;
  readonly variantName: string;
  readonly sku: string;
  readonly barcode: string;
  /** In the shop's currency. */
  readonly unitCost: number;
  readonly price: number;
  readonly status: "active" | "inactive" | "unsyncable";
  readonly supplier: DemoSupplier;
  /** In the supplier's currency. */
  readonly supplierCost: number;
  readonly packSize: number;
}

/** Rounds to two decimals. */
export const cents = (value: number): number => Math.round(value * 100) / 100;

/** `Dockside Espresso`, `250 g` → `DOC-ESP-250G`. */
const skuOf = (product: string, option: string): string =>
  [...product.split(" ").map((word) => word.slice(0, 3)), option.replaceAll(/[^\w]/g, "").slice(0, 5)]
    .join("-")
    .toUpperCase();

/** One that is no longer sold and one that the storefront keeps no stock of, so that the inventory guard can be seen. */
const oddVariants: Readonly<Record<string, DemoVariant["status"]>> = {
  "ROO-SUN-250GT": "inactive",
  "PAP-FIL-SIZE4": "unsyncable",
};

/** Every variant of every supplier. */
export function catalogue(): readonly DemoVariant[] {
  const variants: DemoVariant[] = [];
  let product = 0;
  for (const supplier of suppliers)
    for (const [productName, options, firstPrice] of families[supplier.supplierId] ?? []) {
      product += 1;
      for (const [index, variantName] of options.entries()) {
        const sku = skuOf(productName, variantName);
        const price = cents(firstPrice * (1 + index * (supplier.supplierId === "sup_roastery" ? 2.6 : 0.4)));
        const supplierCost = cents(price * 0.42 * (supplier.currencyCode === "USD" ? 1.09 : 1));
        variants.push({
          variantId: `var_${String(product).padStart(2, "0")}${index + 1}`,
          productId: `prod_${String(product).padStart(2, "0")}`,
          productName,
          variantName,
          sku,
          barcode: `87190010${String(product).padStart(2, "0")}${index + 1}00`,
          unitCost: cents(supplierCost * (supplier.currencyCode === "USD" ? demoShop.settings.fxRates.USD : 1)),
          price,
          status: oddVariants[sku] ?? "active",
          supplier,
          supplierCost,
          packSize: supplier.supplierId === "sup_clay" ? 6 : supplier.supplierId === "sup_gear" ? 4 : 12,
        });
      }
    }
  return variants;
}

/** The supplier's own number for a variant. */
export const supplierSkuOf = ({ supplier, sku }: DemoVariant): string =>
  `${supplier.supplierId.slice(4, 6).toUpperCase()}-${sku}`;

/** Some variants, other ones for each `start`. */
export const someVariants = (variants: readonly DemoVariant[], start: number, count: number): readonly DemoVariant[] =>
  Array.from({ length: count }, (_, index) => variants[(start * 5 + index * 3) % variants.length]).flatMap(
    (variant) => variant ?? [],
  );

/** Suppliers, variants, prices and what is on hand. */
export function* catalogueRecords(variants: readonly DemoVariant[]): Generator<object> {
  const random = randomFrom(7);
  for (const { countryCode, ...supplier } of suppliers)
    yield { type: "supplier", ...supplier, address: { companyName: supplier.name, countryCode } };
  for (const { supplier: _supplier, supplierCost: _supplierCost, packSize: _packSize, ...variant } of variants)
    yield { type: "variant", ...variant };
  for (const variant of variants) {
    const { variantId, productName, supplier, supplierCost, packSize } = variant;
    yield {
      type: "supplierVariant",
      supplierId: supplier.supplierId,
      variantId,
      unitCost: supplierCost,
      unitCostCurrencyCode: supplier.currencyCode,
      supplierSku: supplierSkuOf(variant),
      supplierProductName: productName,
      moq: packSize,
      packSize,
      leadTimeDays: supplier.leadTimeDays,
    };
  }
  for (const { variantId, price } of variants)
    for (const [locationId, share] of [
      [warehouse, 1],
      [store, 0.35],
    ] as const)
      yield {
        type: "inventoryLevel",
        variantId,
        locationId,
        onHand: Math.floor((30 + 900 / (8 + price)) * share * random()),
      };
}
