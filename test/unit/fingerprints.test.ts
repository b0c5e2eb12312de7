/** Fingerprints of repeated requests are those that the requests have (C17), whether or not their bodies are read again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprintsKnownMax } from "../../src/core/limits.ts";
import { Fingerprints, fingerprintOf } from "../../src/operations/fingerprints.ts";
import { parseBody } from "../../src/operations/input.ts";

type Query = readonly (readonly [string, string])[];

const request = { method: "POST", path: "/a", query: [] as Query };

test("a request that is repeated byte for byte has its fingerprint, and its body is not read again", () => {
  const fingerprints = new Fingerprints();
  let reads = 0;
  const ask = (body: string, asked: typeof request = request): string => {
    const bytes = Buffer.from(body);
    const read = () => {
      reads += 1;
      return parseBody(bytes);
    };
    const fingerprint = fingerprints.of(asked, bytes, read);
    assert.equal(fingerprint, fingerprintOf(asked, parseBody(bytes)));
    return fingerprint;
  };
  const first = ask('{"a": 1, "b": 2}');
  assert.equal(ask('{"a": 1, "b": 2}'), first);
  assert.equal(reads, 1);
  assert.equal(ask('{"b": 2.0, "a": 1}'), first, "the same by meaning");
  const others = [
    ask('{"a": 1, "b": 3}'),
    ask('{"a": 1, "b": 2}', { ...request, path: "/b" }),
    ask('{"a": 1, "b": 2}', { ...request, method: "PATCH" }),
    ask('{"a": 1, "b": 2}', { ...request, query: [["a", "1"]] }),
    ask("{"),
  ];
  assert.equal(new Set([first, ...others]).size, 6);
  assert.equal(reads, 7);
  for (let index = 0; index < fingerprintsKnownMax; index += 1) ask(String(index));
  reads = 0;
  ask('{"a": 1, "b": 2}');
  assert.equal(reads, 1, "the oldest was forgotten");
});
