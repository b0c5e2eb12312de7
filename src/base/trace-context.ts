/**
 * Where a request stands in a distributed trace: W3C Trace Context, level 1 (header `traceparent`).
 */

/** The place of a request in a trace. Source: W3C Trace Context; C6a. */
export interface Trace {
  /** 32 lower-case hexadecimal digits. Of the caller, if it has sent them. */
  readonly traceId: string;
  /** 16 such digits: of this request. */
  readonly spanId: string;
  /** The caller's span; null when it has sent none. */
  readonly parentId: string | null;
  /** The caller records this trace, or may. */
  readonly sampled: boolean;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The ids of a `traceparent`; null for one that breaks the standard. */
export function idsOf(traceparent: string): Pick<Trace, "traceId" | "spanId" | "sampled"> | null {
  const [, version, traceId, spanId, flags = "0", rest] = pattern.exec(traceparent) ?? [];
  const isValid =
    traceId !== undefined &&
    spanId !== undefined &&
    version !== "ff" &&
    // Later versions may add members; this one has none.
    (version !== "00" || rest === undefined) &&
    !/^0+$/.test(traceId) &&
    !/^0+$/.test(spanId);
  return isValid ? { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 } : null;
}

/**
 * The trace of a request with these `traceparent` lines. One that breaks the standard, and more than one, are as if
 * nothing was sent: a new trace begins.
 *
 * @param newId makes a random id of so many digits, not all zero.
 */
export function traceOf(lines: readonly string[], newId: (digits: 16 | 32) => string): Trace {
  const spanId = newId(16);
  const [line, ...more] = lines;
  const caller = line === undefined || more.length > 0 ? null : idsOf(line);
  if (caller === null) return { traceId: newId(32), spanId, parentId: null, sampled: false };
  return { ...caller, spanId, parentId: caller.spanId };
}

/** The header for what this request asks of others. */
export const traceparentOf = ({ traceId, spanId, sampled }: Pick<Trace, "traceId" | "spanId" | "sampled">): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;

/** Members of a log line that name the request. */
export const loggedRequest = ({
  requestId,
  trace,
}: {
  readonly requestId: string;
  readonly trace?: Trace | undefined;
}): { readonly requestId: string; readonly traceId?: string | undefined; readonly spanId?: string | undefined } => ({
  requestId,
  traceId: trace?.traceId,
  spanId: trace?.spanId,
});
