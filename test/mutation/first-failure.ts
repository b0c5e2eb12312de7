/** A reporter of `node:test` that ends the process with 1 at the first test that fails, and says nothing. */
import type { TestEvent } from "node:test/reporters";

/** Reads what the runner tells. */
export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string, void> {
  for await (const event of events) if (event.type === "test:fail") process.exit(1);
  yield* [];
}
