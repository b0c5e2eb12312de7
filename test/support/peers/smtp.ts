/** A mail server of the tests' own: it keeps what it takes and answers each step as it is told. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { TLSSocket } from "node:tls";
import { until } from "../until.ts";

/** What the server is asked: a command, or the message after DATA. */
type SmtpStep = "greeting" | "EHLO" | "STARTTLS" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "message";

/** A reply line; `hang`: nothing is answered any more; `drop`: the connection ends; null: what a server usually says. */
type SmtpAnswer = `${number} ${string}` | "hang" | "drop" | null;

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly isEncrypted: boolean;
  /** Who has signed in; null: nobody. */
  readonly user: string | null;
}

export interface SmtpServerForTests {
  readonly port: number;
  /** `smtp://127.0.0.1:…?tls=none`, or what fits `tls`. */
  readonly url: string;
  /** Every message that came to its end, those that were then refused or not answered too. */
  readonly received: readonly ReceivedMail[];
  /** Mails that were taken. */
  readonly taken: readonly ReceivedMail[];
  readonly connections: number;
  /** How the next steps are answered. */
  answer: (step: SmtpStep, argument: string) => SmtpAnswer;
  /** Takes the messages that hang. */
  takeHeld(): void;
  until(holds: () => boolean, waitMs?: number): Promise<void>;
  close(): Promise<void>;
}

interface SmtpOptions {
  readonly tls?: "none" | "starttls" | "implicit";
  readonly user?: string;
  readonly password?: string;
}

/** The authority that has signed the server's certificate, for `NODE_EXTRA_CA_CERTS`. */
export const smtpCertificateFile = path.join(import.meta.dirname, "smtp-certificate.pem");

const usual: Readonly<Record<SmtpStep, string>> = {
  greeting: "220 mail.test ready",
  EHLO: "250 mail.test",
  STARTTLS: "220 go on",
  AUTH: "235 2.7.0 signed in",
  MAIL: "250 2.1.0 sender ok",
  RCPT: "250 2.1.5 recipient ok",
  DATA: "354 go on",
  message: "250 2.0.0 taken",
};

