/**
 * An order as PDF for its supplier. Pure but for the fonts, which are read once: the same content gives the same bytes.
 */
import { readFileSync } from "node:fs";
import { PDFDocument } from "pdfkit";
import type { DocumentContent } from "./content.ts";
import { descriptionOf } from "./csv.ts";

const regular = readFileSync(new URL("fonts/NotoSans-Regular.ttf", import.meta.url));
const bold = readFileSync(new URL("fonts/NotoSans-Bold.ttf", import.meta.url));

export function pdfDocument(content: DocumentContent): Promise<Uint8Array> {
  const doc = new PDFDocument({
    size: [595.28, 841.89],
    margin: 0,
    autoFirstPage: true,
    bufferPages: true,
    tagged: true,
    pdfVersion: "1.7",
    lang: "en",
    displayTitle: true,
    info: {
      Title: `Purchase order ${content.poNumber}`,
      Creator: "OpenPO",
      Producer: "OpenPO",
      CreationDate: new Date(content.updatedAtMs),
    },
    font: null,
  });
  const pieces: Uint8Array[] = [];
  const ended = new Promise<Uint8Array>((resolve) => {
    doc.on("data", (piece) => pieces.push(piece)).on("end", () => resolve(Buffer.concat(pieces)));
  });
  doc.registerFont("regular", regular).registerFont("bold", bold);
  const line = (text: string, x: number, y: number) =>
    doc.text(text, x, y, { lineBreak: false, baseline: "alphabetic" });
  doc.font("bold").fontSize(16);
  line(`Purchase order ${content.poNumber}`, 42, 60);
  doc.font("regular").fontSize(9);
  line(content.buyer.name, 42, 80);
  line(content.supplier?.name ?? "", 300, 80);
  let y = 120;
  for (const each of content.lines) {
    line(each.supplierSku ?? "", 42, y);
    line(descriptionOf(each), 140, y);
    line(`${each.quantityOrdered} × ${each.unitCost} = ${each.lineTotal}`, 400, y);
    y += 14;
    if (y < 800) continue;
    doc.addPage();
    y = 60;
  }
  line(`Total ${content.grandTotal} ${content.currencyCode}`, 400, y + 10);
  doc.end();
  return ended;
}
