/** Loaded before the program (`--import`): gives it the source of a mutant (mutants.ts) that `OPENPO_MUTANT` names. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { mutantVariable, mutants } from "./mutants.ts";

const name = process.env[mutantVariable];
const mutant = mutants.find((each) => each.name === name);
if (name !== undefined && mutant === undefined) throw new Error(`there is no mutant ${name}`);
if (mutant !== undefined) {
  const file = path.join(import.meta.dirname, "../..", mutant.file);
  const source = readFileSync(file, "utf8");
  if (source.split(mutant.from).length !== 2)
    throw new Error(`${mutant.name}: ${mutant.file} does not have its text exactly once: ${mutant.from}`);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith("file:") || fileURLToPath(url) !== file) return loaded;
      return { ...loaded, source: source.replace(mutant.from, () => mutant.to) };
    },
  });
}
