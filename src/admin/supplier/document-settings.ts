/** Settings of a shop's documents: language, paper, columns, letterhead (C62). */
import { z } from "zod";
import { languages } from "../../base/text/language.ts";
import { documentColumns, logoTypes, papers } from "../../core/supplier/document-settings.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import { exampleContent } from "../../documents/content.ts";
import { documentSettingsInput } from "../../exchange/records/document-settings.ts";
import { addressSchema } from "../../operations/fields.ts";
import {
  documentSettingsTable,
  loadDocumentSettings,
  type StoredDocumentSettings,
} from "../../shop/supplier/document-settings.ts";
import { replaceRecord } from "../../shop/record-table.ts";
import { data, inShop, operation, shopOf } from "../operation.ts";

/** A logo as it is shown: with what follows from its bytes. */
export const logoSchema = z.strictObject({
  contentType: z.enum(logoTypes),
  base64: z.string(),
  width: z.number(),
  height: z.number(),
});

const settingsSchema = z.strictObject({
  language: z.enum(languages),
  paper: z.enum(papers),
  columns: z.array(z.enum(documentColumns)),
  address: addressSchema.nullable(),
  footer: z.string().nullable(),
  logo: logoSchema.nullable(),
});

const settingsJson = ({
  documentType: _type,
  columns,
  ...settings
}: StoredDocumentSettings): z.output<typeof settingsSchema> => ({ ...settings, columns: [...columns] });

export const getDocumentSettings = operation({
  name: "document_settings_get",
  route: { method: "GET", path: "/shops/{shopId}/document-settings" },
  role: "viewer",
  describes: {
    summary: "How the shop's documents look.",
    description: "Language, paper, columns and letterhead of purchase orders, as PDF and in print.",
    output: z.strictObject({ documentSettings: settingsSchema }),
  },
  input: z.strictObject(inShop),
  async run({ engine }, { shopId: id }) {
    return data({
      documentSettings: settingsJson(
        await engine.read(id, async (tx) => {
          await shopOf(tx, id);
          return await loadDocumentSettings(tx, id);
        }),
      ),
    });
  },
});

const { language, paper, columns, address: shopAddress, footer, logo } = documentSettingsInput;

export const putDocumentSettings = operation({
  name: "document_settings_put",
  route: { method: "PUT", path: "/shops/{shopId}/document-settings" },
  role: "owner",
  describes: {
    summary: "Changes how the shop's documents look.",
    description:
      "Members that are left out keep their value; null takes address, footer or logo away. An example is drawn first, so that what is saved can be drawn.",
    output: z.strictObject({ documentSettings: settingsSchema }),
  },
  input: z.strictObject({
    ...inShop,
    language: language.optional(),
    paper: paper.optional(),
    columns: columns.optional(),
    address: shopAddress.optional(),
    footer: footer.optional(),
    logo: logo.optional(),
  }),
  /** @throws Fault INVALID_INPUT when the logo cannot be used, or no font has a character of address or footer. */
  async run({ engine, documents }, { shopId: id, ...sent }) {
    const before = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await loadDocumentSettings(tx, id);
    });
    await documents.make(id, exampleContent(changed(before, sent)), "pdf").catch((error: unknown) => {
      throw inRequest(error);
    });
    return await engine.write(id, async (tx) => {
      const next = changed(await loadDocumentSettings(tx, id), sent);
      await tx.batch([replaceRecord(documentSettingsTable, id, next)]);
      return data({ documentSettings: settingsJson(next) });
    });
  },
});

/** A refusal of the example with the path that the request has. */
function inRequest(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const [detail] = error.details ?? [];
  if (detail === undefined || !("path" in detail) || !detail.path.startsWith("/settings/")) return error;
  return invalidField(detail.path.slice("/settings".length), detail.message, error.action ?? undefined);
}

/** The settings with what was sent. */
const changed = (
  before: StoredDocumentSettings,
  sent: { readonly [Member in keyof StoredDocumentSettings]?: StoredDocumentSettings[Member] | undefined },
): StoredDocumentSettings => ({
  ...before,
  language: sent.language ?? before.language,
  paper: sent.paper ?? before.paper,
  columns: sent.columns ?? before.columns,
  address: sent.address === undefined ? before.address : sent.address,
  footer: sent.footer === undefined ? before.footer : sent.footer,
  logo: sent.logo === undefined ? before.logo : sent.logo,
});
