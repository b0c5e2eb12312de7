/**
 * Runs Specmatic against a live server, by hand: `node test/conformance/specmatic.ts specmatic.jar` (npm package `specmatic`, Java 17).
 *
 * First every operation as its example has it, then what Specmatic makes of the schemas: well-formed variations, which must be
 * taken, and malformed ones, which must be refused. Specmatic expects a server without a memory, so each operation finds its
 * order as it needs it before it runs.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { exampleOf, openApiDocument } from "../../src/http/openapi.ts";
import type { Operation } from "../../src/operations/operation.ts";
import { operations } from "../../src/operations/registry.ts";
import { type GoodsServer, lineA, startGoodsServer } from "../support/goods-server.ts";
import { world } from "../support/read-only.ts";
import { ids, ready, view } from "../support/ready.ts";

const [jar] = process.argv.slice(2);
if (jar === undefined) throw new Error("Name the jar: node test/conformance/specmatic.ts …/specmatic/specmatic.jar");

const holder: { server: GoodsServer | null } = { server: null };

/** The operation, finding its order as it needs it. */
const furnished = (operation: Operation): Operation => ({
  ...operation,
  async run(call, input) {
    const [status, line] = ready[operation.name] ?? ["Draft", lineA];
    if (operation.route.path.startsWith("/purchase-orders/{")) await holder.server?.bringOrder(status, [line]);
    return operation.run(call, input);
  },
});

/** What an operation is asked in its example, on records that are there. */
function inputOf(operation: Operation): JsonObject {
  const [, , input = {}] = ready[operation.name] ?? [];
  const { resolutions: _, cursor: __, variantIds: ___, ...example } = exampleOf(operation);
  return JSON.parse(JSON.stringify({ ...example, ...ids, ...input }));
}

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});

/** The document with its examples under one name, which is how Specmatic knows that request and answer belong together. */
function paired(document: JsonObject): Json {
  const byName = new Map(operations.map((operation) => [operation.name, inputOf(operation)]));
  // What the document says of itself is any OpenAPI document; Specmatic would hold it to the example, word by word.
  const described = Object.entries(object(document["paths"])).filter(([route]) => !route.endsWith("openapi.json"));
  const entries = described.map(([route, methods]) => [
    route,
    Object.fromEntries(
      Object.entries(object(methods)).map(([method, entry]) => [method, pairedEntry(object(entry), byName)]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(entries) };
}

function pairedEntry(entry: JsonObject, byName: ReadonlyMap<string, JsonObject>): Json {
  const input = byName.get(typeof entry["operationId"] === "string" ? entry["operationId"] : "");
  if (input === undefined) return entry;
  const listed = entry["parameters"];
  const parameters = (listed !== undefined && isJsonArray(listed) ? listed : []).map(object).flatMap((parameter) => {
    const { example: _, ...rest } = parameter;
    // Validators and keys tie a request to a version or to an earlier one.
    if (parameter["in"] === "header") return [];
    const value = input[typeof parameter["name"] === "string" ? parameter["name"] : ""];
    const isList = object(parameter["schema"])["type"] === "array";
    // Specmatic has no lists that are separated by commas: it is shown one value, as text.
    const first = value !== undefined && isJsonArray(value) ? value[0] : value;
    const shown = isList && first !== undefined ? { schema: { type: "string", enum: [first] }, style: "form" } : {};
    // A list that is not part of the example would be made up in a form that no server takes.
    if (isList && first === undefined) return [];
    return [{ ...rest, ...shown, ...(first === undefined ? {} : { examples: { works: { value: first } } }) }];
  });
  const responses = Object.fromEntries(
    Object.entries(object(entry["responses"])).map(([status, response]) => {
      const media = object(object(object(response)["content"])["application/json"]);
      const { example, ...rest } = media;
      if (!status.startsWith("2")) return [status, response];
      return [
        status,
        {
          ...object(response),
          content: { "application/json": { ...rest, examples: { works: { value: example ?? {} } } } },
        },
      ];
    }),
  );
  const media = object(object(object(entry["requestBody"])["content"])["application/json"]);
  if (media["schema"] === undefined) return { ...entry, parameters, responses };
  const members = Object.keys(object(object(media["schema"])["properties"]));
  const value = Object.fromEntries(Object.entries(input).filter(([name]) => members.includes(name)));
  const content = { "application/json": { schema: media["schema"], examples: { works: { value } } } };
  return { ...entry, parameters, responses, requestBody: { ...object(entry["requestBody"]), content } };
}

await using server = await startGoodsServer({ operations: operations.map(furnished) });
holder.server = server;
await server.bring([...world, view]);
await server.bringOrder("Draft", [lineA]);
const directory = await mkdtemp(path.join(tmpdir(), "openpo-specmatic-"));
await writeFile(path.join(directory, "openapi.json"), JSON.stringify(paired(openApiDocument(operations))));

/** One run; what Specmatic prints is shown from its summary on. */
async function specmatic(resiliency: "none" | "all"): Promise<void> {
  await writeFile(
    path.join(directory, "specmatic.json"),
    JSON.stringify({
      version: 2,
      contracts: [{ provides: ["openapi.json"] }],
      security: { OpenAPI: { securitySchemes: { apiKey: { type: "bearer", token: server.writeKey } } } },
      ...(resiliency === "none" ? {} : { test: { resiliencyTests: { enable: resiliency } } }),
    }),
  );
  const child = spawn(
    "java",
    ["-Xmx1g", "-jar", path.resolve(jar ?? ""), "test", `--testBaseURL=${server.url}`, "--timeout=30"],
    { cwd: directory, stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  child.stdout.on("data", (data: Buffer) => (text += data.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  await writeFile(path.join(tmpdir(), `specmatic-${resiliency}.log`), text);
  console.log(`\nresiliency tests: ${resiliency}\n`);
  console.log(
    text
      .split("\n")
      .filter((line) => /Tests run|Successes|^\| +\d+%|Coverage/.test(line))
      .join("\n"),
  );
}

await specmatic("none");
await specmatic("all");
await rm(directory, { recursive: true });
