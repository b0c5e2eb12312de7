/**
 * What stands between the adapter and a Medusa, the fake or a real one: it passes requests on, and on demand loses answers, delays, fails,
 * or lets something happen in between.
 */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listenOnPort, stopListening } from "../../support/peers/serving.ts";

/** What goes wrong with a request. */
type ProxyFault =
  /** It is passed on and its answer is lost. */
  | { readonly kind: "lost" }
  /** It is passed on, and no answer ever comes. */
  | { readonly kind: "hang" }
  /** It is not passed on, and no answer ever comes. */
  | { readonly kind: "swallow" }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The answer is another one. */
  | { readonly kind: "body"; readonly body: string }
  /** It is passed on, something happens, and the answer is a failure. */
  | { readonly kind: "failed"; readonly happens: () => Promise<void> | void }
  /** Something happens before it is passed on. */
  | { readonly kind: "before"; readonly happens: () => Promise<void> | void }
  /** Something happens before its answer is passed back. */
  | { readonly kind: "after"; readonly happens: () => Promise<void> | void };

/** One request as it arrived: `POST /admin/products/batch`, and its body. */
interface SeenRequest {
  readonly call: string;
  readonly query: string;
  readonly body: string;
  readonly atMs: number;
}

/** The call that sets levels. */
export const setLevels = "POST /admin/inventory-items/location-levels/batch";
/** The look-up of levels, and of costs. */
export const readItems = "GET /admin/inventory-items";
/** A cost is written. */
export const writeItem = /^POST \/admin\/inventory-items\/iitem_/;

export class MedusaProxy {
  readonly #upstream: string;
  readonly #server: Server;
  readonly #faults: { readonly on: string | RegExp; readonly does: ProxyFault; readonly text: string; left: number }[] =
    [];
  readonly calls: SeenRequest[] = [];
  /** Requests that have got no answer on purpose. */
  unanswered = 0;
  /** Requests that are under way, and the most there have been at a time. */
  underWay = 0;
  underWayMax = 0;
  /** `http://127.0.0.1:1234`, once it listens. */
  url = "";

  constructor(upstream: string) {
    this.#upstream = upstream;
    this.#server = createServer((request, response) => {
      this.underWay += 1;
      this.underWayMax = Math.max(this.underWayMax, this.underWay);
      response.once("close", () => {
        this.underWay -= 1;
      });
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(599).end(String(error));
      });
    });
  }

  async listen(): Promise<this> {
    this.url = `http://127.0.0.1:${await listenOnPort(this.#server)}`;
    return this;
  }

  close(): Promise<void> {
    return stopListening(this.#server);
  }

  /** The next requests of this kind go wrong; `text`: those with this in their body. */
  strike(on: string | RegExp, does: ProxyFault, times = 1, text = ""): void {
    this.#faults.push({ on, does, text, left: times });
  }

  /** All is well again. */
  heal(): void {
    this.#faults.length = 0;
  }

  callsOf(call: string): readonly SeenRequest[] {
    return this.calls.filter((each) => each.call === call);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      assert.ok(piece instanceof Buffer);
      pieces.push(piece);
    }
    const body = Buffer.concat(pieces);
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const call = `${request.method} ${path}`;
    this.calls.push({ call, query, body: body.toString("utf8"), atMs: Date.now() });
    const struck = this.#faults.find(
      ({ on, text, left }) => left > 0 && (typeof on === "string" ? on === call : on.test(call)) && body.includes(text),
    );
    if (struck !== undefined) struck.left -= 1;
    const does = struck?.does;
    if (does?.kind === "swallow") return void (this.unanswered += 1);
    if (does?.kind === "status")
      return void response
        .writeHead(does.status, { "content-type": "application/json", ...does.headers })
        .end(does.body ?? JSON.stringify({ type: "unknown_error", message: "struck" }));
    if (does?.kind === "before") await does.happens();
    const answer = await fetch(`${this.#upstream}${request.url}`, {
      method: request.method ?? "GET",
      headers: {
        authorization: request.headers.authorization ?? "",
        ...(body.length === 0 ? {} : { "content-type": "application/json" }),
      },
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (does?.kind === "after" || does?.kind === "failed") await does.happens();
    if (does?.kind === "failed") return void response.writeHead(500).end('{"type":"unknown_error","message":"failed"}');
    if (does?.kind === "lost") return void request.socket.destroy();
    if (does?.kind === "hang") return void (this.unanswered += 1);
    response
      .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" })
      .end(does?.kind === "body" ? does.body : text);
  }
}
