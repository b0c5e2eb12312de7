/** Measures for how long nobody could write: one small change after another, each at any of the addresses. */
import { systemClock } from "../../../src/base/time/system.ts";
import { ask, makeShop } from "../clients.ts";
import { pause } from "../until.ts";

const pauseMs = 25;
const waitMsMax = 2_000;

export interface Probe {
  /** The longest time between two changes that succeeded, of which the later one came after `sinceMs` and by `untilMs`. */
  longestGapMs(sinceMs: number, untilMs?: number): number;
  /** How many changes succeeded. */
  readonly written: number;
  end(): Promise<void>;
}

/** Begins to write to a shop of its own, which it makes. */
export async function startProbe(nodes: readonly { readonly url: string }[], shopId: string): Promise<Probe> {
  const token = await makeShop(nodes[0]?.url ?? "", shopId, {}, []);
  const writtenAtMs: number[] = [];
  const ending = new AbortController();
  const writing = async (): Promise<void> => {
    for (let tries = 0; !ending.signal.aborted; tries += 1) {
      const url = nodes[tries % nodes.length]?.url ?? "";
      const idempotencyKey = `probe ${tries}`;
      const asked = { method: "POST", target: "/api/v1/purchase-orders", token, idempotencyKey, body: {}, waitMsMax };
      const status = await ask(url, asked).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 201) writtenAtMs.push(systemClock.now());
      await pause(pauseMs);
    }
  };
  const ended = writing();
  return {
    longestGapMs: (sinceMs, untilMs = Infinity) =>
      Math.max(
        ...writtenAtMs.map((atMs, index) =>
          atMs > sinceMs && atMs <= untilMs ? atMs - (writtenAtMs[index - 1] ?? sinceMs) : 0,
        ),
      ),
    get written() {
      return writtenAtMs.length;
    },
    async end() {
      ending.abort();
      await ended;
    },
  };
}
