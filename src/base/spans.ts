/**
 * Spans, the steps of requests and of follow-on work, for a tracer (C6b). The port; `service/trace.ts` beside the rooms
 * is its adapter.
 *
 * Facts are ids, counts, codes and names of operations. No secret, key, body, name of a person or supplier, or address
 * is one (H5).
 */
import { Fault } from "./fault.ts";
import { type Trace, traceparentOf } from "./trace-context.ts";

/** The steps there are; those of the storefront are named by the call (`storefront.changeOnHand`). */
export type SpanName =
  | "openpo.request"
  | "queue.wait"
  | "shop.commit"
  | "effect.attempt"
  | `storefront.${string}`
  | "webhook.attempt"
  | "mail.attempt";

/**
 * Absent and null: left out. `error.type` says that the step failed, and how; `openpo.refusal` that the caller was
 * refused.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where a span is in its trace. */
export type SpanIds = Pick<Trace, "traceId" | "spanId" | "sampled">;

/** A step under way. */
export interface Span {
  /** The ids that a tracer has given it; null without a tracer. */
  readonly ids: SpanIds | null;
  /** Ends it, once, with what is known by then. */
  end(facts?: SpanFacts): void;
}

/** Parent of a step: ids, or a `traceparent` that was kept in a row. */
export type SpanParent = SpanIds | string;

/** Where steps are told. */
export interface Spans {
  /** True if a tracer gets the span. */
  readonly recorded: boolean;
  /** @param links further requests that the step serves. */
  start(name: SpanName, parent: SpanParent | null, facts: SpanFacts, links?: readonly string[]): Span;
}

const nothing: Span = { ids: null, end: () => {} };

/** Nobody is told. */
export const noSpans: Spans = { recorded: false, start: () => nothing };

/** The header for what the step asks of others: under its own span, or under that of its parent if it has none. */
export const traceparentUnder = ({ ids }: Span, parent: string | null): string | null =>
  ids === null ? parent : traceparentOf(ids);

/** Runs a step and ends its span, whatever becomes of it. */
export async function withinSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(failureFacts(error));
    throw error;
  }
}

/** Facts of a failed span: a fixed word, never a message, since messages may name what belongs to the shop. */
export function failureFacts(error: unknown): SpanFacts {
  if (error instanceof Fault) return faultFacts(error.code, error.status);
  const kind = error instanceof Error && "kind" in error && typeof error.kind === "string" ? error.kind : "error";
  return { "error.type": kind };
}

/** The same of an answer. A refusal is no failure of the service. */
export const faultFacts = (code: string | null, status: number): SpanFacts =>
  code === null ? {} : status < 500 ? { "openpo.refusal": code } : { "error.type": code };
