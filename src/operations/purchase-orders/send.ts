/** Sending an order's document to the supplier by e-mail (C63). It is an operation of the admin API: agents have no tool for it. */
import { z } from "zod";
import { Fault } from "../../core/fault.ts";
import {
  addressLengthMax,
  isMailAddress,
  mailMessageMax,
  mailRecipientsMax,
  mailStates,
  mailSubjectMax,
} from "../../core/mail.ts";
import { hasMailDocuments, loadMail, type Mail, retryMailStatements } from "../../shop/mails.ts";
import type { Tx } from "../../store/store.ts";
import { instant, instantOrNull, instantSchema, pathId, shownId } from "../fields.ts";
import { type Call, type Committed, operation } from "../operation.ts";
import { faults, orderToChange, path, stampOf, write } from "./access.ts";
import { purchaseOrderId } from "./json.ts";
import { mailIsOff, prepareMail, storeMail } from "./mail.ts";
import { type AskedMail, type FollowedOrder, followOnShape, renderSideEffects } from "./side-effects.ts";

/** One address or several; the domain in lower case, as it means the same. */
const addresses = z
  .union([z.string(), z.array(z.string()).min(1).max(mailRecipientsMax)], {
    error: `must be an e-mail address, or an array of 1 to ${mailRecipientsMax}`,
  })
  .transform((given, context) => {
    const list = typeof given === "string" ? [given] : given;
    for (const [index, address] of list.entries())
      if (!isMailAddress(address))
        context.addIssue({
          code: "custom",
          path: typeof given === "string" ? [] : [index],
          message: `must be an e-mail address like orders@supplier.example, ASCII, at most ${addressLengthMax} characters, without a name`,
        });
    return list.map((address) => {
      const at = address.lastIndexOf("@");
      return address.slice(0, at) + address.slice(at).toLowerCase();
    });
  });

const oneLine = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** Of a message: line breaks and tabs, but no other control characters. */
const severalLines = /^(?:[^\p{Cc}]|[\t\n\r])*$/u;

export const mailSchema = z
  .strictObject({
    mailId: z.string(),
    state: z.enum(mailStates).meta({
      description:
        "queued: it is tried, or tried again at `nextAttemptAt`. sent: the mail server has taken it for everybody. failed: for somebody it has not, and it is not tried again.",
    }),
    recipients: z.array(
      z.strictObject({
        address: z.string(),
        role: z.enum(["to", "cc"]),
        state: z.enum(["pending", "sent", "refused"]),
        detail: z.string().nullable().meta({ description: "The mail server's words." }),
      }),
    ),
    subject: z.string(),
    replyTo: z.string().nullable(),
    documents: z.array(
      z.strictObject({
        fileName: z.string(),
        contentType: z.string(),
        sha256: z.string().meta({ description: "Of the attached bytes, in hexadecimal digits." }),
        sizeBytes: z.int(),
      }),
    ),
    orderVersion: z.int().meta({ description: "Of the order that the documents show." }),
    attempts: z.int(),
    detail: z.string().nullable().meta({ description: "Who does not have it and why, in the mail server's words." }),
    nextAttemptAt: instantSchema.nullable(),
    createdAt: instantSchema,
    createdBy: z.string().nullable(),
    settledAt: instantSchema.nullable(),
  })
  .meta({ description: "An e-mail of the order." });

export const mailJson = (mail: Mail): z.output<typeof mailSchema> => ({
  mailId: mail.mailId,
  state: mail.state,
  recipients: mail.recipients.map((recipient) => ({ ...recipient })),
  subject: mail.content.subject,
  replyTo: mail.content.replyTo,
  documents: mail.documents.map((document) => ({ ...document })),
  orderVersion: mail.orderVersion,
  attempts: mail.attempts,
  detail: mail.detail,
  nextAttemptAt: instantOrNull(mail.dueAtMs),
  createdAt: instant(mail.createdAtMs),
  createdBy: mail.createdBy,
  settledAt: instantOrNull(mail.settledAtMs),
});

/** The order was changed while its document was made. */
class OrderChanged extends Error {}

/** How often the document is made again because the order was changed meanwhile. */
const documentAttemptsMax = 3;

const changedRetryAfterMs = 1_000;

const mailAnswerSchema = z.strictObject({ mail: mailSchema, ...followOnShape });

/** The answer with the mail as it stands after its first attempt. */
async function mailAnswer(
  tx: Tx,
  { shop: { shopId } }: Call,
  order: FollowedOrder,
  asked: AskedMail,
): Promise<Committed<z.output<typeof mailAnswerSchema>>> {
  const load = (from: Tx): Promise<Mail | null> => loadMail(from, shopId, order.purchaseOrderId, asked.effectId);
  const stored = await load(tx);
  if (stored === null) throw new Error("a mail was not stored");
  const answered = (shown: Mail, outcomes: Parameters<typeof renderSideEffects>[1]) => ({
    data: { mail: mailJson(shown), ...renderSideEffects([asked], outcomes, { order }) },
  });
  return {
    effects: [],
    mailIds: [asked.effectId],
    answer: (outcomes) => answered(stored, outcomes),
    async answerAnew(anew, outcomes) {
      const shown = await load(anew);
      return shown === null ? null : answered(shown, outcomes);
    },
  };
}

