/** An order's document, as PDF and as CSV (C62). */
import { z } from "zod";
import type { DocumentKind } from "../documents/documents.ts";
import { purchaseOrderId } from "../operations/purchase-orders/json.ts";
import { inShop, operation } from "./operation.ts";

/** The order as its supplier gets it, in one format. */
const documentOperation = (kind: DocumentKind) =>
  operation({
    name: `purchase_order_document_${kind}`,
    route: { method: "GET", path: `/shops/{shopId}/purchase-orders/{purchaseOrderId}/document.${kind}` },
    role: "viewer",
    input: z.strictObject({ ...inShop, purchaseOrderId }),
    async run({ documents }, { shopId, purchaseOrderId: id }) {
      const made = await documents.of(shopId, id, kind);
      return {
        bytes: made.bytes,
        contentType: made.contentType,
        etag: made.tag,
        headers: { "Content-Disposition": `attachment; filename="${made.fileName}"` },
      };
    },
  });

export const pdfDocument = documentOperation("pdf");

export const csvDocument = documentOperation("csv");
