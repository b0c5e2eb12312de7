/**
 * Commands on the people who use a shop's console: invite, list.
 */
import { localUrl } from "../../service/config.ts";
import { commonOptions, dataOf, given, type RunnableCommand, shopOption, withOperator } from "../command.ts";
import { listIn, memberOf, shown, table } from "../output.ts";

/**
 * A link as it is opened. Without a public address and a server that was asked, it leads to where one will be on this
 * machine.
 */
export const openedAt = (url: string, server: { readonly host: string; readonly port: number }): string =>
  url.startsWith("/") ? localUrl(server) + url : url;

export const consoleInvite: RunnableCommand = {
  name: "console invite",
  parameters: [],
  summary: "invite somebody to a shop's console, by a link that works once within 24 hours",
  options: {
    ...shopOption,
    name: { value: "NAME", help: "who it is for; the activity log names them so (required)" },
    role: { value: "viewer|receiver|purchaser|owner", help: "what they may do (viewer)" },
    email: { value: "ADDRESS", help: "their address, for the list of people; nothing is sent" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({
      shopId: args.required("shop"),
      name: args.required("name"),
      role: args.text("role") ?? "viewer",
      email: args.text("email"),
    });
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("invitation_create", input));
      const url = openedAt(shown(memberOf(data, "url")), context.config);
      context.output.result({ ...(typeof data === "object" ? data : {}), url }, url);
      context.output.message(`Works once, until ${shown(memberOf(data, "expiresAt"))}. It is not shown again.`);
    });
  },
};

export const consolePeople: RunnableCommand = {
  name: "console people",
  parameters: [],
  summary: "list the people of a shop",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const shopId = args.required("shop");
    await withOperator(context, async (ask) => {
      const data = dataOf(await ask("person_list", { shopId }));
      const fields = ["personId", "name", "role", "email", "createdAt", "lastSeenAt"];
      const rows = listIn(data, "people").map((person) => fields.map((field) => memberOf(person, field)));
      const headings = ["PERSON", "NAME", "ROLE", "EMAIL", "CREATED", "LAST SEEN"];
      context.output.result(data, rows.length === 0 ? "There are no people." : table(headings, rows));
    });
  },
};
