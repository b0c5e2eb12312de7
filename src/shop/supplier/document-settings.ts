/** Settings of a shop's documents (table `document_settings`; C62). */
import { defaultDocumentSettings, type DocumentSettings } from "../../core/supplier/document-settings.ts";
import type { Tx } from "../../store/store.ts";
import type { RecordTable } from "../record-table.ts";

/** The settings of one type of document. */
export interface StoredDocumentSettings extends DocumentSettings {
  readonly documentType: "purchase-order";
}

interface SettingsRow {
  readonly document_type: "purchase-order";
  readonly doc: string;
}

export const documentSettingsTable: RecordTable<StoredDocumentSettings, SettingsRow> = {
  name: "document_settings",
  key: ["document_type"],
  columns: {
    document_type: (settings) => settings.documentType,
    doc: ({ documentType: _type, ...settings }) => JSON.stringify(settings),
  },
  from: (row) => {
    // Only this table writes it. Members that a later version has added get their defaults.
    const stored: Partial<DocumentSettings> = JSON.parse(row.doc);
    return { documentType: row.document_type, ...defaultDocumentSettings, ...stored };
  },
};

/** The settings of the shop's purchase orders; the defaults when it has set none. */
export async function loadDocumentSettings(tx: Tx, shopId: string): Promise<StoredDocumentSettings> {
  const [row] = await tx.all<SettingsRow>(
    "select document_type, doc from document_settings where shop_id = ? and document_type = 'purchase-order'",
    [shopId],
  );
  return row === undefined
    ? { documentType: "purchase-order", ...defaultDocumentSettings }
    : documentSettingsTable.from(row);
}
