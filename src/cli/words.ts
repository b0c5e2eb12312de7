/**
 * An operation's refusal in the words of the command: options instead of JSON pointers, commands instead of methods and
 * paths.
 *
 * The same operations answer REST, whose words their messages use. What a refusal is about is in its code and details,
 * so nothing is guessed from sentences.
 */
import { memberOf } from "../base/json.ts";
import type { Arguments, Command } from "./arguments.ts";
import { CommandError } from "./errors.ts";
import { listIn } from "./output.ts";

/** The argument that becomes this member of an operation's input; null when the command has none. */
function argumentOf(command: Command, member: string): string | null {
  const parameter = member.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  if (command.parameters.includes(parameter)) return parameter;
  const found = Object.entries(command.options).find(([name, option]) => (option.member ?? name) === member);
  return found === undefined ? null : `--${found[0]}`;
}

/**
 * A JSON pointer as `--currency`, as `--setting fxRates.EUR`, or as the place in a line of a file:
 * `lineItems[0].unitCost`.
 */
function placeOf(command: Command, pointer: string, isInLine: boolean): string {
  const [member = "", ...inside] = pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const argument = isInLine ? null : argumentOf(command, member);
  const steps = argument === null ? [member, ...inside] : inside;
  const place = steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : `${index === 0 ? "" : "."}${step}`));
  return [argument, place.join("")].filter((part) => part !== null && part !== "").join(" ");
}

/** True if a detail is about a line of a file (exchange/file-format.ts), not about an argument. */
const isAboutLine = (detail: unknown): boolean => /^line \d/.test(String(memberOf(detail, "message")));

/** Where the things are listed that a command names beside an order. */
const listedBy: Readonly<Record<string, string>> = {
  MAIL_ID: "openpo order mails lists the order's e-mails.",
  LINK_ID: "openpo order links lists the order's links.",
  PROPOSAL_ID: "openpo order proposals lists what the supplier has answered.",
};

/** Returns the advice after a refusal with this code; null: that of the operation. */
function actionOf(command: Command, args: Arguments, body: object): string | null {
  switch (memberOf(body, "code")) {
    case "UNAUTHORIZED":
      return "Give the server's admin token with --token or OPENPO_ADMIN_TOKEN; it is in the server's data directory, in admin-token.";
    case "NOT_FOUND":
      if (command.parameters.includes("PURCHASE_ORDER_ID"))
        return `Orders are named by their id, po_…; ${listedBy[command.parameters[1] ?? ""] ?? "openpo shop list shows the shops."}`;
      for (const noun of ["supplier", "variant", "location"])
        if (command.name.startsWith(`${noun} `))
          return `openpo ${noun} list --shop ${args.text("shop") ?? "SHOP_ID"} shows the ${noun}s, openpo shop list the shops.`;
      return command.parameters.includes("KEY_ID")
        ? `openpo shop list shows the shops, openpo key list --shop ${args.text("shop") ?? "SHOP_ID"} the keys of this one.`
        : "openpo shop list shows the shops.";
    case "INVALID_INPUT":
      if (listIn(body, "details").length === 0) return null;
      return listIn(body, "details").some(isAboutLine)
        ? `Nothing was imported. Correct the ${listIn(body, "details").length > 1 ? "lines" : "line"} and import the whole file again.`
        : `See openpo ${command.name} --help.`;
    default:
      return memberOf(body, "retryable") === true ? "Wait a moment, then run the command again." : null;
  }
}

/** The refusal as the command shows it. With --json its body keeps code and details, which programs read. */
export function inWordsOf(command: Command, args: Arguments, error: CommandError): CommandError {
  const { exitCode, body } = error;
  // What the command itself refuses is in its words already.
  if (typeof memberOf(body, "code") !== "string") return error;
  const places = listIn(body, "details")
    .map((detail) => {
      const pointer = String(memberOf(detail, "path"));
      return { pointer, place: placeOf(command, pointer, isAboutLine(detail)) };
    })
    .filter(({ pointer }) => pointer.startsWith("/"))
    // The longest first: one may end like another.
    .sort((one, other) => other.pointer.length - one.pointer.length);
  const message = places.reduce(
    (text, { pointer, place }) => text.replaceAll(`${pointer}: `, `${place}: `),
    error.message,
  );
  const action = actionOf(command, args, body) ?? error.action;
  return new CommandError(exitCode, message, {
    action,
    body: { ...body, message, ...(action === null ? {} : { action }) },
  });
}
