/**
 * A process that writes to a shop as fast as it can and prints the number of each acknowledged write. Arguments: the store's directory,
 * the first number.
 */
import { writeSync } from "node:fs";
import { lockDirectory } from "../../src/store/sqlite/directory-lock.ts";
import { databaseOf, openStore } from "../support/store.ts";

const [directory = "", first = "0"] = process.argv.slice(2);
if (databaseOf(directory) === null) lockDirectory(directory);
const { engine } = await openStore(directory);
await engine.create("a");

/** Big enough for many checkpoints in a run. */
const name = "x".repeat(10_000);
let next = Number(first);

async function writer(): Promise<never> {
  for (;;) {
    const number = next;
    next += 1;
    // Two statements: there must never be only one of them.
    await engine.write("a", (tx) =>
      tx.batch([
        {
          sql: "insert into location (shop_id, location_id, name) values ('a', ?, ?)",
          params: [String(number), name],
        },
        {
          sql: "insert into inventory_level (shop_id, variant_id, location_id, on_hand) values ('a', 'v', ?, ?)",
          params: [String(number), number],
        },
      ]),
    );
    writeSync(1, `${number}\n`);
  }
}

writeSync(1, "ready\n");
await Promise.all(Array.from({ length: 24 }, writer));
