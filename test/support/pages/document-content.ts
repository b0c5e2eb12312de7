/** Contents of documents for tests. */
import { defaultDocumentSettings, type DocumentSettings } from "../../../src/core/supplier/document-settings.ts";
import type { Address } from "../../../src/core/order/purchase-order.ts";
import { type ContentLine, type DocumentContent, exampleContent } from "../../../src/documents/content.ts";

/** An address with these members; the others are null. */
export const addressWith = (members: Partial<Address>): Address => ({
  companyName: null,
  contactName: null,
  address1: null,
  address2: null,
  city: null,
  province: null,
  provinceCode: null,
  country: null,
  countryCode: null,
  zip: null,
  phone: null,
  email: null,
  ...members,
});

/** A line; `more` replaces members. */
export const contentLine = (index: number, more: Partial<ContentLine> = {}): ContentLine => ({
  poLineItemId: `pol_${index}`,
  productName: `Article ${index}`,
  variantName: null,
  sku: `OUR-${index}`,
  barcode: null,
  supplierSku: `SUP-${index}`,
  supplierProductName: null,
  quantityOrdered: 12,
  quantityCancelled: 0,
  quantity: 12,
  packSize: null,
  unitCost: 3.2,
  currencyCode: "EUR",
  lineTotal: 38.4,
  expectedDeliveryDate: null,
  isUnpriced: false,
  ...more,
});

/** The content of a document with so many lines; `more` replaces members. */
export const contentWith = (
  lines: number,
  more: Partial<DocumentContent> = {},
  settings: Partial<DocumentSettings> = {},
): DocumentContent => ({
  ...exampleContent({ ...defaultDocumentSettings, ...settings }),
  purchaseOrderId: "po_1",
  status: "Sent",
  buyerName: "Lighthouse Coffee",
  createdAtMs: Date.parse("2026-11-20T10:00:00.000Z"),
  lineItems: Array.from({ length: lines }, (_line, index) => contentLine(index)),
  ...more,
});
