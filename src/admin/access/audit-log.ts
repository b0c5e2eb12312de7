/** The audit log of a shop, for its operator. */
import { z } from "zod";
import { type CursorScope, decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { id, instant, pageShape } from "../../operations/fields.ts";
import { auditPage } from "../../operations/log-pages.ts";
import { auditOutcomes, auditSurfaces, type AuditEntry, type AuditPosition } from "../../shop/audit/audit.ts";
import type { NamedOrder } from "../../shop/order/changes.ts";
import { data, inShop, operation, readQuery } from "../operation.ts";

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
  order: z.strictObject({ purchaseOrderId: z.string(), poNumber: z.string() }).nullable().meta({
    description:
      "The order in the request's path, else the only one that it changed; null if there is none or it was deleted.",
  }),
  status: z.int(),
  errorCode: z.string().nullable(),
  durationMs: z.int(),
  replayed: z.boolean(),
  count: z.int(),
  detail: z.string().nullable().meta({
    description: "What the row tells beside its request, as JSON: old and new values of a setting, or what was pruned.",
  }),
});

const auditJson = (entry: AuditEntry, order: NamedOrder | null): z.output<typeof auditSchema> => ({
  at: instant(entry.atMs),
  requestId: entry.requestId,
  traceId: entry.traceId,
  spanId: entry.spanId,
  tag: entry.tag,
  keyId: entry.keyId,
  personId: entry.personId,
  method: entry.method,
  path: entry.path,
  order,
  status: entry.status,
  errorCode: entry.errorCode,
  durationMs: entry.durationMs,
  replayed: entry.replayed,
  count: entry.count,
  detail: entry.detail ?? null,
});

export const auditLog = operation({
  name: "audit_log_list",
  route: { method: "GET", path: "/shops/{shopId}/audit-log" },
  role: "owner",
  describes: {
    summary: "The requests of API keys and people, and what the operator did, newest first.",
    description:
      "One entry for each request with its operation, outcome and duration. Refusals beyond a named rate are counted in one entry. `totalCount` is counted for the first page.",
    output: z.strictObject({ auditLog: z.array(auditSchema), ...pageShape }),
  },
  input: z.strictObject({
    ...inShop,
    limit: z.int().min(1).max(auditPageMax).default(auditPageDefault).meta({ query: "integer" }),
    cursor: z.string().min(1).optional(),
    keyId: id.optional(),
    personId: id.optional(),
    operation: id.optional(),
    surface: z.array(z.enum(auditSurfaces)).min(1).max(auditSurfaces.length).optional().meta({
      query: "list",
      description:
        "Only requests to the API and of suppliers' links (`rest`), of agents (`mcp`) or of the console: one value, or several separated by commas.",
    }),
    outcome: z.array(z.enum(auditOutcomes)).min(1).max(auditOutcomes.length).optional().meta({
      query: "list",
      description:
        "Only requests that were answered below 400 (`done`), below 500 (`refused`) or from 500 on (`failed`): one value, or several separated by commas.",
    }),
    status: z
      .int()
      .min(100)
      .max(599)
      .optional()
      .meta({ query: "integer", description: "Only requests that were answered with this status." }),
  }),
  /** Requests newest first. They are counted for the first page; further pages repeat its `totalCount`. */
  async run(context, { shopId, limit, cursor, ...filters }, call) {
    const scope = { list: "audit-log", shopId, filters };
    const { entries, orders, totalCount, end } = await readQuery(context, call, shopId, auditPage, {
      filters: {
        keyId: filters.keyId ?? null,
        personId: filters.personId ?? null,
        operation: filters.operation ?? null,
        surfaces: filters.surface === undefined ? null : [...new Set(filters.surface)],
        outcomes: filters.outcome === undefined ? null : [...new Set(filters.outcome)],
        status: filters.status ?? null,
      },
      after: cursor === undefined ? null : positionOf(scope, cursor),
      limit,
    });
    return data({
      auditLog: entries.map((entry) => auditJson(entry, orders.get(entry.requestId) ?? null)),
      totalCount,
      cursor: end === null ? null : encodeCursor(scope, [end.auditId, end.totalCount]),
    });
  },
});

function positionOf(scope: CursorScope, cursor: string): AuditPosition {
  const [auditId, totalCount] = decodeCursor(scope, cursor, ["string", "number"]);
  return { auditId, totalCount };
}
