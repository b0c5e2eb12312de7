/**
 * Decides on which engines a test file runs. Its imports decide, so no list has to be maintained.
 *
 * A file that imports, directly or not, the module that opens the configured engine runs on every engine. A file that imports a module
 * of one engine runs on that engine only. A file that imports both kinds, or modules of two engines, must name the engine and the
 * reason in a comment: `Only on sqlite: <reason>.` or `Only on postgres: <reason>.`. Without the comment the run fails.
 */
import path from "node:path";

const engineNames = ["sqlite", "postgres"] as const;
export type EngineName = (typeof engineNames)[number];

export interface Placement {
  /** Empty: the file uses no engine. */
  readonly engines: readonly EngineName[];
  /** The reason from the comment, if a file that could run on every engine runs on one only; otherwise null. */
  readonly reason: string | null;
  /** The error, or null. */
  readonly fault: string | null;
}

/** Modules that determine the engine. Their own imports are not followed. */
const knowing: readonly (readonly [RegExp, readonly EngineName[]])[] = [
  [/^test\/support\/store\.ts$/, engineNames],
  [/^test\/support\/(?:postgres\/postgres|programs\/nodes)\.ts$/, ["postgres"]],
  [/^src\/.*\bpostgres\b/, ["postgres"]],
  [/^src\/.*\bsqlite\b/, ["sqlite"]],
];
/** Folders in which imports are followed. */
const followed = /^(?:test|examples)\//;

/** Matches imports of values. Imports of types alone do not load an engine. */
const importStatement = /^(?:import|export)\s+(?!type\b)(?:[^;"]*?\bfrom\s+)?"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/gm;
const declaration = /^ *(?:\/?\*+|\/\/) *Only on (sqlite|postgres): (.+?)(?: *\*\/)?$/m;

/** Decides where `file` (a path from the repository's root) runs. `sourceOf` returns the text of a file. */
export function placeOf(file: string, sourceOf: (file: string) => string): Placement {
  const engines = new Set<EngineName>();
  /** By kind of module: the module that was found and the file that imports it. */
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

/** Returns the reason in a line `<words>: <reason>.` of a comment in this text, or null. */
const reasonAfter = (words: string, source: string): string | null =>
  new RegExp(String.raw`^ *(?:\/?\*+|\/\/) *${words}: (.+?)(?: *\*\/)?$`, "m").exec(source)?.[1] ?? null;

/** Returns why no other file may run beside the one with this text, or null. */
export const reasonToRunAlone = (source: string): string | null => reasonAfter("Runs alone", source);

/** Returns why the file with this text shares no process with others, or null. */
export const reasonForOwnProcess = (source: string): string | null => reasonAfter("Own process", source);

/** Returns why the file with this text is the first that runs, or null. */
export const reasonToComeFirst = (source: string): string | null => reasonAfter("Comes first", source);
