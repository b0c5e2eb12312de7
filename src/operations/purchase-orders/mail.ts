/**
 * Mailing an order to its supplier (C63). The request is checked and its documents are made before the change. The mail
 * is stored with the change, and the sender of mails does the rest.
 *
 * Owns: whom a mail goes to, what it says where nobody says it, the shop's limit. Does not own: the documents
 * (documents/), the rows (shop/supplier/mails.ts), sending (mail/).
 */
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import {
  mailAddressesFrom,
  mailAddressFrom,
  mailAttachedBytesMax,
  type MailRecipient,
  mailRecipientsMax,
  mailWindowMs,
} from "../../core/supplier/mail.ts";
import {
  defaultMailMessage,
  defaultMailSubject,
  type ReplacedVersion,
  withLinkPlace,
} from "../../core/supplier/mail-texts.ts";
import type { PurchaseOrder } from "../../core/order/purchase-order.ts";
import { loadSupplierEmail } from "../../shop/catalogue/catalogue.ts";
import { loadDocumentSettings } from "../../shop/supplier/document-settings.ts";
import { mailedBefore, mailStatements, mailTimesSince, type NewMail } from "../../shop/supplier/mails.ts";
import { findPerson } from "../../shop/access/people.ts";
import { sentDocumentStatement } from "../../shop/order/purchase-order-attachments.ts";
import type { Tx } from "../../store/store.ts";
import type { Call, SentDocument } from "../../requests/operation.ts";
import { type MailOfChange, stampOf } from "./access.ts";
import type { QueuedMail } from "./side-effects.ts";
import { addSupplierLink } from "./supplier-link.ts";

/** Caller's choices for a mail. */
interface MailWishes {
  /** Null: the supplier's address. */
  readonly to: readonly string[] | null;
  readonly cc: readonly string[];
  /** Null: one that names the order and the shop. */
  readonly subject: string | null;
  readonly message: string | null;
  readonly attachCsv: boolean;
  /** The message has a link by which the supplier answers. */
  readonly supplierLink: boolean;
  /** Of the PDF that was looked at before; null: none was. */
  readonly documentSha256: string | null;
  /** The service sends it by itself, with a move. */
  readonly isAutomatic: boolean;
}

/** Default choices for a mail, beside its link. */
const noWishes: Omit<MailWishes, "supplierLink"> = {
  to: null,
  cc: [],
  subject: null,
  message: null,
  attachCsv: false,
  documentSha256: null,
  isAutomatic: true,
};

/** Returns the refusal where no mail can be sent, with the way out. */
export const mailIsOff = (): Fault =>
  new Fault("INVALID_INPUT", "This service sends no e-mail: OPENPO_SMTP_URL and OPENPO_MAIL_FROM are not set.", {
    action:
      "The operator sets both and starts the service again. Until then download the document and send it yourself.",
  });

/**
 * Makes the mail of the order, with its documents.
 *
 * @param order as the documents shall show it.
 * @param isStored the order is stored like that; otherwise it will be, with the change that asks for the mail.
 * @throws Fault INVALID_INPUT  no mail can be sent, there is nobody to send it to, or the documents cannot be made.
 * @throws Fault INVALID_INPUT (412) VERSION_MISMATCH  the PDF is not the one that was looked at.
 * @throws Fault FORBIDDEN_SCOPE somebody signed in by a key, and it is not for the supplier alone.
 */
