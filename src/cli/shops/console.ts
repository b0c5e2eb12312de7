/**
 * Commands on the people who use a shop's console: invite, list.
 */
import { memberOf } from "../../base/json.ts";
import { localUrl } from "../../service/config.ts";
import { asking, commonOptions, dataOf, given, type RunnableCommand, shopOption, withOperator } from "../command.ts";
import { shown, tableOf } from "../output.ts";

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

const personColumns = {
  PERSON: "personId",
  NAME: "name",
  ROLE: "role",
  EMAIL: "email",
  CREATED: "createdAt",
  "LAST SEEN": "lastSeenAt",
};

export const consolePeople = asking({
  name: "console people",
  summary: "list the people of a shop",
  operation: "person_list",
  told: (data) => tableOf(data, "people", personColumns, "There are no people."),
});
