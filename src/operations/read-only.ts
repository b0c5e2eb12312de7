/**
 * What reading has in common for the resources that come in by import: pages of a list, one record, pages of its parts.
 */
import { z } from "zod";
import { type CursorScope, decodeCursor, encodeCursor, invalidCursor } from "../core/cursor.ts";
import { type MentionedOperation, mention } from "../core/guidance.ts";
import { Fault } from "../core/fault.ts";
import {
  type HeaderTable,
  listReadOnly,
  loadReadOnlyHeader,
  pageOfParts,
  type PartKind,
  type ReadOnlyQuery,
} from "../shop/read-only.ts";
import type { Tx } from "../store/store.ts";
import type { Call } from "./operation.ts";
import { cursor, limit, listParameterMax, optionalLimit, searchMax, text } from "./fields.ts";

/** What every read has in common. */
export const read = { scope: "read", success: 200, repeat: "read", destructive: false } as const;

export const searchParameter = (description: string) =>
  text(searchMax)
    .regex(/^[^\n]*$/, "must be one line")
    .optional()
    .meta({ description: `${description} Case does not matter.`, query: "string" });

/** One value or several: separated by commas, or the parameter given several times. */
export const repeatableParameter = <T extends z.ZodType<string>>(
  entry: T,
  description: string,
  max = listParameterMax,
) =>
  z
    .array(entry)
    .min(1)
    .max(max)
    .optional()
    .meta({
      description: `${description} One value, or several: separated by commas, or the parameter repeated.`,
      query: "repeatable-list",
    });

/** The parameters that every list takes, and those of a list of one record's parts. */
export const pageInput = { limit, cursor } as const;
export const partsInput = { limit: optionalLimit, cursor } as const;

interface Paging {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * One page of a resource, newest first.
 *
 * @param filters the list's parameters but for `limit` and `cursor`: a cursor is bound to them (C12).
 * @throws Fault INVALID_INPUT  the cursor is not one of this list with these filters.
 */
export async function readOnlyPage<Header extends { readonly createdAtMs: number }>(
  tx: Tx,
  call: Call,
  table: HeaderTable<Header>,
  query: ReadOnlyQuery,
  { limit, cursor }: Paging,
  filters: CursorScope["filters"],
): Promise<{ readonly headers: readonly Header[]; readonly totalCount: number; readonly cursor: string | null }> {
  const { shopId } = call.shop;
  const scope = { list: call.operation, shopId, filters };
  const [createdAtMs, recordId, ...rest] = cursor === undefined ? [] : decodeCursor(scope, cursor);
  if (cursor !== undefined && (typeof createdAtMs !== "number" || typeof recordId !== "string" || rest.length > 0))
    throw invalidCursor();
  const after = typeof createdAtMs === "number" && typeof recordId === "string" ? { createdAtMs, recordId } : null;
  const { headers, totalCount, end } = await listReadOnly(tx, table, shopId, query, after, limit);
  return {
    headers,
    totalCount,
    cursor: end === null ? null : encodeCursor(scope, [end.createdAtMs, end.recordId]),
  };
}

/** @throws Fault NOT_FOUND  there is no such record. `noun` is what it is called, `list` the operation that lists them. */
export async function readOnlyHeader<Header extends { readonly createdAtMs: number }>(
  tx: Tx,
  call: Call,
  table: HeaderTable<Header>,
  recordId: string,
  { noun, list }: { readonly noun: string; readonly list: MentionedOperation },
): Promise<Header> {
  const header = await loadReadOnlyHeader(tx, table, call.shop.shopId, recordId);
  if (header === null)
    throw new Fault("NOT_FOUND", `There is no ${noun} ${recordId}.`, { action: `List them with ${mention(list)}.` });
  return header;
}

/**
 * A page of the parts of one record, all of them when `limit` is not given.
 *
 * @throws Fault INVALID_INPUT  the cursor is not one of this list.
 */
export async function readOnlyParts<Part>(
  tx: Tx,
  call: Call,
  kind: PartKind<Part>,
  recordId: string,
  { limit, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): Promise<{ readonly parts: readonly Part[]; readonly totalCount: number; readonly cursor: string | null }> {
  const { shopId } = call.shop;
  const scope = { list: call.operation, shopId, filters: { recordId } };
  const [position, ...rest] = cursor === undefined ? [] : decodeCursor(scope, cursor);
  if (cursor !== undefined && (typeof position !== "number" || rest.length > 0)) throw invalidCursor();
  const after = typeof position === "number" ? position : null;
  const { parts, totalCount, end } = await pageOfParts(tx, kind, shopId, recordId, after, limit ?? null);
  return { parts, totalCount, cursor: end === null ? null : encodeCursor(scope, [end]) };
}
