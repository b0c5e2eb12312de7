/**
 * A write of the shop with its spans: the wait for the shop's turn, then the change until it is durable (C6b).
 */
import { failureFacts, type Span, type SpanParent, type Spans } from "../../base/spans.ts";
import type { Engine, Tx, WriteOptions } from "../../store/store.ts";

/** Like `engine.write`. */
export async function tracedWrite<T>(
  engine: Pick<Engine, "write">,
  { spans, parent }: { readonly spans: Spans; readonly parent: SpanParent | null },
  shopId: string,
  work: (tx: Tx) => Promise<T>,
  options: WriteOptions = {},
): Promise<T> {
  if (!spans.recorded) return await engine.write(shopId, work, options);
  const facts = { "openpo.shop.id": shopId };
  const wait = spans.start("queue.wait", parent, facts);
  let commit: Span | null = null;
  try {
    const result = await engine.write(
      shopId,
      (tx) => {
        // The work may be run again.
        if (commit === null) {
          wait.end();
          commit = spans.start("shop.commit", parent, facts);
        }
        return work(tx);
      },
      options,
    );
    endOf(commit, wait).end();
    return result;
  } catch (error) {
    endOf(commit, wait).end(failureFacts(error));
    throw error;
  }
}

/** Returns the span that is still open: the wait, if the shop's turn never came. */
const endOf = (commit: Span | null, wait: Span): Span => commit ?? wait;
