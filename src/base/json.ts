/**
 * JSON of request bodies: strict parsing, and a canonical form to compare two bodies (C10, C17).
 *
 * Owns: which JSON is accepted. Does not own: which members an operation takes (its schema), the size limit (http).
 */
import { Fault, invalidField } from "./fault.ts";

/**
 * Members of all objects in a body, a few times what the largest valid one has; as many arrays and objects. Reading
 * more would hold the event loop for too long.
 */
export const bodyMembersMax = 40_000;

/**
 * Members of one object in a large body, many times those of any valid one. Members that are unknown are copied,
 * spelled and reported one by one.
 */
export const objectMembersMax = 1_000;

/**
 * Values of one record of a file, with entries of arrays and the arrays and objects themselves. The longest line of an
 * order with its history has so many.
 */
export const recordValuesMax = 1_000_000;

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: Json;
}

/** Levels of arrays and objects at most, the outermost included. */
export const nestingDepthMax = 32;
/** Above it, neighbouring integers are the same double. */
const integerMax = 2 ** 53;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON pointer (RFC 6901) of these member names and indexes, from the root. */
export function jsonPointer(steps: readonly (string | number | symbol)[]): string {
  return steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The value of a JSON text that a program of ours or another server wrote; null when it is none. */
export function jsonOrNull(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

/**
 * Parses a request body. An empty body is `{}`.
 *
 * @throws Fault INVALID_INPUT  it is not UTF-8 or not JSON, nests deeper than `nestingDepthMax`, or names a member
 *                              twice or `__proto__`. Or it has U+0000, a lone surrogate or a number that no double
 *                              holds. The message does not quote the body. Or it takes longer to parse than a body may
 *                              (`refuseCostly`).
 * Source: spec "Request bodies"; C10, C11.
 */
export function parseJson(bytes: Uint8Array): Json {
  return parseText(bytes, refuseCostly);
}

/**
 * Parses a record of a file: an order with its history may have up to `recordValuesMax` values. @throws Fault
 * INVALID_INPUT as `parseJson` does.
 */
export function parseRecord(bytes: Uint8Array): Json {
  return parseText(bytes, (text) => refuseCostly(text, recordCosts));
}

function parseText(bytes: Uint8Array, refuse: (text: string) => void): Json {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  refuse(text);
  const value = parse(text);
  inspect(text);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new Fault("INVALID_INPUT", "The body is not valid UTF-8.", { cause });
  }
}

/** Shorter texts are parsed in some two milliseconds, whatever they hold. */
export const cheapLengthMax = 32_768;

/** The most that a text may have: members of all objects, arrays and objects, and all values. */
interface Costs {
  readonly members: number;
  readonly containers: number;
  readonly values: number;
}

const bodyCosts: Costs = { members: bodyMembersMax, containers: bodyMembersMax, values: Number.POSITIVE_INFINITY };

const recordCosts: Costs = { members: recordValuesMax, containers: recordValuesMax, values: recordValuesMax };

/**
 * Refuses the text before it is parsed, which takes time and memory for each value and each level. It reads each
 * character once.
 *
 * @param most  what it may have; default: what a body may.
 * @throws Fault INVALID_INPUT  it nests deeper than `nestingDepthMax`, has more than `most` says, or an object of more
 *                              than `objectMembersMax` members.
 */
export function refuseCostly(text: string, most: Costs = bodyCosts): void {
  if (text.length <= cheapLengthMax) return;
  /** Of the open object at each level; a level's is 0 again when it ends. */
  const membersAt = new Uint32Array(nestingDepthMax + 1);
  let depth = 0;
  let members = 0;
  let containers = 0;
  let values = 0;
  const count = (): void => {
    values += 1;
    if (values > most.values) throw tooMany(most.values, "values");
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quotation) {
      const end = endOfString(text, at);
      // The parser comes no further either.
      if (end === 0) return;
      at = end - 1;
    } else if (code === colon) {
      members += 1;
      const ofObject = (membersAt[depth] ?? 0) + 1;
      membersAt[depth] = ofObject;
      if (members > most.members) throw tooMany(most.members, "members in its objects");
      if (ofObject > objectMembersMax) throw tooMany(objectMembersMax, "members in one object");
    } else if (code === objectBegins || code === arrayBegins) {
      depth += 1;
      containers += 1;
      if (depth > nestingDepthMax) throw invalidField("", `nested deeper than ${nestingDepthMax} levels`);
      if (containers > most.containers) throw tooMany(most.containers, "arrays and objects");
      count();
    } else if (code === comma) {
      count();
    } else if (code === objectEnds || code === arrayEnds) {
      // A text that is no JSON may end more than has begun.
      if (depth === 0) return;
      membersAt[depth] = 0;
      depth -= 1;
    }
  }
}

const tooMany = (max: number, what: string): Fault =>
  new Fault("INVALID_INPUT", `The body has more than ${max} ${what}.`, {
    action: "Send only fields that are documented, and fewer lines at a time.",
  });

