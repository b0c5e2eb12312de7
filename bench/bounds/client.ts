/**
 * A client for benchmarks on raw sockets: it takes a few microseconds a request, so that the server's processor is what is measured.
 */
import { type Socket, connect } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The bytes of a request. `body` is JSON. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body: object | string | null = null,
): string {
  const text = body === null ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const all = body === null ? headers : { ...headers, "content-type": "application/json" };
  const lines = Object.entries({ host: "bench", ...all, "content-length": String(Buffer.byteLength(text)) });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`;
}

/**
 * One connection, one request at a time. Answers must have a `content-length`, and their bodies must be ASCII. A server closes a connection that rests
 * for some seconds; the next request opens it again.
 */
export class Connection {
  readonly #port: number;
  #socket: Socket;
  #received = "";
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;

  constructor(port: number) {
    this.#port = port;
    this.#socket = this.#open();
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => this.#take(piece));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("the connection was closed")));
    return socket;
  }

  ask(bytes: string): Promise<Answer> {
    if (this.#socket.destroyed) this.#socket = this.#open();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #take(piece: string): void {
    this.#received += piece;
    const headersEnd = this.#received.indexOf("\r\n\r\n");
    if (headersEnd === -1) return;
    const head = this.#received.slice(0, headersEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`);
    const end = headersEnd + 4 + length;
    if (this.#received.length < end) return;
    const body = this.#received.slice(headersEnd + 4, end);
    this.#received = this.#received.slice(end);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body });
  }
}
