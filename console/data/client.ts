/**
 * The API as the console calls it: the typed client with the page's bearer, which is renewed when it has expired.
 */
import {
  type ApprovalRequest,
  createClient,
  type ErrorDetails,
  type Failure,
  type OperationName,
} from "../../client/index.ts";
import { withoutPaths } from "./format.ts";
import { texts } from "../texts/en/texts.ts";
import { bearerOfSamePerson, currentBearer, inWords, type Refused, renewBearer, withWords } from "./session.ts";

/**
 * Sends with the bearer; once more with another when this one is refused. A call that finds that the session has ended
 * waits until the same person has signed in again: the service has done nothing with it.
 */
export const withBearer: typeof fetch = async (input, init) => {
  const first = await send(input, init, await currentBearer());
  if (first.status !== 401) return first;
  const renewed = (await renewBearer()) ?? (await bearerOfSamePerson(init?.signal ?? null));
  return renewed === null ? first : await send(input, init, renewed);
};

async function send(input: RequestInfo | URL, init: RequestInit | undefined, bearer: string | null): Promise<Response> {
  const headers = new Headers(init?.headers);
  headers.set("Authorization", `Bearer ${bearer ?? ""}`);
  return await withWords(await fetch(input, { ...init, headers }));
}

export const openpo = createClient({
  baseUrl: location.origin,
  apiKey: "",
  fetch: withBearer,
  retriesMax: 2,
  waitMsMax: 5_000,
});

/** The same without attempts after the first: for what has no idempotency key and would be made twice. */
export const openpoOnce = createClient({ baseUrl: location.origin, apiKey: "", fetch: withBearer, retriesMax: 0 });

/** Text and details of a failed call, for a person. */
export interface Problem extends Refused {
  readonly requestId: string | null;
  readonly code: string;
  /** A more exact word where the code is shared; null without one. */
  readonly reason: string | null;
  /** Faults, item by item. */
  readonly details: ErrorDetails;
  /** The request that waits for a decision: nothing was changed, and nothing has failed. */
  readonly approvalRequestId?: string;
}

/** Problem that a person sees when the service does not answer. */
export const unreachable: Problem = {
  message: texts.problem.unreachable,
  action: texts.problem.unreachableHint,
  requestId: null,
  code: "UNREACHABLE",
  reason: null,
  details: [],
};

/** Who decides about what was asked for. There is a link in place of its address. */
export const adviceOf = ({ advice = "", url }: Pick<ApprovalRequest, "advice" | "url">): string =>
  advice.replace(` at ${url}`, "");

/** A failed call in words. */
export function problemOf({ error }: Failure<OperationName>): Problem {
  if (error.code === "UNREACHABLE") return unreachable;
  const pending = "approvalRequest" in error ? error.approvalRequest : null;
  const message = pending === null ? withoutPaths(error.message) : adviceOf(pending);
  return inWords({
    message,
    action: "action" in error ? (error.action ?? null) : null,
    requestId: "requestId" in error ? error.requestId : null,
    code: error.code,
    reason: "reason" in error ? (error.reason ?? null) : null,
    details: "details" in error ? (error.details ?? []) : [],
    ...(pending === null ? {} : { approvalRequestId: pending.approvalRequestId }),
  });
}

/** Mistakes of a refusal by the field, which `fieldAt` names by the steps of the mistake's path. */
export const faultsOf = (
  refused: Refused | null | undefined,
  fieldAt: (steps: readonly string[]) => string = ([name = ""]) => name,
): ReadonlyMap<string, string> =>
  new Map(
    (refused?.details ?? []).flatMap((each) =>
      "path" in each ? [[fieldAt(each.path.split("/").slice(1)), each.message] as const] : [],
    ),
  );
