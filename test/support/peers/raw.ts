/** Connections whose bytes a test writes and reads itself. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";

/** Returns the answers' statuses in their order. */
export const statusesIn = (text: string): string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = ""]) => status);

/** Sends bytes on a new socket and never reads. Resolves when the system has taken them. */
export function sendUnread(port: number, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.once("error", reject);
    socket.once("connect", () =>
      socket.write(text, () => {
        socket.off("error", reject);
        socket.on("error", () => {});
        resolve(socket);
      }),
    );
  });
}

/** Sends bytes on a new socket. Resolves with what was received when the server has closed the connection; fails on a reset. */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.once("end", () => socket.end());
    socket.once("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.once("error", reject);
  });
}

/** Checks that the last answer is an error body, with the request id also in a header. */
export function assertToldInWords(text: string, status: string): void {
  const last = text.slice(text.lastIndexOf("HTTP/1.1 "));
  assert.ok(last.startsWith(`HTTP/1.1 ${status} `), last);
  assert.match(last, /\r\nContent-Type: application\/json\r\n/i);
  const requestId = /\r\nX-Request-Id: (req_\w+)\r\n/i.exec(last)?.[1];
  assert.ok(requestId !== undefined && last.includes(`"requestId":"${requestId}"`), last);
}
