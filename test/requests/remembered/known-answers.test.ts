/** Answers of reads that are remembered compressed (D398): they are told as they were, or not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { brotli } from "../../../src/service/compression.ts";
import type { ShownAnswer } from "../../../src/requests/envelope.ts";
import {
  answerPackedLengthMax,
  answersPackedAtOnce,
  answersRememberedBytesMax,
  KnownAnswers,
} from "../../../src/requests/remembered/remembered-answers.ts";

const settings = "settings";
const stands = [{ stands: () => true }];

const asked = (operation: string, input: string): string => ["shop", "rest", operation, input].join("\n");

const answerOf = (data: unknown): ShownAnswer => ({ dataText: JSON.stringify(data), etag: "7", location: "/x" });

/** Room for some answers as they are. */
const textsBytesMax = 20_000;

/** Takes the place of all others. */
function crowd(answers: KnownAnswers): void {
  for (let count = 0; count < 4; count += 1) {
    const shown = answerOf({ text: String(count).padEnd(9_000) });
    answers.put(asked("others", String(count)), { shown, shopText: settings }, stands);
  }
}

/** Remembers this answer and others after it, so that it is compressed. */
function packed(shown: ShownAnswer, seen = stands): { readonly answers: KnownAnswers; readonly key: string } {
  const answers = new KnownAnswers(brotli, textsBytesMax);
  const key = asked("order_get", "{}");
  answers.put(key, { shown, shopText: settings }, seen);
  assert.equal(answers.get(key, settings), shown, "as it is");
  crowd(answers);
  return { answers, key };
}

const lines = (count: number): unknown =>
  Array.from({ length: count }, (_, line) => ({
    line,
    name: `Zażółć ${line} – 日本 😀`,
    cost: line * 1.5,
    note: null,
  }));

for (const [what, data] of [
  ["an order", { orderId: "po_1", lines: lines(10) }],
  ["an empty list", []],
  ["a text", "x"],
  ["a lone surrogate", "\ud800"],
] as const)
  test(`${what} is told from its compressed form as it was`, () => {
    const shown = answerOf(data);
    const { answers, key } = packed(shown);
    const told = answers.get(key, settings);
    assert.notEqual(told, shown);
    assert.deepEqual(told, shown);
  });

test("answers of one kind are told as they were, whatever those before had", () => {
  const answers = new KnownAnswers(brotli, textsBytesMax);
  const all = Array.from({ length: 20 }, (_, count) => ({ orderId: `po_${count}`, lines: lines(count) }));
  for (const [count, data] of all.entries())
    answers.put(asked("order_get", String(count)), { shown: answerOf(data), shopText: settings }, stands);
  crowd(answers);
  for (const [count, data] of all.entries())
    assert.deepEqual(answers.get(asked("order_get", String(count)), settings), answerOf(data));
});

test("a compressed answer whose rows have changed, or that was given under other settings, is told no more", () => {
  let stand = true;
  const { answers, key } = packed(answerOf(lines(3)), [{ stands: () => stand }]);
  assert.equal(answers.get(key, "other settings"), null);
  assert.notEqual(answers.get(key, settings), null);
  stand = false;
  assert.equal(answers.get(key, settings), null);
  stand = true;
  assert.equal(answers.get(key, settings), null, "nor later");
});

test("an answer that is remembered anew takes the place of its compressed form", () => {
  let stand = true;
  const { answers, key } = packed(answerOf("old"), [{ stands: () => stand }]);
  stand = false;
  answers.put(key, { shown: answerOf("new"), shopText: settings }, stands);
  crowd(answers);
  stand = true;
  assert.deepEqual(answers.get(key, settings), answerOf("new"));
});

test("an answer that falls before it is compressed is not kept", () => {
  let stand = true;
  const answers = new KnownAnswers(brotli, textsBytesMax);
  answers.put(asked("order_get", "{}"), { shown: answerOf("x"), shopText: settings }, [{ stands: () => stand }]);
  stand = false;
  crowd(answers);
  stand = true;
  assert.equal(answers.get(asked("order_get", "{}"), settings), null);
});

test("one that is asked for again soon is kept as it is again", () => {
  const { answers, key } = packed(answerOf("x"));
  const [first, second, third] = [1, 2, 3].map(() => answers.get(key, settings));
  assert.notEqual(first, second);
  assert.equal(second, third);
  assert.deepEqual(third, answerOf("x"));
});

test("an answer longer than answerPackedLengthMax is forgotten instead of compressed", () => {
  for (const [length, isKept] of [
    [answerPackedLengthMax, true],
    [answerPackedLengthMax + 1, false],
  ] as const) {
    const answers = new KnownAnswers(brotli);
    const text = { shown: { dataText: JSON.stringify("".padEnd(length - 2)) }, shopText: settings };
    answers.put(asked("text_get", "first"), text, stands);
    for (let count = 0; count < answersRememberedBytesMax / length; count += 1)
      answers.put(asked("text_get", String(count)), text, stands);
    assert.equal(answers.get(asked("text_get", "first"), settings) !== null, isKept);
  }
});

test("when an answer takes the place of many, answersPackedAtOnce of them are compressed", () => {
  const answers = new KnownAnswers(brotli, textsBytesMax);
  const count = answersPackedAtOnce * 2;
  for (let index = 0; index < count; index += 1)
    answers.put(asked("order_get", String(index)), { shown: answerOf("x"), shopText: settings }, stands);
  const large = { shown: answerOf("".padEnd(textsBytesMax - 700)), shopText: settings };
  answers.put(asked("text_get", ""), large, stands);
  const kept = Array.from({ length: count }, (_, index) => answers.get(asked("order_get", String(index)), settings));
  assert.equal(kept.filter((each) => each !== null).length, answersPackedAtOnce);
});
