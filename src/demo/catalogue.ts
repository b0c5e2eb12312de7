/**
 * The demo's suppliers and what they sell, and the sets that the shop makes itself: products, prices, terms and opening
 * stock.
 */
import { demoShop } from "./shop.ts";

/** Terms of payment of a supplier. The balance is due so many days after delivery. */
interface PaymentTerms {
  readonly text: string;
  /** Share of the grand total, due when the order is confirmed; 0: everything is paid after delivery. */
  readonly depositShare: number;
  readonly balanceDays: number;
}

export interface DemoSupplier {
  readonly supplierId: string;
  readonly name: string;
  readonly email: string;
  readonly currencyCode: "EUR" | "USD";
  readonly leadTimeDays: number;
  readonly countryCode: string;
  readonly payment: PaymentTerms;
  readonly incoterm: string;
  /** Value-added tax on an order; null for imports, where it is paid to customs. */
  readonly taxShare: number | null;
}

export const roastery: DemoSupplier = {
  supplierId: "sup_roastery",
  name: "Maasbrand Roastery",
  email: "orders@maasbrand.example",
  currencyCode: "EUR",
  leadTimeDays: 5,
  countryCode: "NL",
  payment: { text: "14 days net", depositShare: 0, balanceDays: 14 },
  incoterm: "DAP",
  taxShare: 0.09,
};

export const teaEstates: DemoSupplier = {
  supplierId: "sup_leaf",
  name: "High Garden Tea Estates",
  email: "export@highgarden.example",
  currencyCode: "USD",
  leadTimeDays: 35,
  countryCode: "LK",
  payment: { text: "30 % deposit, balance 14 days after delivery", depositShare: 0.3, balanceDays: 14 },
  incoterm: "FOB",
  taxShare: null,
};

export const instruments: DemoSupplier = {
  supplierId: "sup_gear",
  name: "Brewright Instruments",
  email: "trade@brewright.example",
  currencyCode: "USD",
  leadTimeDays: 21,
  countryCode: "US",
  payment: { text: "30 days net", depositShare: 0, balanceDays: 30 },
  incoterm: "FOB",
  taxShare: null,
};

export const pottery: DemoSupplier = {
  supplierId: "sup_clay",
  name: "Atelier Vaarzon Ceramics",
  email: "atelier@vaarzon.example",
  currencyCode: "EUR",
  leadTimeDays: 28,
  countryCode: "NL",
  payment: { text: "50 % deposit, balance 14 days after delivery", depositShare: 0.5, balanceDays: 14 },
  incoterm: "DAP",
  taxShare: 0.21,
};

/**
 * A size or colour: its name, its price in the shop's currency, how many are in a pack and the fewest that can be
 * ordered.
 */
type Option = readonly [name: string, price: number, packSize: number, moq: number];

type Family = readonly [productName: string, options: readonly Option[]];

const coffee = (price: number, priceOfKilo: number): readonly Option[] => [
  ["250 g", price, 12, 24],
  ["1 kg", priceOfKilo, 6, 12],
];

const tea = (price: number, priceOfTin: number): readonly Option[] => [
  ["100 g", price, 24, 48],
  ["250 g tin", priceOfTin, 12, 48],
];

