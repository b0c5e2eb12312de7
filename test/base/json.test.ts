import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../src/base/fault.ts";
import {
  bodyMembersMax,
  canonicalJson,
  type Json,
  nestingDepthMax,
  objectMembersMax,
  parseJson,
} from "../../src/base/json.ts";
import { FileFaults } from "../../src/exchange/file-format.ts";
import { ndjson } from "../../src/exchange/ndjson.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function refusal(body: Uint8Array | string): Fault {
  try {
    parseJson(typeof body === "string" ? bytes(body) : body);
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error;
  }
  return assert.fail("was accepted");
}

test("an empty body is an empty object; white space alone is not JSON (C10)", () => {
  assert.deepEqual(parseJson(new Uint8Array()), {});
  assert.match(refusal(" ").message, /not valid JSON/);
  assert.match(refusal("\n\t ").message, /not valid JSON/);
});

const refused: readonly (readonly [body: string | Uint8Array, path: string | null])[] = [
  ["{", null],
  ["{'a':1}", null],
  ["\ufeff{}", null],
  [Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), null],
  [Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), null],
  ['{"a":{"b":[0,1e400]}}', "/a/b/1"],
  ['{"a":-1e400}', "/a"],
  ['{"a":9007199254740993}', "/a"],
  ['{"a":-9007199254740993}', "/a"],
  ['{"a":9007199254740992.5}', "/a"],
  ['{"a":1e300}', "/a"],
  ['{"a":"\\u0000"}', "/a"],
  ['{"a":"x\\ud800"}', "/a"],
  ['{"\\udc00":1}', "/\udc00"],
  ['{"a/b~c":{"d":"\\u0000"}}', "/a~1b~0c/d"],
  ['{"a":1,"b":2,"a":3}', "/a"],
  ['{"a":1,"\\u0061":3}', "/a"],
  ['{"lines":[{},{"__proto__":{}}]}', "/lines/1/__proto__"],
  ['[[1,"\\u0000"]]', "/0/1"],
];
for (const [body, path] of refused)
  test(`refused with the place: ${JSON.stringify(typeof body === "string" ? body : [...body])}`, () => {
    const fault = refusal(body);
    assert.equal(fault.code, "INVALID_INPUT");
    assert.equal(fault.status, 400);
    const [detail] = fault.details ?? [];
    assert.equal(detail !== undefined && "path" in detail ? detail.path : null, path);
  });

test("invalid JSON is refused with its kind: cut off, misplaced, with a byte order mark; the body is not repeated", () => {
  assert.match(refusal('{"a":').message, /: it ends too early\.$/);
  assert.match(refusal('{"a":tomato}').message, /: at position 6\.$/);
  assert.match(refusal('{"type":"location", "name": }').message, /: at position 28\.$/);
  assert.match(refusal("[1, truf]").message, /: at position 7\.$/);
  assert.match(refusal(`["${"x".repeat(70_000)}", ]`).message, /: it has a character that is not allowed there\.$/);
  assert.match(refusal('{"a" 1}').message, /: at position 5\.$/);
  assert.match(refusal("\ufeff{}").message, /: it begins with a byte order mark\.$/);
  for (const body of ['{"a":tomato}', "tomato", '{"tomato']) assert.doesNotMatch(refusal(body).message, /tomato/);
});

test("nesting is accepted up to the limit", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  assert.deepEqual(canonicalJson(parseJson(bytes(nested(nestingDepthMax)))), nested(nestingDepthMax));
  assert.match(refusal(nested(nestingDepthMax + 1)).message, /nested deeper/);
  assert.match(refusal(nested(200_000)).message, /nested deeper/);
  // A megabyte of brackets would be parsed for a twentieth of a second. It is refused before: this text is no JSON.
  assert.match(refusal(`{"a":${"[".repeat(1_000_000)}`).message, /nested deeper/);
});

test("accepted: 2^53, small and long decimals, surrogate pairs", () => {
  const text =
    '{"a":9007199254740992,"b":-9007199254740992,"c":0.1000000000000000055511151231257827,"d":1e-400,"e":"\\ud83d\\ude00"}';
  assert.deepEqual(parseJson(bytes(text)), { a: 2 ** 53, b: -(2 ** 53), c: 0.1, d: 0, e: "😀" });
});

test("a refusal never repeats the body", () => {
  assert.ok(!refusal('{"supplierVariantDetails":"secret sauce').message.includes("secret"));
});

const membersOf = (count: number, separator = ":"): string =>
  Array.from({ length: count }, (_, index) => `"${index}"${separator}1`).join(",");

