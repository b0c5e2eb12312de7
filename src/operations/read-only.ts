/**
 * The operations of the read-only resources: a list, one resource, what belongs to it, pages of its parts.
 *
 * Owns: paging, cursors, 404 and the texts that all have in common. Does not own: filters, shapes and texts of one type
 * of resource (its own file) or how resources are found (shop/stock/read-only.ts).
 */
import { z } from "zod";
import { type CursorScope, decodeCursor, encodeCursor } from "../base/cursor.ts";
import { Fault } from "../base/fault.ts";
import { type MentionedOperation, mention, only } from "../core/order/guidance.ts";
import type { LogEntry } from "../shop/order/purchase-order-history.ts";
import {
  type PartKind,
  type ResourceQuery,
  type ResourceTable,
  listResources,
  loadHeader,
  pageOfParts,
} from "../shop/stock/read-only.ts";
import { hasMoreRows } from "../shop/size.ts";
import type { Tx } from "../store/store.ts";
import { linesOnLoopMax, rowsOnLoopMax } from "../requests/loop-limits.ts";
import {
  pathId,
  shownId,
  cursor,
  limit,
  listParameterMax,
  optionalLimit,
  pageShape,
  searchMax,
  soughtText,
} from "./fields.ts";
import { type Call, type OperationShape, operation } from "../requests/operation.ts";
import { logEntryJson, logEntrySchema } from "./purchase-orders/attachments.ts";

/** Members that every read shares. */
export const read = { scope: "read", success: 200, repeat: "read", destructive: false } as const;

// Parameters.

export const searchParameter = (description: string) =>
  soughtText(searchMax)
    .regex(/^[^\n]*$/, "must be one line")
    .optional()
    .meta({ description: `${description}${only("rest", " Case does not matter.")}`, query: "string" });

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
      description: only(
        "rest",
        `${description} One value, or several: separated by commas, or the parameter repeated.`,
      ),
      query: "repeatable-list",
    });

/** The parameters of every list. */
export const pageInput = { limit, cursor } as const;

// The pattern.

type Input = Readonly<Record<string, unknown>>;

/** The parameters of a list: its filters and `pageInput`. */
type ListInput = CursorScope["filters"] & { readonly limit: number; readonly cursor?: string | undefined };

interface Texts {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly description: string;
}

/** A resource that is being read. */
interface Reading {
  readonly tx: Tx;
  readonly call: Call;
  readonly shopId: string;
  readonly resourceId: string;
}

/** A page of the parts of this kind, all of them when `limit` is null. Many are read on a reader thread. */
async function partsPage<Part>(
  { tx, call, shopId, resourceId }: Reading,
  kind: PartKind<Part>,
  after: number | null,
  limit: number | null,
) {
  const page = await pageOfParts(tx, kind, shopId, resourceId, after, limit ?? linesOnLoopMax);
  if (limit !== null || page.end === null) return page;
  call.leaveLoop();
  return await pageOfParts(tx, kind, shopId, resourceId, after, null);
}

/** All parts of this kind. */
export const partsToShow = async <Part>(reading: Reading, kind: PartKind<Part>): Promise<readonly Part[]> =>
  (await partsPage(reading, kind, null, null)).parts;

/** One type of read-only resource, as its operations name it. */
interface ResourceType<Header extends { readonly createdAtMs: number }> {
  readonly table: ResourceTable<Header>;
  /** In messages and titles; an `s` makes the plural: `stock take`. */
  readonly noun: string;
  readonly tag: string;
  /** Where they are listed: `/stock-takes`. */
  readonly path: string;
  /** The member of the input that holds the id: `stockTakeId`. */
  readonly idName: string;
  readonly exampleId: string;
  /** The name of the operation that lists them: `stock_take_list`. */
  readonly listName: MentionedOperation;
}

interface ListOptions<Parameters extends ListInput, Json> extends Pick<Texts, "description"> {
  readonly input: OperationShape<Parameters, unknown>["input"];
  /** The member of the answer that holds the headers: `stockTakes`. */
  readonly member: string;
  readonly header: z.ZodType<Json>;
  /** Parameters that change what is shown and not what is found: a cursor is not bound to them. */
  readonly display?: readonly string[];
}

interface OneOptions<Parameters, Data> extends Texts, Pick<OperationShape<Parameters, Data>, "input" | "output"> {
  /** Below the resource's own path: `/shipment`; empty for the resource itself. */
  readonly at: string;
}

interface PartListOptions<Part, Json> extends Texts {
  /** Below the resource's own path: `/line-items`. */
  readonly at: string;
  /** The member of the answer that holds the parts: `lineItems`. */
  readonly member: string;
  readonly kind: PartKind<Part>;
  readonly part: z.ZodType<Json>;
  readonly json: (part: Part) => Json;
}

/** Makes the operations of one type of read-only resource. */
export class ReadOnlyOperations<Header extends { readonly createdAtMs: number }> {
  readonly #type: ResourceType<Header>;
  /** The id's schema. Types do not show it: its name is known at run time only. */
  readonly #idShape: object;
  readonly #example: Readonly<Record<string, string>>;

  constructor(type: ResourceType<Header>) {
    this.#type = type;
    this.#idShape = { [type.idName]: pathId.meta({ description: only("rest", `Id of the ${type.noun}.`) }) };
    this.#example = { [type.idName]: type.exampleId };
  }

