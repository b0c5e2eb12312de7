/** The turn to set stock at a storefront among nodes, also when a clock was set back (D74). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clocksApartMsMax } from "../../src/core/access/rate-limit.ts";
import { endLockStatement, hasLock, keepLockStatement, takeLock } from "../../src/shop/storefront/storefront-turns.ts";
import { shopId, withWorld, type World } from "../support/peers/storefront.ts";

const turnMs = 20_000;
const startMs = Date.parse("2026-03-01T12:00:00.000Z");

/** Takes the turn as a node does whose clock says `nowMs`, among others. */
const take = ({ engine }: World, owner: string, nowMs: number) =>
  engine.write(shopId, (tx) => takeLock(tx, shopId, owner, { nowMs, untilMs: nowMs + turnMs, takesOver: false }));

test("one node has the turn until it gives it back or its time is over; the next learns what was interrupted", () =>
  withWorld(async (world) => {
    const { engine } = world;
    assert.deepEqual(await take(world, "a", startMs), { interrupted: null });
    assert.equal(await take(world, "b", startMs + turnMs - 1), null);
    const keep = { untilMs: startMs + turnMs, reference: "write" };
    await engine.write(shopId, (tx) => tx.batch([keepLockStatement(shopId, "a", keep)]));
    assert.deepEqual(await take(world, "b", startMs + turnMs), { interrupted: "write" });
    assert.equal(await engine.read(shopId, (tx) => hasLock(tx, shopId, "a")), false);
    await engine.write(shopId, (tx) => tx.batch([endLockStatement(shopId, "b")]));
    assert.deepEqual(await take(world, "c", startMs + turnMs + 1), { interrupted: "write" });
  }));

test("a turn that was taken before the clock was set back an hour keeps nobody out, and one of a node whose clock is a little ahead does", () =>
  withWorld(async (world) => {
    await take(world, "a", startMs);
    assert.equal(await take(world, "b", startMs - clocksApartMsMax), null, "nodes' clocks may be apart by this");
    assert.deepEqual(await take(world, "b", startMs - 3_600_000), { interrupted: null });
    assert.equal(await take(world, "a", startMs - 3_600_000 + turnMs - 1), null);
  }));
