/** Reading CSV: encodings, separators, headers and lines as found in real files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { csvRows, rowBytesMax } from "../../src/exchange/csv.ts";
import { piecesOf } from "../support/admin.ts";

const wanted = {
  handle: { headers: ["Handle", "URL handle"], needed: true },
  onHandNew: { headers: ["On hand (new)"] },
  onHand: { headers: ["On hand (current)", "On hand"] },
  body: { headers: ["Body"] },
} as const;
type Key = keyof typeof wanted;

interface Row {
  readonly line: number;
  readonly values: Readonly<Partial<Record<Key, string>>>;
}

/** Reads the rows of a file that arrives in pieces of `size` bytes. */
const rowsOf = (file: string | Uint8Array, size = 65_536): Promise<readonly Row[]> =>
  rowsIn(piecesOf(Buffer.from(file), size));

async function rowsIn(pieces: AsyncIterable<Uint8Array>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const batch of csvRows(pieces, wanted))
    for (const row of batch)
      rows.push({
        line: row.lineNumber,
        values: Object.fromEntries(
          (["handle", "onHandNew", "onHand", "body"] as const).flatMap((key) => {
            const value = row.value(key);
            return value === null ? [] : [[key, value]];
          }),
        ),
      });
  return rows;
}

const utf16 = Buffer.from("Handle\nmug\n", "utf16le");

test("headers are recognized whatever their case, spacing and suffix, each as one column", async () => {
  const cases: readonly (readonly [string, Row["values"]])[] = [
    ["Handle,On hand (current),On hand (new)\nmug,3,4", { handle: "mug", onHand: "3", onHandNew: "4" }],
    ["Handle,On hand (new),On hand (current)\nmug,4,3", { handle: "mug", onHand: "3", onHandNew: "4" }],
    ["Handle,On hand (new) (editable)\nmug,4", { handle: "mug", onHandNew: "4" }],
    ["Handle (not editable),on_hand\nmug,3", { handle: "mug", onHand: "3" }],
    ["URL handle,ON HAND\nmug,3", { handle: "mug", onHand: "3" }],
    ["Title,Handle\nMug, mug ", { handle: "mug" }],
    ["\uFEFFHandle\nmug", { handle: "mug" }],
    ["Handle;On hand\nmug;3", { handle: "mug", onHand: "3" }],
    ["Handle\tOn hand\nmug, blue\t3", { handle: "mug, blue", onHand: "3" }],
    ['"Handle","Body"\r\n"mug","a ""b"", c"\r\n', { handle: "mug", body: 'a "b", c' }],
  ];
  for (const [file, values] of cases) assert.deepEqual(await rowsOf(file), [{ line: 2, values }], file);
});

test("a row's line number is that of its first line, whatever line breaks values contain", async () => {
  for (const end of ["\n", "\r\n"]) {
    const file = ["Handle,Body", 'a,"1', '2"', "", "b,x", ",", 'c,"', '"', "d,y"].join(end);
    assert.deepEqual(
      (await rowsOf(file)).map(({ line, values }) => [line, values.handle]),
      [
        [2, "a"],
        [5, "b"],
        [7, "c"],
        [9, "d"],
      ],
      JSON.stringify(end),
    );
  }
});

test("unreadable input is refused with its line number", async () => {
  const cases: readonly (readonly [string | Uint8Array, RegExp])[] = [
    ["", /line 1: the file is empty/],
    ["Title\nMug\n", /line 1: there is no column "Handle"/],
    ["Handle,Body\na,b\nmug\n", /line 3: has more or fewer values/],
    ["Handle,Body\na,b\nmug,1,2\n", /line 3: has more or fewer values/],
    ['Handle,Body\na,b\nmug,"open\n', /line \d: begins a quoted value that never ends/],
    ['Handle,Body\na,5" pipe\n', /line 2: has a quote within a value/],
    ['Handle,Body\na,"5" pipe"\n', /line 2: has a quote within a value/],
    [Buffer.concat([Buffer.from("Handle\nmug\nk"), Buffer.from([0xe4]), Buffer.from("se\n")]), /line 3: is not UTF-8/],
    [utf16, /line 1: is not UTF-8/],
    ["Handle\nmug\u0000\n", /line 2: is not UTF-8 text/],
    [`Handle,Body\na,"${"x\n".repeat(600_000)}"\n`, /is longer than 1048576 bytes/],
    [`Handle\n${"x".repeat(1_200_000)}`, /line 2: is longer than 1048576 bytes/],
  ];
  for (const [file, message] of cases)
    await assert.rejects(rowsOf(file), (error: Error) => message.test(error.message) || assert.fail(error.message));
});

test("a row has at most rowBytesMax bytes, with or without quotes, wherever the file is cut into pieces", async () => {
  const file = (bytes: number, quote: string, line: string): string =>
    `Handle\n${quote}${line.repeat(bytes / line.length)}${quote}\nmug\n`;
  for (const size of [65_536, 4 * rowBytesMax])
    for (const [quote, line] of [
      ["", "x"],
      ['"', `${"x".repeat(1_023)}\n`],
    ] as const) {
      assert.equal((await rowsOf(file(rowBytesMax - 1_024, quote, line), size)).length, 2);
      await assert.rejects(rowsOf(file(rowBytesMax + 1_024, quote, line), size), /is longer than 1048576 bytes/);
    }
});

test("of a row that does not end no more than rowBytesMax bytes are held", async () => {
  const piece = Buffer.alloc(65_536, "x");
  let bytes = 0;
  const endless = async function* () {
    for (; bytes < 16 * rowBytesMax; bytes += piece.length) yield piece;
  };
  await assert.rejects(rowsIn(endless()), /line 1: is longer than 1048576 bytes/);
  assert.ok(bytes <= 2 * rowBytesMax, `${bytes} bytes were read`);
});

test("written values are read back, wherever the file is cut into pieces", async () => {
  const value = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🛍", ",", ";", '"', "\n", " "), maxLength: 6 });
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(value, value), { maxLength: 8 }),
      fc.integer({ min: 1, max: 7 }),
      async (rows, size) => {
        const file = `Handle,Body\n${rows.map((row) => `${row.map(quoted).join(",")}\n`).join("")}`;
        const expected = rows
          .map(([handle, body]) => ({ handle: handle.trim(), body: body.trim() }))
          .filter(({ handle, body }) => handle !== "" || body !== "");
        const found = (await rowsOf(file, size)).map(({ values }) => ({ handle: "", body: "", ...values }));
        assert.deepEqual(found, expected);
      },
    ),
    { numRuns: 100 },
  );
});
