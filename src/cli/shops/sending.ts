/**
 * Commands that bring an order to its supplier and back: send, e-mails, links, and what suppliers have answered.
 */
import { memberOf } from "../../base/json.ts";
import { readFile } from "node:fs/promises";
import type { Arguments } from "../arguments.ts";
import {
  asking,
  type CommandContext,
  commonOptions,
  dataOf,
  given,
  type RunnableCommand,
  shopOption,
  withOperator,
} from "../command.ts";
import { CommandError, exitCodes, usageError } from "../errors.ts";
import type { Operator } from "../operator.ts";
import { listIn, shown, table, tableOf } from "../output.ts";

const ofOrder = (args: Arguments) => ({ shopId: args.required("shop"), purchaseOrderId: args.parameter(0) });

/** Options for lines whose variants the storefront does not take. */
const resolutionOptions = {
  skip: {
    value: "LINE_ID",
    help: "go on without the storefront for this line; repeat for more",
    repeats: true,
    member: "resolutions",
  },
  activate: {
    value: "LINE_ID",
    help: "make the line's variant active at the storefront; repeat for more",
    repeats: true,
  },
} as const;

/** Null: none was given. */
function resolutionsOf(args: Arguments): readonly { readonly itemId: string; readonly action: string }[] | null {
  const chosen = (["skip", "activate"] as const).flatMap((action) =>
    args.all(action).map((itemId) => ({ itemId, action })),
  );
  return chosen.length === 0 ? null : chosen;
}

/** Values of an option that may be repeated; null: it was not given. */
const allOf = (args: Arguments, option: string): readonly string[] | null => {
  const values = args.all(option);
  return values.length === 0 ? null : values;
};

/** A link begins with the service's public address, or the one by which it is asked, so one of them has to be known. */
function requireUrl({ linksLeadHere }: Operator, option: string): void {
  if (linksLeadHere) return;
  throw usageError(
    `${option} needs --url: the link begins with the address by which the service is asked.`,
    "Give the address by which suppliers reach the service with --url, or start the service with OPENPO_PUBLIC_URL.",
  );
}

