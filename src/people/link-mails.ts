/**
 * Links by mail with which people come back (C49): who gets one, and when.
 *
 * Owns: the search over all shops. Does not own: bounds and texts (core/access/sign-in-link.ts), the rows
 * (shop/access/sign-in-links.ts), sending (mail/), what a link is worth (sign-in.ts).
 *
 * Whoever asks is answered before anybody is looked up, and in the same words. Searches run one after another. A link,
 * its mail and its audit row are one commit; unknown e-mails leave no row. Its secret is made by the sender and in no
 * row (J1). A process that dies before the commit has sent nothing, and the person asks again. To keep what is still to
 * be looked up would keep e-mails of strangers.
 */
import { Fault } from "../base/fault.ts";
import { sleep } from "../base/time/waiting.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import {
  linkedPeopleMax,
  linkedShopsMax,
  mayGetLink,
  signInLinkMs,
  signInLinksCountedMs,
  signInMailText,
} from "../core/access/sign-in-link.ts";
import { Attempts, signInLinksOfAddress, signInLinksOfAll } from "../http/attempts.ts";
import type { AuditTrail } from "../requests/audit/audit-trail.ts";
import { loadShop } from "../shop/access/accounts.ts";
import { peopleAt } from "../shop/access/people.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import { linkedSince, linkStatements } from "../shop/access/sign-in-links.ts";
import { loadDocumentSettings } from "../shop/supplier/document-settings.ts";
import { queueStatement } from "../shop/supplier/mails.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Engine, Log, Tx } from "../store/store.ts";

/** Shops that are searched before other requests go first: there may be thousands. */
const shopsBeforePause = 50;

/** Dependencies of links that are mailed. */
export interface LinkMailing {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The sender of mails; null: there is no mail server. */
  readonly mails: { wake(shopId: string): void } | null;
  /** Where people reach the service; null: no address is safe to send a secret to. */
  readonly origin: () => string | null;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

/** The audit row of a request for links, of the person who gets one. */
type AuditOfLink = (personId: string) => AuditEntry;

export class LinkMails {
  readonly #mailing: LinkMailing;
  readonly #ofAddresses: Attempts;
  readonly #ofAll: Attempts;
  readonly #auditTrail: Pick<AuditTrail, "statements">;
  /** E-mails in lower case that are to be searched for, in the order in which they came, with the row of who asked. */
  readonly #waiting = new Map<string, AuditOfLink>();
  #isSearching = false;

  constructor(mailing: LinkMailing, auditTrail: Pick<AuditTrail, "statements">) {
    this.#mailing = mailing;
    this.#auditTrail = auditTrail;
    this.#ofAddresses = new Attempts(mailing.clock, signInLinksOfAddress);
    this.#ofAll = new Attempts(mailing.clock, signInLinksOfAll);
  }

  /** True if a link can be mailed. */
  get areMailed(): boolean {
    return this.#mailing.mails !== null && this.#mailing.origin() !== null;
  }

  /**
   * Begins to mail a link to everybody with this e-mail.
   *
   * @param remoteAddress  who asks; neither one address nor all together may ask too often.
   * @param row            audit row of the request, as one for a person who gets a link.
   * @throws Fault INVALID_INPUT  no links are mailed here.
   * @throws Fault RATE_LIMITED   too many were asked for.
   */
  send(email: string, remoteAddress: string, row: AuditOfLink): void {
    if (!this.areMailed)
      throw new Fault("INVALID_INPUT", "No mail server is set up here, so no link can be mailed.", {
        action: "Ask an owner of the shop for an invitation, or sign in with a key.",
      });
    this.#ofAddresses.admit(remoteAddress);
    this.#ofAll.take("");
    this.#ofAddresses.count(remoteAddress);
    this.#waiting.set(email.toLowerCase(), row);
    if (!this.#isSearching) void this.#searchAll();
  }

  /** Never rejects. */
  async #searchAll(): Promise<void> {
    this.#isSearching = true;
    // The answer goes first.
    await sleep(0);
    for (const [address, row] of this.#waiting) {
      this.#waiting.delete(address);
      if (!this.#mailing.stopping.aborted) await this.#search(address, row);
    }
    this.#isSearching = false;
  }

  async #search(address: string, row: AuditOfLink): Promise<void> {
    const { engine, log, stopping } = this.#mailing;
    let linkedShops = 0;
    try {
      for (const [index, shopId] of (await engine.shopsWithValue(address)).entries()) {
        if (stopping.aborted || linkedShops >= linkedShopsMax) return;
        if (index % shopsBeforePause === shopsBeforePause - 1) await sleep(0);
        if (await this.#searchShop(shopId, address, row)) linkedShops += 1;
      }
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, "the shops of a person could not be searched");
    }
  }

  /** @returns whether somebody in the shop has the e-mail. A shop that is gone, or cannot be used, has nobody. */
  async #searchShop(shopId: string, address: string, row: AuditOfLink): Promise<boolean> {
    const { engine, log, mails, stopping } = this.#mailing;
    try {
      const people = await engine.peek(shopId, (tx) => peopleAt(tx, shopId, address), address);
      if (people.length === 0) return false;
      await engine.write(shopId, (tx) => this.#link(tx, shopId, address, row));
      mails?.wake(shopId);
      return true;
    } catch (error) {
      if (!isNotFound(error) && !stopping.aborted)
        log.warn({ shopId, err: error }, "a link to sign in could not be mailed");
      return false;
    }
  }

  /** Stores a link, its mail and an audit row for each person with the e-mail who may get one. */
  async #link(tx: Tx, shopId: string, address: string, row: AuditOfLink): Promise<void> {
    const { clock, ids } = this.#mailing;
    const baseUrl = this.#mailing.origin();
    if (baseUrl === null) return;
    const nowMs = clock.now();
    const [people, before, settings, shop] = await Promise.all([
      peopleAt(tx, shopId, address),
      linkedSince(tx, shopId, nowMs - signInLinksCountedMs),
      loadDocumentSettings(tx, shopId),
      loadShop(tx, shopId),
    ]);
    if (shop === null) return;
    const linked = [...before];
    for (const { personId, name, email, language } of people.slice(0, linkedPeopleMax)) {
      if (!mayGetLink(personId, linked)) continue;
      linked.push(personId);
      const linkId = ids.next("sil");
      const link = { linkId, personId, createdAtMs: nowMs, expiresAtMs: nowMs + signInLinkMs };
      await tx.batch([
        ...(await this.#auditTrail.statements(tx, shopId, [row(personId)])),
        ...linkStatements(shopId, link, nowMs - signInLinksCountedMs),
        queueStatement(shopId, {
          mailId: ids.next("mail"),
          purchaseOrderId: "",
          personId,
          signInLinkId: linkId,
          recipients: [{ address: email ?? address, role: "to", state: "pending", detail: null }],
          content: {
            fromName: shop.name,
            replyTo: null,
            ...signInMailText(name, { language: language ?? settings.language, shopName: shop.name }),
            signIn: { linkId, baseUrl },
          },
          documents: [],
          orderVersion: 0,
          attempts: 0,
          sinceMs: nowMs,
          dueAtMs: nowMs,
          createdAtMs: nowMs,
          createdBy: null,
          traceparent: null,
        }),
      ]);
    }
  }
}
