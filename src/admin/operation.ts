/**
 * The shape of an operation of the admin API (contract §7, §10): shops, keys, people, audit log, import, export and the
 * sandbox.
 *
 * Each operation is one value in the registry, much like an operation of the API (requests/operation.ts). The HTTP
 * surface (app.ts) and the command line read this shape.
 */
import type { SecretBox } from "../base/secret-box.ts";
import { z } from "zod";
import { shopIdPattern } from "../base/secret.ts";
import { Fault, type ValidationDetail } from "../base/fault.ts";
import type { Trace } from "../base/trace-context.ts";
import type { Role } from "../core/access/role.ts";
import type { Connecting } from "../connect/consent.ts";
import type { OrderDocuments } from "../documents/documents.ts";
import type { ImportContext, NamedRecords } from "../exchange/import-run.ts";
import { adminPrefix } from "../http/routes.ts";
import type { BroadQuery, Readers } from "../requests/broad-read.ts";
import { type CallDependencies, readQueryWith } from "../requests/write/call.ts";
import { actorOf, type SignedIn } from "../requests/caller.ts";
import { checkInput } from "../requests/input.ts";
import type { Operation, OperationShape } from "../requests/operation.ts";
import { withRow } from "./acts.ts";
import { type Shop, loadShop } from "../shop/access/accounts.ts";
import type { EventStamp } from "../shop/events/events.ts";
import type { Restored } from "../shop/restore.ts";
import type { FairQueue } from "../store/fair-queue.ts";
import type { Tx } from "../store/store.ts";
import type { StorefrontConnections } from "../storefront/connections.ts";
import type { SandboxControl } from "../storefront/sandbox/control.ts";
import type { ConnectPolicy } from "../webhooks/addresses.ts";

/** Dependencies of the operations. */
export interface AdminContext extends Omit<ImportContext, "seedStorefront"> {
  sandboxOf(shopId: string): SandboxControl;
  /** Storefronts as shops are connected to them. */
  readonly storefronts: StorefrontConnections;
  /**
   * A copy of the shop's data or of its sandbox, as a database file. It has everything that was acknowledged before its
   * first piece was read.
   */
  snapshotOf(part: SnapshotPart, shopId: string): AsyncGenerator<Uint8Array>;
  /**
   * Restores a shop, or its sandbox, from a file of a backup. @throws Fault when it cannot be; nothing was changed
   * then.
   */
  restoreShop(restore: ShopToRestore): Promise<RestoredShop>;
  /** Dependencies of operations that change orders, beside the shop's data. */
  readonly calls: Pick<CallDependencies, "outbox" | "storefrontOf" | "log" | "spans">;
  /** Called when effects may have been added to the shop's outbox. */
  wakeOutbox(shopId: string): void;
  /** Called when the shop's storefront is to be pulled; absent where nothing would do it. */
  readonly wakePull?: (shopId: string) => void;
  readonly documents: OrderDocuments;
  /** In which the exports of the process read their pages (`exportQueue`). */
  readonly exports: FairQueue;
  /** A mail server is configured. */
  readonly mailIsOn: boolean;
  /** Where people and suppliers reach the service (`OPENPO_PUBLIC_URL`); null: where each of them asks it. */
  readonly publicUrl: string | null;
  /** Connecting of assistants (C74); absent where none can be. */
  readonly connecting?: Connecting;
  readonly webhooks: {
    /** Where they may connect. */
    readonly policy: ConnectPolicy;
    /** Box in which their secrets are sealed at rest. */
    readonly secrets: SecretBox;
    /** Called when the shop's endpoints have changed, or something is to be sent to one. */
    changed(shopId: string): void;
  };
}

/** The parts of a shop that have a file each. */
export const snapshotParts = ["shop", "sandbox"] as const;

export type SnapshotPart = (typeof snapshotParts)[number];

