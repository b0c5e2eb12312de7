/**
 * Answers of tools that are so large that making them holds the event loop for long: they are made on a thread.
 *
 * An answer of 1 MB takes about 25 ms: its members are renamed, it is read, shown as text, and written by the
 * protocol's library. So the library is given the message twice. The first has an empty result and shows if the library
 * takes the call at all; the second, on a thread, has the real one.
 */
import type { JsonObject } from "../base/json.ts";
import type { Reply } from "../requests/envelope.ts";
import type { Operation } from "../requests/operation.ts";
import { answerMessage } from "./protocol.ts";
import { noResources } from "./resources/resources.ts";
import { type AnsweredShop, resultOf, toolOf } from "./tools.ts";

/** Characters of an answer that is made on the event loop. */
export const answerOnLoopMax = 200_000;

/** A tool call that has been answered, as plain data. */
export interface LargeAnswer {
  readonly shop: AnsweredShop;
  /** Address of the service for people; null: it has none for all. */
  readonly websiteUrl: string | null;
  readonly request: { readonly url: string; readonly headers: readonly (readonly [string, string])[] };
  readonly message: JsonObject;
  /** The operation's name in the registry. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly reply: Reply;
}

/** The response to the message, as plain data. */
export interface MadeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The port to the threads. */
export interface AnswerThreads {
  /** @throws when it cannot be made there; it can still be made here. */
  makeAnswer(shopId: string, large: LargeAnswer): Promise<MadeAnswer>;
}

/** Makes the response here. @throws Error for a tool that the registry does not have. */
export async function makeLargeAnswer(operations: readonly Operation[], large: LargeAnswer): Promise<MadeAnswer> {
  const operation = operations.find(({ name }) => name === large.tool);
  if (operation === undefined) throw new Error(`there is no tool ${large.tool}`);
  const headers = new Headers(large.request.headers.map(([name, value]): [string, string] => [name, value]));
  const response = await answerMessage(new Request(large.request.url, { method: "POST", headers }), large.message, {
    shop: large.shop,
    definitions: [],
    resources: noResources,
    websiteUrl: large.websiteUrl,
    call: () =>
      Promise.resolve(resultOf(large.reply, { tool: toolOf(operation), arguments: large.arguments, shop: large.shop })),
    onError: () => {},
  });
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}
