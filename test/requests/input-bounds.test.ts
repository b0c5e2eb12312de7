/**
 * What a body or a record of a file may hold is known before it is looked at: lists have their bounds in front, the values of a record are
 * counted before they are parsed, and not every mistake of a large value is looked for.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { Fault } from "../../src/base/fault.ts";
import { objectMembersMax, parseRecord, recordValuesMax } from "../../src/base/json.ts";
import { linesPerOrderMax } from "../../src/core/order/purchase-order.ts";
import { FileFaults } from "../../src/exchange/file-format.ts";
import { lineBytesMax, ndjson } from "../../src/exchange/ndjson.ts";
import { purchaseOrderInput } from "../../src/exchange/records/purchase-orders.ts";
import { attachmentsMax, historyMax, ownTextMax } from "../../src/exchange/record-type.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { checkInput, detailsMax, mistakenValuesMax } from "../../src/requests/input.ts";
import { operations } from "../../src/operations/registry.ts";
import { piecesOf } from "../support/admin.ts";

const faultOf = (run: () => unknown): Fault => {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

const many = (count: number, entry: string): string => Array.from({ length: count }, () => entry).join(",");

/** The schemas directly inside this one, by the step that leads there. */
function insideOf(schema: z.core.$ZodType): readonly (readonly [string, z.core.$ZodType])[] {
  if (schema instanceof z.ZodObject) return Object.entries(schema.def.shape).map(([name, each]) => [`.${name}`, each]);
  if (schema instanceof z.ZodArray) return [["[]", schema.def.element]];
  if (schema instanceof z.ZodUnion) return schema.def.options.map((each) => ["", each]);
  if (schema instanceof z.ZodPipe) return [["", schema.def.in]];
  if (schema instanceof z.ZodRecord) return [["{}", schema.def.valueType]];
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
    ? [["", schema.def.innerType]]
    : [];
}

function* listsWithoutBound(schema: z.core.$ZodType, path: string): Generator<string> {
  if (schema instanceof z.ZodArray && z.core.util.sizeCaps(schema.def.checks).length === 0) yield path;
  for (const [step, inside] of insideOf(schema)) yield* listsWithoutBound(inside, path + step);
}

test("every list that a caller or a file can send has its bound before any other check, so that a longer one is refused unread", () => {
  const inputs: readonly (readonly [string, z.core.$ZodType])[] = [
    ...[...operations, ...adminOperations].map(({ name, input }) => [name, input] as const),
    ...Object.entries(recordTypes).map(([name, { input }]) => [name, input] as const),
    ["purchaseOrder", purchaseOrderInput],
  ];
  assert.ok(inputs.length > 60, String(inputs.length));
  assert.deepEqual(
    inputs.flatMap(([name, input]) => [...listsWithoutBound(input, name)]),
    [],
  );
});

const order = (more: object): object => ({ type: "purchaseOrder", purchaseOrderId: "po_1", ...more });

test("attachments and history of a record have bounds, and what the program wrote", () => {
  const messages = (more: object): readonly string[] =>
    (faultOf(() => checkInput(purchaseOrderInput, order(more))).details ?? []).map((detail) =>
      "message" in detail ? detail.message : "",
    );
  const longer = (max: number): readonly unknown[] => Array.from({ length: max + 1 });
  for (const name of ["payments", "documents", "shipments", "credits"])
    assert.deepEqual(messages({ [name]: longer(attachmentsMax) }), [`must have at most ${attachmentsMax} items`]);
  for (const name of ["log", "receipts", "costSyncHistory"])
    assert.deepEqual(messages({ [name]: longer(historyMax) }), [`must have at most ${historyMax} items`]);
  const entry = { logId: "log_1", occurredAt: "2026-01-01T00:00:00Z", action: "x", actor: { type: "user" } };
  const message = "m".repeat(ownTextMax);
  checkInput(purchaseOrderInput, order({ log: [{ ...entry, message }] }));
  assert.match(messages({ log: [{ ...entry, message: `${message}m` }] })[0] ?? "", /at most 100000 characters/);
});

test("the mistakes of a value of at most mistakenValuesMax values are all told, and of a larger one the first", () => {
  const wrong = (count: number) => order({ lineItems: Array.from({ length: count }, () => ({ variantId: 5 })) });
  const told = faultOf(() => checkInput(purchaseOrderInput, wrong(60)));
  assert.equal(told.details?.length, detailsMax);
  assert.match(told.message, /\(and 117 more\)/);
  const large = order({
    log: Array.from({ length: mistakenValuesMax / 2 }, () => ({ logId: 5 })),
    lineItems: Array.from({ length: linesPerOrderMax }, () => ({ variantId: 5 })),
  });
  const first = faultOf(() => checkInput(purchaseOrderInput, large));
  assert.ok((first.details?.length ?? 0) < 10, JSON.stringify(first.details));
  assert.match(first.message, /^\/lineItems\/0\/variantId: /);
});