/** A shop that is restored. */
export interface ShopToRestore {
  readonly part: SnapshotPart;
  readonly shopId: string;
  /** The shop's file, as a snapshot has it. */
  readonly body: AsyncIterable<Uint8Array>;
  /** True if the shop's present data cannot be read: nothing of it stays. */
  readonly isDamaged: boolean;
  readonly nowMs: number;
  readonly requestId: string;
  readonly method: string;
  readonly requestPath: string;
}

export interface RestoredShop {
  /** Null: the sandbox was restored. */
  readonly restored: Restored | null;
  /** Where what the shop held before is kept; null: there was nothing. */
  readonly keptAs: string | null;
}

/**
 * One request: its id, its caller, its body for operations that read a file, and the signals of those that follow
 * something.
 */
export interface AdminCall {
  readonly requestId: string;
  /** Passed on to whom an event of the call is delivered. Default: none. */
  readonly traceparent?: string;
  /** Absent where no request came by HTTP. */
  readonly trace?: Trace;
  /** The person who asks for their own shop (C51); null: the operator with the admin token. */
  readonly person: SignedIn | null;
  /** Base of links to the service: `publicUrl`, or the address of the request. Empty within the process without one. */
  readonly baseUrl: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Null: every read runs on the event loop. */
  readonly readers: Readers | null;
  /** The versions that the caller accepts (`If-Match`), as an operation of the API has them (C37). Default: any. */
  readonly ifMatch?: readonly string[] | null;
  /** Told the records that the audit row of the call names. */
  readonly concerns?: (records: NamedRecords) => void;
  /** `Last-Event-ID` as sent. */
  readonly lastEventId: string | null;
  /** Resolves to true if the caller may still ask for it: for an answer that goes on. */
  readonly mayStillAsk: () => Promise<boolean>;
  /** Aborted when the client has left, or may no longer ask. The reason is a fault. */
  readonly left: AbortSignal;
  /** Aborted then too, and when the service stops. */
  readonly signal: AbortSignal;
}

