/**
 * Finds the first character of a document that no font has, among the texts that are printed, and says where it stands
 * in words.
 */
import type { Address } from "../core/order/purchase-order.ts";
import type { ContentLine, DocumentContent } from "./content.ts";
import { type Fonts, missingIn } from "./fonts.ts";

/** A character that cannot be printed. */
export interface Missing {
  readonly character: string;
  /** JSON pointer into the document's content: `/lineItems/0/productName`. */
  readonly path: string;
  /** `line 1 (product name)`, `the supplier's address`. */
  readonly place: string;
  /** The supplier's name for the product would be printed in its place. */
  readonly isProductName: boolean;
}

interface Printed extends Omit<Missing, "character"> {
  readonly text: string | null;
}

const printed = (path: string, place: string, text: string | null): Printed => ({
  path,
  place,
  text,
  isProductName: false,
});

/** Parts of an address that are printed: a code stands for its name, and not beside it. */
function* ofAddress(path: string, place: string, address: Address | null): Iterable<Printed> {
  if (address === null) return;
  const { province, provinceCode, country, countryCode, ...others } = address;
  const shown = {
    ...others,
    ...(provinceCode === null ? { province } : { provinceCode }),
    ...(country === null ? { countryCode } : { country }),
  };
  for (const [member, text] of Object.entries(shown)) yield printed(`${path}/${member}`, place, text);
}

function* ofLine(line: ContentLine, index: number, columns: readonly string[]): Iterable<Printed> {
  const [path, place] = [`/lineItems/${index}`, `line ${index + 1}`];
  if (line.supplierProductName !== null)
    yield printed(`${path}/supplierProductName`, `${place} (the supplier's product name)`, line.supplierProductName);
  else
    yield {
      ...printed(`${path}/productName`, `${place} (product name)`, line.productName ?? line.poLineItemId),
      isProductName: true,
    };
  yield printed(`${path}/variantName`, `${place} (variant)`, line.variantName);
  if (columns.includes("supplierSku"))
    yield printed(`${path}/supplierSku`, `${place} (supplier SKU)`, line.supplierSku);
  if (columns.includes("sku")) yield printed(`${path}/sku`, `${place} (SKU)`, line.sku);
  if (columns.includes("barcode")) yield printed(`${path}/barcode`, `${place} (barcode)`, line.barcode);
}

function* textsOf(content: DocumentContent): Iterable<Printed> {
  const { settings, supplier, deliverTo } = content;
  yield printed("/buyerName", "the shop's name", content.buyerName);
  yield* ofAddress("/settings/address", "the shop's address", settings.address);
  yield printed("/settings/footer", "the foot of the shop's documents", settings.footer);
  yield printed("/poNumber", "the order's number", content.poNumber);
  yield printed("/supplier/name", "the supplier's name", supplier?.name ?? null);
  yield printed("/supplier/email", "the supplier's e-mail", supplier?.email ?? null);
  yield* ofAddress("/supplier/address", "the supplier's address", supplier?.address ?? null);
  yield printed("/deliverTo/name", "the location's name", deliverTo.name);
  yield* ofAddress("/deliverTo/address", "the delivery address", deliverTo.address);
  yield* ofAddress("/billingAddress", "the billing address", content.billingAddress);
  yield printed("/supplierReference", "the supplier's reference", content.supplierReference);
  yield printed("/paymentTerms", "the payment terms", content.paymentTerms);
  yield printed("/incoterm", "the delivery terms", content.incoterm);
  for (const [index, line] of content.lineItems.entries()) yield* ofLine(line, index, settings.columns);
  yield printed("/noteToSupplier", "the note to the supplier", content.noteToSupplier);
}

/** The first character of the document that cannot be printed; null when all can. */
export function missingCharacter(fonts: Fonts, content: DocumentContent): Missing | null {
  for (const { text, ...where } of textsOf(content)) {
    const character = text === null ? null : missingIn(fonts, text);
    if (character !== null) return { ...where, character };
  }
  return null;
}
