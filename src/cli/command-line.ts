/**
 * The command line of `openpo`: finds the command, reads its arguments and the environment, runs it, and says with
 * which status it ends.
 *
 * Owns nothing of a process: whoever calls it brings the words, the environment and the streams (cli.ts).
 */
import type { Writable } from "node:stream";
import { aligned, type Arguments, helpOf, readArguments } from "./arguments.ts";
import { environmentHelp, type RunnableCommand } from "./command.ts";
import { commands } from "./commands.ts";
import { commandErrorOf, exitCodes, usageError } from "./errors.ts";
import { type Output, openOutput } from "./output.ts";
import { serve } from "./serve.ts";
import { inWordsOf } from "./words.ts";
import { readConfig } from "../service/config.ts";
import { type Environment, unknownOptionsIn } from "../service/options.ts";
import { programVersion } from "../base/program-version.ts";

const all: readonly RunnableCommand[] = [serve, ...commands];

const help = (): string => `openpo: a purchase-order service

Usage: openpo COMMAND [options]

Commands:
${aligned(all.map(({ name, summary }) => [name, summary] as const))}

openpo COMMAND --help shows the options of a command. openpo alone runs serve. openpo --version shows the version.

While a server runs on the data directory, commands ask that server: it has recorded its address in the directory. Otherwise they work
on the directory itself. With a database they work on the database, while its nodes run or not. With --url they ask that server;
with a database too, it must be one of its nodes.

${environmentHelp()}

Exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 no server answers; 4 the admin token is missing or wrong.`;

/** The commands that begin with this word: `shop create`, `shop list`, … */
const groupOf = (word: string): readonly RunnableCommand[] => all.filter(({ name }) => name.startsWith(`${word} `));

/** The help of commands that begin with the same word. */
const helpOfGroup = (
  word: string,
  group: readonly RunnableCommand[],
): string => `Usage: openpo ${word} COMMAND [options]

Commands:
${aligned(group.map(({ name, summary }) => [name, summary] as const))}

openpo ${word} COMMAND --help shows the options of a command.`;

const asksForHelp = (word: string | undefined): boolean => word === "--help" || word === "-h" || word === "help";

/** The help that is asked for: `--help`, `shop --help`, `shop create --help`, `help shop`; null when none is. */
function helpFor(argv: readonly string[]): string | null {
  const [first, second] = argv;
  if (asksForHelp(first))
    return second === undefined || asksForHelp(second) ? help() : helpFor([...argv.slice(1), "--help"]);
  const group = first === undefined ? [] : groupOf(first);
  if (group.length > 0 && asksForHelp(second)) {
    const own = all.find(({ name }) => name === first);
    return [...(own === undefined ? [] : [helpOf(own)]), helpOfGroup(first ?? "", group)].join("\n");
  }
  return argv.includes("--help") || argv.includes("-h") ? helpOf(find(argv).command).trimEnd() : null;
}

/** The command that these words begin with, and what follows it. @throws CommandError when there is none. */
function find(argv: readonly string[]): { readonly command: RunnableCommand; readonly rest: readonly string[] } {
  const command = all.find(({ name }) => name.split(" ").every((word, index) => argv[index] === word));
  if (command !== undefined) return { command, rest: argv.slice(command.name.split(" ").length) };
  const [first = ""] = argv;
  const group = groupOf(first);
  if (group.length > 0)
    throw usageError(
      `openpo ${first} needs one of ${group.map(({ name }) => name.split(" ")[1]).join(", ")}.`,
      `See openpo ${first} --help.`,
    );
  throw usageError(first.startsWith("-") ? `unknown option ${first}.` : `unknown command ${first}.`);
}

/** Environment, streams and time of a command. */
interface Surroundings {
  readonly env: Environment;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly nowMs: number;
}

/** Runs the command that these words name. @returns the exit status; what went wrong is on stderr by then. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  // Read before the arguments, so that a fault in them is shown as JSON too.
  const json = argv.includes("--json");
  const output = openOutput({ ...surroundings, json, progress: argv.includes("--progress") });
  try {
    await run(argv, surroundings, output);
    return exitCodes.done;
  } catch (thrown) {
    const error = commandErrorOf(thrown);
    if (error === null) throw thrown;
    output.message(`openpo: ${error.message}${error.action === null ? "" : `\n  ${error.action}`}`);
    if (json) output.result({ error: error.body }, "");
    return error.exitCode;
  }
}

async function run(argv: readonly string[], surroundings: Surroundings, output: Output): Promise<void> {
  const [first] = argv;
  const told = helpFor(argv) ?? (first === "--version" || first === "-v" ? programVersion() : null);
  if (told !== null) return void surroundings.stdout.write(`${told}\n`);
  const { command, rest } = first === undefined ? { command: serve, rest: [] } : find(argv);
  const args = readArguments(command, rest);
  await runCommand(command, args, surroundings, output).catch((thrown: unknown) => {
    const error = commandErrorOf(thrown);
    throw error === null ? thrown : inWordsOf(command, args, error);
  });
}

async function runCommand(
  command: RunnableCommand,
  args: Arguments,
  { env, stdin, nowMs }: Surroundings,
  output: Output,
): Promise<void> {
  // A command is also run beside variables of its user's own programs.
  for (const { name, nearest } of command === serve ? unknownOptionsIn(env) : [])
    output.message(`openpo: ${name} is no variable of OpenPO and is not read; the nearest is ${nearest}.`);
  const given = { PORT: "port", OPENPO_HOST: "host", OPENPO_DATA_DIR: "data-dir", OPENPO_ADMIN_TOKEN: "token" };
  const overrides = Object.entries(given).flatMap(([variable, option]) => {
    const value = args.text(option);
    return value === null ? [] : [[variable, value] as const];
  });
  // A directory on the command line wins over the database of the environment.
  const directoryIsOption = args.text("data-dir") !== null;
  if (directoryIsOption) overrides.push(["OPENPO_DATABASE_URL", ""]);
  await command.run(args, {
    config: readConfig({ ...env, ...Object.fromEntries(overrides) }),
    url: args.text("url"),
    named: {
      port: !["", "0"].includes(env["PORT"] ?? ""),
      dataDir: directoryIsOption ? "option" : (env["OPENPO_DATA_DIR"] ?? "") === "" ? null : "environment",
    },
    output,
    stdin,
    nowMs,
  });
}
