/**
 * Mails to the people who may decide a request (C80), stored with it. Each request is in one mail to each of them. A
 * person gets one at most each `approvalMailEveryMs`, with all that came meanwhile and is not decided yet.
 *
 * Does not own: who they are and what it says (core/access/approval-mail.ts), the rows (shop/access/approval-mails.ts),
 * sending (mail/).
 */
import {
  approvalMailEveryMs,
  approvalMailText,
  askInWords,
  type MailedAsk,
  mailedApprovers,
} from "../../core/access/approval-mail.ts";
import type { Language } from "../../base/text/language.ts";
import { mailWindowMs } from "../../core/supplier/mail.ts";
import {
  type ApprovalMailContent,
  forgetStatement,
  mailedSince,
  rewordStatement,
  takeBackStatements,
  waitingApprovalMails,
  waitStatement,
} from "../../shop/access/approval-mails.ts";
import { type ApprovalRequest, approvalRequestsKeptMs, askerOf } from "../../shop/access/approval-requests.ts";
import { listPeople } from "../../shop/access/people.ts";
import { loadDocumentSettings } from "../../shop/supplier/document-settings.ts";
import { mailTimesSince } from "../../shop/supplier/mails.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { Call } from "../operation.ts";

/** Surroundings of the texts. */
const wordedFor = ({ shop }: Call, language: Language) => ({ ...shop, shopName: shop.name, language });

function contentOf(call: Call, language: Language, approvals: ApprovalMailContent["approvals"]): ApprovalMailContent {
  const { name, asks } = approvals;
  return {
    fromName: call.shop.name,
    replyTo: null,
    // An address by which an agent has asked is no link for people.
    ...approvalMailText(name, asks, wordedFor(call, language), call.mailing.publicUrl),
    approvals,
  };
}

/** Mails of a new request: to whom none is due, one at once; else it joins what waits for them. */
export async function approverMailStatements(
  tx: Tx,
  call: Call,
  request: ApprovalRequest,
): Promise<readonly Statement[]> {
  const { shop, mailing, clock, ids, traceparent } = call;
  const { shopId } = shop;
  if (!shop.approvalMails || mailing.perHourMax === null) return [];
  const nowMs = clock.now();
  const [asker, people, settings] = await Promise.all([
    askerOf(tx, shopId, request),
    listPeople(tx, shopId),
    loadDocumentSettings(tx, shopId),
  ]);
  const { requestedBy: actor, causes } = request;
  const approvers = mailedApprovers(people, { actor, personId: asker.personId }, causes, shop);
  if (approvers.length === 0) return [];
  const personIds = approvers.map(({ personId }) => personId);
  const [waiting, mailed, hour] = await Promise.all([
    waitingApprovalMails(tx, shopId),
    mailedSince(tx, shopId, personIds, nowMs - approvalMailEveryMs),
    mailTimesSince(tx, shopId, nowMs - mailWindowMs),
  ]);
  const inNameOf = people.find(({ personId }) => personId === asker.personId)?.name ?? null;
  // Half of the shop's mails of an hour is left to suppliers.
  const times = [...hour];
  const room = Math.ceil(mailing.perHourMax / 2);
  const roomFromMs = (): number => (times[times.length - room] ?? nowMs - mailWindowMs) + mailWindowMs;
  return [
    forgetStatement(shopId, nowMs - approvalRequestsKeptMs),
    ...approvers.flatMap(({ personId, name, address, language: chosen }) => {
      const language = chosen ?? settings.language;
      const ask = askInWords(request, inNameOf, wordedFor(call, language));
      const joined = waiting.filter((mail) => mail.personId === personId && !mail.mayHaveArrived);
      const [first] = joined;
      const attempts = Math.max(0, ...joined.map((mail) => mail.attempts));
      const asks: readonly MailedAsk[] = [...joined.flatMap(({ content }) => content.approvals.asks), ask];
      const nextAtMs = Math.min((mailed.get(personId) ?? 0) + approvalMailEveryMs, nowMs + approvalMailEveryMs);
      const dueAtMs = first?.dueAtMs ?? Math.max(nowMs, nextAtMs, roomFromMs());
      if (first === undefined) times.push(nowMs);
      const mail = {
        // An attempt whose answer was lost may have arrived: what is added must not pass for the same mail.
        mailId: ids.next("mail"),
        personId,
        content: contentOf(call, language, { name, asks }),
        attempts,
        sinceMs: attempts === 0 ? (first?.sinceMs ?? dueAtMs) : nowMs,
        dueAtMs,
      };
      return [...takeBackStatements(shopId, joined), waitStatement(shopId, mail, address, { nowMs, traceparent })];
    }),
  ];
}

/** Takes a request that was decided out of the mails that wait. */
export async function unmailedStatements(tx: Tx, call: Call, approvalRequestId: string): Promise<readonly Statement[]> {
  const { shopId } = call.shop;
  const about = (asks: readonly MailedAsk[]) => asks.some((ask) => ask.approvalRequestId === approvalRequestId);
  const waiting = (await waitingApprovalMails(tx, shopId)).filter(({ content }) => about(content.approvals.asks));
  if (waiting.length === 0) return [];
  const [people, settings] = await Promise.all([listPeople(tx, shopId), loadDocumentSettings(tx, shopId)]);
  return waiting.flatMap((mail) => {
    const { name, asks } = mail.content.approvals;
    const rest = asks.filter((ask) => ask.approvalRequestId !== approvalRequestId);
    const language = people.find(({ personId }) => personId === mail.personId)?.language ?? settings.language;
    return rest.length === 0
      ? takeBackStatements(shopId, [mail])
      : [rewordStatement(shopId, mail.mailId, contentOf(call, language, { name, asks: rest }))];
  });
}
