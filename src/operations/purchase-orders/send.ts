/**
 * Sending an order's document to the supplier by e-mail (C63), with the move to Sent if it is a draft. It is an
 * operation of the admin API: agents have no tool for it.
 */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import {
  addressLengthMax,
  mailAddressFrom,
  mailMessageMax,
  mailRecipientsMax,
  mailStates,
  mailSubjectMax,
} from "../../core/supplier/mail.ts";
import { withoutStorefront } from "../../core/goods/guard.ts";
import { linkPlace } from "../../core/supplier/mail-texts.ts";
import { type PurchaseOrder, statuses } from "../../core/order/purchase-order.ts";
import { decideStatus } from "../../core/order/status-move.ts";
import { supplierLinkMs } from "../../core/supplier/supplier-links.ts";
import type { QueuedEffect } from "../../shop/storefront/effects.ts";
import { hasMailDocuments, loadMail, type Mail, retryMailStatements } from "../../shop/supplier/mails.ts";
import { prolongedLinkStatements } from "../../shop/supplier/supplier-links.ts";
import type { Tx } from "../../store/store.ts";
import { instant, instantOrNull, instantSchema, pathId, shownId, text, textOfLines } from "../fields.ts";
import { type Call, type Committed, operation } from "../../requests/operation.ts";
import { askToSendDraft, contextOf, faults, orderToChange, path, saveFor, stampOf, write } from "./access.ts";
import { guard, type GuardFacts, guardFaults, resolutions } from "./goods/guard.ts";
import { purchaseOrderId } from "./json.ts";
import { mailIsOff, prepareMail, storeMail } from "./mail.ts";
import { type QueuedMail, type FollowedOrder, followOnShape, renderSideEffects } from "./side-effects.ts";
import { sentOrderInQuestion, warningsIn, warningsShape } from "./warnings.ts";

/** One address or several, without names and blanks, as mail is sent to them. */
const addresses = z
  .union([z.string(), z.array(z.string()).min(1).max(mailRecipientsMax)], {
    error: `must be an e-mail address, or an array of 1 to ${mailRecipientsMax}`,
  })
  .transform((given, context) =>
    (typeof given === "string" ? [given] : given).map((text, index) => {
      const address = /[\s<>]/.test(text) ? null : mailAddressFrom(text);
      if (address === null)
        context.addIssue({
          code: "custom",
          path: typeof given === "string" ? [] : [index],
          message: `must be an e-mail address like orders@supplier.example, at most ${addressLengthMax} characters, without a name`,
        });
      return address ?? text;
    }),
  );

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
    supplierLinkId: z.string().nullable().meta({ description: "The link to answer by that the message has." }),
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
  supplierLinkId: mail.content.link?.linkId ?? null,
  attempts: mail.attempts,
  detail: mail.detail,
  nextAttemptAt: instantOrNull(mail.dueAtMs),
  createdAt: instant(mail.createdAtMs),
  createdBy: mail.createdBy,
  settledAt: instantOrNull(mail.settledAtMs),
});

/** The order was changed while its document was made. */
class OrderChanged extends Error {}

/** Tries to make the document when the order is changed meanwhile. */
const documentAttemptsMax = 3;

const changedRetryAfterMs = 1_000;

const mailAnswerSchema = z.strictObject({ mail: mailSchema, ...followOnShape });

const sentSchema = z.strictObject({
  ...mailAnswerSchema.shape,
  transition: z
    .strictObject({ from: z.enum(statuses), to: z.enum(statuses) })
    .optional()
    .meta({ description: "The move that was made with it." }),
  ...warningsShape,
});

/** Other change that is saved with the mail. */
interface Beside<More> {
  readonly effects: readonly QueuedEffect[];
  /** Further members of the answer. */
  readonly more: More;
}

/** The answer with the mail as it stands after its first attempt. */
async function mailAnswer<More extends object>(
  tx: Tx,
  { shop: { shopId } }: Call,
  order: FollowedOrder,
  queued: QueuedMail,
  { effects, more }: Beside<More>,
): Promise<Committed<z.output<typeof mailAnswerSchema> & More>> {
  const load = (from: Tx): Promise<Mail | null> => loadMail(from, shopId, order.purchaseOrderId, queued.effectId);
  const stored = await load(tx);
  if (stored === null) throw new Error("a mail was not stored");
  const answered = (shown: Mail, outcomes: Parameters<typeof renderSideEffects>[1]) => ({
    data: { mail: mailJson(shown), ...renderSideEffects([...effects, queued], outcomes, { order }), ...more },
  });
  return {
    effects,
    mailIds: [queued.effectId],
    answer: (outcomes) => answered(stored, outcomes),
    async answerAfter(latestTx, outcomes) {
      const shown = await load(latestTx);
      return shown === null ? null : answered(shown, outcomes);
    },
  };
}

/** The move of a draft to Sent, which its mail makes: how it ends, and what the storefront said of its lines. */
interface Move {
  /** The order as the move will leave it. */
  readonly next: PurchaseOrder;
  readonly facts: GuardFacts;
}

