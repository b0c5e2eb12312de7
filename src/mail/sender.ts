/**
 * The sender of mails: hands the mails that shops have queued to the mail server after their commit, by one process or
 * by many (C63).
 *
 * Owns: an attempt from claim to record, and how many run at a time. Does not own: turns of shops (jobs/runner.ts),
 * what an attempt means (core/supplier/mail.ts), one attempt (smtp.ts), the rows (shop/supplier/mails.ts).
 *
 * Invariants:
 * - J1. A mail is handed over at least once, always under the same Message-ID: it is over only when an attempt has been
 *       recorded. A process that dies loses its claims soon (D473), or at the next start when it is the only
 *       one on the store. One that stops gives them back.
 * - J2. At most `perShopMax` attempts of a shop run at a time in this process, and at most `attemptsMax` of all. Shops
 *       take turns. No shop's write and no stock push waits for an attempt.
 * - J3. No transaction is open while an attempt runs, and an attempt ends before its lease does.
 */
import { hourMs } from "../base/time/calendar.ts";
import { limitedTo, sleep } from "../base/time/waiting.ts";
import type { EffectOutcome } from "../core/order/effect.ts";
import {
  afterMailAttempt,
  failedMailKeptMs,
  mailDueAheadMsMax,
  type RecipientResult,
  senderName,
} from "../core/supplier/mail.ts";
import { linkPlace } from "../core/supplier/mail-texts.ts";
import { makeSecret } from "../base/secret.ts";
import { noSpans, type Spans } from "../base/spans.ts";
import {
  claimMail,
  dueMails,
  type ClaimedMail,
  dropMailStatement,
  giveBackMailStatement,
  loadMailStandings,
  mailClaims,
  type MailsDue,
  mailsDue,
  mailsDueNowStatement,
  recordMail,
  sweepMailDocuments,
} from "../shop/supplier/mails.ts";
import type { Stamp } from "../shop/order/purchase-orders.ts";
import { mailedSecretStatements } from "../shop/supplier/supplier-links.ts";
import { mailedSignInStatement } from "../shop/access/sign-in-links.ts";
import { claimedByOthers, giveBackClaims } from "../store/claims.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Ids } from "../base/time/clock.ts";
import type { Engine, Tx } from "../store/store.ts";
import { JobRunner, type JobsOptions, writeResult } from "../jobs/runner.ts";
import { type MailServer, type OutgoingMail, smtpConnectionsMax } from "./smtp.ts";

interface MailSenderLimits {
  /** Attempts of one shop that run at a time. */
  readonly perShopMax: number;
  /** Attempts of all shops that run at a time. */
  readonly attemptsMax: number;
  /** Time limit of one attempt. */
  readonly attemptMsMax: number;
  /** Lease of a claim; above `attemptMsMax`. */
  readonly leaseMs: number;
  /** Time for which `close` waits for attempts that run. */
  readonly closeWaitMs: number;
}

export const mailSenderLimits: MailSenderLimits = {
  perShopMax: 2,
  attemptsMax: smtpConnectionsMax,
  attemptMsMax: 60_000,
  leaseMs: 120_000,
  closeWaitMs: 3_000,
};

/** Pause between two readings of mails that a caller waits for, where this is the only process on the store. */
const answerPollMs = 50;

/** Among other nodes, another may be at work on it. */
const otherNodePollMs = 200;

/** Interval at which a shop's old documents are dropped. */
const sweepEveryMs = hourMs;

interface MailSenderOptions extends JobsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  readonly server: MailServer;
  /** The sender's address, and the name that stands before it where a mail has none. */
  readonly from: { readonly name: string | null; readonly address: string };
  /** `secretRandomBytes` random bytes. */
  readonly secretBytes: () => Uint8Array;
  /** Limits that differ from `mailSenderLimits`. */
  readonly limits?: Partial<MailSenderLimits>;
}