export async function prepareMail(
  call: Call,
  order: PurchaseOrder,
  wishes: MailWishes,
  { isStored }: { readonly isStored: boolean },
): Promise<NewMail> {
  const { shop, actor, mailing } = call;
  if (mailing.perHourMax === null) throw mailIsOff();
  const [supplierEmail, person, { language }] = await call.read((tx) =>
    Promise.all([
      order.supplierId === null ? null : loadSupplierEmail(tx, shop.shopId, order.supplierId),
      actor.type !== "user" || actor.id === null ? null : findPerson(tx, shop.shopId, actor.id),
      loadDocumentSettings(tx, shop.shopId),
    ]),
  );
  const recipients = recipientsOf(wishes, supplierEmail);
  if ((actor.keyId ?? null) !== null) requireSupplier(recipients, supplierEmail);
  const next = isStored ? null : order;
  const kinds = wishes.attachCsv ? (["pdf", "csv"] as const) : (["pdf"] as const);
  const made = await Promise.all(
    kinds.map((kind) => mailing.documentOf(shop.shopId, order.purchaseOrderId, kind, next)),
  );
  const [pdf] = made;
  if (wishes.documentSha256 !== null && pdf?.sha256 !== wishes.documentSha256.toLowerCase())
    throw new Fault("INVALID_INPUT", "The order's document is no longer the one that was previewed.", {
      reason: "VERSION_MISMATCH",
      action: "Look at the document again, and send its SHA-256 as documentSha256.",
    });
  requireSize(made);
  const replyTo = shop.replyTo ?? person?.email ?? null;
  const orderVersion = pdf?.orderVersion ?? order.version;
  const mailed = await call.read((tx) => mailedBefore(tx, shop.shopId, order.purchaseOrderId, orderVersion));
  const named = { poNumber: order.poNumber, shopName: shop.name, language };
  const { supplierLink: hasLink } = wishes;
  const text = wishes.message ?? defaultMailMessage(named, hasLink);
  return {
    mailId: call.ids.next("mail"),
    purchaseOrderId: order.purchaseOrderId,
    orderVersion,
    recipients,
    content: {
      fromName: shop.name,
      replyTo: replyTo === null ? null : mailAddressFrom(replyTo),
      ...(wishes.isAutomatic ? {} : { isByPerson: true as const }),
      subject: wishes.subject ?? defaultMailSubject(named, replacedVersion(shop.timezone, mailed)),
      text: hasLink ? withLinkPlace(text, language) : text,
      ...(hasLink ? { link: { linkId: call.ids.next("slk"), baseUrl: baseUrlOf(call) } } : {}),
    },
    documents: made.map(({ fileName, contentType, sha256, bytes }) => ({
      fileName,
      contentType,
      sha256,
      sizeBytes: bytes.length,
      bytes,
    })),
  };
}

/** The version that a mail replaces, with its day in the shop's zone. */
export const replacedVersion = (
  timezone: string,
  mailed: Awaited<ReturnType<typeof mailedBefore>>,
): ReplacedVersion | null =>
  mailed === null ? null : { version: mailed.orderVersion, day: dateOf(dayIn(timezone, mailed.createdAtMs)) };

/** Where suppliers reach the service. @throws Fault INVALID_INPUT where that is not known. */
function baseUrlOf({ baseUrl: requestUrl, mailing }: Call): string {
  const baseUrl = mailing.publicUrl ?? requestUrl;
  if (baseUrl === null) throw invalidField("/supplierLink", "cannot be made here: the service's address is not known");
  return baseUrl;
}

function requireSize(documents: readonly SentDocument[]): void {
  const bytes = documents.reduce((sum, document) => sum + document.bytes.length, 0);
  if (bytes > mailAttachedBytesMax)
    throw new Fault(
      "INVALID_INPUT",
      `The documents have ${bytes} bytes; a mail carries at most ${mailAttachedBytesMax}.`,
      {
        action: "Download them and send them another way.",
      },
    );
}

/** Whom it goes to, each address once. @throws Fault INVALID_INPUT when that is nobody, or too many. */
function recipientsOf({ to, cc }: MailWishes, supplierEmail: string | null): readonly MailRecipient[] {
  if (to === null && supplierEmail === null)
    throw invalidField("/to", "is needed: the order's supplier has no e-mail address", "Send `to`.");
  // From before addresses were checked where they come in.
  const known = mailAddressesFrom(supplierEmail ?? "");
  if (to === null && known.wrong !== null)
    throw invalidField("/to", "is needed: what the supplier has as e-mail is no address", "Send `to`.");
  const found = new Map<string, MailRecipient>();
  const add = (address: string, role: MailRecipient["role"]): void => {
    const same = address.toLowerCase();
    if (!found.has(same)) found.set(same, { address, role, state: "pending", detail: null });
  };
  for (const address of to ?? known.addresses) add(address, "to");
  for (const address of cc) add(address, "cc");
  if (found.size > mailRecipientsMax)
    throw invalidField(
      "/cc",
      `to and cc together have ${found.size} addresses; at most ${mailRecipientsMax} are allowed`,
    );
  return [...found.values()];
}

