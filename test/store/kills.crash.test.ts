/** A writing process is killed (-9) at any moment: its acknowledged writes are there, complete and in the order of acceptance. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inPlace, openStore } from "../support/store.ts";
import { startWriter } from "./writer.ts";
import { pause } from "../support/until.ts";

/** Rounds at least, and the acknowledged writes of all rounds: fewer would prove little. */
const roundsMin = 8;
const acknowledgedMin = 100;

test("after a kill at any moment, every acknowledged write and all writes before it are there, complete", () =>
  inPlace(async (directory) => {
    let kept = 0;
    let acknowledged = 0;
    // A slow machine needs more rounds for as many writes.
    for (let round = 0; round < roundsMin || acknowledged < acknowledgedMin; round += 1) {
      const writer = await startWriter(directory, kept);
      await pause(20 + Math.random() * 300);
      await writer.kill();

      const store = await openStore(directory);
      // Read inside a turn of the shop: the database has then finished its work for the killed process.
      const found = await store.engine.write("a", async (tx) => ({
        numbers: (
          await tx.all<{ on_hand: number }>("select on_hand from inventory_level where shop_id = 'a' order by on_hand")
        ).map((row) => row.on_hand),
        locations: (await tx.all<{ n: number }>("select count(*) as n from location where shop_id = 'a'"))[0]?.n,
      }));
      await store.close();

      const context = `round ${round}: ${writer.acknowledged.length} acknowledged, ${found.numbers.length - kept} kept`;
      assert.deepEqual(
        found.numbers,
        found.numbers.map((_, index) => index),
        `${context}: without a gap`,
      );
      assert.equal(found.locations, found.numbers.length, `${context}: no half of a write`);
      assert.ok(
        Math.max(-1, ...writer.acknowledged) < found.numbers.length,
        `${context}: nothing acknowledged is lost`,
      );
      kept = found.numbers.length;
      acknowledged += writer.acknowledged.length;
    }
  }));