test("a record has at most recordValuesMax values, and an object of it objectMembersMax members; they are counted before they are parsed", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  const half = recordValuesMax / 2;
  assert.equal(Object(parseRecord(bytes(`[${many(half - 1, "[]")}]`))).length, half - 1);
  for (const entry of ["0", "{}", "[]"]) {
    const count = entry === "0" ? recordValuesMax + 1 : half + 2;
    // No JSON: its end is missing.
    assert.match(
      faultOf(() => parseRecord(bytes(`[${many(count, entry)}`))).message,
      /more than 1000000 values/,
      entry,
    );
  }
  const members = Array.from({ length: objectMembersMax + 1 }, (_, index) => `"${"m".repeat(40)}${index}":1`).join(",");
  assert.match(faultOf(() => parseRecord(bytes(`{${members}`))).message, /1000 members in one object/);
});

test("blank lines of a file are counted, in pieces of any size", async () => {
  const text = `\r\n \t\n${"\n".repeat(50_000)} {}\r\n\r\n{}`;
  for (const size of [1, 3, 65_536]) {
    const numbers: number[] = [];
    for await (const { lineNumber } of ndjson.records(piecesOf(Buffer.from(text), size), new FileFaults()))
      numbers.push(lineNumber);
    assert.deepEqual(numbers, [50_003, 50_005], String(size));
  }
});

/** Megabytes of the heap in which the worst records are refused. Made whole with all of their mistakes they took several thousand. */
const heapMb = 256;

test("no record of the longest line takes more memory than a small heap has, whatever is in it", async () => {
  const records = [
    `{"type":"purchaseOrder","payments":[${many(7_000_000, "0")}]}`,
    `{"type":"purchaseOrder","purchaseOrderId":"a","log":[${many(historyMax - 1, '{"changes":[]}')}]}`,
    `{"type":"purchaseOrder","purchaseOrderId":"a","lineItems":[${many(linesPerOrderMax, `{${many(40, '"x":5').replaceAll(/x/g, () => `x${Math.random()}`)}}`)}]}`,
    `{"type":"transferOrder","log":[${many(2_300_000, "[[]]")}]}`,
    `{"type":"stockTake","note":"${"x".repeat(14_000_000)}"}`,
  ];
  for (const record of records) {
    assert.ok(record.length < lineBytesMax);
    const worker = new Worker(new URL("../support/shops/one-record.ts", import.meta.url), {
      workerData: record,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const message = await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    await worker.terminate();
    assert.match(String(message), /^line 1: /, record.slice(0, 80));
  }
});

test("checks of a whole list leave out the entries behind the first mistake, which are not read", () => {
  const unreceive = operations.find(({ name }) => name === "purchase_order_unreceive");
  const manufacturing = recordTypes["manufacturingOrder"];
  assert.ok(unreceive !== undefined && manufacturing !== undefined);
  const line = (quantity: number) => ({ lineItemId: `line_${quantity}`, quantity });
  const material = (quantityRequired: number) => ({ variantId: "tea", moItemId: null, quantityRequired });
  for (const [input, value, path] of [
    [unreceive.input, { purchaseOrderId: "po", lines: [line(3), line(0), line(4)] }, "/lines/1/quantity"],
    [
      manufacturing.input,
      { type: "manufacturingOrder", manufacturingOrderId: "mo", materials: [material(3), material(-1), material(4)] },
      "/materials/1/quantityRequired",
    ],
  ] as const) {
    const { details } = faultOf(() => checkInput(input, value));
    assert.ok(Array.isArray(details), JSON.stringify(details));
    assert.ok(
      details.some((detail) => detail.path === path),
      JSON.stringify(details),
    );
  }
});

/** Each kind of mistake: what the value must be, one that it is not, and the words. */
const mistakes: readonly (readonly [z.ZodType, unknown, string])[] = [
  [z.string(), undefined, "is required"],
  [z.string(), 5, "must be text"],
  [z.number(), "5", "must be a number"],
  [z.int(), 1.5, "must be a whole number"],
  [z.boolean(), "yes", "must be true or false"],
  [z.array(z.string()), {}, "must be a list"],
  [z.strictObject({}), [], "must be an object"],
  [z.number().min(0), -1, "must be 0 or more"],
  [z.number().positive(), 0, "must be above 0"],
  [z.number().max(5), 6, "must be 5 or less"],
  [z.number().lt(5), 5, "must be below 5"],
  [z.number().multipleOf(2), 3, "must be a multiple of 2"],
  [z.string().min(1), "", "must not be empty"],
  [z.string().min(2), "a", "must have at least 2 characters"],
  [z.string().max(1), "ab", "must have at most 1 character"],
  [z.string().length(3), "ab", "must have exactly 3 characters"],
  [z.array(z.int()).min(1), [], "must not be empty"],
  [z.array(z.int()).max(2), [1, 2, 3], "must have at most 2 items"],
  [z.enum(["ask", "refuse"]), "no", "must be one of ask, refuse"],
  [z.literal("Sent"), "Draft", "must be Sent"],
  [z.iso.date(), "1.2.2026", "must be a day as YYYY-MM-DD"],
  [z.iso.datetime(), "today", "must be a time as 2026-01-31T12:00:00Z"],
  [z.string().regex(/^a$/), "b", "must match /^a$/"],
  [z.string().regex(/^a$/, "must be an a"), "b", "must be an a"],
  [z.union([z.number(), z.string()]), true, "must be a number or text"],
];

test("a mistake of any kind is told in words that stand beside a field", () => {
  for (const [schema, value, words] of mistakes) {
    const { details } = faultOf(() => checkInput(z.strictObject({ field: schema }), { field: value }));
    assert.deepEqual(details, [{ path: "/field", message: words }]);
  }
});
