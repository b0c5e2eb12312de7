/** Receivers of webhooks for tests: servers on this machine that keep what they are sent and answer as they are told. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { z } from "zod";
import { until } from "../until.ts";

const envelope = z.object({ eventId: z.string(), sequence: z.int(), type: z.string() });

/** A delivery as it arrived. */
export interface Received extends z.output<typeof envelope> {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** How the next deliveries are answered; default: 204. */
  answer: (response: ServerResponse, delivery: Received) => void;
  /** Waits until this holds. */
  until(holds: () => boolean, waitMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver. `host`: the address on which it listens. */
export async function startReceiver(host = "127.0.0.1", port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      const delivery = { ...envelope.parse(JSON.parse(body)), headers: request.headers, body };
      received.push(delivery);
      receiver.answer(response, delivery);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  const receiver: Receiver = {
    url: `http://${host}:${bound}/hook`,
    port: bound,
    received,
    answer: (response) => void response.writeHead(204).end(),
    async until(holds, waitMs) {
      await until(() => received.map(({ type }) => type), holds, waitMs);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
