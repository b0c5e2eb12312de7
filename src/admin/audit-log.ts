/** The audit log of a shop, for its operator. */
import { z } from "zod";
import { decodeCursor, encodeCursor, invalidCursor } from "../core/cursor.ts";
import { id, instant, pageShape } from "../operations/fields.ts";
import { type AuditEntry, listAudit } from "../shop/audit.ts";
import { data, inShop, operation, shopOf } from "./operation.ts";

const auditPageMax = 500;

const auditPageDefault = 50;

const auditSchema = z.strictObject({
  at: z.string(),
  requestId: z.string(),
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  tag: z.string(),
  keyId: z.string().nullable(),
  personId: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  errorCode: z.string().nullable(),
  durationMs: z.int(),
  replayed: z.boolean(),
  count: z.int(),
});

const auditJson = (entry: AuditEntry): z.output<typeof auditSchema> => ({
  at: instant(entry.atMs),
  requestId: entry.requestId,
  traceId: entry.traceId,
  spanId: entry.spanId,
  tag: entry.tag,
  keyId: entry.keyId,
  personId: entry.personId,
  method: entry.method,
  path: entry.path,
  status: entry.status,
  errorCode: entry.errorCode,
  durationMs: entry.durationMs,
  replayed: entry.replayed,
  count: entry.count,
});

export const auditLog = operation({
  name: "audit_log_list",
  route: { method: "GET", path: "/shops/{shopId}/audit-log" },
  role: "owner",
  describes: {
    summary: "The requests of API keys and people, newest first.",
    description:
      "One entry for each request with its operation, outcome and duration. Refusals beyond a named rate are counted in one entry.",
    output: z.strictObject({ auditLog: z.array(auditSchema), ...pageShape }),
  },
  input: z.strictObject({
    ...inShop,
    limit: z.int().min(1).max(auditPageMax).default(auditPageDefault).meta({ query: "integer" }),
    cursor: z.string().min(1).optional(),
    keyId: id.optional(),
    personId: id.optional(),
    operation: id.optional(),
    status: z
      .int()
      .min(100)
      .max(599)
      .optional()
      .meta({ query: "integer", description: "Only requests that were answered with this status." }),
  }),
  /** Requests newest first. */
  async run({ engine }, { shopId: id, limit, cursor, ...filters }) {
    const scope = { list: "audit-log", shopId: id, filters };
    const before = cursor === undefined ? null : decodeCursor(scope, cursor)[0];
    if (before === undefined || typeof before === "number") throw invalidCursor();
    const { entries, totalCount } = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      const only = {
        keyId: filters.keyId ?? null,
        personId: filters.personId ?? null,
        operation: filters.operation ?? null,
        status: filters.status ?? null,
      };
      return await listAudit(tx, id, only, before, limit + 1);
    });
    const page = entries.slice(0, limit);
    const last = entries.length > limit ? page.at(-1) : undefined;
    return data({
      auditLog: page.map(auditJson),
      totalCount,
      cursor: last === undefined ? null : encodeCursor(scope, [last.auditId]),
    });
  },
});
