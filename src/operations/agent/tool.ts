/** Common parts of the tools without a path on REST (C68): their shape, arguments of look-ups, pages by name. */
import { z } from "zod";
import { type CursorScope, decodeNamePosition, encodeCursor } from "../../base/cursor.ts";
import type { LookUpPage, NamePosition } from "../../shop/catalogue/look-ups.ts";
import type { Tx } from "../../store/store.ts";
import { id, pageSizeMax, searchMax, soughtText } from "../fields.ts";
import type { Call } from "../../requests/operation.ts";

export const tool = { tag: "Agent tools", route: null, success: 200, destructive: false } as const;

export const readTool = { ...tool, scope: "read", repeat: "read" } as const;

export const lookUpTool = { ...readTool, leavesOutNulls: true } as const;

/** Input of a look-up: the search, and the ids that it takes. */
export const lookUpInput = {
  search: soughtText(searchMax).optional().meta({ description: "Words, each part of the name." }),
  ids: z.array(id).min(1).max(pageSizeMax).optional(),
} as const;

/** The arguments of a look-up: its filters, `limit` and `cursor`. */
type PageInput = CursorScope["filters"] & { readonly limit: number; readonly cursor?: string | undefined };

/** One page of a look-up, with the members that every list answers beside its rows. */
export async function lookUpPage<Found>(
  call: Call,
  input: PageInput,
  lookUp: (tx: Tx, after: NamePosition | null, limit: number) => Promise<LookUpPage<Found>>,
) {
  const { limit, cursor, ...filters } = input;
  const scope = { list: call.operation, shopId: call.shop.shopId, filters };
  const after = cursor === undefined ? null : decodeNamePosition(scope, cursor);
  const { rows, totalCount, end } = await call.read((tx) => lookUp(tx, after, limit));
  return { rows, page: { totalCount, cursor: end === null ? null : encodeCursor(scope, [end.name, end.id]) } };
}
