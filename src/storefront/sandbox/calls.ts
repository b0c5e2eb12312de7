/**
 * One call of the platform, whatever it does: counted, delayed and made to fail as the faults say.
 *
 * Owns: the sandbox's turn in its engine, waiting, the errors of a call as a whole. Does not own: which fault hits
 * (faults.ts), what a call does (platform.ts).
 */
import { Fault } from "../../base/fault.ts";
import { sleep } from "../../base/time/waiting.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import type { Engine, Tx, WriteOptions } from "../../store/store.ts";
import { StorefrontError } from "../storefront.ts";
import { type CallFaults, type SandboxCall, useFaults } from "./faults.ts";
import { countCall } from "./state.ts";

/** Time for which a call with the fault `timeout` hangs before it fails. */
const sandboxTimeoutMs = 1_000;

/** The wait that a throttled call is asked for. */
const sandboxThrottleMs = 250;

export interface CallsOptions {
  /** Databases of sandboxes by shop id, with the schema beside this file. Never the shops' own engine. */
  readonly engine: Engine;
  readonly shopId: string;
  /** Default `sandboxTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** A call as the caller makes it. */
interface CallRequest {
  readonly name: SandboxCall;
  readonly variantIds: readonly string[];
  /**
   * True if it changes the platform: its result is then durable, and a lost answer leaves it open if the change landed.
   */
  readonly writes: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Of a call that only reads, nothing but its count can be lost. */
const optionsOf = ({ writes }: CallRequest): WriteOptions => (writes ? {} : { durable: false, committed: false });

/** Work of a call in its turn. It changes nothing before it has the faults. */
type CallWork<T> = (tx: Tx, faults: Promise<CallFaults>) => Promise<T>;

/** A call that is done, or one that is disturbed and was only counted. */
type Begun<T> = { readonly result: T } | { readonly faults: CallFaults };

/** A turn that several calls share; it has not begun yet. */
interface JoinedTurn {
  /** By the name of the call. */
  readonly begins: Map<SandboxCall, (tx: Tx, isShared: boolean) => Promise<void>>;
  done: Promise<void>;
}

const joinedTurns = new WeakMap<Engine, Map<string, JoinedTurn>>();

/**
 * The call does nothing in this turn: it is disturbed, or a fault hits it that may be meant for another call of the
 * turn.
 */
class Disturbed extends Error {
  override readonly name = "Disturbed";
}

/** Counts the call and, unless it is disturbed, makes it. @throws StorefrontError when the caller has given it up. */
async function begin<T>(
  tx: Tx,
  shopId: string,
  { name, variantIds, signal }: CallRequest,
  work: CallWork<T>,
  isShared = false,
): Promise<Begun<T>> {
  // Made later, it could overwrite what a later call has set.
  if (signal?.aborted === true) throw abortedError();
  await tx.batch([countCall(shopId, name)]);
  const finding = useFaults(tx, shopId, name, variantIds);
  const undisturbed = finding.then((faults) => {
    if (faults.wholeCall !== null || faults.latencyMs > 0 || (isShared && faults.isHit)) throw new Disturbed();
    return faults;
  });
  // `work` gets it too, but may have failed by then.
  undisturbed.catch(() => {});
  const [made] = await Promise.allSettled([work(tx, undisturbed)]);
  if (made.status === "fulfilled") return { result: made.value };
  if (isShared || !(made.reason instanceof Disturbed)) throw made.reason;
  return { faults: await finding };
}

/** The calls of one sandbox. */
export class SandboxCalls {
  readonly #engine: Engine;
  readonly #shopId: string;
  readonly #timeoutMs: number;

  constructor({ engine, shopId, timeoutMs = sandboxTimeoutMs }: CallsOptions) {
    this.#engine = engine;
    this.#shopId = shopId;
    this.#timeoutMs = timeoutMs;
  }

  /** Works in the sandbox's turn; a sandbox that is not there yet is created. */
  async turn<T>(work: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    try {
      return await this.#engine.write(this.#shopId, work, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#engine.create(this.#shopId);
      return await this.#engine.write(this.#shopId, work, options);
    }
  }

  /** Works in the sandbox's turn, without being a call of the platform. @throws StorefrontError when it cannot. */
  async upkeep(work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await this.turn(work);
    } catch (error) {
      throw storefrontErrorFrom(error);
    }
  }