/** Backlog of mails, for the metrics. */
interface MailBacklog {
  /** Mails that are queued or being sent, in shops at which this process is at work. */
  readonly queued: number;
  /** When the longest waiting one was due; null when none is due. */
  readonly dueAtMs: number | null;
  /** Mails that the mail server has taken from this process. */
  readonly sentTotal: number;
  /** Mails that this process has given up. */
  readonly failedTotal: number;
}

export interface MailSender {
  /** Sends what is due in the shop. */
  wake(shopId: string): void;
  /**
   * Starts what is due in the shop and waits until each of these mails has had an attempt, at most `waitMs`.
   *
   * @returns an outcome for every id; `pending` where there was none in time, or the mail is tried again.
   */
  settle(shopId: string, mailIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
  /** Sends what earlier processes have left. Among other nodes, goes on searching for what they leave. */
  start(): Promise<void>;
  /** Reads no shop. */
  backlog(): MailBacklog;
  /** Begins nothing more, waits for what runs and gives the rest back. */
  close(): Promise<void>;
}

export function createMailSender(options: MailSenderOptions): MailSender {
  return new QueuedMailSender(options);
}

/** A shop that has mails to send, or had when it was looked at last. */
interface ShopMails {
  due: MailsDue;
  sweptAtMs: number;
}

class QueuedMailSender implements MailSender {
  readonly #options: MailSenderOptions;
  readonly #limits: MailSenderLimits;
  readonly #owner: string;
  readonly #shops = new Map<string, ShopMails>();
  readonly #runner: JobRunner;
  #sentTotal = 0;
  #failedTotal = 0;

  constructor(options: MailSenderOptions) {
    this.#options = options;
    this.#limits = { ...mailSenderLimits, ...options.limits };
    this.#owner = options.ids.claimant();
    this.#runner = new JobRunner(options, {
      what: "mails",
      perShopMax: this.#limits.perShopMax,
      runningMax: this.#limits.attemptsMax,
      table: dueMails.table,
      closeWaitMs: this.#limits.closeWaitMs,
      release: (shopId) => giveBackClaims(mailClaims, shopId, claimedByOthers(this.#owner), options.clock.now()),
      nextDueAtMs: (tx, shopId) => this.#nextDueAtMs(tx, shopId),
      run: (shopId) => this.#sendNext(shopId),
    });
  }

  wake(shopId: string): void {
    this.#runner.wake(shopId);
  }

  async settle(
    shopId: string,
    mailIds: readonly string[],
    waitMs: number,
  ): Promise<ReadonlyMap<string, EffectOutcome>> {
    const { engine, search } = this.#options;
    const outcomes = new Map(mailIds.map((id): [string, EffectOutcome] => [id, { state: "pending" }]));
    if (mailIds.length === 0) return outcomes;
    this.wake(shopId);
    const pauseMs = search === null ? answerPollMs : otherNodePollMs;
    for (let leftMs = waitMs; leftMs > 0; leftMs -= pauseMs) {
      await sleep(Math.min(pauseMs, leftMs));
      const standings = await engine.read(shopId, (tx) => loadMailStandings(tx, shopId, mailIds));
      for (const { mailId, outcome } of standings) outcomes.set(mailId, outcome);
      if (standings.every(({ isAttempted }) => isAttempted)) break;
    }
    return outcomes;
  }

  async start(): Promise<void> {
    await this.#runner.start();
  }

  /** One that is due later than any can be is from before the clock was set back: an attempt makes it due. */
  async #nextDueAtMs(tx: Tx, shopId: string): Promise<number | null> {
    const { nextDueAtMs } = await mailsDue(tx, shopId);
    const nowMs = this.#options.clock.now();
    return nextDueAtMs !== null && nextDueAtMs > nowMs + mailDueAheadMsMax ? nowMs : nextDueAtMs;
  }

