/** Thread of test/requests/input-bounds.test.ts: checks one record as an import does, and tells why it was refused. */
import { parentPort, workerData } from "node:worker_threads";
import { FileFaults, type FileRecord } from "../../../src/exchange/file-format.ts";
import { checkRecord } from "../../../src/exchange/staging.ts";
import { ndjson } from "../../../src/exchange/ndjson.ts";

async function* file(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(String(workerData));
}

function outcomeOf(record: FileRecord): string {
  try {
    checkRecord(record);
    return "taken";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

for await (const record of ndjson.records(file(), new FileFaults())) {
  const outcome = outcomeOf(record);
  // A thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(outcome);
}
