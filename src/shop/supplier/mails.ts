/**
 * Mails to suppliers, and to people about approval requests and to sign in by (tables `mail`, `mail_document`; C49,
 * C63, C80). They are what is sent, to whom, and how that stands.
 *
 * Owns: their SQL. Does not own: what an attempt means (core/supplier/mail.ts), sending (mail/), what a mail says
 * (operations/purchase-orders/mail.ts, core/access/approval-mail.ts), those to people that wait
 * (shop/access/approval-mails.ts).
 *
 * The bytes of what is attached are kept until everybody has the mail, or it has failed for `failedMailKeptMs`.
 */
import type { MailedAsk } from "../../core/access/approval-mail.ts";
import type { EffectOutcome } from "../../core/order/effect.ts";
import type { Fields } from "../../core/order/purchase-order-fields.ts";
import { mailDueAheadMsMax, type MailRecipient, type MailStanding } from "../../core/supplier/mail.ts";
import { type Claims, unattempted } from "../../store/claims.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { DueRows, Tx } from "../../store/store.ts";
import { logStatement } from "../order/purchase-order-history.ts";
import { logged, type Stamp } from "../order/purchase-orders.ts";
import { type Change, type Row, changeOf, insert, update, remove, plus, above, textForm } from "../../store/change.ts";
import { columnList, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

/** Mails to attempt now, and claimed ones whose lease has ended: by these a node finds the shops that have any. */
export const dueMails: DueRows = {
  table: "mail",
  condition: `due_at is not null and (due_at <= ? or due_at > ? + ${mailDueAheadMsMax})`,
};

/** Mails that are given back may be sent again. */
export const mailClaims: Claims = {
  table: "mail",
  givenBack: "due_at = ?, lease_owner = null",
  among: "due_at is not null",
};

/** Text and documents of a mail. */
export interface MailContent {
  readonly fromName: string;
  /** Who is answered; null: the sender's own address. */
  readonly replyTo: string | null;
  /** A person has sent it, not the service by itself nor a program. */
  readonly isByPerson?: true;
  readonly subject: string;
  readonly text: string;
  /** The link of the supplier whose place in the text is filled in with each attempt; absent: there is none. */
  readonly link?: MailedLink;
  /** Whom it tells of which approval requests; absent: it is of an order. */
  readonly approvals?: { readonly name: string; readonly asks: readonly MailedAsk[] };
  /** The link to sign in by, whose place in the text is filled in with each attempt; absent: there is none. */
  readonly signIn?: MailedLink;
}

/** A link that a mail has. Its secret is in no row. */
interface MailedLink {
  readonly linkId: string;
  /** Where the service is reached: `https://openpo.example.com`. */
  readonly baseUrl: string;
}

/** A document that a mail attaches, without its bytes. */
interface MailDocument {
  readonly fileName: string;
  readonly contentType: string;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A mail as it is shown. */
export interface Mail extends MailStanding {
  readonly mailId: string;
  readonly purchaseOrderId: string;
  readonly content: MailContent;
  readonly documents: readonly MailDocument[];
  /** Of the order that the documents show. */
  readonly orderVersion: number;
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly createdBy: string | null;
  readonly settledAtMs: number | null;
}

/** A mail that is asked for. */
export type NewMail = Pick<Mail, "mailId" | "purchaseOrderId" | "recipients" | "content" | "orderVersion"> & {
  readonly documents: readonly (MailDocument & { readonly bytes: Uint8Array })[];
};

const mailFields = {
  mailId: { kind: "text" },
  purchaseOrderId: { kind: "text" },
  state: { kind: "text" },
  orderVersion: { kind: "integer" },
  attempts: { kind: "integer" },
  detail: { kind: "text", empty: null },
  dueAtMs: { kind: "instant", empty: null },
  createdAtMs: { kind: "instant" },
  createdBy: { kind: "text", empty: null },
  settledAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

const mailColumns = `${columnList(mailFields)}, recipients, content, documents`;

const mailFieldsFrom = recordReader<Omit<Mail, "recipients" | "content" | "documents">>(mailFields);

type MailRow = Row & { readonly recipients: string; readonly content: string; readonly documents: string };

function mailFrom(row: MailRow): Mail {
  // Only this module writes them.
  const recipients: readonly MailRecipient[] = JSON.parse(row.recipients);
  const content: MailContent = JSON.parse(row.content);
  const documents: readonly MailDocument[] = JSON.parse(row.documents);
  return { ...mailFieldsFrom(row), recipients, content, documents };
}

/** A mail in the queue. */
type QueuedMail = Pick<
  Mail,
  | "mailId"
  | "purchaseOrderId"
  | "recipients"
  | "content"
  | "documents"
  | "orderVersion"
  | "attempts"
  | "createdAtMs"
  | "createdBy"
> & {
  readonly personId: string | null;
  readonly signInLinkId?: string;
  /** Since when it is tried. */
  readonly sinceMs: number;
  readonly dueAtMs: number;
  readonly traceparent: string | null;
};

/** Stores a mail that is not sent yet. */
export const queueStatement = (shopId: string, mail: QueuedMail): Change =>
  insert(tables.mail, shopId, {
    mail_id: mail.mailId,
    purchase_order_id: mail.purchaseOrderId,
    person_id: mail.personId,
    sign_in_link_id: mail.signInLinkId ?? null,
    state: "queued",
    recipients: JSON.stringify(mail.recipients),
    content: JSON.stringify(mail.content),
    documents: JSON.stringify(
      mail.documents.map(({ fileName, contentType, sha256, sizeBytes }) => ({
        fileName,
        contentType,
        sha256,
        sizeBytes,
      })),
    ),
    order_version: mail.orderVersion,
    attempts: mail.attempts,
    detail: null,
    since_at: mail.sinceMs,
    due_at: mail.dueAtMs,
    lease_owner: null,
    created_at: mail.createdAtMs,
    created_by: mail.createdBy,
    settled_at: null,
    traceparent: mail.traceparent,
  });

/** Stores a mail that is due at once, and the entry in the order's log that tells of it. */
export function mailStatements(
  shopId: string,
  mail: NewMail,
  createdBy: string | null,
  stamp: Stamp,
): readonly Change[] {
  const { mailId, purchaseOrderId, documents } = mail;
  const { nowMs } = stamp;
  return [
    queueStatement(shopId, {
      ...mail,
      personId: null,
      attempts: 0,
      sinceMs: nowMs,
      dueAtMs: nowMs,
      createdAtMs: nowMs,
      createdBy,
      traceparent: stamp.traceparent ?? null,
    }),
    ...documents.map(({ bytes }, position) =>
      insert(tables.mail_document, shopId, {
        mail_id: mailId,
        position,
        bytes: Buffer.from(bytes).toString("base64"),
      }),
    ),
    mailLogStatement(shopId, purchaseOrderId, mailMessage(mail), stamp),
  ];
}

/** An entry of the order's log about a mail. */
const mailLogStatement = (shopId: string, purchaseOrderId: string, message: string, stamp: Stamp): Change =>
  logStatement(shopId, purchaseOrderId, logged({ action: "email", message, changes: [] }, stamp));

const addressesOf = (recipients: readonly MailRecipient[], role: MailRecipient["role"]): string =>
  recipients.flatMap((recipient) => (recipient.role === role ? [recipient.address] : [])).join(", ");

function mailMessage({ recipients, documents, orderVersion, content }: NewMail): string {
  const cc = addressesOf(recipients, "cc");
  const attached = documents.map(({ fileName, sha256 }) => `${fileName} (SHA-256 ${sha256})`).join(", ");
  return `E-mail to ${addressesOf(recipients, "to")}${cc === "" ? "" : `, copy to ${cc}`}, with ${attached} of version ${orderVersion}${content.link === undefined ? "" : " and a link to answer by"}.`;
}

/**
 * When the shop's mails since an instant were asked for, oldest first. Those to sign in by have bounds of their own.
 */
export async function mailTimesSince(tx: Tx, shopId: string, sinceMs: number): Promise<readonly number[]> {
  const rows = await tx.all<{ created_at: number }>(
    "select created_at from mail where shop_id = ? and created_at > ? and sign_in_link_id is null order by created_at",
    [shopId, sinceMs],
  );
  return rows.map((row) => row.created_at);
}

/** Mails of an order that are listed. */
const listedMax = 50;

/** The order's mails, newest first, at most `listedMax`, and how many there are. */
export async function listMails(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<{ readonly mails: readonly Mail[]; readonly totalCount: number }> {
  const [rows, [count]] = await Promise.all([
    tx.all<MailRow>(
      `select ${mailColumns} from mail where shop_id = ? and purchase_order_id = ? order by mail_id desc limit ?`,
      [shopId, purchaseOrderId, listedMax],
    ),
    tx.all<{ n: number }>("select count(*) as n from mail where shop_id = ? and purchase_order_id = ?", [
      shopId,
      purchaseOrderId,
    ]),
  ]);
  return { mails: rows.map(mailFrom), totalCount: count?.n ?? 0 };
}

/**
 * The latest mail that somebody has, or may still get, of a version of the order before this one; null: there is none.
 */
export async function mailedBefore(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  version: number,
): Promise<Pick<Mail, "orderVersion" | "createdAtMs"> | null> {
  const rows = await tx.all<{
    readonly order_version: number;
    readonly created_at: number;
    readonly recipients: string;
  }>(
    `select order_version, created_at, recipients from mail
     where shop_id = ? and purchase_order_id = ? and order_version < ? order by order_version desc, mail_id desc limit ?`,
    [shopId, purchaseOrderId, version, listedMax],
  );
  const row = rows.find(({ recipients: text }) => {
    const recipients: readonly MailRecipient[] = JSON.parse(text);
    return recipients.some(({ state }) => state !== "refused");
  });
  return row === undefined ? null : { orderVersion: row.order_version, createdAtMs: row.created_at };
}

/** The failed mail of an order that reads Sent. */
interface FailedMail {
  readonly mailId: string;
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly supplierName: string | null;
  readonly detail: string | null;
  readonly settledAtMs: number;
}

/** Orders that read Sent while the latest mail of theirs has failed since an instant, the latest first. */
export async function failedMails(
  tx: Tx,
  shopId: string,
  sinceMs: number,
  limit: number,
): Promise<readonly FailedMail[]> {
  const rows = await tx.all<{
    readonly mail_id: string;
    readonly purchase_order_id: string;
    readonly po_number: string;
    readonly supplier_name: string | null;
    readonly detail: string | null;
    readonly settled_at: number;
  }>(
    `select m.mail_id, m.purchase_order_id, o.po_number, s.name as supplier_name, m.detail, m.settled_at
     from mail m
     join purchase_order o on o.shop_id = m.shop_id and o.purchase_order_id = m.purchase_order_id and o.deleted_at is null
     left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
     where m.shop_id = ? and m.state = 'failed' and m.settled_at > ? and o.status = 'Sent' and not exists (
       select 1 from mail n
       where n.shop_id = m.shop_id and n.purchase_order_id = m.purchase_order_id and n.mail_id > m.mail_id
     )
     order by m.settled_at desc limit ?`,
    [shopId, sinceMs, limit],
  );
  return rows.map((row) => ({
    mailId: row.mail_id,
    purchaseOrderId: row.purchase_order_id,
    poNumber: row.po_number,
    supplierName: row.supplier_name,
    detail: row.detail,
    settledAtMs: row.settled_at,
  }));
}

/** The mail; null when the order has none of this id. */
export async function loadMail(tx: Tx, shopId: string, purchaseOrderId: string, mailId: string): Promise<Mail | null> {
  const [row] = await tx.all<MailRow>(
    `select ${mailColumns} from mail where shop_id = ? and purchase_order_id = ? and mail_id = ?`,
    [shopId, purchaseOrderId, mailId],
  );
  return row === undefined ? null : mailFrom(row);
}

/** True if the documents that the mail attaches are still kept. */
export async function hasMailDocuments(tx: Tx, shopId: string, mailId: string): Promise<boolean> {
  const rows = await tx.all("select 1 as found from mail_document where shop_id = ? and mail_id = ? limit 1", [
    shopId,
    mailId,
  ]);
  return rows.length > 0;
}

/** Tries a failed mail again from now on, for those who do not have it, and says so in the order's log. */
export const retryMailStatements = (
  shopId: string,
  { mailId, purchaseOrderId, recipients }: Mail,
  stamp: Stamp,
): readonly Change[] => {
  const again = recipients.map((each): MailRecipient =>
    each.state === "sent" ? each : { ...each, state: "pending", detail: null },
  );
  return [
    update(
      tables.mail,
      shopId,
      { mail_id: mailId, state: "failed" },
      {
        state: "queued",
        attempts: 0,
        recipients: JSON.stringify(again),
        detail: null,
        since_at: stamp.nowMs,
        due_at: stamp.nowMs,
        settled_at: null,
      },
    ),
    mailLogStatement(shopId, purchaseOrderId, "The e-mail that failed is sent again.", stamp),
  ];
};

// Sending.

/** A mail that this process has to itself until its lease ends. */
export interface ClaimedMail {
  readonly mailId: string;
  /** Empty: it is of no order. */
  readonly purchaseOrderId: string;
  readonly recipients: readonly MailRecipient[];
  readonly content: MailContent;
  readonly documents: readonly MailDocument[];
  /** The bytes of `documents`, in the same order. */
  readonly attached: readonly Uint8Array[];
  /** Attempts, the one that begins now included. */
  readonly attempts: number;
  readonly sinceMs: number;
  readonly traceparent: string | null;
}

/** Mails that a shop has to send. */
export interface MailsDue {
  /** Number of mails that are queued or being sent. */
  readonly queued: number;
  /** When the next one is due; null when none is queued. One that is leased counts with the end of its lease. */
  readonly nextDueAtMs: number | null;
}

/** Returns the mails that the shop has to send. */
export async function mailsDue(tx: Tx, shopId: string): Promise<MailsDue> {
  const [row] = await tx.all<{ n: number; due: number | null }>(
    "select count(*) as n, min(due_at) as due from mail where shop_id = ? and due_at is not null",
    [shopId],
  );
  return { queued: row?.n ?? 0, nextDueAtMs: row?.due ?? null };
}

/** Takes the mail that has been due for the longest time; null when none is due. */
export async function claimMail(
  tx: Tx,
  shopId: string,
  { owner, nowMs, leasedUntilMs }: { readonly owner: string; readonly nowMs: number; readonly leasedUntilMs: number },
): Promise<ClaimedMail | null> {
  const [row] = await tx.all<MailRow & { readonly since_at: number; readonly traceparent: string | null }>(
    `select ${mailColumns}, since_at, traceparent from mail
     where shop_id = ? and due_at <= ? order by due_at, mail_id limit 1`,
    [shopId, nowMs],
  );
  if (row === undefined) return null;
  const { mailId, purchaseOrderId, recipients, content, documents, attempts } = mailFrom(row);
  const [attached] = await Promise.all([
    tx.all<{ bytes: string }>("select bytes from mail_document where shop_id = ? and mail_id = ? order by position", [
      shopId,
      mailId,
    ]),
    tx.batch([
      update(
        tables.mail,
        shopId,
        { mail_id: mailId },
        { attempts: plus(1), due_at: leasedUntilMs, lease_owner: owner },
      ),
    ]),
  ]);
  return {
    mailId,
    purchaseOrderId,
    recipients,
    content,
    documents,
    attached: attached.map(({ bytes }) => Buffer.from(bytes, "base64")),
    attempts: attempts + 1,
    sinceMs: row.since_at,
    traceparent: row.traceparent,
  };
}

/**
 * Records what an attempt has brought, if this process still has the mail. A mail that is over is told of in the
 * order's log; one about approval requests only where it has failed. One to sign in by leaves nothing.
 *
 * @returns whether it was recorded.
 */
export async function recordMail(
  tx: Tx,
  shopId: string,
  owner: string,
  { mailId, purchaseOrderId, content }: Pick<ClaimedMail, "mailId" | "purchaseOrderId" | "content">,
  { state, recipients, detail, dueAtMs }: MailStanding,
  stamp: Stamp,
): Promise<boolean> {
  const [held] = await tx.all<{ found: number }>(
    "select 1 as found from mail where shop_id = ? and mail_id = ? and lease_owner = ?",
    [shopId, mailId, owner],
  );
  if (held === undefined) return false;
  const isOver = dueAtMs === null;
  const { approvals, signIn } = content;
  if (isOver && signIn !== undefined) {
    await tx.batch([dropMailStatement(shopId, owner, mailId)]);
    return true;
  }
  await tx.batch([
    update(
      tables.mail,
      shopId,
      { mail_id: mailId },
      {
        state,
        recipients: JSON.stringify(recipients),
        detail,
        due_at: dueAtMs,
        lease_owner: null,
        settled_at: isOver ? stamp.nowMs : null,
      },
    ),
    ...(state === "sent" ? [dropDocuments(shopId, mailId)] : []),
    ...(isOver && approvals === undefined
      ? [mailLogStatement(shopId, purchaseOrderId, overMessage(state, recipients, detail), stamp)]
      : []),
    ...(state === "failed" && approvals !== undefined ? approvalMailFailed(shopId, approvals, detail, stamp) : []),
  ]);
  return true;
}

const dropDocuments = (shopId: string, mailId: string): Change =>
  remove(tables.mail_document, shopId, { mail_id: mailId });

const overMessage = (state: Mail["state"], recipients: readonly MailRecipient[], detail: string | null): string =>
  state === "sent"
    ? `The mail server has taken the e-mail to ${recipients.map(({ address }) => address).join(", ")}.`
    : `The e-mail failed: ${detail ?? "no reason was given"}.`;

/** Entries in the logs of the orders that a failed mail about approval requests was about. */
function approvalMailFailed(
  shopId: string,
  { name, asks }: NonNullable<MailContent["approvals"]>,
  detail: string | null,
  stamp: Stamp,
): readonly Change[] {
  const message = `The e-mail to ${name} about an approval failed: ${detail ?? "no reason was given"}.`;
  const orderIds = new Set(asks.flatMap(({ purchaseOrderId }) => purchaseOrderId ?? []));
  return [...orderIds].map((orderId) => mailLogStatement(shopId, orderId, message, stamp));
}

/** Deletes a mail that this process has. */
export const dropMailStatement = (shopId: string, owner: string, mailId: string): Change =>
  remove(tables.mail, shopId, { mail_id: mailId, lease_owner: owner });

/** Gives a mail back that was not sent; the attempt does not count. */
export const giveBackMailStatement = (shopId: string, owner: string, mailId: string, nowMs: number): Change =>
  update(tables.mail, shopId, { mail_id: mailId, lease_owner: owner }, unattempted(nowMs));

/** Makes due what is due after `untilMs` only. */
export const mailsDueNowStatement = (shopId: string, untilMs: number, nowMs: number): Change =>
  update(tables.mail, shopId, { due_at: above(untilMs) }, { due_at: nowMs, lease_owner: null });

/** Drops what mails would attach that failed at `untilMs` or before. */
export const sweepMailDocuments = (shopId: string, untilMs: number): Change =>
  changeOf(sweepDocuments, [shopId, shopId, untilMs]);

const sweepDocuments = textForm(
  tables.mail_document,
  `delete from mail_document where shop_id = ? and mail_id in
     (select mail_id from mail where shop_id = ? and state = 'failed' and settled_at <= ?)`,
  ["shop_id", null, null],
);

/** Returns the states of these mails. `isAttempted`: nothing more comes of waiting, as an attempt has been recorded. */
export async function loadMailStandings(
  tx: Tx,
  shopId: string,
  mailIds: readonly string[],
): Promise<readonly { readonly mailId: string; readonly outcome: EffectOutcome; readonly isAttempted: boolean }[]> {
  const rows = await selectIn<{
    readonly mail_id: string;
    readonly state: Mail["state"];
    readonly attempts: number;
    readonly detail: string | null;
    readonly lease_owner: string | null;
  }>(
    tx,
    "select mail_id, state, attempts, detail, lease_owner from mail where shop_id = ? and mail_id in (?)",
    [shopId],
    mailIds,
  );
  return rows.map(({ mail_id: mailId, state, attempts, detail, lease_owner: owner }) => ({
    mailId,
    outcome: outcomeOf(state, detail),
    isAttempted: owner === null && (attempts > 0 || state !== "queued"),
  }));
}

function outcomeOf(state: Mail["state"], detail: string | null): EffectOutcome {
  switch (state) {
    case "queued":
      return { state: "pending" };
    case "sent":
      return { state: "applied", itemCount: 1 };
    case "failed":
      return { state: "failed", detail: detail ?? "", itemCount: 0 };
  }
}