const products: readonly (readonly [supplier: DemoSupplier, families: readonly Family[]])[] = [
  [
    roastery,
    [
      ["Dockside Espresso", coffee(9.5, 34.2)],
      ["Lighthouse Filter", coffee(10.5, 37.8)],
      ["Slack Water Decaf", coffee(10, 36)],
      ["Spring Tide Ethiopia", coffee(12.5, 45)],
      ["Ballast Brazil", coffee(9, 32.4)],
      ["North Pier Colombia", coffee(11.5, 41.4)],
    ],
  ],
  [
    teaEstates,
    [
      ["Harbour Breakfast", tea(7.5, 10.5)],
      ["Misty Quay Green", tea(8.5, 11.9)],
      ["Lantern Earl Grey", tea(8, 11.2)],
      ["Jasmine Rigging", tea(9.5, 13.3)],
      ["Rooibos Sunset", tea(7, 9.8)],
    ],
  ],
  [
    instruments,
    [
      [
        "Pour-over Kettle",
        [
          ["0.6 l", 54, 4, 8],
          ["0.9 l", 62, 4, 8],
        ],
      ],
      [
        "Hand Grinder",
        [
          ["Steel", 89, 4, 8],
          ["Black", 89, 4, 8],
        ],
      ],
      [
        "Paper Filters",
        [
          ["Size 2 (100)", 4.95, 20, 100],
          ["Size 4 (100)", 5.45, 20, 100],
        ],
      ],
      ["Pocket Scale", [["2 kg", 34.5, 10, 10]]],
      [
        "Milk Pitcher",
        [
          ["350 ml", 22, 6, 12],
          ["600 ml", 26, 6, 12],
        ],
      ],
      ["Gooseneck Thermometer", [["Clip-on", 16.5, 10, 20]]],
    ],
  ],
  [
    pottery,
    [
      [
        "Tideline Mug",
        [
          ["Sand", 18, 6, 24],
          ["Sea", 18, 6, 24],
          ["Slate", 18, 6, 24],
        ],
      ],
      [
        "Espresso Cup",
        [
          ["Sand", 12, 6, 24],
          ["Sea", 12, 6, 24],
        ],
      ],
      [
        "Stoneware Teapot",
        [
          ["0.8 l", 58, 4, 8],
          ["1.2 l", 68, 4, 8],
        ],
      ],
      [
        "Dripper",
        [
          ["Size 2", 29, 6, 12],
          ["Size 4", 32, 6, 12],
        ],
      ],
      ["Sugar Bowl", [["Sand", 24, 6, 12]]],
    ],
  ],
];

/** Ingredients of one set: SKUs and quantities. */
type Recipe = readonly (readonly [sku: string, quantity: number])[];

/** The sets that the shop makes itself. */
const sets: readonly (readonly [productName: string, price: number, recipe: Recipe])[] = [
  [
    "Breakfast Gift Box",
    19.5,
    [
      ["HAR-BRE-100G", 1],
      ["LAN-EAR-GRE-100G", 1],
    ],
  ],
  [
    "Espresso Gift Box",
    36,
    [
      ["DOC-ESP-250G", 1],
      ["ESP-CUP-SAND", 2],
    ],
  ],
  [
    "Pour-over Starter Set",
    46,
    [
      ["DRI-SIZE2", 1],
      ["PAP-FIL-SIZE2", 1],
      ["LIG-FIL-250G", 1],
    ],
  ],
  ["Engraved Mug", 22, [["TID-MUG-SAND", 1]]],
  [
    "Coffee Tasting Set",
    34,
    [
      ["SPR-TID-ETH-250G", 1],
      ["BAL-BRA-250G", 1],
      ["NOR-PIE-COL-250G", 1],
    ],
  ],
  [
    "Winter Gift Box",
    32,
    [
      ["JAS-RIG-250GT", 1],
      ["TID-MUG-SEA", 1],
    ],
  ],
];

/** A supplier's terms for a variant. */
interface DemoTerms {
  readonly supplier: DemoSupplier;
  readonly supplierSku: string;
  /** In the supplier's currency. */
  readonly unitCost: number;
  readonly packSize: number;
  readonly moq: number;
}

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
  readonly status: "active" | "inactive" | "deleted" | "unsyncable";
  /** Null: the shop makes it itself. */
  readonly terms: DemoTerms | null;
  /** Ingredients from which the shop makes it; empty when it is bought. */
  readonly recipe: Recipe;
}

/** Rounds to two decimals. */
export const cents = (value: number): number => Math.round(value * 100) / 100;

/** A cost in the shop's currency, to four decimals as the service converts it. */
export const inShopCurrency = (cost: number, currencyCode: "EUR" | "USD"): number =>
  Math.round(cost * rateOf(currencyCode) * 10_000) / 10_000;

/** Returns the value of one unit of the currency in the shop's. */
export const rateOf = (currencyCode: "EUR" | "USD"): number =>
  currencyCode === demoShop.currencyCode ? 1 : demoShop.settings.fxRates[currencyCode];

/** The name of a variant as texts have it: `Tideline Mug, Sea`. */
export const fullName = ({ productName, variantName }: Pick<DemoVariant, "productName" | "variantName">): string =>
  variantName === "" ? productName : `${productName}, ${variantName}`;

/** `Dockside Espresso`, `250 g` → `DOC-ESP-250G`. */
const skuOf = (product: string, option: string): string =>
  [...product.split(" ").map((word) => word.slice(0, 3)), option.replaceAll(/[^\w]/g, "").slice(0, 5)]
    .filter((part) => part !== "")
    .join("-")
    .toUpperCase();