/** An answer: data for the envelope, a file as a whole, which can be asked for by its ETag, or a file in pieces. */
export type AdminAnswer =
  | { readonly status: 200 | 201 | 202; readonly data: object }
  | {
      readonly bytes: Uint8Array;
      readonly contentType: string;
      /** Unquoted. */
      readonly etag: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly file: AsyncGenerator<string | Uint8Array>;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

interface AdminOperationShape<Input> {
  /** snake_case, resource first: `shop_put`. */
  readonly name: string;
  /** The path is below `adminPrefix`, parameters in braces named as in the input. */
  readonly route: {
    readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    readonly path: string;
  };
  /** The least role of people who may call it for their own shop (C51); absent: it is the operator's alone. */
  readonly role?: Role;
  /** Texts and schemas for the description of the admin API and the client. `status` absent: 201 for POST. */
  readonly describes: {
    readonly summary: string;
    readonly description: string;
    /** The schema of `data`, or the type of the file that is answered: whole, or in pieces as they are made. */
    readonly output: z.ZodType | { readonly file: string } | { readonly pieces: string };
    readonly status?: 200 | 202;
  };
  /**
   * It is done as a write of the API is: with `Idempotency-Key`, `If-Match`, token and audit row (requests/perform.ts).
   * `run` refuses then.
   */
  readonly performs?: Operation;
  /** It writes the row of the audit log that tells of it itself. */
  readonly hasOwnRow?: true;
  /** The body is a file of lines instead of a JSON object; members then come from the query. */
  readonly takesFile?: true;
  /** One strict object: path, query and body members merged. */
  readonly input: z.ZodType<Input> & { readonly shape: Readonly<Record<string, z.ZodType>> };
  run(context: AdminContext, input: Input, call: AdminCall): Promise<AdminAnswer>;
}

/** An operation as the registry holds it: `run` takes what `input` of the same operation has parsed, nothing else. */
export type AdminOperation = AdminOperationShape<unknown>;

export function operation<Input>(shape: AdminOperationShape<Input>): AdminOperationShape<Input> {
  return Object.freeze(shape);
}

/**
 * A write of a shop's order that REST does not have, for people with this role and the operator. `run` in this process
 * has no server to do it.
 */
export function performed<Input, Output>(role: Role, performs: OperationShape<Input, Output>): AdminOperation {
  const { name, route, summary, description, input, output, success } = performs;
  if (route === null) throw new Error(`${name} has no route`);
  return Object.freeze({
    name,
    route: { method: route.method, path: `/shops/{shopId}${route.path}` },
    role,
    describes: { summary, description, output, ...(success === 200 ? { status: success } : {}) },
    performs,
    takesDryRun: performs.takesDryRun === true,
    input: z.strictObject({ ...inShop, ...input.shape }),
    run: () =>
      Promise.reject(
        new Fault("INVALID_INPUT", "This needs a running service.", {
          action: "Start one and ask it; the command asks the one that --url names.",
        }),
      ),
  });
}

/**
 * Checks the input and does what the operation says.
 *
 * @param raw    path, query and body members merged.
 * @param found  what was already found wrong with how they were given.
 * @throws Fault INVALID_INPUT when anything is wrong with the input, and whatever the operation refuses.
 */
export async function runOperation(
  requested: AdminOperation,
  context: AdminContext,
  raw: unknown,
  found: readonly ValidationDetail[],
  call: AdminCall,
): Promise<AdminAnswer> {
  const input = checkInput(requested.input, raw, found);
  const shopId = shopIn(input);
  const run = (): Promise<AdminAnswer> => requested.run(context, input, call);
  // What people ask for has a row with their request.
  if (call.person !== null || shopId === null || requested.route.method === "GET" || requested.hasOwnRow === true)
    return await run();
  const { name, route } = requested;
  const path = adminPrefix + route.path.replaceAll(/\{(\w+)\}/g, (place, member) => textIn(input, member) ?? place);
  return await withRow(context, call, shopId, { operation: name, method: route.method, path }, run);
}

/** A member of the input that stands in the path. */
function textIn(input: unknown, member: string): string | null {
  const value: unknown = typeof input === "object" && input !== null ? Reflect.get(input, member) : null;
  return typeof value === "string" ? encodeURIComponent(value) : null;
}

const shopIn = (input: unknown): string | null => textIn(input, "shopId");

/** Under whose name an event of this request stands. */
export const stampOf = (
  { clock, ids }: Pick<AdminContext, "clock" | "ids">,
  { requestId, traceparent, person }: Pick<AdminCall, "requestId" | "traceparent" | "person">,
): EventStamp => ({
  actor: actorOf(person),
  requestId,
  traceparent: traceparent ?? null,
  nowMs: clock.now(),
  ids,
});

export const data = (fields: object, status: 200 | 201 | 202 = 200): AdminAnswer => ({ status, data: fields });

// Input.

const shopId = z
  .string()
  .regex(shopIdPattern, "must be 1 to 40 lower-case letters, digits and hyphens, the first not a hyphen");

export const inShop = { shopId } as const;

export const noShop = (id: string): Fault =>
  new Fault("NOT_FOUND", `There is no shop ${id}.`, { action: "See GET /admin/v1/shops." });

/** Loads the shop. @throws Fault NOT_FOUND when it does not exist, or its creation was interrupted. */
export async function shopOf(tx: Tx, id: string): Promise<Shop> {
  const shop = await loadShop(tx, id);
  if (shop === null) throw noShop(id);
  return shop;
}

/**
 * Reads a broad part of the shop, on a reader thread where it leaves the event loop.
 *
 * @throws Fault NOT_FOUND when there is no such shop.
 */
export async function readQuery<QueryInput, Found>(
  { engine, clock }: Pick<AdminContext, "engine" | "clock">,
  { readers }: Pick<AdminCall, "readers">,
  shopId: string,
  query: BroadQuery<QueryInput, Found>,
  queryInput: QueryInput,
): Promise<Found> {
  const shop = await engine.peek(shopId, (tx) => shopOf(tx, shopId));
  return await readQueryWith({ engine, clock, readers }, shop)(query, queryInput);
}
