/** `traceparent` as W3C Trace Context says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { traceOf, traceparentOf } from "../../src/base/trace-context.ts";
import { newTraceId } from "../../src/http/trace-ids.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const newId = (digits: number): string => "a".repeat(digits);
const own = { traceId: newId(32), spanId: newId(16), parentId: null, sampled: false };

test("a valid traceparent is continued, with a span of our own and the caller's word on sampling", () => {
  const continued = { traceId, spanId: newId(16), parentId };
  for (const [line, sampled] of [
    [`00-${traceId}-${parentId}-00`, false],
    [`00-${traceId}-${parentId}-01`, true],
    [`00-${traceId}-${parentId}-ff`, true],
    [`00-${traceId}-${parentId}-02`, false],
    [`cc-${traceId}-${parentId}-01`, true],
    [`cc-${traceId}-${parentId}-01-what-the-future-will-be-like`, true],
  ] as const) {
    const trace = traceOf([line], newId);
    assert.deepEqual(trace, { ...continued, sampled }, line);
    assert.equal(traceparentOf(trace), `00-${traceId}-${newId(16)}-${sampled ? "01" : "00"}`);
  }
});

test("a wrong traceparent, and more than one, begin a new trace", () => {
  for (const lines of [
    [],
    [""],
    ["garbage"],
    [`00-${traceId}-${parentId}-01`, `00-${traceId}-${parentId}-01`],
    [`ff-${traceId}-${parentId}-01`],
    [`00-${"0".repeat(32)}-${parentId}-01`],
    [`00-${traceId}-${"0".repeat(16)}-01`],
    [`00-${traceId.toUpperCase()}-${parentId}-01`],
    [`00-${traceId}-${parentId}-01-more`],
    [`00-${traceId}-${parentId}-01.`],
    [`cc-${traceId}-${parentId}-01.more`],
    [`00-${traceId.slice(1)}-${parentId}-01`],
    [`00-${traceId}-${parentId}`],
    [`0-${traceId}-${parentId}-01`],
    [`00-${traceId}-${parentId}-0x`],
  ])
    assert.deepEqual(traceOf(lines, newId), own, String(lines));
});

test("new ids are hexadecimal, of the length asked for, and differ", () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => newTraceId(index % 2 === 0 ? 16 : 32));
  for (const [index, id] of ids.entries()) assert.match(id, index % 2 === 0 ? /^[0-9a-f]{16}$/ : /^[0-9a-f]{32}$/);
  assert.equal(new Set(ids).size, ids.length);
});
