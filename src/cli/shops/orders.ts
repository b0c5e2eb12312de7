/**
 * Commands on a shop's purchase orders.
 */
import { commonOptions, type RunnableCommand, shopOption, withOperator } from "../command.ts";
import { usageError } from "../errors.ts";
import { writeWhole } from "./records.ts";

/** The name of stdout, where a file is named. */
const standard = "-";

export const orderDocument: RunnableCommand = {
  name: "order document",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "write an order as its supplier gets it, as PDF or CSV",
  options: {
    ...shopOption,
    format: { value: "pdf|csv", help: "format of the document (pdf)" },
    sent: { value: null, help: "a draft as it will be when it is sent", member: "status" },
    output: { value: "FILE", help: "write to this file instead of stdout; it appears when it is complete" },
    ...commonOptions,
  },
  async run(args, context) {
    const { output } = context;
    const shopId = args.required("shop");
    const purchaseOrderId = args.parameter(0);
    const format = args.text("format") ?? "pdf";
    if (format !== "pdf" && format !== "csv")
      throw usageError("--format must be pdf or csv.", "See openpo order document --help.");
    const target = args.text("output") ?? standard;
    await withOperator(context, async (ask) => {
      const answer = await ask(`purchase_order_document_${format}`, {
        shopId,
        purchaseOrderId,
        ...(args.flag("sent") ? { status: "Sent" } : {}),
      });
      if (!("file" in answer)) throw new Error("a document is a file");
      const { file } = answer;
      if (target === standard) {
        for await (const piece of file) await output.piece(Buffer.from(piece));
        return;
      }
      let bytes = 0;
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const piece of file) {
          const buffer = Buffer.from(piece);
          bytes += buffer.length;
          yield buffer;
        }
      };
      await writeWhole(target, counted());
      output.result({ shopId, purchaseOrderId, file: target, bytes }, `The document is in ${target}.`);
    });
  },
};
