/**
 * One attempt to hand a mail to the mail server (C63), by nodemailer, on connections that are kept for a while.
 *
 * Owns: TLS, time limits of the connection, what the server's answers mean for each recipient. Does not own: when an
 * attempt is made and what follows from it (sender.ts, core/supplier/mail.ts).
 *
 * The caller gets the words of a server that answers. Of one that does not, and of a refused sign-in, it gets only the
 * meaning. The log has the rest. Neither has the credentials.
 */
import type { Mail, NodemailerError, SMTPPoolOptions, SMTPPoolSentMessageInfo } from "nodemailer";
import { notEncoded, type RecipientResult } from "../core/supplier/mail.ts";
import type { Log } from "../store/store.ts";

/** Address of the mail server (`OPENPO_SMTP_URL`). */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte. `starttls`: required before anything else. `none`: only on this machine. */
  readonly tls: "implicit" | "starttls" | "none";
  readonly user: string | null;
  /** Never shown. */
  readonly password: string;
}

/** A mail as it is handed over. */
export interface OutgoingMail {
  readonly messageId: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  readonly isByPerson: boolean;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Addresses of `to` and `cc` that do not have the mail yet. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly {
    readonly fileName: string;
    readonly contentType: string;
    readonly bytes: Uint8Array;
  }[];
}

export interface MailServer {
  /**
   * Sends the mail and returns the result of each recipient, by address. An attempt that `signal` ends may still
   * arrive. Never rejects.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<ReadonlyMap<string, RecipientResult>>;
  close(): Promise<void>;
}

/** Connections to the mail server at most. */
export const smtpConnectionsMax = 5;

/** From looking up the mail server's name to its greeting. */
export const smtpConnectMsMax = 10_000;

/** Longest silence of the mail server after that. */
export const smtpSilenceMsMax = 30_000;

/** Time for which a connection is kept on which nothing is sent. */
export const smtpIdleMs = 30_000;

/** Bytes of one answer of the server that are read. */
export const smtpAnswerBytesMax = 65_536;

type Transport = Mail<SMTPPoolSentMessageInfo, SMTPPoolOptions>;

/** nodemailer is loaded with the first mail: a start need not wait for it. */
async function openTransport(server: SmtpServer): Promise<Transport> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    pool: true,
    host: server.host,
    port: server.port,
    secure: server.tls === "implicit",
    requireTLS: server.tls === "starttls",
    ignoreTLS: server.tls === "none",
    ...(server.user === null ? {} : { auth: { user: server.user, pass: server.password } }),
    maxConnections: smtpConnectionsMax,
    // What is tried again, and when, is the sender's to say: its rows outlive the process.
    maxRequeues: 0,
    // From the look-up of the name to the greeting: nodemailer cuts its own times for these two to what is left of this
    // one.
    connectionTimeout: smtpConnectMsMax,
    socketTimeout: smtpSilenceMsMax,
    idleTimeout: smtpIdleMs,
    maxResponseSize: smtpAnswerBytesMax,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Without a listener the error of an idle connection would end the process. The next attempt finds out.
  transport.on("error", () => {});
  return transport;
}

export function openMailServer(server: SmtpServer, log: Log): MailServer {
  let transport: Promise<Transport> | null = null;
  return {
    async send(mail, signal) {
      const { recipients } = mail;
      try {
        transport ??= openTransport(server);
        const { rejectedErrors = [] } = await (
          await transport
        ).sendMail({
          messageId: mail.messageId,
          from: { name: notEncoded(mail.from.name), address: mail.from.address },
          ...(mail.replyTo === null ? {} : { replyTo: { name: "", address: mail.replyTo } }),
          to: mail.to.map((address) => ({ name: "", address })),
          cc: mail.cc.map((address) => ({ name: "", address })),
          envelope: { from: mail.from.address, to: [...recipients] },
          subject: notEncoded(mail.subject),
          text: mail.text,
          attachments: mail.attachments.map(({ fileName, contentType, bytes }) => ({
            filename: fileName,
            contentType,
            content: Buffer.from(bytes),
          })),
          // Who answers automatically does not answer what no person has sent.
          headers: mail.isByPerson ? {} : { "Auto-Submitted": "auto-generated" },
          signal,
        });
        const refused = refusals(rejectedErrors);
        return new Map(
          recipients.map((address) => [
            address,
            refused.get(address.toLowerCase()) ?? { outcome: "sent", detail: null },
          ]),
        );
      } catch (error) {
        const failure = failureFrom(error);
        const { code, command, responseCode } = failure;
        log.warn(
          {
            messageId: mail.messageId,
            code,
            command,
            responseCode,
            reason: failure.code === "EAUTH" ? null : failure.message,
          },
          "the mail server has not taken a mail",
        );
        const refused = refusals(failure.rejectedErrors ?? []);
        return new Map(recipients.map((address) => [address, refused.get(address.toLowerCase()) ?? resultOf(failure)]));
      }
    },
    async close() {
      (await transport)?.close();
    },
  };
}

const failureFrom = (error: unknown): NodemailerError => (error instanceof Error ? error : new Error(String(error)));

const refusals = (failures: readonly NodemailerError[]): ReadonlyMap<string, RecipientResult> =>
  new Map(failures.map((failure) => [(failure.recipient ?? "").toLowerCase(), resultOf(failure)]));

/** Texts of failures that are not the server's answer to this mail. */
const failureTexts: Readonly<Record<string, string>> = {
  EAUTH: "the mail server refuses the service's user name or password",
  ENOAUTH: "the mail server asks for a user name and a password",
  ETLS: "there is no encrypted connection to the mail server",
  ETIMEDOUT: "the mail server did not answer in time",
  EABORT: "the mail server did not answer in time",
};

/** Node's codes of certificates that it does not accept: of an unknown authority, of another name, expired. */
const certificateCode = /CERT|UNABLE_TO_VERIFY|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH/;

const certificateText = "the mail server's certificate is not trusted";

/** Returns what a failure means. A 5xx answer to the mail, or a mail that is too large or empty, is final. */
function resultOf({
  code = "",
  originalCode = "",
  message,
  response,
  responseCode,
  permanent,
}: NodemailerError): RecipientResult {
  if (certificateCode.test(originalCode)) return { outcome: "later", detail: certificateText };
  const concernsMail = code === "EENVELOPE" || code === "EMESSAGE";
  if (concernsMail && responseCode === undefined && code === "EMESSAGE") return { outcome: "refused", detail: message };
  if (concernsMail && response !== undefined)
    return { outcome: permanent === true ? "refused" : "later", detail: response };
  return {
    outcome: "later",
    detail: failureTexts[code] ?? response ?? "the mail server could not be reached, or ended the connection",
  };
}