/** A European article number: twelve digits and the check digit. */
function barcodeOf(product: number, option: number): string {
  const digits = `8719001${String(product).padStart(3, "0")}${String(option).padStart(2, "0")}`;
  const sum = Array.from(digits).reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/**
 * One that is no longer sold, one that was deleted and one without stock at the storefront. With them the inventory
 * guard can be seen.
 */
const oddVariants: Readonly<Record<string, DemoVariant["status"]>> = {
  "ROO-SUN-250GT": "inactive",
  "SUG-BOW-SAND": "deleted",
  "PAP-FIL-SIZE4": "unsyncable",
};

/** Its supplier raised the price; the storefront still has the cost from before. */
export const raisedCost = { sku: "POU-KET-09L", ratio: 1.06 } as const;

/** Share of the price without tax that a product costs. */
const costShare = 0.42;

/** Every variant of every supplier, then the sets. */
export function catalogue(): readonly DemoVariant[] {
  const bought = products
    .flatMap(([supplier, families]) => families.map((family) => ({ supplier, family })))
    .flatMap(({ supplier, family }, index) => variantsOf(supplier, family, index + 1));
  const costs = new Map(bought.map(({ sku, unitCost }) => [sku, unitCost]));
  const firstSet = products.reduce((sum, [, families]) => sum + families.length, 1);
  const made = sets.map(([productName, price, recipe], index): DemoVariant => ({
    ...namesOf(productName, "", firstSet + index, 1),
    unitCost: cents(recipe.reduce((sum, [sku, quantity]) => sum + quantity * (costs.get(sku) ?? 0), 0)),
    price,
    status: "active",
    terms: null,
    recipe,
  }));
  return [...bought, ...made];
}

/** @param product counts from 1 */
function variantsOf(supplier: DemoSupplier, [productName, options]: Family, product: number): readonly DemoVariant[] {
  const { currencyCode, supplierId } = supplier;
  return options.map(([variantName, price, packSize, moq], index) => {
    const names = namesOf(productName, variantName, product, index + 1);
    const usualCost = cents((price * costShare) / rateOf(currencyCode));
    return {
      ...names,
      unitCost: inShopCurrency(usualCost, currencyCode),
      price,
      status: oddVariants[names.sku] ?? "active",
      terms: {
        supplier,
        supplierSku: `${supplierId.slice(4, 6).toUpperCase()}-${names.sku}`,
        unitCost: names.sku === raisedCost.sku ? cents(usualCost * raisedCost.ratio) : usualCost,
        packSize,
        moq,
      },
      recipe: [],
    };
  });
}

const namesOf = (productName: string, variantName: string, product: number, option: number) => ({
  variantId: `var_${String(product).padStart(2, "0")}${option}`,
  productId: `prod_${String(product).padStart(2, "0")}`,
  productName,
  variantName,
  sku: skuOf(productName, variantName),
  barcode: barcodeOf(product, option),
});

/** @throws Error when there is no such variant: the name is a mistake in the demo's tables. */
export function variantWith(variants: readonly DemoVariant[], sku: string): DemoVariant {
  const variant = variants.find((each) => each.sku === sku);
  if (variant === undefined) throw new Error(`there is no variant ${sku}`);
  return variant;
}

/** Suppliers, variants and prices. */
export function* catalogueRecords(variants: readonly DemoVariant[]): Generator<object> {
  for (const [{ countryCode, payment, taxShare: _taxShare, ...supplier }] of products)
    yield {
      type: "supplier",
      ...supplier,
      paymentTerms: payment.text,
      address: { companyName: supplier.name, countryCode },
    };
  for (const { terms: _terms, recipe: _recipe, variantName, ...variant } of variants)
    yield { type: "variant", ...variant, variantName: variantName === "" ? null : variantName };
  for (const { variantId, productName, terms } of variants) {
    if (terms === null) continue;
    const { supplier, ...ofVariant } = terms;
    yield {
      type: "supplierVariant",
      supplierId: supplier.supplierId,
      variantId,
      ...ofVariant,
      unitCostCurrencyCode: supplier.currencyCode,
      supplierProductName: productName,
      leadTimeDays: supplier.leadTimeDays,
    };
  }
}