function parse(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (cause) {
    const why = whyNotJson(text, cause instanceof Error ? cause.message : "");
    throw new Fault("INVALID_INPUT", `The body is not valid JSON: ${why}.`, {
      action: "Send one JSON object, or no body at all.",
    });
  }
}

/** The place that the parser's message names; null: it names none. */
const positionIn = (message: string): number | null => {
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? null : Number(position);
};

const endsTooEarly = (message: string): boolean => message.startsWith("Unexpected end");

/** Characters of a text in which the place is looked for that the parser does not name. */
const searchedForPlaceMax = 65_536;

/** True if the text is JSON, or may become it by going on. */
function mayGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : "";
    return endsTooEarly(message) || (positionIn(message) ?? -1) >= text.length;
  }
}

/** The place of the first character that is not allowed there. */
function wrongPlace(text: string): number {
  let [right, wrong] = [0, text.length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    if (mayGoOn(text.slice(0, middle))) right = middle;
    else wrong = middle;
  }
  return right;
}

/** The parser's message without the text that it may quote. */
function whyNotJson(text: string, message: string): string {
  const position = positionIn(message);
  if (position !== null) return `at position ${position}`;
  if (endsTooEarly(message)) return "it ends too early";
  if (text.startsWith("\ufeff")) return "it begins with a byte order mark";
  return text.length > searchedForPlaceMax
    ? "it has a character that is not allowed there"
    : `at position ${wrongPlace(text)}`;
}

/** An open object, with the members seen and the one whose value is read now; or an open array, with the index. */
type Level = { seen: Set<string> | null; member: string | null } | { index: number };

const codeOf = (character: string): number => character.charCodeAt(0);
const [objectBegins, objectEnds, arrayBegins, arrayEnds] = [codeOf("{"), codeOf("}"), codeOf("["), codeOf("]")];
const [comma, colon, quotation, minus, digitFirst, digitLast] = [
  codeOf(","),
  codeOf(":"),
  codeOf('"'),
  codeOf("-"),
  codeOf("0"),
  codeOf("9"),
];

/**
 * Checks every token of valid JSON for what `JSON.parse` accepts or hides, and refuses it by its pointer. It reads each
 * character once, by its code: a megabyte of brackets would hold the event loop otherwise.
 */
function inspect(text: string): void {
  const levels: Level[] = [];
  const refusal = (message: string): Fault =>
    invalidField(jsonPointer(levels.map((level) => ("seen" in level ? (level.member ?? "") : level.index))), message);
  let level: Level | undefined;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    let end = at + 1;
    if (code === objectBegins || code === arrayBegins) {
      if (levels.length === nestingDepthMax) throw refusal(`nested deeper than ${nestingDepthMax} levels`);
      level = code === objectBegins ? { seen: null, member: null } : { index: 0 };
      levels.push(level);
    } else if (code === objectEnds || code === arrayEnds) {
      levels.pop();
      level = levels.at(-1);
    } else if (code === comma) {
      if (level === undefined) break;
      if ("seen" in level) level.member = null;
      else level.index += 1;
    } else if (code === quotation) {
      end = endOfString(text, at);
      const string = stringOf(text.slice(at, end));
      if (level !== undefined && "seen" in level && level.member === null) {
        level.member = string;
        const seen = (level.seen ??= new Set());
        if (seen.has(string)) throw refusal("given twice");
        if (string === "__proto__") throw refusal("unknown field");
        seen.add(string);
      }
      if (string.includes("\0")) throw refusal("must not contain U+0000");
      if (!string.isWellFormed()) throw refusal("must not contain a lone surrogate");
    } else if (code === minus || (code >= digitFirst && code <= digitLast)) {
      while (numberRest.has(text.charAt(end))) end += 1;
      if (!isExact(text.slice(at, end))) throw refusal("a number that cannot be held exactly; at most 2^53");
    }
    at = end;
  }
}

const numberRest: ReadonlySet<string> = new Set("0123456789.eE+-");

/** The index after the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** True if an odd number of backslashes stands before the character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charAt(first - 1) === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

function stringOf(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  const string: string = JSON.parse(token);
  return string;
}

/** True if a double holds the number, except for rounding of its decimals. */
function isExact(token: string): boolean {
  const value = Math.abs(Number(token));
  if (value < integerMax) return true;
  return value === integerMax && /^-?\d+$/.test(token) && BigInt(token.replace("-", "")) === BigInt(integerMax);
}

/**
 * The canonical text of a value: equal values give equal text. Members are in code-unit order, numbers have one
 * spelling (C17).
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let text = "";
  for (const name of sorted(Object.keys(value)))
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`;
  return `{${text}}`;
}

/** Most clients write the members of their many objects in one order, so this is often it. */
function sorted(names: string[]): readonly string[] {
  return names.every((name, index) => index === 0 || (names[index - 1] ?? "") < name) ? names : names.sort();
}

/** Narrows to an array. */
export const isJsonArray = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Narrows to an object that is not an array. */
export const isJsonObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !isJsonArray(value);

/** The member of a value that may be anything; undefined: it has none of this name. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
