/**
 * Proves that the field tests notice a forgotten field; run by hand: `node test/mutation/fields.ts [field…]`.
 *
 * In a copy of the tree it removes, one at a time, each place in `src/` that carries the field: a mapping (`taxAmount: …,` or
 * `tax_amount: …,`) or the column in a list of columns. Then it runs `test/order/every-field.test.ts`, which must fail and name the field. Where it
 * fails without the name, since the program broke, the mapping is tried again with null. The places are found by the field's name, so
 * moved code needs no change here. Without arguments it takes one field of each kind.
 *
 * It exits with 1 if the tests missed a place, and throws if `src/` has no place for a field.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const fieldsByDefault = ["taxAmount", "noteToSupplier", "supplierBarcode", "packSize", "trackingUrl", "countedBy"];
const testFile = "test/order/every-field.test.ts";

/** Code that names fields without carrying them: examples, demo data, columns of merchants' files. */
const ignored = /openapi-examples|^src\/demo\/|csv/;
/** Comments, types and statements. */
const describing = /^\s*(?:\*|\/\/|\/\*|readonly\b|export\b|import\b|type\b|\|)/;

const root = path.join(import.meta.dirname, "../..");
const snakeCase = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface Place {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  /** The source without the field. */
  readonly mutated: readonly string[];
}

/** Every place that carries the field. */
function placesOf(field: string): readonly Place[] {
  const names = `(?:${field}|${snakeCase(field)})`;
  const mapping = new RegExp(`^\\s*(?:"?${names}"?: .*|${names}),$`);
  const column = new RegExp(`(?:\\b\\w\\.)?\\b${snakeCase(field)}, ?`);
  return globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !ignored.test(file))
    .sort()
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), "utf8");
      const lines = source.split("\n");
      return lines.flatMap((text, index): readonly Place[] => {
        if (describing.test(text)) return [];
        const isMapping = mapping.test(text);
        if (!isMapping && !column.test(text)) return [];
        const replaced = isMapping ? ["", text.replace(/(?:: .*)?,$/, ": null,")] : [text.replace(column, "")];
        const mutated = replaced.map((line) => lines.with(index, line).join("\n"));
        return [{ file, line: index + 1, source, mutated }];
      });
    });
}

const fields = process.argv.length > 2 ? process.argv.slice(2) : fieldsByDefault;
const copy = mkdtempSync(path.join(tmpdir(), "openpo-mutation-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
cpSync(root, copy, {
  recursive: true,
  filter: (file) => !/^(?:(?:test\/)?node_modules|\.git|data|dist)(?:\/|$)/.test(path.relative(root, file)),
});
for (const place of ["node_modules", "test/node_modules"])
  if (existsSync(path.join(root, place))) symlinkSync(path.join(root, place), path.join(copy, place));

/** What the tests say of the copy: null when they pass. */
function failure(): string | null {
  const run = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", testFile], {
    cwd: copy,
    encoding: "utf8",
  });
  return run.status === 0 ? null : run.stdout + run.stderr;
}

const before = failure();
if (before !== null) throw new Error(`${testFile} fails as the tree stands:\n${before}`);

/** A short line of the failure that names the field. */
const evidenceOf = (found: string, field: string): string | undefined =>
  found
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => new RegExp(`\\b${field}\\b`).test(line))
    .sort((a, b) => a.length - b.length)[0]
    ?.slice(0, 200);

/** What the tests say of a place. */
function verdictOf(
  { file, source, mutated }: Place,
  field: string,
): { readonly isMissed: boolean; readonly text: string } {
  for (const without of mutated) {
    writeFileSync(path.join(copy, file), without);
    const found = failure();
    writeFileSync(path.join(copy, file), source);
    if (found === null) return { isMissed: true, text: "MISSED: the tests pass" };
    const evidence = evidenceOf(found, field);
    if (evidence !== undefined) return { isMissed: false, text: evidence };
  }
  return { isMissed: true, text: "MISSED: the failure does not name the field" };
}

let missed = 0;
for (const field of fields) {
  const places = placesOf(field);
  if (places.length === 0) throw new Error(`no line of src/ carries ${field}`);
  for (const place of places) {
    const { isMissed, text } = verdictOf(place, field);
    if (isMissed) missed += 1;
    console.log(`${place.file}:${place.line} without ${field}: ${text}`);
  }
}
console.log(`${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;
