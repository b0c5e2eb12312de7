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
}

/** Plants the fault of this name; none without a name. @throws Error when there is no such fault, or its file does not have its text once. */
export function plantNamed(name: string | undefined, all: readonly Planted[]): void {
  if (name === undefined) return;
  const planted = all.find((each) => each.name === name);
  if (planted === undefined) throw new Error(`there is no mutant ${name}`);
  const file = path.join(import.meta.dirname, "../..", planted.file);
  const source = readFileSync(file, "utf8");
  if (source.split(planted.from).length !== 2)
    throw new Error(`${name}: ${planted.file} does not have its text exactly once: ${planted.from}`);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith("file:") || fileURLToPath(url) !== file) return loaded;
      return { ...loaded, source: source.replace(planted.from, () => planted.to) };
    },
  });
}