/** The message: the file, or stdin for `-`. Null: none was given. */
async function messageFrom(args: Arguments, { stdin }: CommandContext): Promise<string | null> {
  const file = args.text("message-file");
  if (file === null) return args.text("message");
  if (args.text("message") !== null)
    throw usageError("--message and --message-file cannot both be given.", "See openpo order send --help.");
  const pieces: Uint8Array[] = [];
  try {
    if (file === "-") for await (const piece of stdin()) pieces.push(piece);
    else pieces.push(await readFile(file));
  } catch (error) {
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${String(memberOf(error, "code"))}.`);
  }
  return Buffer.concat(pieces).toString("utf8");
}

const addressesIn = (mail: unknown): string =>
  listIn(mail, "recipients")
    .map((recipient) => shown(memberOf(recipient, "address")))
    .join(", ");

const documentsIn = (mail: unknown): string =>
  listIn(mail, "documents")
    .map((document) => shown(memberOf(document, "fileName")))
    .join(", ");

/** Tells what became of a mail. @throws CommandError when it failed. */
function tellMail(data: unknown, args: Arguments, { output }: CommandContext): void {
  const mail = memberOf(data, "mail");
  const state = memberOf(mail, "state");
  const addresses = addressesIn(mail);
  if (state === "failed") {
    const { shopId, purchaseOrderId } = ofOrder(args);
    const message = `the e-mail to ${addresses} failed: ${shown(memberOf(mail, "detail"))}`;
    const action = `The order is saved. Once the reason is gone: openpo order resend --shop ${shopId} ${purchaseOrderId} ${shown(memberOf(mail, "mailId"))}`;
    throw new CommandError(exitCodes.failed, message, { action, body: { message, action, data } });
  }
  output.result(data, `${state === "sent" ? "Sent" : "Queued"}: ${documentsIn(mail)} to ${addresses}.`);
  if (state === "queued")
    output.message("The mail server has not taken it yet; it is tried again for 24 hours. See openpo order mails.");
  for (const warning of listIn(data, "warnings")) output.message(shown(memberOf(warning, "message")));
  const recovery = memberOf(data, "recovery");
  if (typeof recovery === "string") output.message(recovery);
}

export const orderSend: RunnableCommand = {
  name: "order send",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "e-mail an order to its supplier, and move a draft to Sent with it",
  details: `The PDF is that of the order as it is then. Ends with 1 when the mail server refuses the mail for good.

  openpo order send po_01J... --shop acme --link --url https://openpo.example.com`,
  options: {
    ...shopOption,
    to: { value: "ADDRESS", help: "instead of the supplier's address; repeat for more", repeats: true },
    cc: { value: "ADDRESS", help: "who gets a copy; repeat for more", repeats: true },
    subject: { value: "TEXT", help: "instead of one that names the order and the shop" },
    message: { value: "TEXT", help: "instead of a short one that names the order" },
    "message-file": { value: "FILE", help: "the message is in this file; - for stdin" },
    csv: { value: null, help: "attach the CSV beside the PDF", member: "attachCsv" },
    link: {
      value: null,
      help: "put a link into the message, at {link} or at its end, by which the supplier answers; needs --url or OPENPO_PUBLIC_URL",
      member: "supplierLink",
    },
    "keep-draft": { value: null, help: "leave a draft as it is", member: "moveToSent" },
    ...resolutionOptions,
    key: { value: "KEY", help: "sent again under the same key within 24 hours, it is one mail" },
    ...commonOptions,
  },
  async run(args, context) {
    const input = given({
      ...ofOrder(args),
      to: allOf(args, "to"),
      cc: allOf(args, "cc"),
      subject: args.text("subject"),
      message: await messageFrom(args, context),
      attachCsv: args.flag("csv"),
      supplierLink: args.flag("link"),
      moveToSent: !args.flag("keep-draft"),
      resolutions: resolutionsOf(args),
    });
    await withOperator(context, async (ask, operator) => {
      if (args.flag("link")) requireUrl(operator, "--link");
      tellMail(dataOf(await ask("purchase_order_send", input, null, args.text("key"))), args, context);
    });
  },
};

export const orderMails = asking({
  name: "order mails",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "list the e-mails of an order and what became of them",
  operation: "purchase_order_mail_list",
  input: (args) => ({ purchaseOrderId: args.parameter(0) }),
  told: (data) => {
    const rows = listIn(data, "mails").map((mail) => [
      memberOf(mail, "mailId"),
      memberOf(mail, "state"),
      memberOf(mail, "createdAt"),
      memberOf(mail, "nextAttemptAt"),
      addressesIn(mail),
      memberOf(mail, "detail"),
    ]);
    const headings = ["MAIL", "STATE", "ASKED FOR", "NEXT ATTEMPT", "TO", "THE MAIL SERVER SAYS"];
    return rows.length === 0 ? "There are no e-mails." : table(headings, rows);
  },
});

export const orderResend: RunnableCommand = {
  name: "order resend",
  parameters: ["PURCHASE_ORDER_ID", "MAIL_ID"],
  summary: "send an e-mail that has failed again, as it was, to those who lack it",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    const input = { ...ofOrder(args), mailId: args.parameter(1) };
    await withOperator(context, async (ask) => {
      tellMail(dataOf(await ask("purchase_order_mail_retry", input)), args, context);
    });
  },
};

export const orderLink: RunnableCommand = {
  name: "order link",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "make a link by which the supplier sees and answers an order; it is shown only now",
  details:
    "The link works for 14 days, and begins with the server's OPENPO_PUBLIC_URL, or else with the address that --url names.",
  options: { ...shopOption, ...commonOptions },
  async run(args, context) {
    await withOperator(context, async (ask, operator) => {
      requireUrl(operator, "A link");
      const data = dataOf(await ask("supplier_link_create", ofOrder(args)));
      context.output.result(data, shown(memberOf(data, "url")));
      context.output.message(
        `Link ${shown(memberOf(data, "linkId"))} works until ${shown(memberOf(data, "expiresAt"))}. It is not shown again.`,
      );
    });
  },
};

const linkColumns = { LINK: "linkId", STATUS: "status", "WORKS UNTIL": "expiresAt", "MADE BY": "createdBy" };

