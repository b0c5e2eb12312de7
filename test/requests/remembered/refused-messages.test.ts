/** Messages whose meaning is known are known by their bytes, and not too many of them (`requests/remembered/refused-messages.ts`). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprintsKnownMax } from "../../../src/requests/remembered/fingerprints.ts";
import { RefusedMessages } from "../../../src/requests/remembered/refused-messages.ts";

test("what fingerprintsKnownMax messages mean is known, by their bytes; the one asked for the longest time ago is forgotten", () => {
  const messages = new RefusedMessages();
  const meaning = (name: string) => ({ idempotencyKey: "k", fingerprint: name });
  const known = (name: string): string | undefined => messages.meaningOf(Buffer.from(name))?.fingerprint;
  const add = (name: string): void => messages.add(Buffer.from(name), meaning(name));
  assert.equal(known("first"), undefined);
  for (const name of ["first", "second"]) add(name);
  for (let index = 2; index < fingerprintsKnownMax; index += 1) add(String(index));
  assert.equal(known("first"), "first");
  add("one more");
  assert.deepEqual(["first", "second", "one more"].map(known), ["first", undefined, "one more"]);
});