  /**
   * Makes one call (X3). Without delay and fault it is one turn; else it is counted in one, waits, and works in
   * another.
   *
   * @throws StorefrontError as the faults say, and when the sandbox's store cannot be used.
   */
  async run<T>(request: CallRequest, work: CallWork<T>): Promise<T> {
    const { signal, writes } = request;
    try {
      const begun = writes ? await this.#beginJoined(request, work) : await this.#beginAlone(request, work);
      if ("result" in begun) return begun.result;
      const { faults } = begun;
      await wait(faults.latencyMs, signal);
      await this.#failBefore(faults, request);
      const result = await this.turn(async (tx) => {
        if (signal?.aborted === true) throw abortedError();
        return await work(tx, Promise.resolve(faults));
      }, optionsOf(request));
      if (faults.wholeCall === "lost-response")
        throw new StorefrontError("error", "the storefront's answer was lost", { landed: writes ? "maybe" : "no" });
      return result;
    } catch (error) {
      throw storefrontErrorFrom(error);
    }
  }

  /** Begins a call in a turn of its own. That of a call which only reads is over when its rows are there. */
  #beginAlone<T>(request: CallRequest, work: CallWork<T>): Promise<Begun<T>> {
    return this.turn((tx) => begin(tx, this.#shopId, request, work), optionsOf(request));
  }

  /**
   * Begins a call that writes in one turn with others of the sandbox that wait for it too. They are calls of different
   * names, which touch different figures. If one of them is disturbed or fails, nothing of the turn is kept, and each
   * begins in a turn of its own.
   */
  async #beginJoined<T>(request: CallRequest, work: CallWork<T>): Promise<Begun<T>> {
    const waiting = joinedTurns.get(this.#engine) ?? new Map<string, JoinedTurn>();
    joinedTurns.set(this.#engine, waiting);
    let joined = waiting.get(this.#shopId);
    if (joined === undefined || joined.begins.has(request.name)) {
      const made: JoinedTurn = { begins: new Map(), done: Promise.resolve() };
      const close = (): void => {
        if (waiting.get(this.#shopId) === made) waiting.delete(this.#shopId);
      };
      waiting.set(this.#shopId, made);
      made.done = this.turn(async (tx) => {
        close();
        const begins = [...made.begins.values()];
        await Promise.all(begins.map((beginIn) => beginIn(tx, begins.length > 1)));
      }).finally(close);
      // Each call gets the error.
      made.done.catch(() => {});
      joined = made;
    }
    const { begins } = joined;
    let begun: Begun<T> | null = null;
    begins.set(request.name, async (tx, isShared) => {
      begun = await begin(tx, this.#shopId, request, work, isShared);
    });
    try {
      await joined.done;
    } catch (error) {
      // Whether a store that fails has kept the turn may be unknown: then it is not repeated here (X3).
      if (begins.size === 1 || error instanceof Fault) throw error;
      return await this.#beginAlone(request, work);
    }
    if (begun === null) throw new Error("a call of the sandbox was not begun");
    return begun;
  }

  /** Fails a call of which nothing happens. */
  async #failBefore({ wholeCall }: CallFaults, { writes, signal }: CallRequest): Promise<void> {
    switch (wholeCall) {
      case "error":
        throw new StorefrontError("error", "the storefront failed", { landed: "no" });
      case "throttled":
        throw new StorefrontError("throttled", "the storefront takes no more calls for now", {
          landed: "no",
          retryAfterMs: sandboxThrottleMs,
        });
      case "timeout":
        await wait(this.#timeoutMs, signal);
        throw new StorefrontError("timeout", "the storefront did not answer in time", {
          landed: writes ? "maybe" : "no",
        });
      case "lost-response":
      case null:
    }
  }
}

/** @throws StorefrontError when the caller aborts meanwhile. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await sleep(ms, signal);
  if (signal?.aborted === true) throw abortedError();
}

const abortedError = (): StorefrontError =>
  new StorefrontError("timeout", "the caller did not wait for the storefront's answer", { landed: "no" });

/**
 * A sandbox whose own store cannot be used is a storefront that fails: its caller need not know that it is built in.
 */
function storefrontErrorFrom(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return error.code === "DO_OVERLOADED"
    ? new StorefrontError("throttled", "the sandbox storefront is busy", {
        landed: "no",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      })
    : new StorefrontError("error", "the sandbox storefront's store cannot be used", { landed: "maybe", cause: error });
}
