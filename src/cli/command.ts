/**
 * Shared by the operator's commands: their context, the options that all of them take, and the operator's side
 * opened for them.
 */
import type { Answer, Ask } from "../admin/ask.ts";
import type { Config } from "../service/config.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { shownOptions } from "../service/options.ts";
import { aligned, type Arguments, type Command, type Option } from "./arguments.ts";
import { usageError } from "./errors.ts";
import type { Named, Operator } from "./operator.ts";
import type { Output } from "./output.ts";

/** Context of a command beside its arguments. */
export interface CommandContext {
  readonly config: Config;
  /** Of the server to ask; null: the one of the data directory, or the store itself. */
  readonly url: string | null;
  readonly named: Named;
  readonly output: Output;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly nowMs: number;
}

export interface RunnableCommand extends Command {
  /** The operation that it asks; absent: several, or none. */
  readonly operation?: string;
  run(args: Arguments, context: CommandContext): Promise<void>;
}

/** The environment variables, for the help. */
export const environmentHelp = (): string =>
  `Environment:\n${aligned(
    shownOptions.map(({ name, meaning, shownDefault }) => [
      name,
      shownDefault === null ? meaning : `${meaning} (${shownDefault})`,
    ]),
  )}`;

export const helpOption: Record<string, Option> = { help: { value: null, help: "show this text" } };

/** Options of every command that works on shops. */
export const commonOptions = {
  json: { value: null, help: "print the result as one line of JSON on stdout; messages stay on stderr" },
  url: { value: "URL", help: "use the server at this address" },
  token: { value: "TOKEN", help: "the server's admin token (OPENPO_ADMIN_TOKEN; else the one in the data directory)" },
  "data-dir": {
    value: "DIR",
    help: "use this data directory (OPENPO_DATA_DIR, ./data), even if OPENPO_DATABASE_URL is set",
  },
  ...helpOption,
} as const satisfies Record<string, Option>;

export const progressOption = {
  progress: { value: null, help: "show progress, even when stderr is no terminal" },
} as const satisfies Record<string, Option>;

export const shopOption = {
  shop: { value: "SHOP_ID", help: "the shop (required)", member: "shopId" },
} as const satisfies Record<string, Option>;

/** The data of an answer; null when it is a file. */
export const dataOf = (answer: Answer): unknown => ("data" in answer ? answer.data : null);

/**
 * Opens the operator's side for as long as `use` runs.
 *
 * @param mayBegin  whether the command may make the first data of a data directory or a database.
 */
export async function withOperator(
  context: CommandContext,
  use: (ask: Ask, operator: Operator) => Promise<void>,
  mayBegin = false,
): Promise<void> {
  // Loaded here: help and refused arguments need none of it.
  const { openOperator } = await import("./operator.ts");
  const operator = await openOperator({ ...context, mayBegin });
  try {
    await use(operator.ask, operator);
  } finally {
    await operator.close();
  }
}

/** Input without the members that are null. */
export const given = (input: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));

/**
 * The members that an option gives as `NAME=VALUE`, each time that it is given. A value that is no JSON is text.
 *
 * @throws CommandError when one is no `NAME=VALUE`.
 */
export const membersIn = (args: Arguments, option: string, command: Pick<Command, "name">): JsonObject =>
  Object.fromEntries(
    args.all(option).map((text): readonly [string, Json] => {
      const at = text.indexOf("=");
      if (at < 1) throw usageError(`--${option} ${text}: must be NAME=VALUE.`, `See openpo ${command.name} --help.`);
      const [name, value] = [text.slice(0, at), text.slice(at + 1)];
      try {
        const json: Json = JSON.parse(value);
        return [name, json];
      } catch {
        return [name, value];
      }
    }),
  );

/** A command that asks one operation of a shop, and shows what that answers. */
interface Asking extends Pick<Command, "name" | "summary"> {
  readonly details?: string;
  /** Default: none. */
  readonly parameters?: readonly string[];
  /** Options beside those that every command on a shop takes. */
  readonly options?: Record<string, Option>;
  readonly operation: string;
  /** Members of the input beside the shop's id. Those that are null are left out. */
  readonly input?: (args: Arguments) => JsonObject;
  /** The result for a person, and a message after it. */
  readonly told: (data: unknown, input: JsonObject) => string | readonly [result: string, message: string];
}

export const asking = ({
  operation,
  input,
  told,
  parameters = [],
  options,
  ...described
}: Asking): RunnableCommand => ({
  ...described,
  operation,
  parameters,
  options: { ...shopOption, ...options, ...commonOptions },
  async run(args, context) {
    const members = given({ shopId: args.required("shop"), ...input?.(args) });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask(operation, members));
      const [result, message] = [told(data, members)].flat();
      context.output.result(data, result ?? "");
      if (message !== undefined) context.output.message(message);
    });
  },
});

/** Options of a command that lists records page by page. */
export const listOptions = {
  limit: { value: "N", help: "at most so many (50)" },
  cursor: { value: "CURSOR", help: "go on after an earlier page" },
} as const satisfies Record<string, Option>;

/** The value of an option; null when it was not given. @throws CommandError when it is no whole number. */
export function wholeNumber(args: Arguments, option: string, command: Pick<Command, "name">): number | null {
  const text = args.text(option);
  if (text === null) return null;
  if (!/^\d{1,9}$/.test(text))
    throw usageError(`--${option} must be a whole number.`, `See openpo ${command.name} --help.`);
  return Number(text);
}
