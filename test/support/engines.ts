/**
 * On which engines a test file runs: told by what it imports, so that no list has to be kept.
 *
 * A file that reaches the module that opens whichever engine is wanted runs on each engine. One that reaches a module of one engine
 * runs on that engine only. One that reaches both kinds, or modules of two engines, must say where it runs, and why, in a comment of
 * its own: `Only on sqlite: <reason>.` or `Only on postgres: <reason>.`. Without it the run fails.
 */
import path from "node:path";

export const engineNames = ["sqlite", "postgres"] as const;
export type EngineName = (typeof engineNames)[number];

export interface Placement {
  /** Empty: the file knows no engine. */
  readonly engines: readonly EngineName[];
  /** Why it runs on one engine only although it could run on each; null when what it imports leaves no choice. */
  readonly reason: string | null;
  /** What is wrong with it; null: nothing. */
  readonly fault: string | null;
}

/** Modules that know engines. What they import is not followed. */
const knowing: readonly (readonly [RegExp, readonly EngineName[]])[] = [
  [/^test\/support\/store\.ts$/, engineNames],
  [/^test\/support\/(?:postgres|nodes)\.ts$/, ["postgres"]],
  [/^src\/.*\bpostgres\b/, ["postgres"]],
  [/^src\/.*\bsqlite\b/, ["sqlite"]],
];
/** Where imports are followed. */
const followed = /^(?:test|examples)\//;

/** Imports of values; types do not bring an engine. */
const importStatement = /^(?:import|export)\s+(?!type\b)(?:[^;"]*?\bfrom\s+)?"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/gm;
const declaration = /^ *(?:\/?\*+|\/\/) *Only on (sqlite|postgres): (.+?)(?: *\*\/)?$/m;

/** Decides where `file` (a path from the repository's root) runs. `sourceOf`: the text of a file. */
export function placeOf(file: string, sourceOf: (file: string) => string): Placement {
  const engines = new Set<EngineName>();
  /** By what is known, the module that was found and the file that imports it. */
  const kinds = new Map<string, string>();
  const seen = new Set([file]);
  for (const importer of seen)
    for (const [, from, dynamic] of sourceOf(importer).matchAll(importStatement)) {
      const target = path.posix.join(path.posix.dirname(importer), from ?? dynamic ?? "");
      const known = knowing.find(([pattern]) => pattern.test(target))?.[1];
      if (known !== undefined) {
        for (const engine of known) engines.add(engine);
        const kind = known.join(" and ");
        if (!kinds.has(kind)) kinds.set(kind, `${target}${importer === file ? "" : ` (by ${importer})`}`);
      } else if (followed.test(target)) seen.add(target);
    }

  const only = declaration.exec(sourceOf(file));
  const wanted = engineNames.find((engine) => engine === only?.[1]) ?? null;
  const reason = only?.[2] ?? null;
  const told = engineNames.filter((engine) => engines.has(engine));
  if (wanted === null) {
    const fault =
      kinds.size > 1
        ? `${file} reaches ${[...kinds].map(([kind, module]) => `${module}, for ${kind}`).join(", and ")}. ` +
          "Open the store by test/support/store.ts alone, or write in its heading: Only on sqlite (or postgres): <reason>."
        : null;
    return { engines: told, reason: null, fault };
  }
  const fault =
    told.length > 1 && told.includes(wanted)
      ? null
      : `${file} says "Only on ${wanted}", but what it imports is for ${told.join(" and ") || "no engine"}. Take the words out.`;
  return { engines: [wanted], reason, fault };
}