/**
 * Holds a mail of somebody who signed in by a key to the supplier's addresses. A program could have signed in so.
 *
 * @throws Fault FORBIDDEN_SCOPE when it has another one.
 */
function requireSupplier(recipients: readonly MailRecipient[], supplierEmail: string | null): void {
  const known = new Set(mailAddressesFrom(supplierEmail ?? "").addresses.map((address) => address.toLowerCase()));
  const other = recipients.find(({ address }) => !known.has(address.toLowerCase()));
  if (other !== undefined)
    throw new Fault("FORBIDDEN_SCOPE", `${other.address} is no address of the order's supplier.`, {
      action: "Leave `to` and `cc` out. Somebody who signed in without an API key can send it elsewhere.",
    });
}

/**
 * Stores the mail with the change that `tx` makes, its link, and its documents among the order's (D261).
 *
 * @param order as the change leaves it.
 * @throws Fault INVALID_INPUT  the mail has a link, and the order can have no further one.
 * @throws Fault RATE_LIMITED  the shop has asked for as many mails within an hour as it may.
 */
export async function storeMail(tx: Tx, call: Call, order: PurchaseOrder, mail: NewMail): Promise<QueuedMail> {
  const { shop, actor, mailing } = call;
  const stamp = stampOf(call);
  const perHourMax = mailing.perHourMax ?? 0;
  const times = await mailTimesSince(tx, shop.shopId, stamp.nowMs - mailWindowMs);
  const freeFrom = times[times.length - perHourMax];
  if (freeFrom !== undefined)
    throw new Fault("RATE_LIMITED", `The shop has sent ${times.length} e-mails within an hour, which is the most.`, {
      retryAfterMs: Math.max(1_000, freeFrom + mailWindowMs - stamp.nowMs),
      action: "Send the same request again then.",
    });
  const createdBy = actor.name ?? actor.id;
  const { link } = mail.content;
  if (link !== undefined)
    await addSupplierLink(tx, shop.shopId, order, { linkId: link.linkId, createdBy, secretHash: null }, stamp.nowMs);
  await tx.batch([
    ...mailStatements(shop.shopId, mail, createdBy, stamp),
    ...mail.documents.map((document) =>
      sentDocumentStatement(shop.shopId, mail.purchaseOrderId, {
        documentId: documentIdOf(document),
        fileName: document.fileName,
        contentType: document.contentType,
        fileSizeBytes: document.sizeBytes,
        documentType: "purchase-order",
        version: mail.orderVersion,
        uploadedAtMs: stamp.nowMs,
        uploadedBy: createdBy,
      }),
    ),
  ]);
  return { effectId: mail.mailId, kind: "send-mail" };
}

/**
 * The mail of an order that moves to Sent in a shop with `emailOnSent`. A mail that cannot be made is no reason to keep
 * the order back: why stands in `unsentMail`. It has a link where the service's address is set: the one by which a
 * program asks may not be the suppliers'.
 *
 * @param next the order as the move will leave it.
 */
export const mailByItself = (call: Call, next: PurchaseOrder): Promise<NewMail | Pick<MailOfChange, "unsentMail">> =>
  prepareMail(call, next, { ...noWishes, supplierLink: call.mailing.publicUrl !== null }, { isStored: false }).catch(
    unsent,
  );

/** Characters of a document's hash that are its id: 128 bits. */
const documentIdLength = 32;

/** The same bytes are the same document, however often they are sent. */
const documentIdOf = ({ sha256 }: Pick<SentDocument, "sha256">): string => `doc_${sha256.slice(0, documentIdLength)}`;

/** Stores the mail with the move, if there is one and the shop may send it. @param order as the move leaves it. */
export async function mailOfMove(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  mail: NewMail | Pick<MailOfChange, "unsentMail">,
): Promise<MailOfChange> {
  if (!("mailId" in mail)) return mail;
  try {
    return { queued: await storeMail(tx, call, order, mail) };
  } catch (error) {
    return unsent(error);
  }
}

/** @throws what is no refusal. */
function unsent(error: unknown): { readonly unsentMail: string } {
  if (error instanceof Fault && ["INVALID_INPUT", "RATE_LIMITED", "DO_OVERLOADED"].includes(error.code))
    return { unsentMail: error.message.replace(/^\/to: /, "an address ") };
  throw error;
}