export async function startSmtpServer({ tls = "none", user, password }: SmtpOptions = {}): Promise<SmtpServerForTests> {
  const received: ReceivedMail[] = [];
  const taken: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let connections = 0;
  const secure = (socket: Socket): TLSSocket =>
    new TLSSocket(socket, {
      isServer: true,
      key: readFileSync(path.join(import.meta.dirname, "smtp-key.pem")),
      cert: readFileSync(smtpCertificateFile),
    });

  const serve = (first: Socket): void => {
    connections += 1;
    sockets.add(first);
    first.on("close", () => sockets.delete(first));
    let socket: Socket = tls === "implicit" ? secure(first) : first;
    let text = "";
    let mail: { from: string; to: string[] } = { from: "", to: [] };
    let isData = false;
    let isShut = false;
    let signedIn: string | null = null;
    const isEncrypted = (): boolean => socket instanceof TLSSocket;
    /** @returns whether the usual was said. */
    const say = (step: SmtpStep, argument: string, more: readonly string[] = []): boolean => {
      const answer = server.answer(step, argument);
      if (answer === "hang" || answer === "drop") {
        isShut = true;
        if (answer === "drop") first.destroy();
        return false;
      }
      const last = answer ?? usual[step];
      socket.write([...(answer === null ? more.map((line) => `250-${line}\r\n`) : []), `${last}\r\n`].join(""));
      return answer === null || /^[23]/.test(answer);
    };
    const command = (line: string): void => {
      const [, name = "", argument = ""] = /^([A-Za-z]+) ?(.*)$/.exec(line) ?? [];
      switch (name.toUpperCase()) {
        case "EHLO":
        case "HELO":
          say("EHLO", argument, [
            "PIPELINING",
            ...(tls === "starttls" && !isEncrypted() ? ["STARTTLS"] : []),
            ...(user === undefined ? [] : ["AUTH PLAIN"]),
          ]);
          return;
        case "STARTTLS":
          if (!say("STARTTLS", "")) return;
          socket.removeAllListeners("data");
          socket = secure(first);
          listen();
          return;
        case "AUTH": {
          const [, name_, given] = Buffer.from(argument.replace(/^PLAIN /, ""), "base64")
            .toString()
            .split("\0");
          if (name_ !== user || given !== password) socket.write(`535 5.7.8 wrong password for ${name_}\r\n`);
          else if (say("AUTH", argument)) signedIn = name_ ?? null;
          return;
        }
        case "MAIL":
          mail = { from: addressIn(argument), to: [] };
          say("MAIL", argument);
          return;
        case "RCPT":
          if (say("RCPT", addressIn(argument))) mail.to.push(addressIn(argument));
          return;
        case "DATA":
          if (mail.to.length === 0) socket.write("554 5.5.1 no valid recipients\r\n");
          else isData = say("DATA", argument);
          return;
        case "RSET":
        case "NOOP":
          socket.write("250 ok\r\n");
          return;
        case "QUIT":
          socket.end("221 bye\r\n");
          return;
        default:
          socket.write("502 what?\r\n");
      }
    };
    const message = (raw: string): void => {
      const one = { ...mail, raw, isEncrypted: isEncrypted(), user: signedIn };
      received.push(one);
      if (say("message", raw)) taken.push(one);
      else if (isShut)
        held.push(() => {
          isShut = false;
          taken.push(one);
          socket.write(`${usual.message}\r\n`);
        });
    };
    const listen = (): void => {
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => {
        text += piece.toString("latin1");
        for (;;) {
          if (isShut) return;
          const end = isData ? text.indexOf("\r\n.\r\n") : text.indexOf("\r\n");
          if (end === -1) return;
          const part = text.slice(0, end);
          text = text.slice(end + (isData ? 5 : 2));
          if (isData) {
            isData = false;
            message(part.replaceAll(/^\.\./gm, "."));
          } else command(part);
        }
      });
    };
    listen();
    say("greeting", "");
  };

  const listener: Server = createServer(serve);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const credentials = user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? "")}@`;
  const server: SmtpServerForTests = {
    port,
    url: `${tls === "implicit" ? "smtps" : "smtp"}://${credentials}127.0.0.1:${port}${tls === "none" ? "?tls=none" : ""}`,
    received,
    taken,
    get connections() {
      return connections;
    },
    answer: () => null,
    takeHeld() {
      for (const take of held.splice(0)) take();
    },
    async until(holds, waitMs) {
      await until(() => `${received.length} received, ${taken.length} taken`, holds, waitMs);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
  return server;
}

const addressIn = (argument: string): string => /<([^>]*)>/.exec(argument)?.[1] ?? argument;

/** A message's headers, unfolded, each with all of its values, and its parts decoded. */
interface ParsedMail {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly parts: readonly { readonly headers: ReadonlyMap<string, readonly string[]>; readonly bytes: Buffer }[];
}

function headersOf(text: string): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n")) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), wordsDecoded(line.slice(at + 1).trim())]);
  }
  return headers;
}

/** Encoded words of UTF-8 (RFC 2047). */
const wordsDecoded = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_word, how: string, encoded: string) =>
      how.toUpperCase() === "B"
        ? Buffer.from(encoded, "base64").toString()
        : Buffer.from(quotedDecoded(encoded.replaceAll("_", " ")), "latin1").toString(),
    );

const quotedDecoded = (text: string): string =>
  text
    .replaceAll(/=\r\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/gi, (_octet, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

/** The content of a part, without its transfer encoding. */
function bytesOf(headers: ParsedMail["headers"], content: string): Buffer {
  const encoding = headers.get("content-transfer-encoding")?.[0];
  if (encoding === "base64") return Buffer.from(content, "base64");
  return Buffer.from(encoding === "quoted-printable" ? quotedDecoded(content) : content, "latin1");
}

export function parseMail({ raw }: ReceivedMail): ParsedMail {
  const at = raw.indexOf("\r\n\r\n");
  const headers = headersOf(raw.slice(0, at));
  const body = raw.slice(at + 4);
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type")?.[0] ?? "")?.[1];
  if (boundary === undefined) return { headers, parts: [{ headers, bytes: bytesOf(headers, body) }] };
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const text = part.replace(/^\r\n/, "").replace(/\r\n$/, "");
      const end = text.indexOf("\r\n\r\n");
      const own = headersOf(text.slice(0, end));
      const content = text.slice(end + 4);
      return { headers: own, bytes: bytesOf(own, content) };
    });
  return { headers, parts };
}