export const sendOrder = operation({
  ...write,
  name: "purchase_order_send",
  title: "Send an order by e-mail",
  summary: "Sends the order's document to the supplier by e-mail.",
  description:
    "Attaches the PDF of the order as it is now, and the CSV if asked. The answer waits a short time for the mail server; a mail that it does not take for now is tried again for 24 hours. The order's status stays as it is.",
  route: { method: "POST", path: `${path}/send` },
  success: 200,
  repeat: "adds-again",
  destructive: false,
  faults: [...faults, "RATE_LIMITED"],
  input: z.strictObject({
    purchaseOrderId,
    to: addresses.optional().meta({ description: "An address or an array of them; left out: the supplier's." }),
    cc: addresses.optional().meta({ description: "An address or an array of them." }),
    subject: z
      .string()
      .min(1)
      .max(mailSubjectMax)
      .regex(oneLine, "must be one line without control characters")
      .optional()
      .meta({ description: "Left out: one that names the order and the shop." }),
    message: z
      .string()
      .min(1)
      .max(mailMessageMax)
      .regex(severalLines, "must not have control characters")
      .optional()
      .meta({ description: "Plain text; left out: a short one that names the order." }),
    attachCsv: z.boolean().optional().meta({ description: "Attach the CSV beside the PDF." }),
    documentSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, "must be a SHA-256 in 64 hexadecimal digits")
      .optional()
      .meta({ description: "SHA-256 of the PDF that was previewed: with another one nothing is sent (412)." }),
  }),
  output: mailAnswerSchema,
  async run(call, input) {
    // Before anything else: nothing that is sent would help.
    if (call.mailing.perHourMax === null) throw mailIsOff();
    const wishes = {
      to: input.to ?? null,
      cc: input.cc ?? [],
      subject: input.subject ?? null,
      message: input.message ?? null,
      attachCsv: input.attachCsv ?? false,
      documentSha256: input.documentSha256 ?? null,
    };
    for (let attempts = 1; attempts <= documentAttemptsMax; attempts += 1)
      try {
        const seen = await call.read((tx) => orderToChange(tx, call, input.purchaseOrderId));
        const mail = await prepareMail(call, seen, wishes, { isStored: true });
        return await call.commit(async (tx) => {
          const order = await orderToChange(tx, call, input.purchaseOrderId);
          if (order.version !== mail.orderVersion) throw new OrderChanged();
          return await mailAnswer(tx, call, order, await storeMail(tx, call, mail));
        });
      } catch (error) {
        if (!(error instanceof OrderChanged)) throw error;
      }
    throw new Fault("INVALID_INPUT", "The order kept being changed while its document was made.", {
      reason: "ORDER_EDITED",
      action: "Send the same request again.",
      retryAfterMs: changedRetryAfterMs,
    });
  },
});

export const retryMail = operation({
  ...write,
  name: "purchase_order_mail_retry",
  title: "Send a failed e-mail again",
  summary: "Sends an e-mail that has failed again, as it was, to those who do not have it.",
  description:
    "The same documents go out under the same Message-ID. Send the order anew to change addresses or to attach the order as it is now.",
  route: { method: "POST", path: `${path}/mails/{mailId}/retry` },
  success: 200,
  repeat: "refused",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId, mailId: pathId }),
  output: mailAnswerSchema,
  run(call, { purchaseOrderId: id, mailId }) {
    if (call.mailing.perHourMax === null) throw mailIsOff();
    const { shopId } = call.shop;
    return call.commit(async (tx) => {
      const order = await orderToChange(tx, call, id);
      const [mail, isKept] = await Promise.all([
        loadMail(tx, shopId, id, mailId),
        hasMailDocuments(tx, shopId, mailId),
      ]);
      if (mail === null)
        throw new Fault("NOT_FOUND", `The order has no e-mail ${shownId(mailId)}.`, {
          action: "List the order's e-mails.",
        });
      if (mail.state !== "failed")
        throw new Fault("INVALID_INPUT", `The e-mail is ${mail.state}; only a failed one is sent again.`);
      if (!isKept)
        throw new Fault("INVALID_INPUT", "What the e-mail attached is no longer kept.", {
          action: "Send the order anew.",
        });
      await tx.batch(retryMailStatements(shopId, mail, stampOf(call)));
      return await mailAnswer(tx, call, order, { effectId: mailId, kind: "send-mail" });
    });
  },
});
