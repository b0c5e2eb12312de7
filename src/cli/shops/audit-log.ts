/**
 * The command that shows a shop's audit log.
 */
import { memberOf } from "../../base/json.ts";
import {
  commonOptions,
  dataOf,
  given,
  type RunnableCommand,
  shopOption,
  wholeNumber,
  withOperator,
} from "../command.ts";
import { listIn, table } from "../output.ts";

const auditPage = 500;
const auditDefault = 50;

export const audit: RunnableCommand = {
  name: "audit",
  parameters: [],
  summary: "show the requests to a shop, newest first",
  options: {
    ...shopOption,
    limit: { value: "N", help: `number of requests to show (${auditDefault}); 0: all` },
    key: { value: "KEY_ID", help: "only requests with this key", member: "keyId" },
    operation: { value: "NAME", help: "only requests for this operation, such as purchase_order_receive" },
    surface: { value: "NAME", help: "only requests to rest, mcp or console; several separated by commas" },
    outcome: { value: "NAME", help: "only requests that were done, refused or failed; several separated by commas" },
    status: { value: "N", help: "only requests answered with this HTTP status" },
    ...commonOptions,
  },
  async run(args, context) {
    const shopId = args.required("shop");
    const limit = wholeNumber(args, "limit", audit) ?? auditDefault;
    const filters = given({
      keyId: args.text("key"),
      operation: args.text("operation"),
      surface: args.text("surface")?.split(",") ?? null,
      outcome: args.text("outcome")?.split(",") ?? null,
      status: wholeNumber(args, "status", audit),
    });
    await withOperator(context, async (ask) => {
      const entries: unknown[] = [];
      let wanted = limit === 0 ? Number.POSITIVE_INFINITY : limit;
      let totalCount: unknown = 0;
      let cursor: string | null = null;
      do {
        const page = { shopId, ...filters, limit: Math.min(wanted, auditPage), ...given({ cursor }) };
        const data = dataOf(await ask("audit_log_list", page));
        const found = listIn(data, "auditLog");
        entries.push(...found);
        wanted -= found.length;
        totalCount = memberOf(data, "totalCount");
        const next = memberOf(data, "cursor");
        cursor = typeof next === "string" ? next : null;
      } while (wanted > 0 && cursor !== null);
      const fields = [
        "at",
        "status",
        "tag",
        "keyId",
        "method",
        "path",
        "errorCode",
        "durationMs",
        "requestId",
        "detail",
      ];
      const rows = entries.map((entry) => fields.map((field) => memberOf(entry, field)));
      const headings = ["AT", "STATUS", "OPERATION", "KEY", "METHOD", "PATH", "ERROR", "MS", "REQUEST", "DETAIL"];
      context.output.result(
        { auditLog: entries, totalCount },
        rows.length === 0 ? "There are no matching requests." : table(headings, rows),
      );
    });
  },
};