  /** The input of what is asked of one resource: its id, and what else is asked. */
  byId<Shape extends z.ZodRawShape>(shape: Shape) {
    return z.strictObject({ ...this.#idShape, ...shape }).meta({ example: this.#example });
  }

  /**
   * The list, newest first, filtered (C12, C13).
   *
   * @param queryOf the parameters as conditions.
   * @param json    headers as the answer shows them.
   */
  list<Parameters extends ListInput, Json>(
    options: ListOptions<Parameters, Json>,
    queryOf: (shopId: string, input: Parameters) => ResourceQuery,
    json: (headers: readonly Header[], tx: Tx, call: Call, input: Parameters) => Promise<Json[]>,
  ) {
    const { table, noun, tag, path, listName } = this.#type;
    const { member, header, display = [], ...shape } = options;
    return operation({
      ...read,
      tag,
      toolSets: ["stock"],
      name: listName,
      title: `List ${noun}s`,
      summary: `${tag} without their lines, newest first.`,
      route: { method: "GET", path },
      faults: [],
      output: z.strictObject({ [member]: z.array(header), ...pageShape }),
      ...shape,
      run: (call, input) =>
        call.read(async (tx) => {
          const { shopId } = call.shop;
          const scope = { list: call.operation, shopId, filters: filtersOf(input, display) };
          const after = input.cursor === undefined ? null : resourcePosition(scope, input.cursor);
          if (await hasMoreRows(tx, table.name, shopId, rowsOnLoopMax)) call.leaveLoop();
          const page = await listResources(tx, table, shopId, queryOf(shopId, input), after, input.limit);
          const { end } = page;
          return {
            data: {
              [member]: await json(page.headers, tx, call, input),
              totalCount: page.totalCount,
              cursor: end === null ? null : encodeCursor(scope, [end.createdAtMs, end.resourceId]),
            },
          };
        }),
    });
  }

  /**
   * Reads one resource: the whole of it, or something that belongs to it. 404 when there is no such resource.
   *
   * @param answer the data of the answer.
   */
  one<Parameters extends Input, Data>(
    options: OneOptions<Parameters, Data>,
    answer: (header: Header, reading: Reading, input: Parameters) => Promise<NoInfer<Data>>,
  ) {
    const { tag, path, idName } = this.#type;
    const { at, ...shape } = options;
    return operation({
      ...read,
      tag,
      toolSets: ["stock"],
      route: { method: "GET", path: `${path}/{${idName}}${at}` },
      faults: ["NOT_FOUND"],
      ...shape,
      run: (call, input) =>
        call.read(async (tx) => {
          const resourceId = input[idName];
          if (typeof resourceId !== "string") throw new Error(`${call.operation} has no ${idName}`);
          const reading = { tx, call, shopId: call.shop.shopId, resourceId };
          return { data: await answer(await this.#header(reading), reading, input) };
        }),
    });
  }

  /** The lines of one resource: all of them, or page by page when `limit` is given. */
  lines<Line, Json>(options: Omit<PartListOptions<Line, Json>, "at" | "title" | "summary" | "member">) {
    const { noun } = this.#type;
    return this.#partList({
      ...options,
      at: "/line-items",
      title: `List a ${noun}'s lines`,
      summary: `The lines of one ${noun}, in its own order.`,
      member: "lineItems",
    });
  }

  /** The activity log of one resource: all of it, or page by page when `limit` is given. */
  log(options: Pick<PartListOptions<LogEntry, unknown>, "name" | "description" | "kind">) {
    const { noun } = this.#type;
    return this.#partList({
      ...options,
      at: "/log",
      title: `List a ${noun}'s activity`,
      summary: `What was done to one ${noun} and by whom, newest first.`,
      member: "log",
      part: logEntrySchema,
      json: logEntryJson,
    });
  }

  #partList<Part, Json>({ kind, part, json, member, ...options }: PartListOptions<Part, Json>) {
    return this.one(
      {
        ...options,
        input: this.byId({ limit: optionalLimit, cursor }).meta({ example: { ...this.#example, limit: 20 } }),
        output: z.strictObject({ [member]: z.array(part), ...pageShape }),
      },
      async (_header, reading, input) => {
        const { call, shopId, resourceId } = reading;
        // `recordId` is its name in the cursors that clients hold.
        const scope = { list: call.operation, shopId, filters: { recordId: resourceId } };
        const after = input.cursor === undefined ? null : decodeCursor(scope, input.cursor, ["number"])[0];
        const { parts, totalCount, end } = await partsPage(reading, kind, after, input.limit ?? null);
        return { [member]: parts.map(json), totalCount, cursor: end === null ? null : encodeCursor(scope, [end]) };
      },
    );
  }

  /** @throws Fault NOT_FOUND  there is no such resource. */
  async #header({ tx, shopId, resourceId }: Reading): Promise<Header> {
    const { table, noun, listName } = this.#type;
    const header = await loadHeader(tx, table, shopId, resourceId);
    if (header === null)
      throw new Fault("NOT_FOUND", `There is no ${noun} ${shownId(resourceId)}.`, {
        action: `List them with ${mention(listName)}.`,
      });
    return header;
  }
}

/** The filters that a cursor of the list is bound to (C12). */
const filtersOf = ({ limit: _limit, cursor: _cursor, ...filters }: ListInput, display: readonly string[]) =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !display.includes(name)));

/** @throws Fault INVALID_INPUT  the cursor is not one of this list. */
function resourcePosition(scope: CursorScope, cursor: string) {
  const [createdAtMs, resourceId] = decodeCursor(scope, cursor, ["number", "string"]);
  return { createdAtMs, resourceId };
}
