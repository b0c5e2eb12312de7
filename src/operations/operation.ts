/**
 * The shape of an operation: the only place where something that can be asked of a shop exists.
 *
 * From an operation follow its REST route (if it has one), its 405 set, validation, OpenAPI entry, agent tool, scope check, audit
 * tag, idempotency, rate limit and generated contract tests. Surfaces read this shape and never know an operation's name.
 */
import type { z } from "zod";
import type { FaultCode, FaultReason } from "../core/fault.ts";
import type { EffectOutcome } from "../core/effect.ts";
import type { Shop } from "../shop/accounts.ts";
import type { Clock, Ids, Tx } from "../store/store.ts";
import type { Storefront } from "../storefront/storefront.ts";

/** What a key may do: read, or read and write. */
export type Scope = "read" | "write";
type Method = "GET" | "POST" | "PATCH" | "DELETE";

interface Route {
  readonly method: Method;
  /** Below `/api/v1`, parameters in braces named as in the input: `/purchase-orders/{purchaseOrderId}/status`. */
  readonly path: string;
}

/**
 * Whether a call may be repeated without a key (spec "Repeat safety without a key"); agent annotations follow from it. What is
 * safe to repeat may be refused the second time (/complete, DELETE): nothing is done twice.
 */
export type Repeat = "read" | "safe" | "adds-again" | "refused" | "partly";

/** One thing that can be asked. `Input` is what the schema parses to, `Output` what the answer's `data` is made from. */
export interface OperationShape<Input, Output> {
  /** snake_case, resource first: `purchase_order_receive`. */
  readonly name: string;
  readonly title: string;
  /** One line for a person. */
  readonly summary: string;
  /** What it does, when not to use it and what comes next; read by agents. */
  readonly description: string;
  /** The group it belongs to in documents: `Purchase orders`. */
  readonly tag: string;
  readonly scope: Scope;
  /** Null: agents alone are offered it, as a tool; REST has no path for it (C68). */
  readonly route: Route | null;
  readonly success: 200 | 201;
  readonly repeat: Repeat;
  /** Whether it may take away what cannot be had back (an agent asks before it calls such a one). */
  readonly destructive: boolean;
  /** What it may answer beyond what every operation may: codes, and reasons of INVALID_INPUT. */
  readonly faults: readonly (FaultCode | FaultReason)[];
  /**
   * One strict object: path, query and body members merged. On HTTP the members named in `route.path` come from the path, the
   * others from the query (GET, DELETE) or the body (POST, PATCH).
   */
  readonly input: z.ZodType<Input> & { readonly shape: Readonly<Record<string, z.ZodType>> };
  readonly output: z.ZodType<Output>;
  /** Answers carry an order's version as ETag although they do not show the order (C37); those that show one carry it anyway. */
  readonly versioned?: true;
  run(call: Call, input: Input): Promise<Answer<NoInfer<Output>>>;
}

/**
 * An operation whose input and output types are nobody's business any more: what the registry holds. `run` takes what `input` of
 * the same operation has parsed, nothing else.
 */
export type Operation = OperationShape<unknown, unknown>;

/** An operation that REST has a path for. */
export type RestOperation = Operation & { readonly route: Route };

/** Whether REST has a path for the operation; agents are offered every operation. */
export const isRestOperation = (operation: Operation): operation is RestOperation => operation.route !== null;

/** Makes an operation: checks its types and freezes it. */
export function operation<Input, Output>(shape: OperationShape<Input, Output>): OperationShape<Input, Output> {
  return Object.freeze(shape);
}

/** Who asks. `agent` is a key used on the agent surface. */
interface Actor {
  readonly type: "api-key" | "agent" | "user" | "system";
  readonly id: string | null;
  readonly name: string | null;
}

/** What an operation answers, before it becomes the envelope and headers of a surface. */
export interface Answer<Output> {
  readonly data: Output;
  /** Path of what was created, below the host: `/api/v1/purchase-orders/po_…`. */
  readonly location?: string;
  /** The order's version as a strong validator, without quotes (C37). */
  readonly etag?: string;
}

/** What the last change of an operation leaves: which effects it asked for and how the answer reads once they have had their first attempt. */
export interface Committed<Output> {
  /** Ids of the effects that the answer waits for, up to `followOnWaitMs` (C38). */
  readonly effectIds: readonly string[];
  /** Called in the transaction with every outcome `pending` (what a replay after a crash answers), and again with the first attempts' outcomes. Pure. */
  answer(outcomes: ReadonlyMap<string, EffectOutcome>): Answer<Output>;
  /**
   * For effects whose first attempts change what the answer shows: reads it anew once they are in, in place of the second `answer`.
   * Null: what it showed is gone, and `answer` tells what the change left.
   */
  readonly answerAnew?: (tx: Tx, outcomes: ReadonlyMap<string, EffectOutcome>) => Promise<Answer<Output> | null>;
}

/** One request, as an operation sees it. */
export interface Call {
  readonly shop: Shop;
  readonly actor: Actor;
  readonly operation: string;
  readonly requestId: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly storefront: Storefront;
  /** The versions that the caller accepts (`If-Match`), without quotes; `*` alone for any, null when not sent (C37). */
  readonly ifMatch: readonly string[] | null;
  /** Reads a consistent, durable state. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A change on the way: commits on its own, without the idempotency record. What it leaves must be resumable by a retry. */
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The last change: commits with the idempotency record and the audit row, then waits for first attempts of its effects. Once per call. */
  commit<Output>(work: (tx: Tx) => Promise<Committed<Output>>): Promise<Answer<Output>>;
  /**
   * Starts these effects if they have not been started and waits for their first attempts, at most `waitMs`.
   * For operations that go on after follow-on work (/complete, /quick-complete, a waiting /storefront-sync).
   */
  settle(effectIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
}
