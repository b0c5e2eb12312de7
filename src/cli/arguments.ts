/**
 * A command's arguments, and the help that a person reads: one description gives both.
 *
 * Parsed by node:util's parseArgs: it does all that is needed here and comes with Node.
 */
import { parseArgs } from "node:util";

/** How a command ends: the status that a script reads. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
} as const;

/** Ends the command with a message on stderr instead of a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;
  /** What to do next, on a line of its own. */
  readonly action: string | null;
  /** The error as `--json` shows it. */
  readonly body: object;

  constructor(exitCode: number, message: string, options: { readonly action?: string | null; body?: object } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.action = options.action ?? null;
    this.body = options.body ?? { message, ...(this.action === null ? {} : { action: this.action }) };
  }
}

export const usageError = (message: string, action = "See openpo --help."): CommandError =>
  new CommandError(exitCodes.usage, message, { action });

export interface Option {
  /** What the value is called in the help; null for one that takes none. */
  readonly value: string | null;
  readonly help: string;
  /** May be given more than once. */
  readonly repeats?: true;
}

export interface Command {
  /** As typed: `shop create`. */
  readonly name: string;
  /** What follows the options, in the help's spelling: `SHOP_ID`. Each is needed. */
  readonly parameters: readonly string[];
  readonly summary: string;
  /** Further lines of the command's own help. */
  readonly details?: string;
  readonly options: Readonly<Record<string, Option>>;
}

/** What was given, by name. */
export interface Arguments {
  /** The value of an option, or null. */
  text(name: string): string | null;
  /** @throws CommandError when it was not given. */
  needed(name: string): string;
  flag(name: string): boolean;
  all(name: string): readonly string[];
  parameter(index: number): string;
}

/** @throws CommandError for what the command does not take, or for what is missing. */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const see = `See openpo ${command.name} --help.`;
  const parsed = parse(command, argv, see);
  const { values, positionals } = parsed;
  const [unexpected] = positionals.slice(command.parameters.length);
  if (unexpected !== undefined) throw usageError(`unknown argument ${unexpected}.`, see);
  const missing = command.parameters[positionals.length];
  if (missing !== undefined && values["help"] !== true)
    throw usageError(`${missing} is missing: openpo ${usageOf(command)}`, see);
  const all = (name: string): readonly string[] => {
    const value = values[name];
    return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
  };
  const text = (name: string): string | null => all(name).at(-1) ?? null;
  return {
    all,
    text,
    needed(name) {
      const value = text(name);
      if (value === null) throw usageError(`--${name} is missing: openpo ${usageOf(command)}`, see);
      return value;
    },
    flag: (name) => values[name] === true,
    parameter: (index) => positionals[index] ?? "",
  };
}

function parse(command: Command, argv: readonly string[], see: string) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(command.options).map(([name, option]) => [
          name,
          {
            type: option.value === null ? ("boolean" as const) : ("string" as const),
            multiple: option.repeats ?? false,
            ...(name === "help" ? { short: "h" } : {}),
          },
        ]),
      ),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Node's advice about positional arguments that begin with a dash helps nobody here.
    throw usageError(message.replace(/ To specify a positional argument.*$/, "").replace(/\.?$/, "."), see);
  }
}

const usageOf = (command: Command): string => [command.name, "[options]", ...command.parameters].join(" ");

const columnGap = 2;

/** Rows of two columns, the second aligned. */
export function aligned(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + columnGap;
  return rows
    .map(([left, right]) => `  ${left.padEnd(width)}${right.replaceAll("\n", `\n${" ".repeat(width + 2)}`)}`)
    .join("\n");
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, { value, help }]) => [`--${name}${value === null ? "" : ` ${value}`}`, help] as const,
  );
  return [
    `openpo ${command.name}: ${command.summary}`,
    "",
    `Usage: openpo ${usageOf(command)}`,
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    "Options:",
    aligned(options),
    "",
  ].join("\n");
}
