/** Runs test files (the arguments) in this process, with one change to a source file that `OPENPO_MUTATION` describes as JSON, or with none. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A change of a source: the text from `start` to `end` is replaced. */
export interface Change {
  /** Below the repository's root. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const changeVariable = "OPENPO_MUTATION";
const root = path.join(import.meta.dirname, "../..");

if (process.argv[1] === import.meta.filename) {
  const described = process.env[changeVariable];
  if (described !== undefined) {
    const { file, start, end, text }: Change = JSON.parse(described);
    const changed = path.join(root, file);
    const source = readFileSync(changed, "utf8");
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        if (!url.startsWith("file:") || fileURLToPath(url) !== changed) return loaded;
        return { ...loaded, source: source.slice(0, start) + text + source.slice(end) };
      },
    });
  }
  for (const file of process.argv.slice(2)) await import(pathToFileURL(path.join(root, file)).href);
}
