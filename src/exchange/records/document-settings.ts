/**
 * Import and export records of how a shop's documents look (C62).
 */
import { z } from "zod";
import { languages } from "../../base/text/language.ts";
import { defaultDocumentSettings, documentColumns, logoTypes, papers } from "../../core/supplier/document-settings.ts";
import { logoFrom, LogoError } from "../../documents/logo.ts";
import { address, noRepeats, textOfLines } from "../../operations/fields.ts";
import { documentSettingsTable, type StoredDocumentSettings } from "../../shop/supplier/document-settings.ts";
import { type RecordType, tableRecordType } from "../record-type.ts";

/** Characters of a footer. */
const footerMax = 600;

/** Base64 characters of a logo. Its bytes are checked on their own (documents/logo.ts). */
const base64Max = 400_000;

/** A logo's file in base64. What type it is and how large follows from its bytes. */
const logo = z
  .strictObject({
    base64: z.string().max(base64Max),
    contentType: z.enum(logoTypes).optional(),
    width: z.number().optional(),
    height: z.number().optional(),
  })
  .transform(({ base64 }, context) => {
    try {
      return logoFrom(base64);
    } catch (error) {
      if (!(error instanceof LogoError)) throw error;
      context.addIssue({ code: "custom", path: ["base64"], message: error.message });
      return z.NEVER;
    }
  });

/** Members of the settings; null takes the letterhead's parts away. */
export const documentSettingsInput = {
  language: z.enum(languages).meta({ description: "In which a document's own words are written." }),
  paper: z.enum(papers),
  columns: z
    .array(z.enum(documentColumns))
    .max(documentColumns.length)
    .check(noRepeats((column) => column))
    .meta({ description: "Columns of the lines beside description and quantity, in any order." }),
  address: address.nullable().meta({ description: "The shop's own address." }),
  footer: textOfLines(footerMax)
    .nullable()
    .meta({ description: `At the foot of every page, at most ${footerMax} characters.` }),
  logo: logo.nullable().meta({
    description: "PNG, JPEG or an SVG of paths, in base64: at most 256 KiB and 1,000,000 pixels.",
  }),
} as const;

const recordInput = z
  .strictObject({
    type: z.literal("documentSettings"),
    documentType: z.literal("purchase-order"),
    language: documentSettingsInput.language.default(defaultDocumentSettings.language),
    paper: documentSettingsInput.paper.default(defaultDocumentSettings.paper),
    columns: documentSettingsInput.columns.default([...defaultDocumentSettings.columns]),
    address: documentSettingsInput.address.default(null),
    footer: documentSettingsInput.footer.default(null),
    logo: documentSettingsInput.logo.default(null),
  })
  .transform(({ type: _type, ...settings }): StoredDocumentSettings => settings);

export const documentSettingsType: RecordType = tableRecordType(
  recordInput,
  (settings) => ({ type: "documentSettings", ...settings }),
  documentSettingsTable,
);
