/**
 * A load generator on plain sockets. It takes a third of the processor time of Node's HTTP client, which matters where client and service
 * share a machine.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How answers came: statuses, times, and what went wrong with connections. */
export interface Load {
  readonly seconds: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Milliseconds from a request to its answer, sorted, by status. */
  readonly latenciesMs: ReadonlyMap<number, readonly number[]>;
  /** Connections that ended without an answer that was due. */
  readonly resets: number;
  /** Answers of 429 or 503 without Retry-After. */
  readonly withoutRetryAfter: number;
}

export const answersOf = (load: Load, status: number): number => load.statuses.get(status) ?? 0;

/** The share of the times is at most this, in milliseconds. */
export function percentile(sortedMs: readonly number[], share: number): number {
  return sortedMs[Math.floor((sortedMs.length - 1) * share)] ?? 0;
}

interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** The bytes of the next request. */
  readonly next: () => string;
  /** Time before a connection that was closed by the server is opened again. */
  readonly reconnectMs?: number;
  /** A client that is refused waits as the answer says, like a client that keeps the contract. */
  readonly obeysRetryAfter?: boolean;
  /** The connections open evenly over this time. What is answered meanwhile is not counted; it comes before `seconds`. */
  readonly rampSeconds?: number;
}

/** Each connection sends its next request when it has its answer. */
export async function load(options: LoadOptions): Promise<Load> {
  const { connections, seconds, rampSeconds = 0 } = options;
  const totals = { statuses: new Map<number, number>(), latenciesMs: new Map<number, number[]>() };
  const counts = { resets: 0, withoutRetryAfter: 0 };
  const openMs = performance.now();
  const startMs = openMs + rampSeconds * 1_000;
  const endMs = startMs + seconds * 1_000;
  const opened = Array.from({ length: connections }, async (_, index) => {
    if (rampSeconds > 0) await sleep((rampSeconds * 1_000 * index) / connections);
    await connection(options, { startMs, endMs }, totals, counts);
  });
  await Promise.all(opened);
  for (const times of totals.latenciesMs.values()) times.sort((a, b) => a - b);
  return { seconds: (performance.now() - startMs) / 1_000, ...totals, ...counts };
}

function connection(
  { port, next, reconnectMs = 100, obeysRetryAfter = false }: LoadOptions,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  { statuses, latenciesMs }: { readonly statuses: Map<number, number>; readonly latenciesMs: Map<number, number[]> },
  counts: { resets: number; withoutRetryAfter: number },
): Promise<void> {
  return new Promise((resolve) => {
    const isOver = (): boolean => performance.now() >= endMs;

    function open(): void {
      let sentMs = 0;
      let received = "";
      let isWaiting = false;
      let isRetired = false;
      const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.setEncoding("latin1");

      function send(): void {
        if (isOver()) {
          isRetired = true;
          socket.destroy();
          return resolve();
        }
        isWaiting = true;
        sentMs = performance.now();
        socket.write(next());
      }

      function retire(afterMs: number): void {
        if (isRetired) return;
        isRetired = true;
        socket.destroy();
        if (isOver()) return resolve();
        setTimeout(open, afterMs);
      }

      function count(status: number): void {
        const nowMs = performance.now();
        if (nowMs < startMs) return;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const times = latenciesMs.get(status) ?? [];
        latenciesMs.set(status, times);
        times.push(nowMs - sentMs);
      }

      function answered(head: string): void {
        const status = Number(head.slice(9, 12));
        count(status);
        isWaiting = false;
        const retryAfter = /\r\nretry-after: *(\d+)/i.exec(head)?.[1];
        const isRefused = status === 429 || status === 503;
        if (isRefused && retryAfter === undefined) counts.withoutRetryAfter += 1;
        const pauseMs = isRefused && obeysRetryAfter ? Number(retryAfter ?? 1) * 1_000 : 0;
        if (/\r\nconnection: *close/i.test(head)) retire(Math.max(reconnectMs, pauseMs));
        else if (pauseMs === 0) send();
        else setTimeout(send, Math.min(pauseMs, Math.max(0, endMs - performance.now())));
      }

      socket.on("connect", send);
      socket.on("data", (part: string) => {
        received += part;
        const headEnd = received.indexOf("\r\n\r\n");
        if (headEnd === -1) return;
        const head = received.slice(0, headEnd);
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        if (received.length < headEnd + 4 + length) return;
        received = received.slice(headEnd + 4 + length);
        answered(head);
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        if (isRetired) return;
        if (isWaiting || sentMs === 0) counts.resets += 1;
        retire(reconnectMs);
      });
    }

    open();
  });
}
