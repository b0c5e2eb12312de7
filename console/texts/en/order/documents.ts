/** Texts of an order's document and of how documents look. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";

export const documentTexts = isolating({
  print: "Print",
  back: "Back to the order",
  page: "How it looks on paper",
  hint: "The PDF looks like this and has page numbers and a bar code. Files are the same for everybody until the order or the letterhead changes.",
  title: "How documents look",
  lead: "What your suppliers see at the head and the foot of every purchase order, and which columns its lines have.",
  language: "Language",
  paper: "Paper",
  papers: { A4: "A4", Letter: "Letter" },
  columns: "Columns beside description and quantity",
  columnNames: {
    position: "Number of the line",
    supplierSku: "The supplier's SKU",
    sku: "Our SKU",
    barcode: "Barcode",
    expectedDeliveryDate: "Expected day",
    packSize: "Pack size",
    unitCost: "Unit cost",
    lineTotal: "Amount",
  },
  address: "Your address",
  fields: {
    companyName: "Company",
    contactName: "Contact",
    address1: "Street",
    address2: "Street, second line",
    zip: "Postal code",
    city: "City",
    province: "State or province",
    country: "Country",
    phone: "Telephone",
    email: "E-mail",
  },
  footer: "Foot of every page",
  footerHint: "Registration and VAT numbers, a bank account. At most 600 characters.",
  logo: "Logo",
  logoHint: (kilobytes: number) =>
    `PNG, JPEG, or an SVG of paths; at most ${number(kilobytes)} kB and 1,000,000 pixels. It stands at the head of the first page.`,
  logoTooLarge: (kilobytes: number) => `The file is larger than ${number(kilobytes)} kB. Save it smaller.`,
  removeLogo: "Remove the logo",
  currentLogo: "The logo as it is now",
  save: "Save",
  saving: "Saving …",
  saved: "Saved. Documents that are made from now on look like this.",
} as const);
