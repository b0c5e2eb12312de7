/** Fingerprints of repeated requests are those that the requests have (C17), whether or not their bodies are read again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../src/base/fault.ts";
import {
  fingerprintOf,
  Fingerprints,
  fingerprintsKnownMax,
  fingerprintTextLengthMax,
} from "../../../src/requests/remembered/fingerprints.ts";
import { parseBody } from "../../../src/requests/input.ts";

type Query = readonly (readonly [string, string])[];

const tooStrange = new Fault("INVALID_INPUT", "No text can be made of it.");

const request = { method: "POST", path: "/a", query: [] as Query };

test("a request that is repeated byte for byte has its fingerprint, and its body is not read again", () => {
  const fingerprints = new Fingerprints();
  let reads = 0;
  const ask = (body: string | Buffer, asked: typeof request = request): string => {
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

test("requests up to fingerprintTextLengthMax and beyond it are told apart by each byte, and known again", () => {
  const fingerprints = new Fingerprints();
  const asked = JSON.stringify([request.method, request.path, request.query]);
  for (const length of [1, 200, fingerprintTextLengthMax - asked.length, fingerprintTextLengthMax, 100_000]) {
    // Bytes of which no text is made, or the same one, by ASCII and by UTF-8.
    const bodies = [0x20, 0x68, 0xe8, 0xe9].flatMap((byte) =>
      [0, length - 1].map((at) => Buffer.alloc(length, "1").fill(byte, at, at + 1)),
    );
    const distinct = new Map(bodies.map((bytes) => [bytes.toString("hex"), bytes]));
    for (const [, bytes] of distinct)
      assert.equal(
        fingerprints.of(request, bytes, () => ({ bytes, fault: tooStrange })),
        fingerprintOf(request, { bytes, fault: tooStrange }),
      );
    for (const [, bytes] of distinct)
      assert.equal(
        fingerprints.of(request, bytes, () => assert.fail("it is known")),
        fingerprintOf(request, { bytes, fault: tooStrange }),
      );
  }
});
