/**
 * Asking a store: each call waits for its points, is repeated while Shopify says that it takes no more, and its answer
 * is checked.
 *
 * Owns: pacing of a call, what is learned of costs, the state that an operator sees. Does not own: HTTP (transport.ts),
 * what is asked.
 */
import type { Log } from "../../store/store.ts";
import type { StoreCalls } from "../calls.ts";
import type { StoreState } from "../connections.ts";
import { pauseAfter } from "../pause.ts";
import { StorefrontError } from "../storefront.ts";
import type { ShopifyDocument } from "./documents.ts";
import type { Pacing, ThrottleStatus } from "./pacing.ts";
import { sendToShopify, type ShopifyAnswer, type ShopifyStore, TokenRefused } from "./transport.ts";

interface AskOptions {
  readonly writes: boolean;
  /** Number of things in the call; its cost grows with them. */
  readonly items: number;
  readonly signal: AbortSignal | undefined;
}

export class ShopifyClient {
  readonly #store: ShopifyStore;
  readonly #log: Log;
  readonly #pacing: Pacing;
  readonly #calls: StoreCalls;
  /** Document → its points, as Shopify has counted them where it differs. */
  readonly #costs = new Map<string, ShopifyDocument<unknown>["cost"]>();
  #otherVersion: string | null = null;

  constructor(store: ShopifyStore, parts: { readonly log: Log; readonly pacing: Pacing; readonly calls: StoreCalls }) {
    this.#store = store;
    this.#calls = parts.calls;
    this.#log = parts.log;
    this.#pacing = parts.pacing;
  }

  /** The version that has answered, when it is another than was asked for. */
  get otherVersion(): string | null {
    return this.#otherVersion;
  }

  get state(): StoreState {
    return { ...this.#calls.state, throttle: this.#pacing.status };
  }

  /**
   * Asks for the document.
   *
   * @param variables an object, or its JSON where every byte must be the same again.
   * @throws StorefrontError
   */
  async ask<Answer>(
    document: ShopifyDocument<Answer>,
    variables: object | string,
    options: AskOptions,
  ): Promise<Answer> {
    try {
      return await this.#paced(document, variables, options);
    } catch (error) {
      if (error instanceof StorefrontError) this.#calls.failed(error);
      throw error;
    }
  }

  async #paced<Answer>(
    document: ShopifyDocument<Answer>,
    variables: object | string,
    { writes, items, signal }: AskOptions,
  ): Promise<Answer> {
    const { name, text } = document;
    const given = typeof variables === "string" ? variables : JSON.stringify(variables);
    const body = `{"operationName":${JSON.stringify(name)},"query":${JSON.stringify(text)},"variables":${given}}`;
    for (let sends = 1; ; sends += 1) {
      const { base, perItem } = this.#costOf(document);
      const points = base + items * perItem;
      const giveBack = await this.#pacing.take(points, signal);
      let throttle: ThrottleStatus | null = null;
      try {
        this.#calls.made();
        const answer = await this.#sent(body, { writes, signal });
        ({ throttle } = answer);
        this.#learn(document, items, answer.requestedCost);
        this.#tellOtherVersion(answer.otherVersion);
        if (answer.error === null) return this.#checked(document, answer.data, writes);
        throw errorOf(answer.error, throttle, answer.requestedCost ?? points, writes);
      } catch (error) {
        const pauseMs = pauseAfter(error, sends);
        if (pauseMs === null) throw error;
        this.#pacing.rest(pauseMs);
      } finally {
        giveBack(throttle);
      }
    }
  }

  /** Sends it. A token that Shopify refuses is renewed once, since nothing was done with it. */
  async #sent(body: string, options: Pick<AskOptions, "writes" | "signal">): Promise<ShopifyAnswer> {
    const { tokens } = this.#store;
    const token = await tokens.current();
    try {
      return await sendToShopify(this.#store, body, token, options);
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      const other = await tokens.instead(token);
      if (other === null) throw error;
      return await sendToShopify(this.#store, body, other, options);
    }
  }

  #checked<Answer>({ name, answer }: ShopifyDocument<Answer>, data: unknown, writes: boolean): Answer {
    const parsed = answer.safeParse(data);
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.join(".") ?? "";
    throw new StorefrontError("error", `Shopify's answer to ${name} cannot be understood (at ${where})`, {
      landed: writes ? "maybe" : "no",
    });
  }

  #costOf({ name, cost }: ShopifyDocument<unknown>): ShopifyDocument<unknown>["cost"] {
    return this.#costs.get(name) ?? cost;
  }

  #learn(document: ShopifyDocument<unknown>, items: number, requestedCost: number | null): void {
    if (requestedCost === null) return;
    const { base, perItem } = this.#costOf(document);
    this.#costs.set(
      document.name,
      items === 0 ? { base: requestedCost, perItem } : { base, perItem: Math.max(0, (requestedCost - base) / items) },
    );
  }

  #tellOtherVersion(version: string | null): void {
    if (version === null || this.#otherVersion !== null) return;
    this.#otherVersion = version;
    this.#log.warn(
      { asked: this.#store.apiVersion, answered: version },
      "Shopify answers with another API version than was asked for: connect the shop anew with one that is served",
    );
  }
}

/** Codes with which Shopify refuses a call before it does anything. */
const refusedCodes: ReadonlySet<string> = new Set([
  "BAD_REQUEST",
  "INVALID_FIELD_ARGUMENTS",
  "MAX_COST_EXCEEDED",
  "SHOP_INACTIVE",
  "undefinedField",
  "argumentLiteralsIncompatible",
  "INVALID_VARIABLE",
  "variableMismatch",
]);

/** Returns the meaning of an entry of `errors`. */
function errorOf(
  { code, message }: { readonly code: string | null; readonly message: string },
  throttle: ThrottleStatus | null,
  points: number,
  writes: boolean,
): StorefrontError {
  if (code === "THROTTLED") {
    const missing = throttle === null ? points : Math.max(1, points - throttle.currentlyAvailable);
    const retryAfterMs = Math.ceil((missing / Math.max(throttle?.restoreRate ?? 100, 1)) * 1_000);
    return new StorefrontError("throttled", "Shopify takes no more calls for now", { landed: "no", retryAfterMs });
  }
  if (code === "ACCESS_DENIED")
    return new StorefrontError("auth", `Shopify refuses the call: ${message}`, { landed: "no" });
  const landed = writes && !refusedCodes.has(code ?? "") ? "maybe" : "no";
  return new StorefrontError("error", `Shopify refuses the call: ${message}`, { landed });
}