/** Objects of `objectMembersMax` members each, which have so many together. */
const objectsOf = (count: number, separator?: string): string =>
  Array.from({ length: count / objectMembersMax }, () => `{${membersOf(objectMembersMax, separator)}}`).join(",");

test("a body has at most bodyMembersMax members in all of its objects; a record of an import may have more", async () => {
  const half = bodyMembersMax / 2;
  const most = `[[${objectsOf(half)}],[${objectsOf(half)}]]`;
  assert.equal(Object.keys(Object(parseJson(bytes(most)))).length, 2);
  for (const separator of [":", " :", "\n\t :"]) {
    const fault = refusal(`{"a":[${objectsOf(half, separator)}],"b":[${objectsOf(half, separator)}]}`);
    assert.match(fault.message, new RegExp(`more than ${bodyMembersMax} members`));
    assert.match(fault.action ?? "", /fewer lines/);
  }
  // It is told before anything is parsed: this text is no JSON.
  assert.match(refusal(`[${objectsOf(bodyMembersMax)},{"a":1}`).message, /members/);
  const quoted = JSON.stringify({ note: '"a": 1,{[\\'.repeat(bodyMembersMax + 1) });
  assert.deepEqual(parseJson(bytes(quoted)), JSON.parse(quoted));
  const record = `{"a":[${objectsOf(2 * bodyMembersMax)}]}\n`;
  async function* file(): AsyncGenerator<Uint8Array> {
    yield bytes(record);
  }
  for await (const { value } of ndjson.records(file(), new FileFaults())) assert.deepEqual(value(), JSON.parse(record));
});

test("an object of a large body has at most objectMembersMax members, and a body at most bodyMembersMax arrays and objects", () => {
  const long = `"note":"${"x".repeat(40_000)}"`;
  const most = `{${long},"a":[{${membersOf(objectMembersMax)}},{${membersOf(objectMembersMax)}}]}`;
  assert.deepEqual(parseJson(bytes(most)), JSON.parse(most));
  const objectOfTooMany = new RegExp(`more than ${objectMembersMax} members in one object`);
  // Neither text is JSON.
  assert.match(refusal(`{${long},"a":[{${membersOf(objectMembersMax + 1)}}`).message, objectOfTooMany);
  assert.match(refusal(`[{"a":{"b":1},${membersOf(objectMembersMax, " :")},${long}`).message, objectOfTooMany);
  for (const empty of ["{}", "[]"]) {
    const lists = (count: number): string => `[${Array.from({ length: count - 1 }, () => empty).join(",")}`;
    assert.deepEqual(Object(parseJson(bytes(`${lists(bodyMembersMax)}]`))).length, bodyMembersMax - 1);
    assert.match(
      refusal(lists(bodyMembersMax + 1)).message,
      new RegExp(`more than ${bodyMembersMax} arrays and objects`),
    );
  }
});

test("a large text that is no JSON is refused as such: with a string that does not end, and with ends of what has not begun", () => {
  const long = "x".repeat(40_000);
  assert.match(refusal(`{"a":"${long}`).message, /not valid JSON/);
  assert.match(refusal(`{"a":"${long}\\"`).message, /not valid JSON/);
  assert.match(refusal(`${"]".repeat(40_000)}${"[".repeat(40)}`).message, /not valid JSON/);
  assert.match(refusal(":".repeat(bodyMembersMax)).message, /members|not valid JSON/);
});

test("a megabyte of one string, or of escapes, is read", () => {
  const long = "x".repeat(1_000_000);
  assert.deepEqual(parseJson(bytes(JSON.stringify({ long }))), { long });
  const escapes = "\n".repeat(500_000);
  assert.deepEqual(parseJson(bytes(JSON.stringify({ escapes }))), { escapes });
});

const json = fc.jsonValue({ depthSize: "small", noUnicodeString: false });

test("JSON that a program writes is read back equal", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value);
      const acceptable =
        !/"__proto__":|\\u0000|\\ud[89a-f]/i.test(text) && !/\de\+?(?:1[6-9]|[2-9]\d|\d{3})/.test(text);
      fc.pre(acceptable && !/\d{16}/.test(text));
      assert.deepEqual(parseJson(bytes(text)), JSON.parse(text));
    }),
  );
});

function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, shuffled(member)]),
  );
}

test("equal values have one canonical text: member order and number format do not matter, item order does (C17)", () => {
  fc.assert(
    fc.property(json, (generated) => {
      const value: Json = JSON.parse(JSON.stringify(generated));
      assert.equal(canonicalJson(shuffled(value)), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), value);
    }),
  );
  assert.equal(canonicalJson(parseJson(bytes('{"b":1.0,"a":[1e1,-0]}'))), '{"a":[10,0],"b":1}');
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
});
