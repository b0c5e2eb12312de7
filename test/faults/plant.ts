/**
 * Plants a fault in the program: a module is loaded with one of its functions replaced. For processes that tests start, by `--import`.
 *
 * A fault knows the function by name. Most stand around the whole of it, whatever it looks like inside. Some must change the inside of a function, and
 * name a text of it, too.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

interface Named {
  readonly name: string;
  /** The path from the repository's root. */
  readonly file: string;
  /** Another fault of the list that is planted with it. */
  readonly with?: string;
}

/** Stands around what the module declares under a name. */
export interface Around extends Named {
  /** A function, class or value of the module, or a method: `Class.method`. */
  readonly of: string;
  /** Makes what takes its place. */
  readonly around: (original: never) => unknown;
}

/** Changes the inside of a function. */
export interface Inside extends Named {
  /** The function, or the class and the method: `Class.#method`. */
  readonly inside: string;
  /** Text that the function has exactly once, and what stands in its place. */
  readonly from: string;
  readonly to: string;
}

export type Planted = Around | Inside;

const escaped = (name: string): string => name.replaceAll(/[$#.]/g, "\\$&");
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The lines of what is declared under this name, from the first to the one after the last. @throws Error when nothing is, or several are. */
function linesOf(
  lines: readonly string[],
  name: string,
  [from, to]: readonly [number, number],
): readonly [number, number] {
  const isMember = from > 0;
  const declared = new RegExp(
    isMember
      ? `^  (?:async |static |readonly )*${escaped(name)}[<(]`
      : `^(?:export )?(?:async )?(?:function\\*? |class |const )${escaped(name)}\\b`,
  );
  const [first, ...others] = lines.flatMap((line, index) =>
    index >= from && index < to && declared.test(line) ? index : [],
  );
  if (first === undefined || others.length > 0)
    throw new Error(`${name} is declared ${others.length} times too often, or not at all`);
  const indent = indentOf(lines[first] ?? "");
  // What closes the parameters of a function stands as far left as its end.
  const end = lines.findIndex(
    (line, index) => index > first && index < to && line !== "" && indentOf(line) <= indent && !/^\s*[)\]>]/.test(line),
  );
  return [first, end === -1 ? to : end + 1];
}

/** The lines of `Class.method`, or of what a module declares. */
function linesOfPath(source: string, name: string): readonly [number, number] {
  const lines = source.split("\n");
  let range: readonly [number, number] = [0, lines.length];
  for (const [depth, step] of name.split(".").entries())
    range = linesOf(lines, step, depth === 0 ? range : [range[0] + 1, range[1]]);
  return range;
}

/** The source of the file with the fault, where `source` is without it. @throws Error when it does not have what the fault names. */
export function sourceWith(planted: Planted, source: string): string {
  try {
    return "of" in planted ? surrounded(planted, source) : changedInside(planted, source);
  } catch (error) {
    throw new Error(`${planted.name}: ${planted.file}: ${String(error)}`, { cause: error });
  }
}

const listUrl = new URL("planted.ts", import.meta.url).href;

/** What is declared can be given another value at the end of the module. */
function surrounded({ name, of }: Around, source: string): string {
  const [declared = "", method] = of.split(".");
  linesOfPath(source, of);
  const constant = new RegExp(`^(export )?const (?=${escaped(declared)}\\b)`, "m");
  const place = method === undefined ? declared : `${declared}.prototype.${method}`;
  const alias = `around_${name.replaceAll("-", "_")}`;
  return `${source.replace(constant, "$1let ")}
import { aroundOf as ${alias} } from ${JSON.stringify(listUrl)};
${place} = ${alias}(${JSON.stringify(name)})(${place});
`;
}

function changedInside({ inside, from, to }: Inside, source: string): string {
  const lines = source.split("\n");
  const [first, end] = linesOfPath(source, inside);
  const text = lines.slice(first, end).join("\n");
  if (text.split(from).length !== 2) throw new Error(`${inside} does not have its text exactly once: ${from}`);
  return [...lines.slice(0, first), text.replace(from, () => to), ...lines.slice(end)].join("\n");
}

/** Plants the faults of these names, with a comma between them. @throws Error when there is no such fault, or its file does not have what it names. */
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
