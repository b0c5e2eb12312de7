/**
 * Everything that was acknowledged over HTTP is there once after a power cut between any two calls on the files (S2, S4, W1 to W3): the calls of a
 * running program are recorded and replayed (faults/power-cuts.ts). `npm run test:faults` is the long form.
 *
 * Only on sqlite: the files under PostgreSQL are the database's.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mayInterpose } from "../../faults/interposer.ts";
import { cutPower, record } from "../../faults/power-cuts.ts";

const images = 10;
/** A planted fault is found within so many images; most at the first. */
const imagesPlantedMax = 60;

test("what was acknowledged before a power cut is there once, and a sync that is left out is found", async (t) => {
  if (!mayInterpose()) {
    assert.equal(process.env["CI"] ?? "", "", "needs a C compiler (cc) on Linux");
    return t.skip("NOT TESTED: there is no C compiler (cc), or this is not Linux");
  }
  const recorded = await record({ seed: "short", requests: 50, kills: 1, slowSyncs: 30 });
  const told = await cutPower(recorded, { seed: "short", images });
  t.diagnostic(
    `${recorded.calls.length} calls, ${told.withinSync} cuts within a sync, ${told.askedAgain} answers again`,
  );
  assert.deepEqual(told.findings, []);
  assert.equal(told.images, images);
  assert.ok(told.withinSync > 0 && told.askedAgain > images, "there was something to lose");
  assert.equal(recorded.kills, 1);

  for (const suffix of ["-wal", ".db"]) {
    const keepsPromise = (place: string): boolean => !place.endsWith(suffix);
    const lied = await cutPower(recorded, { seed: "short", images: imagesPlantedMax, keepsPromise, findingsMax: 1 });
    assert.ok(lied.findings.length > 0, `syncs of ${suffix} files were left out, and nobody noticed`);
  }
});
