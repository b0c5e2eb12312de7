/** An order's document, as PDF and as CSV (C62). */
import { z } from "zod";
import { languages } from "../../base/text/language.ts";
import { papers } from "../../core/supplier/document-settings.ts";
import { contentTypes, type DocumentKind } from "../../documents/documents.ts";
import { purchaseOrderId } from "../../operations/purchase-orders/json.ts";
import { logoSchema } from "./document-settings.ts";
import { data, inShop, operation } from "../operation.ts";

/** The order as its supplier gets it, in one format. */
const documentOperation = (kind: DocumentKind) =>
  operation({
    name: `purchase_order_document_${kind}`,
    route: { method: "GET", path: `/shops/{shopId}/purchase-orders/{purchaseOrderId}/document.${kind}` },
    role: "viewer",
    describes: {
      summary: `An order as its supplier gets it, as ${kind.toUpperCase()}.`,
      description:
        "The same version of an order under the same letterhead has the same bytes; the ETag is their SHA-256. Figures are those of the API. 400 names a character that no font has; 503 says when there is room to draw another one.",
      output: { file: contentTypes[kind] },
    },
    input: z.strictObject({
      ...inShop,
      purchaseOrderId,
      status: z.literal("Sent").optional().meta({
        description:
          "Sent: a draft as it will be sent, with the very bytes that a mail attaches that moves it to Sent. Other orders are shown as they are.",
        query: "string",
      }),
    }),
    async run({ documents }, { shopId, purchaseOrderId: id, status }) {
      const made = await (status === "Sent" ? documents.toSend(shopId, id, kind) : documents.of(shopId, id, kind));
      return {
        bytes: made.bytes,
        contentType: made.contentType,
        etag: made.sha256,
        headers: { "Content-Disposition": `attachment; filename="${made.fileName}"` },
      };
    },
  });

export const pdfDocument = documentOperation("pdf");

export const csvDocument = documentOperation("csv");

const sheetSchema = z.strictObject({
  language: z.enum(languages),
  paper: z.enum(papers),
  logo: logoSchema.nullable(),
  buyerName: z.string(),
  title: z.string(),
  poNumber: z.string(),
  marking: z
    .string()
    .nullable()
    .meta({ description: "Word that marks a draft or a cancelled order; null for others." }),
  replaces: z.string().nullable().meta({ description: "Which version it replaces that was sent before." }),
  parties: z.array(z.strictObject({ heading: z.string(), lines: z.array(z.string()) })),
  facts: z.array(z.strictObject({ label: z.string(), value: z.string() })),
  columns: z.array(z.strictObject({ id: z.string(), label: z.string(), isFigure: z.boolean() })),
  rows: z.array(
    z.strictObject({
      cells: z.array(z.string()).meta({ description: "One for each column." }),
      details: z.array(z.string()).meta({ description: "Smaller lines below the description." }),
    }),
  ),
  noLines: z.string().meta({ description: "Stands instead of rows." }),
  totals: z
    .array(z.strictObject({ label: z.string(), value: z.string() }))
    .meta({ description: "The last one is what is owed." }),
  remarks: z.array(z.strictObject({ heading: z.string().nullable(), text: z.string() })),
  footer: z.string().nullable(),
  pageText: z.string().meta({ description: "{page} and {pages} stand for numbers." }),
  versionText: z.string(),
});

export const orderSheet = operation({
  name: "purchase_order_document",
  route: { method: "GET", path: "/shops/{shopId}/purchase-orders/{purchaseOrderId}/document" },
  role: "viewer",
  describes: {
    summary: "An order as its supplier reads it: every text and figure of its document.",
    description: "What the PDF shows, in the shop's language and form of numbers, for a page that shows or prints it.",
    output: z.strictObject({ document: sheetSchema }),
  },
  input: z.strictObject({ ...inShop, purchaseOrderId }),
  run: async ({ documents }, { shopId, purchaseOrderId: id }) => data({ document: await documents.sheet(shopId, id) }),
});