/** The move that is asked for; null: the order stays where it is. @throws Fault what /status refuses. */
async function moveToSent(
  call: Call,
  order: PurchaseOrder,
  { isWanted, resolutions: sent }: { readonly isWanted: boolean; readonly resolutions: Parameters<typeof guard>[2] },
): Promise<Move | null> {
  if (!isWanted || order.status !== "Draft") return null;
  const { next } = decideStatus(order, "Sent", contextOf(call));
  return { next, facts: await guard(call, order.lineItems, sent) };
}

/** Saves the move with the mail, or the mail alone. */
async function saveSent(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  move: Move | null,
  mail: Parameters<typeof storeMail>[3],
): Promise<Committed<z.output<typeof sentSchema>>> {
  const alone = { effects: [], more: {} };
  if (move === null) await askToSendDraft(tx, call, order);
  if (move === null) return await mailAnswer(tx, call, order, await storeMail(tx, call, order, mail), alone);
  const decided = withoutStorefront(decideStatus(order, "Sent", contextOf(call)), move.facts.skippedVariantIds);
  const { next } = decided;
  const effects = await saveFor(tx, call, order, decided);
  const more = {
    transition: { from: order.status, to: next.status },
    ...(await warningsIn(tx, call, decided, { ...sentOrderInQuestion(next), olderVersion: null })),
  };
  return await mailAnswer(tx, call, next, await storeMail(tx, call, next, mail), { effects, more });
}

export const sendOrder = operation({
  ...write,
  name: "purchase_order_send",
  title: "Send an order by e-mail",
  summary: "Sends the order's document to the supplier by e-mail.",
  description:
    "Attaches the PDF of the order, and the CSV if asked. With moveToSent a draft is moved to Sent with it, by the same rules as on its own, and the PDF is that of the sent order; otherwise the status stays as it is. The answer waits a short time for the mail server; a mail that it does not take for now is tried again for 24 hours.",
  route: { method: "POST", path: `${path}/send` },
  success: 200,
  repeat: "adds-again",
  destructive: false,
  faults: [...faults, "RATE_LIMITED", ...guardFaults],
  input: z.strictObject({
    purchaseOrderId,
    to: addresses.optional().meta({ description: "An address or an array of them; left out: the supplier's." }),
    cc: addresses.optional().meta({ description: "An address or an array of them." }),
    subject: text(mailSubjectMax).optional().meta({ description: "Left out: one that names the order and the shop." }),
    message: textOfLines(mailMessageMax)
      .optional()
      .meta({ description: "Plain text; left out: a short one that names the order." }),
    attachCsv: z.boolean().optional().meta({ description: "Attach the CSV beside the PDF." }),
    supplierLink: z
      .boolean()
      .optional()
      .meta({
        description: `Put a link into the message by which the supplier sees the order and answers it, for 14 days: at ${linkPlace}, or at the end if the message has no ${linkPlace}.`,
      }),
    moveToSent: z.boolean().optional().meta({ description: "Move the order to Sent with it, if it is a Draft." }),
    resolutions: resolutions.optional(),
    documentSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, "must be a SHA-256 in 64 hexadecimal digits")
      .optional()
      .meta({
        description:
          "SHA-256 of the PDF that was previewed: with another one nothing is sent (412). Of a draft that moves, preview it with status=Sent.",
      }),
  }),
  output: sentSchema,
  async run(call, input) {
    // Before anything else: nothing that is sent would help.
    if (call.mailing.perHourMax === null) throw mailIsOff();
    const wishes = {
      to: input.to ?? null,
      cc: input.cc ?? [],
      subject: input.subject ?? null,
      message: input.message ?? null,
      attachCsv: input.attachCsv ?? false,
      supplierLink: input.supplierLink ?? false,
      documentSha256: input.documentSha256 ?? null,
      isAutomatic: false,
    };
    for (let attempts = 1; attempts <= documentAttemptsMax; attempts += 1)
      try {
        const seen = await call.read((tx) => orderToChange(tx, call, input.purchaseOrderId));
        const move = await moveToSent(call, seen, {
          isWanted: input.moveToSent ?? false,
          resolutions: input.resolutions ?? [],
        });
        const mail = await prepareMail(call, move?.next ?? seen, wishes, { isStored: move === null });
        return await call.commit(async (tx) => {
          const order = await orderToChange(tx, call, input.purchaseOrderId);
          const shown = move === null ? order.version : order.version + 1;
          if (shown !== mail.orderVersion) throw new OrderChanged();
          return await saveSent(tx, call, order, move, mail);
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
      const stamp = stampOf(call);
      const { link } = mail.content;
      await tx.batch([
        ...retryMailStatements(shopId, mail, stamp),
        ...(link === undefined
          ? []
          : await prolongedLinkStatements(tx, shopId, id, link.linkId, stamp.nowMs + supplierLinkMs)),
      ]);
      return await mailAnswer(tx, call, order, { effectId: mailId, kind: "send-mail" }, { effects: [], more: {} });
    });
  },
});
