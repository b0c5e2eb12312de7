/**
 * Where a request stands in a distributed trace: W3C Trace Context, level 1 (header `traceparent`).
 */

/** The place of a request in a trace. Source: W3C Trace Context; C72. */
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

/**
 * The trace of a request with these `traceparent` lines. One that breaks the standard, and more than one, are as if nothing was sent: a
 * new trace begins.
 *
 * @param newId makes a random id of so many digits, not all zero.
 */
export function traceOf(lines: readonly string[], newId: (digits: 16 | 32) => string): Trace {
  const spanId = newId(16);
  const [line, ...more] = lines;
  const [, version, traceId, parentId, flags = "0", rest] = pattern.exec(more.length > 0 ? "" : (line ?? "")) ?? [];
  const isValid =
    traceId !== undefined &&
    parentId !== undefined &&
    version !== "ff" &&
    // Later versions may add members; this one has none.
    (version !== "00" || rest === undefined) &&
    !/^0+$/.test(traceId) &&
    !/^0+$/.test(parentId);
  if (!isValid) return { traceId: newId(32), spanId, parentId: null, sampled: false };
  return { traceId, spanId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header for what this request asks of others. */
export const traceparentOf = ({ traceId, spanId, sampled }: Trace): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;

/** What a log line tells of the request. */
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
