/**
 * The demo shop itself: its settings, its two locations and its people.
 */
export const demoShopId = "demo";

export const demoShop = {
  name: "Tideline Coffee & Tea",
  currencyCode: "EUR",
  settings: { fxRates: { USD: 0.92 }, onOrderTag: "on-order", timezone: "Europe/Amsterdam" },
} as const;

/** Two digits of a record's place in its list, counted from 1, for ids: `01`. */
export const keyOf = (index: number): string => String(index + 1).padStart(2, "0");

export const warehouse = "loc_warehouse";

export const store = "loc_store";

export const locations = [
  {
    type: "location",
    locationId: warehouse,
    name: "Warehouse Keilehaven",
    address: {
      companyName: "Tideline Coffee & Tea",
      address1: "Keilekade 12",
      zip: "3029 RA",
      city: "Rotterdam",
      countryCode: "NL",
    },
  },
  {
    type: "location",
    locationId: store,
    name: "Shop Voorhaven",
    address: {
      companyName: "Tideline Coffee & Tea",
      address1: "Voorhaven 4",
      zip: "3024 RC",
      city: "Rotterdam",
      countryCode: "NL",
    },
  },
] as const;

/** Who did something, as logs name them. */
interface Person {
  readonly type: "user";
  readonly id: string;
  readonly name: string;
}

export const owner: Person = { type: "user", id: "usr_owner", name: "Noor (owner)" };

export const clerk: Person = { type: "user", id: "usr_clerk", name: "Jip (shop floor)" };