export const orderLinks = asking({
  name: "order links",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "list the links of an order's supplier, without their addresses",
  operation: "supplier_link_list",
  input: (args) => ({ purchaseOrderId: args.parameter(0) }),
  told: (data) => tableOf(data, "supplierLinks", linkColumns, "There are no links."),
});

export const orderRevoke = asking({
  name: "order revoke",
  parameters: ["PURCHASE_ORDER_ID", "LINK_ID"],
  summary: "revoke a link of an order's supplier",
  operation: "supplier_link_revoke",
  input: (args) => ({ purchaseOrderId: args.parameter(0), linkId: args.parameter(1) }),
  told: (_data, { linkId }) => `Link ${shown(linkId)} is revoked.`,
});

/** Returns the supplier's answer on a line: `pol_1: 8, 2027-01-15`. */
function lineText(line: unknown): string {
  const quantity = memberOf(line, "quantityConfirmed");
  const date = memberOf(line, "expectedDeliveryDate");
  const said =
    memberOf(line, "cannotDeliver") === true
      ? ["cannot be delivered"]
      : [quantity, date].filter((each) => each !== null);
  const status = memberOf(line, "status");
  return `  ${shown(memberOf(line, "lineItemId"))}: ${said.map(shown).join(", ")}${status === "open" ? "" : ` (${shown(status)})`}`;
}

/** A proposal in lines. */
function proposalText(proposal: unknown): string {
  const numbers = (
    [
      ["reference", "reference"],
      ["tracking", "trackingNumber"],
      ["message", "message"],
    ] as const
  ).flatMap(([name, member]) => {
    const value = memberOf(proposal, member);
    return value === null ? [] : [`  ${name}: ${shown(value)}`];
  });
  const decidedBy = memberOf(proposal, "decidedBy");
  const head = [
    memberOf(proposal, "proposalId"),
    memberOf(proposal, "status"),
    memberOf(proposal, "createdAt"),
    ...(decidedBy === null ? [] : [`by ${shown(decidedBy)}`]),
  ];
  return [head.map(shown).join("  "), ...numbers, ...listIn(proposal, "lines").map(lineText)].join("\n");
}

export const orderProposals = asking({
  name: "order proposals",
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "show what the supplier has answered, newest first",
  operation: "supplier_proposal_list",
  input: (args) => ({ purchaseOrderId: args.parameter(0) }),
  told: (data) => {
    const proposals = listIn(data, "proposals").map(proposalText);
    return proposals.length === 0 ? "The supplier has not answered." : proposals.join("\n");
  },
});

export const orderAccept = asking({
  name: "order accept",
  parameters: ["PURCHASE_ORDER_ID", "PROPOSAL_ID"],
  summary: "accept what the supplier has answered, all of it or some lines",
  options: {
    line: {
      value: "LINE_ID",
      help: "accept this line only; repeat for more (all)",
      repeats: true,
      member: "lineItemIds",
    },
    ...resolutionOptions,
  },
  operation: "supplier_proposal_accept",
  input: (args) => ({
    purchaseOrderId: args.parameter(0),
    proposalId: args.parameter(1),
    lineItemIds: allOf(args, "line"),
    resolutions: resolutionsOf(args),
  }),
  told: (data, { proposalId }) => {
    const [proposal, order, recovery] = ["proposal", "purchaseOrder", "recovery"].map((name) => memberOf(data, name));
    const [ofProposal, ofOrder] = [proposal, order].map((each) => shown(memberOf(each, "status")));
    const result = `Proposal ${shown(proposalId)} is ${ofProposal}; the order is ${ofOrder}.`;
    return typeof recovery === "string" ? [result, recovery] : result;
  },
});

export const orderReject = asking({
  name: "order reject",
  parameters: ["PURCHASE_ORDER_ID", "PROPOSAL_ID"],
  summary: "reject what the supplier has answered; the order stays as it is",
  operation: "supplier_proposal_reject",
  input: (args) => ({ purchaseOrderId: args.parameter(0), proposalId: args.parameter(1) }),
  told: (_data, { proposalId }) => `Proposal ${shown(proposalId)} is rejected.`,
});
