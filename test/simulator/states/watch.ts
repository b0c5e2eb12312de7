/**
 * What a simulation sees of a story beside requests, answers and rows, for the table of states (table.ts): calls of the storefronts, crashes, clocks
 * that are set, and how many writes were committed together. It changes nothing.
 */
import { type Storefront, StorefrontError } from "../../../src/storefront/storefront.ts";
import type { Machine, Process } from "../time.ts";

/** A call of a shop's storefront by the service. */
export interface StorefrontCall {
  readonly shopId: string;
  readonly name: keyof Storefront;
  /** Of a call that writes. */
  readonly reference: string | null;
  readonly process: Process;
  readonly begunMs: number;
  /** Infinity: its process has ended before. */
  endedMs: number;
  /** Of each item; none where the call only reads or has failed. */
  outcomes: readonly string[];
  error: StorefrontError | null;
  /** When its caller has given it up. */
  givenUpMs: number | null;
}

/** The end of a process. */
interface Crash {
  readonly atMs: number;
  readonly withPower: boolean;
  /** How long it has run. */
  readonly ranMs: number;
  /** Syncs that were under way. */
  readonly syncs: number;
}

/** A clock that was set, and how many requests were under way then. */
interface ClockSet {
  readonly byMs: number;
  readonly requests: number;
}

interface Turn {
  readonly atTask: number;
  writes: number;
}

/** What a call has beside what it asks, as far as it is looked at. */
interface CallContext {
  readonly reference?: string;
  readonly signal?: AbortSignal | undefined;
}

const outcomeOf = (result: unknown): string | [] =>
  typeof result === "object" && result !== null && "outcome" in result ? String(result.outcome) : [];

export class Watch {
  readonly calls: StorefrontCall[] = [];
  readonly crashes: Crash[] = [];
  readonly clocksSet: ClockSet[] = [];
  /** What the program has warned of. */
  readonly warnings = new Set<string>();
  /** By shop, the most writes that were made in one turn. */
  readonly writesTogether = new Map<string, number>();
  readonly #machine: Machine;
  readonly #turns = new Map<string, Turn>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** A write of a shop has its turn. All of one turn run in one task. */
  wrote(shopId: string): void {
    const atTask = this.#machine.tasksRun;
    const last = this.#turns.get(shopId);
    const turn = last?.atTask === atTask ? last : { atTask, writes: 0 };
    turn.writes += 1;
    this.#turns.set(shopId, turn);
    this.writesTogether.set(shopId, Math.max(turn.writes, this.writesTogether.get(shopId) ?? 0));
  }

  /** The storefront, watched. */
  of(shopId: string, storefront: Storefront): Storefront {
    const watched =
      <Asked, Context extends CallContext | undefined, Result>(
        name: keyof Storefront,
        ask: (asked: Asked, context: Context) => Promise<Result>,
      ) =>
      async (asked: Asked, context: Context): Promise<Result> => {
        const call: StorefrontCall = {
          shopId,
          name,
          reference: context?.reference ?? null,
          process: this.#machine.current,
          begunMs: this.#machine.elapsedMs,
          endedMs: Infinity,
          outcomes: [],
          error: null,
          givenUpMs: null,
        };
        this.calls.push(call);
        const giveUp = (): void => {
          if (call.endedMs === Infinity) call.givenUpMs = this.#machine.elapsedMs;
        };
        context?.signal?.addEventListener("abort", giveUp, { once: true });
        try {
          const result = await ask(asked, context);
          if (Array.isArray(result)) call.outcomes = result.flatMap(outcomeOf);
          return result;
        } catch (error) {
          if (error instanceof StorefrontError) call.error = error;
          throw error;
        } finally {
          call.endedMs = this.#machine.elapsedMs;
        }
      };
    return {
      ...storefront,
      checkVariants: watched("checkVariants", (ids, context) => storefront.checkVariants(ids, context)),
      changeOnHand: watched("changeOnHand", (changes, context) => storefront.changeOnHand(changes, context)),
      readOnHand: watched("readOnHand", (changes, context) => storefront.readOnHand(changes, context)),
      setIncoming: watched("setIncoming", (levels, context) => storefront.setIncoming(levels, context)),
      writeCosts: watched("writeCosts", (costs, context) => storefront.writeCosts(costs, context)),
      readCosts: watched("readCosts", (ids, context) => storefront.readCosts(ids, context)),
      setTags: watched("setTags", (changes, context) => storefront.setTags(changes, context)),
    };
  }
}
