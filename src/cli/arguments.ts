/**
 * A command's arguments and its help, both from one description. node:util's parseArgs does the parsing.
 */
import { parseArgs } from "node:util";
import { messageOf } from "../base/error-message.ts";
import { usageError } from "./errors.ts";

export interface Option {
  /** Name of the value in the help; null for an option without a value. */
  readonly value: string | null;
  readonly help: string;
  /** May be given more than once. */
  readonly repeats?: true;
  /** The member of an operation's input that it becomes, when that has another name. */
  readonly member?: string;
}

export interface Command {
  /** As typed: `shop create`. */
  readonly name: string;
  /** Names of the arguments after the options, as the help shows them: `SHOP_ID`. All are required. */
  readonly parameters: readonly string[];
  readonly summary: string;
  /** Further lines of the command's own help. */
  readonly details?: string;
  readonly options: Readonly<Record<string, Option>>;
}

/** The arguments that were given. */
export interface Arguments {
  /** The value of an option, null when it was not given or is empty; the last one when it was given more than once. */
  text(name: string): string | null;
  /** The value of an option. @throws CommandError when it was not given. */
  required(name: string): string;
  /** Returns true if an option without a value was given. */
  flag(name: string): boolean;
  /** All values of an option that may be repeated. */
  all(name: string): readonly string[];
  parameter(index: number): string;
}

/** Reads a command's arguments. @throws CommandError for one that is unknown or missing. */
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
  const text = (name: string): string | null => all(name).at(-1) || null;
  return {
    all,
    text,
    required(name) {
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
    const message = messageOf(error);
    // Without Node's advice on arguments that begin with a dash: no command takes one.
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
