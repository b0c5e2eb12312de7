/**
 * A proxy that adds a member to every object of a JSON answer, as a later version of the service may. A generated client must go on working.
 */
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { isJsonArray, isJsonObject, type Json } from "../../src/base/json.ts";
import { listenOnPort, stopListening } from "../support/peers/serving.ts";

const added = "addedLater";

function withMore(value: Json): Json {
  if (isJsonArray(value)) return value.map(withMore);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withMore(member)]);
  return { ...Object.fromEntries(members), [added]: { of: "a later version" } };
}

/** Sends the answer on. JSON gets the members. */
async function passOn(received: IncomingMessage, answer: ServerResponse): Promise<void> {
  const bytes = await buffer(received);
  const { "content-length": _, "transfer-encoding": __, ...kept } = received.headers;
  const isJson = received.headers["content-type"]?.startsWith("application/json") === true;
  const body = isJson ? Buffer.from(JSON.stringify(withMore(JSON.parse(bytes.toString())))) : bytes;
  answer.writeHead(received.statusCode ?? 502, { ...kept, "content-length": body.length });
  answer.end(body);
}

/** Starts the proxy before the server at this address. */
export async function startAddingProxy(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((incoming, answer) => {
    // An answer that the proxy changes is asked for as it is, not packed.
    const { "accept-encoding": _, ...headers } = incoming.headers;
    const { method } = incoming;
    const forwarded = httpRequest(new URL(incoming.url ?? "/", url), { method, headers }, (received) => {
      void passOn(received, answer);
    });
    forwarded.once("error", () => answer.destroy());
    incoming.pipe(forwarded);
  });
  return {
    url: `http://127.0.0.1:${await listenOnPort(server)}`,
    [Symbol.asyncDispose]: () => stopListening(server),
  };
}
