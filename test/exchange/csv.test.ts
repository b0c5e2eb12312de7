/**
 * Reading CSV: encodings, separators, headers and lines as found in real files.
 *
 * Only on sqlite: its subject is how a file is read; exchange/import.test.ts imports on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { csvRows } from "../../src/exchange/csv.ts";
import { columnsMax, columnNamesBytesMax, rowBytesMax } from "../../src/exchange/csv-split.ts";
import type { Fault } from "../../src/base/fault.ts";
import { FileFaults } from "../../src/exchange/file-format.ts";
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
  const faults = new FileFaults();
  for await (const batch of csvRows(pieces, wanted, faults))
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
  faults.refuse();
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
    yield Buffer.from("Handle\n");
    for (; bytes < 16 * rowBytesMax; bytes += piece.length) yield piece;
  };
  await assert.rejects(rowsIn(endless()), /line 2: is longer than 1048576 bytes/);
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

test("lines end with LF, CR LF or CR, whichever comes, and a value may have any of them", async () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const file = ["Handle,Body", "a,b", "", 'c,"1', '2"', "d,e"].join(end);
    for (const size of [1, 2, 65_536])
      assert.deepEqual(
        await rowsOf(file, size),
        [
          { line: 2, values: { handle: "a", body: "b" } },
          { line: 4, values: { handle: "c", body: `1${end}2` } },
          { line: 6, values: { handle: "d", body: "e" } },
        ],
        JSON.stringify([end, size]),
      );
  }
  assert.deepEqual(
    (await rowsOf("Handle\ra\nb\r\nc\r\rd")).map(({ line }) => line),
    [2, 3, 4, 6],
  );
});

test("a first line may name the separator, as Excel wants it; a separator in quotes tells nothing", async () => {
  for (const [file, line] of [
    ["sep=;\nHandle;Body\nmug;a,b", 3],
    ['"sep=;"\r\nHandle;Body\r\nmug;a,b', 3],
    ["SEP=;\rHandle;Body\rmug;a,b", 3],
    ["\uFEFFsep=;\nHandle;Body\nmug;a,b", 3],
    ["\n\nHandle;Body\nmug;a,b", 4],
    ['Handle;Body;"Colour, size, weight"\nmug;a,b;', 2],
  ] as const)
    for (const size of [1, 65_536])
      assert.deepEqual(await rowsOf(file, size), [{ line, values: { handle: "mug", body: "a,b" } }], file);
  assert.deepEqual(await rowsOf("sep=\t\nHandle\tBody\nmug\ta,b"), [
    { line: 3, values: { handle: "mug", body: "a,b" } },
  ]);
  assert.deepEqual(await rowsOf("sep=|\nHandle|Body\nmug|a,b"), [{ line: 3, values: { handle: "mug", body: "a,b" } }]);
});

test("a formula that only holds a text is the text", async () => {
  for (const cell of ['="0012"', '"=""0012"""', ' ="0012" '])
    assert.deepEqual(await rowsOf(`Handle,Body\n${cell.trim()},x\n`), [
      { line: 2, values: { handle: "0012", body: "x" } },
    ]);
});

test("rows that cannot be read are told together, and the others are read", async () => {
  const faults = new FileFaults();
  const file = ["Handle,Body", "a,b", "c", 'd,5" pipe', "e,f,g", 'h,"i"j', "k,l"].join("\n");
  const rows: number[] = [];
  for await (const batch of csvRows(piecesOf(Buffer.from(file), 65_536), wanted, faults))
    rows.push(...batch.map(({ lineNumber }) => lineNumber));
  assert.deepEqual(rows, [2, 7]);
  assert.throws(
    () => faults.refuse(),
    (error: Fault) => {
      const messages = (error.details ?? []).map((detail) => ("message" in detail ? detail.message : ""));
      assert.deepEqual(
        messages.map((message) => message.slice(0, 26)),
        [
          "line 3: has more or fewer ",
          "line 4: has a quote within",
          "line 5: has more or fewer ",
          "line 6: has a quote within",
        ],
      );
      assert.match(error.message, /^line 3: .* \(and 3 more\)$/);
      assert.match(error.action ?? "", /Nothing was imported/);
      return true;
    },
  );
});

test("the names of columns have at most columnNamesBytesMax bytes and there are at most columnsMax, which is known before they are looked at", async () => {
  const names = (count: number, name: string): string => Array.from({ length: count }, () => name).join(",");
  const most = `Handle,${names(columnsMax - 1, "x")}`;
  assert.equal((await rowsOf(`${most}\nmug${",".repeat(columnsMax - 1)}\n`)).length, 1);
  await assert.rejects(rowsOf(`${most},x\nmug\n`), /line 1: has more than 1000 values/);
  for (const size of [1_000, 65_536, 1_000_000]) {
    await assert.rejects(rowsOf(`Handle,${"x,".repeat(300_000)}`, size), /line 1: is longer than 65536 bytes/);
    await assert.rejects(rowsOf(`Handle,"${"x\n".repeat(300_000)}`, size), /line 1: is longer than 65536 bytes/);
    await assert.rejects(rowsOf(`sep=,\nHandle,${"x,".repeat(300_000)}`, size), /line 2: is longer than 65536 bytes/);
  }
  let bytes = 0;
  const endless = async function* () {
    for (const piece = Buffer.alloc(16_384, "a,"); bytes < 16 * columnNamesBytesMax; bytes += piece.length) yield piece;
  };
  await assert.rejects(rowsIn(endless()), /longer than 65536 bytes/);
  assert.ok(bytes <= 2 * columnNamesBytesMax, `${bytes} bytes were read`);
  // A row of more values than columns is told without making them.
  await assert.rejects(rowsOf(`Handle,Body\n${",".repeat(1_000_000)}\na,b\n`), /line 2: has more than 1000 values/);
});