  backlog(): MailBacklog {
    const nowMs = this.#options.clock.now();
    const shops = [...this.#shops.values()];
    const dueAtMs = Math.min(...shops.map(({ due }) => due.nextDueAtMs ?? Number.POSITIVE_INFINITY));
    return {
      queued: shops.reduce((sum, { due }) => sum + due.queued, 0),
      dueAtMs: dueAtMs > nowMs ? null : dueAtMs,
      sentTotal: this.#sentTotal,
      failedTotal: this.#failedTotal,
    };
  }

  async close(): Promise<void> {
    await this.#runner.close();
    await this.#options.server.close();
  }

  /** Claims the shop's next mail, attempts it and records what came of it. @returns when the next is due. */
  async #sendNext(shopId: string): Promise<number | null> {
    const shop = this.#shops.get(shopId) ?? { due: { queued: 0, nextDueAtMs: null }, sweptAtMs: 0 };
    this.#shops.set(shopId, shop);
    try {
      await this.#send(shopId, shop);
    } catch (error) {
      if (isNotFound(error)) this.#shops.delete(shopId);
      throw error;
    }
    if (shop.due.nextDueAtMs === null) this.#shops.delete(shopId);
    return shop.due.nextDueAtMs;
  }

  async #send(shopId: string, shop: ShopMails): Promise<void> {
    const { engine, clock } = this.#options;
    const claimedAtMs = clock.now();
    const mail = await this.#claim(shopId, shop);
    if (mail === null) return;
    // More may be due: it need not wait for this one.
    this.wake(shopId);
    const text = await this.#textOf(shopId, mail);
    if (text === null) {
      await engine.write(shopId, (tx) => tx.batch([dropMailStatement(shopId, this.#owner, mail.mailId)]));
      return;
    }
    const results = await this.#attempt(shopId, { ...mail, text }, claimedAtMs + this.#limits.leaseMs);
    if (results === null) {
      const release = giveBackMailStatement(shopId, this.#owner, mail.mailId, clock.now());
      await engine.write(shopId, (tx) => tx.batch([release]));
      return;
    }
    await this.#record(shopId, shop, mail, results, claimedAtMs + this.#limits.leaseMs);
  }

  async #claim(shopId: string, shop: ShopMails): Promise<ClaimedMail | null> {
    const { engine, clock } = this.#options;
    const nowMs = clock.now();
    const sweeps = shop.sweptAtMs + sweepEveryMs <= nowMs;
    const { mail, due } = await engine.write(
      shopId,
      async (tx) => {
        if (sweeps) await tx.batch([sweepMailDocuments(shopId, nowMs - failedMailKeptMs)]);
        const claim = { owner: this.#owner, nowMs, leasedUntilMs: nowMs + this.#limits.leaseMs };
        const mail = await claimMail(tx, shopId, claim);
        const due = await mailsDue(tx, shopId);
        if (mail !== null || due.nextDueAtMs === null || due.nextDueAtMs <= nowMs + mailDueAheadMsMax)
          return { mail, due };
        // From before the clock was set back.
        await tx.batch([mailsDueNowStatement(shopId, nowMs + mailDueAheadMsMax, nowMs)]);
        return { mail, due: { ...due, nextDueAtMs: nowMs } };
      },
      { durable: false },
    );
    if (sweeps) shop.sweptAtMs = nowMs;
    shop.due = due;
    return mail;
  }

  /**
   * Returns the text of the mail. A link in it gets a secret of this attempt, whose hash is stored before anything is
   * sent. So nothing that is stored leads anywhere, and whichever attempt arrives has a link that works (C49, C64).
   *
   * @returns null for a mail whose link to sign in by has ended.
   */
  async #textOf(shopId: string, { purchaseOrderId, content }: ClaimedMail): Promise<string | null> {
    const { link, signIn, text } = content;
    if (signIn !== undefined) {
      const { text: token, hash } = makeSecret("opm", shopId, this.#options.secretBytes());
      const isOpen = await this.#options.engine.write(shopId, async (tx) => {
        const statement = await mailedSignInStatement(tx, shopId, signIn.linkId, hash, this.#options.clock.now());
        await tx.batch(statement === null ? [] : [statement]);
        return statement !== null;
      });
      // A browser keeps what follows # to itself: no log and no other page gets to see it.
      return isOpen ? text.replaceAll(linkPlace, `${signIn.baseUrl}/console#${token}`) : null;
    }
    if (link === undefined) return text;
    const { text: token, hash } = makeSecret("opl", shopId, this.#options.secretBytes());
    await this.#options.engine.write(shopId, async (tx) =>
      tx.batch(await mailedSecretStatements(tx, shopId, purchaseOrderId, link.linkId, hash)),
    );
    return text.replaceAll(linkPlace, `${link.baseUrl}/s/${token}`);
  }

  /** Null: the attempt was not made, or was ended by the end of the service. */
  async #attempt(
    shopId: string,
    mail: ClaimedMail & { readonly text: string },
    leasedUntilMs: number,
  ): Promise<ReadonlyMap<string, RecipientResult> | null> {
    const { server, clock, spans = noSpans } = this.#options;
    const { attemptMsMax } = this.#limits;
    if (leasedUntilMs - clock.now() < attemptMsMax) return null;
    const span = spans.start("mail.attempt", mail.traceparent, {
      "openpo.shop.id": shopId,
      "openpo.mail.id": mail.mailId,
      "openpo.mail.attempt": mail.attempts,
    });
    const signal = limitedTo(attemptMsMax, this.#runner.aborting);
    const results = await server.send(this.#outgoing(mail), signal);
    const isTaken = [...results.values()].every(({ outcome }) => outcome === "sent");
    span.end(isTaken ? {} : { "error.type": "not_taken" });
    return this.#runner.aborting.aborted && !isTaken ? null : results;
  }

  #outgoing({
    mailId,
    content,
    text,
    recipients,
    documents,
    attached,
  }: ClaimedMail & { readonly text: string }): OutgoingMail {
    const { from } = this.#options;
    const addresses = (role: "to" | "cc"): string[] =>
      recipients.flatMap((each) => (each.role === role ? [each.address] : []));
    return {
      messageId: `<${mailId}@${from.address.slice(from.address.indexOf("@") + 1)}>`,
      from: { name: from.name ?? senderName(content.fromName), address: from.address },
      replyTo: content.replyTo,
      isByPerson: content.isByPerson ?? false,
      to: addresses("to"),
      cc: addresses("cc"),
      recipients: recipients.flatMap(({ address, state }) => (state === "pending" ? [address] : [])),
      subject: content.subject,
      text,
      attachments: documents.flatMap(({ fileName, contentType }, index) => {
        const bytes = attached[index];
        return bytes === undefined ? [] : [{ fileName, contentType, bytes }];
      }),
    };
  }

  async #record(
    shopId: string,
    shop: ShopMails,
    mail: ClaimedMail,
    results: ReadonlyMap<string, RecipientResult>,
    leasedUntilMs: number,
  ): Promise<void> {
    const { engine, clock, ids, random } = this.#options;
    const nowMs = clock.now();
    const standing = afterMailAttempt(mail, results, nowMs, random());
    const stamp: Stamp = {
      actor: { type: "system", id: null, name: null },
      operation: null,
      requestId: null,
      nowMs,
      ids,
    };
    const { isRecorded, due } = await writeResult({ clock, stopping: this.#runner.stopping }, leasedUntilMs, () =>
      engine.write(shopId, async (tx) => {
        const isRecorded = await recordMail(tx, shopId, this.#owner, mail, standing, stamp);
        return { isRecorded, due: await mailsDue(tx, shopId) };
      }),
    );
    shop.due = due;
    if (!isRecorded) return;
    if (standing.state === "sent") this.#sentTotal += 1;
    if (standing.state === "failed") this.#failedTotal += 1;
  }
}
