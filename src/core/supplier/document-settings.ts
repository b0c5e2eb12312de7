/** Settings of a shop's documents (C62): language, paper, columns and letterhead. Pure data. */
import type { Language } from "../../base/text/language.ts";
import type { Address } from "../order/purchase-order.ts";

/** Sizes of paper. */
export const papers = ["A4", "Letter"] as const;

/**
 * Columns of the lines that a shop may leave out; description and quantity always stand there. They have this order on
 * paper.
 */
export const documentColumns = [
  "position",
  "supplierSku",
  "sku",
  "barcode",
  "expectedDeliveryDate",
  "packSize",
  "unitCost",
  "lineTotal",
] as const;

/** One of them. */
export type DocumentColumn = (typeof documentColumns)[number];

/** The types of logos. */
export const logoTypes = ["image/png", "image/jpeg", "image/svg+xml"] as const;

/** A logo, checked (documents/logo.ts). */
export interface Logo {
  readonly contentType: (typeof logoTypes)[number];
  /** The file. */
  readonly base64: string;
  /** In pixels; of an SVG in units of its view box. */
  readonly width: number;
  readonly height: number;
}

/** Settings of a shop's documents. */
export interface DocumentSettings {
  readonly language: Language;
  readonly paper: (typeof papers)[number];
  readonly columns: readonly DocumentColumn[];
  /** The buyer's address on the letterhead. */
  readonly address: Address | null;
  /** At the foot of every page: registration and VAT numbers, say. */
  readonly footer: string | null;
  readonly logo: Logo | null;
}

/** Settings of a shop that has set none. */
export const defaultDocumentSettings: DocumentSettings = {
  language: "en",
  paper: "A4",
  columns: ["position", "supplierSku", "packSize", "unitCost", "lineTotal"],
  address: null,
  footer: null,
  logo: null,
};
