/** Plants a fault in the program: one module is loaded with a text in place of another. For processes that tests start, by `--import`. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

export interface Planted {
  readonly name: string;
  /** The path from the repository's root. */
  readonly file: string;
  /** Text that the file has exactly once, and what stands in its place. */
  readonly from: string;
  readonly to: string;
  /** Another fault of the list that is planted with it. */
  readonly with?: string;
}

/** The source of the file with the fault, where `source` is without it. @throws Error when it does not have the fault's text once. */
export function sourceWith({ name, file, from, to }: Planted, source: string): string {
  if (source.split(from).length !== 2) throw new Error(`${name}: ${file} does not have its text exactly once: ${from}`);
  return source.replace(from, () => to);
}

/** Plants the faults of these names, with a comma between them. @throws Error when there is no such fault, or its file does not have its text once. */
export function plantNamed(names: string | undefined, all: readonly Planted[]): void {
  const wanted = (names ?? "").split(",").filter((name) => name !== "");
  const planted: Planted[] = [];
  for (const name of wanted) {
    const found = all.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no mutant ${name}`);
    planted.push(found);
    if (found.with !== undefined) wanted.push(found.with);
  }
  if (planted.length > 0) plant(planted);
}

function plant(all: readonly Planted[]): void {
  const sources = new Map<string, string>();
  for (const planted of all) {
    const file = path.join(import.meta.dirname, "../..", planted.file);
    sources.set(file, sourceWith(planted, sources.get(file) ?? readFileSync(file, "utf8")));
  }
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const source = url.startsWith("file:") ? sources.get(fileURLToPath(url)) : undefined;
      return source === undefined ? loaded : { ...loaded, source };
    },
  });
}
