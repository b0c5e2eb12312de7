/**
 * Mails to people about approval requests (table `mail`, rows with a person; C80): those that wait to be sent.
 *
 * Owns: their SQL. Does not own: what they say and how often one comes (core/access/approval-mail.ts), the rows as they
 * are sent (shop/supplier/mails.ts).
 */
import type { MailedAsk } from "../../core/access/approval-mail.ts";
import { above, below, type Change, not, remove, update } from "../../store/change.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { type MailContent, queueStatement } from "../supplier/mails.ts";
import { tables } from "../tables.ts";

/** A mail that waits, and that no process is sending. */
interface WaitingMail {
  readonly mailId: string;
  readonly personId: string;
  readonly content: ApprovalMailContent;
  readonly attempts: number;
  /** The process that has attempted it last has stopped, and has not recorded what came of it. */
  readonly mayHaveArrived: boolean;
  readonly sinceMs: number;
  readonly dueAtMs: number;
}

/** Text of a mail, whom it is for, and the requests that it is about. */
export interface ApprovalMailContent extends MailContent {
  readonly approvals: { readonly name: string; readonly asks: readonly MailedAsk[] };
}

/** Mails about approval requests that wait, oldest first. */
export async function waitingApprovalMails(tx: Tx, shopId: string): Promise<readonly WaitingMail[]> {
  const rows = await tx.all<{
    readonly mail_id: string;
    readonly person_id: string;
    readonly content: string;
    readonly attempts: number;
    readonly detail: string | null;
    readonly since_at: number;
    readonly due_at: number;
  }>(
    `select mail_id, person_id, content, attempts, detail, since_at, due_at from mail
     where shop_id = ? and due_at is not null and person_id is not null and sign_in_link_id is null
       and lease_owner is null order by mail_id`,
    [shopId],
  );
  return rows.map((row) => {
    // Only `waitStatement` writes them.
    const content: ApprovalMailContent = JSON.parse(row.content);
    return {
      mailId: row.mail_id,
      personId: row.person_id,
      content,
      attempts: row.attempts,
      mayHaveArrived: row.attempts > 0 && row.detail === null,
      sinceMs: row.since_at,
      dueAtMs: row.due_at,
    };
  });
}

/** When the latest mail to each of these people since an instant was first due; who had none is left out. */
export async function mailedSince(
  tx: Tx,
  shopId: string,
  personIds: readonly string[],
  sinceMs: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await selectIn<{ readonly person_id: string; readonly since_at: number }>(
    tx,
    `select person_id, since_at from mail
     where shop_id = ? and since_at > ? and sign_in_link_id is null and person_id in (?)`,
    [shopId, sinceMs],
    personIds,
  );
  const latest = new Map<string, number>();
  for (const { person_id: personId, since_at: atMs } of rows)
    latest.set(personId, Math.max(atMs, latest.get(personId) ?? 0));
  return latest;
}

/** Stores a mail that waits. */
export const waitStatement = (
  shopId: string,
  { mailId, personId, content, attempts, sinceMs, dueAtMs }: Omit<WaitingMail, "mayHaveArrived">,
  address: string,
  { nowMs, traceparent }: { readonly nowMs: number; readonly traceparent: string | null },
): Change =>
  queueStatement(shopId, {
    mailId,
    purchaseOrderId: "",
    personId,
    recipients: [{ address, role: "to", state: "pending", detail: null }],
    content,
    documents: [],
    orderVersion: 0,
    attempts,
    sinceMs,
    dueAtMs,
    createdAtMs: nowMs,
    createdBy: null,
    traceparent,
  });

/** Gives a mail that waits another text. */
export const rewordStatement = (shopId: string, mailId: string, content: ApprovalMailContent): Change =>
  update(tables.mail, shopId, { mail_id: mailId }, { content: JSON.stringify(content) });

/** Takes back mails that wait. */
export const takeBackStatements = (shopId: string, mails: readonly WaitingMail[]): readonly Change[] =>
  mails.map(({ mailId }) => remove(tables.mail, shopId, { mail_id: mailId }));

/** Takes back what waits for a person. */
export const takeBackOfPerson = (shopId: string, personId: string): Change =>
  remove(tables.mail, shopId, { person_id: personId, due_at: above(0), lease_owner: null });

/** Deletes mails to people that are older. */
export const forgetStatement = (shopId: string, beforeMs: number): Change =>
  remove(tables.mail, shopId, { person_id: not(null), created_at: below(beforeMs) });
