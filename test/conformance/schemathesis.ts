/**
 * Runs Schemathesis, which makes requests from the OpenAPI document alone, against a live server: `npm run test:schemathesis` (Python 3.11
 * or later). Any finding fails. The last line is `N passed, N failed`, by operation.
 *
 * It gets the document without what no schema can say of a valid request (`schemathesisDocument`): cursors and versions, which are opaque
 * and belong to one list or one state of an order; idempotency keys, of which one may not be used for two requests; U+0000, which no text
 * may have (C10). Decimals of numbers are limited by their text (C14), which `multipleOf` would check in binary fractions, so it gets
 * quarters. Of `confirmAll` it gets only true.
 * `schemathesis/hooks.py` says which refusals of a valid form are not findings.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { type Command, ended, installed, pipInstall, placed, shownEnd } from "../support/programs/programs.ts";
import { world } from "../support/shops/read-only.ts";
import { view } from "../support/openapi/ready.ts";

const folder = path.join(import.meta.dirname, "schemathesis");
const examplesOfEach = Number(process.env["OPENPO_SCHEMATHESIS_EXAMPLES"] ?? 20);
/** Another seed makes other requests: `OPENPO_SCHEMATHESIS_SEED`. */
const seed = process.env["OPENPO_SCHEMATHESIS_SEED"] ?? "7";

const linesShownMax = 2_000;

const leftOut: ReadonlySet<Json | undefined> = new Set(["cursor", "If-Match", "If-None-Match", "Idempotency-Key"]);

/** The document with only those requests that are valid if they fit it. Answers are unchanged. */
function schemathesisDocument(value: Json): Json {
  if (isJsonArray(value))
    return value
      .filter((each) => !(isJsonObject(each) && each["in"] !== undefined && leftOut.has(each["name"])))
      .map(schemathesisDocument);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === "confirmAll" && isJsonObject(member) ? { ...member, enum: [true] } : schemathesisDocument(member),
  ]);
  const isInput = value["type"] === "number" && value["maximum"] !== undefined;
  return { ...Object.fromEntries(members), ...(isInput ? { multipleOf: 0.25 } : {}) };
}

await using server = await startGoodsServer({ postgres: false });
await server.bring([...world, view]);
await server.bringOrder("Draft", [lineA]);
const directory = await mkdtemp(path.join(tmpdir(), "openpo-schemathesis-"));
const document: JsonObject = openApiDocument(restOperations);
await writeFile(path.join(directory, "openapi.json"), JSON.stringify(schemathesisDocument(document)));

const kept = await installed(pipInstall, [path.join(folder, "requirements.txt")]);
if (kept === null) throw new Error("Schemathesis cannot be installed");
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
  "use_after_free",
  "ensure_resource_availability",
  "ignored_auth",
  "valid_forms_are_accepted",
];
const report = path.join(directory, "report.xml");
const command: Command = [
  "{cache}/venv/bin/schemathesis",
  "run",
  "openapi.json",
  "--url",
  server.url,
  "--header",
  `Authorization: Bearer ${server.writeKey}`,
  "--phases",
  "examples,coverage,fuzzing",
  "--checks",
  checks.join(","),
  "--max-examples",
  String(examplesOfEach),
  "--generation-allow-x00",
  "false",
  "--seed",
  seed,
  "--report",
  "junit",
  "--report-junit-path",
  report,
  "--output-truncate",
  "true",
];
const { status, output } = await ended(placed(command, kept), directory, {
  SCHEMATHESIS_HOOKS: path.join(folder, "hooks.py"),
});
console.log(shownEnd(output, linesShownMax));
const [summary = ""] = /<testsuites [^>]*>/.exec(await readFile(report, "utf8").catch(() => "")) ?? [];
const countOf = (name: string): number => Number(new RegExp(` ${name}="(\\d+)"`).exec(summary)?.[1] ?? 0);
const failed = countOf("failures") + countOf("errors");
const passed = countOf("tests") - failed;
await rm(directory, { recursive: true });
// A run that ends badly without a failed operation is one failure.
const failures = status === 0 || failed > 0 ? failed : 1;
console.log(`\n${passed} passed, ${failures} failed`);
process.exitCode = failures === 0 && passed > 0 ? 0 : 1;
