/**
 * The page to which an assistant sends a person: who asks, in whose name, for what, and Allow or Deny (C74). It knows
 * of the request what its own address says; the service checks that again with each call. Without one it tells how an
 * assistant is connected.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedSubmitEvent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpoOnce, problemOf } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { shopId, signedIn } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { useSending } from "../parts/sending.tsx";
import { place } from "../router.ts";
import { connectTexts } from "../texts/en/shop/connect.ts";
import { ConnectSteps } from "./connect-steps.tsx";
import { giveUp } from "../unsaved.ts";
import { FoldedLimits, limitFieldAt, limitsIn, noLimits } from "./limits.tsx";
import { type KeyScope, keyScopes } from "./scopes.ts";

type Question = Output<"connection_request_get">["request"];

/** Name of a scope that was asked for; one that is not known here keeps the client's word. */
const nameOfScope = (scope: string): string =>
  keyScopes.flatMap((each) => (each === scope ? [connectTexts.scopes[each].name] : []))[0] ?? scope;

/** The request, as the address has it. */
function requestHere() {
  const { query } = place.value;
  const sent = (name: string): string | undefined => query.get(name) ?? undefined;
  return {
    response_type: sent("response_type"),
    client_id: sent("client_id"),
    redirect_uri: sent("redirect_uri"),
    scope: sent("scope"),
    state: sent("state"),
    code_challenge: sent("code_challenge"),
    code_challenge_method: sent("code_challenge_method"),
    resource: sent("resource"),
  };
}

export const ConnectScreen: FunctionComponent = () => {
  return place.value.query.has("client_id") ? <Request /> : <ConnectSteps />;
};

const Request: FunctionComponent = () => {
  const { data, problem } = useReading("connection_request_get", { shopId: shopId(), ...requestHere() });
  if (problem !== null) return <ProblemNotice problem={problem} />;
  if (data === null) return <Skeleton />;
  return <Consent question={data.request} />;
};

const Consent: FunctionComponent<{ readonly question: Question }> = ({ question }) => {
  const { clientName, clientHost, hasDocument, redirect, scopesAsked, scopeMax } = question;
  const session = signedIn();
  const { wrong, notice, came } = useSending(limitFieldAt);
  const state = useSignal<"open" | "sending" | "answered">("open");
  const scope = useSignal<KeyScope>("read");
  const limits = useSignal(noLimits);
  const decide = async (decision: "allow" | "deny"): Promise<void> => {
    state.value = "sending";
    const result = await openpoOnce.call("connection_decide", {
      shopId: shopId(),
      request: requestHere(),
      decision,
      scope: scope.value,
      limits: scope.value === "read" ? null : limitsIn(limits.value),
      personId: session?.person.personId ?? null,
    });
    came(result.ok ? null : problemOf(result));
    state.value = result.ok ? "answered" : "open";
    if (!result.ok) return;
    giveUp();
    location.assign(result.data.redirectTo);
  };
  const allow = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void decide("allow");
  };
  if (state.value === "answered") return <p role="status">{connectTexts.gone}</p>;
  return (
    <div class="consent">
      <h1>{connectTexts.title(clientName)}</h1>
      <p>{connectTexts.asks(clientName, clientHost)}</p>
      {hasDocument ? null : <p class="notice">{connectTexts.undocumented}</p>}
      <dl class="facts">
        <div>
          <dt>{connectTexts.inName}</dt>
          <dd>{session?.person.name}</dd>
        </div>
        <div>
          <dt>{connectTexts.shop}</dt>
          <dd>{session?.shop.name}</dd>
        </div>
        <div>
          <dt>{connectTexts.answerGoes}</dt>
          <dd>{connectTexts.places[redirect.kind](redirect.host)}</dd>
        </div>
      </dl>
      {notice}
      <form data-asks onSubmit={allow}>
        <fieldset class="ticks">
          <legend>{connectTexts.scope}</legend>
          {scopesAsked.length === 0 ? null : (
            <p class="quiet">{connectTexts.ask(scopesAsked.map(nameOfScope).join(", "))}</p>
          )}
          {(scopeMax === "write" ? keyScopes : keyScopes.slice(0, 1)).map((each) => (
            <label key={each} class="choice">
              <input type="radio" name="scope" checked={scope.value === each} onChange={() => (scope.value = each)} />
              <span>
                <strong>{connectTexts.scopes[each].name}</strong>
                <br />
                {connectTexts.scopes[each].meaning}
              </span>
            </label>
          ))}
          {scopeMax === "write" ? null : <p class="quiet">{connectTexts.readOnly}</p>}
        </fieldset>
        {scope.value === "read" ? null : <FoldedLimits limits={limits} wrong={wrong} />}
        <p class="decide">
          <button type="button" disabled={state.value === "sending"} onClick={() => void decide("deny")}>
            {connectTexts.deny}
          </button>
          <button class="primary" disabled={state.value === "sending"}>
            {connectTexts.allow}
          </button>
        </p>
      </form>
      <p class="quiet">{connectTexts.ends}</p>
    </div>
  );
};
