/** Places, suppliers and products of a large shop, as records, for the benchmarks that import them. */

export const [products, suppliers, locations] = [20_000, 2_000, 5];

export function* places(): Generator<object> {
  for (let nth = 0; nth < locations; nth += 1) yield { type: "location", locationId: `l${nth}`, name: `Place ${nth}` };
}

/** Records of each kind. Those of another price differ from each other. */
export const goodsKinds: Readonly<Record<string, (price: number) => Iterable<object>>> = {
  *"2,000 suppliers"(price) {
    for (let nth = 0; nth < suppliers; nth += 1)
      yield {
        type: "supplier",
        supplierId: `s${nth}`,
        name: `Supplier ${nth}`,
        email: `orders@s${nth}.example`,
        currencyCode: "EUR",
        leadTimeDays: 7 + (nth % 20),
        note: `Prices of ${price}.`,
      };
  },
  *"20,000 variants"(price) {
    for (let nth = 0; nth < products; nth += 1)
      yield {
        type: "variant",
        variantId: `v${nth}`,
        productId: `p${nth}`,
        productName: `Product ${(nth * 7_919) % 20_011}`,
        sku: `S-${nth}`,
        price: 10 + price,
      };
  },
  *"40,000 prices"(price) {
    for (let nth = 0; nth < products; nth += 1)
      for (const offer of [0, 1])
        yield {
          type: "supplierVariant",
          supplierId: `s${(nth + offer * 7) % suppliers}`,
          variantId: `v${nth}`,
          unitCost: 4 + price + offer,
          supplierSku: `A-${nth}`,
          packSize: 6,
        };
  },
  *"20,000 levels"(price) {
    for (let nth = 0; nth < products; nth += 1)
      yield {
        type: "inventoryLevel",
        variantId: `v${nth}`,
        locationId: `l${nth % locations}`,
        onHand: price + (nth % 40),
      };
  },
};
