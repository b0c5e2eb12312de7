/**
 * The storefront of the shop: how it is connected and doing, what was pulled from it, and for the operator connecting
 * and leaving it.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { openpoOnce, type Problem, problemOf } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { operatorToken, shopId, signedIn } from "../data/session.ts";
import { asOperator } from "../operator/as-operator.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { CopyField } from "../parts/fields/copy-field.tsx";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Moment } from "../parts/when.tsx";
import { storefrontTexts as words } from "../texts/en/shop/storefront.ts";
import { ConnectForm, Unlock } from "./connect.tsx";
import { Products } from "./products.tsx";
import { Pull } from "./pull.tsx";

export type Status = Output<"storefront_get">["storefront"];

/** Between two looks at a pull that is under way. */
const pollMs = 1_000;

/** Between two looks otherwise: others change the connection too, and the store begins pulls. */
const idlePollMs = 15_000;

export const StorefrontScreen: FunctionComponent = () => (
  <OwnerOnly why={words.why}>
    <Storefront />
  </OwnerOnly>
);

const Storefront: FunctionComponent = () => {
  const { data, problem, again } = useReading("storefront_get", { shopId: shopId() });
  const status = data?.storefront ?? null;
  const isRunning = status?.pull?.state === "running";
  const said = useSignal("");
  // Only while somebody sees the page, and at once when they come back to it.
  useEffect(() => {
    const poll = (): void => void (document.hidden ? null : again());
    const timer = setInterval(poll, isRunning ? pollMs : idlePollMs);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  }, [isRunning]);
  const changed = async (text: string): Promise<void> => {
    said.value = text;
    await again();
  };
  return (
    <>
      <div class="heading">
        <h1>{words.title}</h1>
        {status === null ? null : <StateChip status={status} />}
      </div>
      {data === null && problem === null ? <Skeleton /> : null}
      <p role="status">{said.value}</p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {status === null ? null : !isStore(status) ? (
        <>
          <div class="empty">
            <p>{status.kind === "none" ? words.without : words.sandbox}</p>
            <p class="quiet">{words.sandboxHint}</p>
          </div>
          <OfOperator status={status} changed={changed} />
        </>
      ) : (
        <div class="storefront">
          <Facts status={status} />
          {status.webhooks === null ? null : <Webhooks webhooks={status.webhooks} again={again} />}
          <Pull status={status} again={again} />
          {status.pull === null ? null : <Products key={status.pull.endedAt} />}
          <OfOperator status={status} changed={changed} />
        </div>
      )}
    </>
  );
};

/** True if the shop is connected to a store. */
const isStore = ({ kind }: Status): boolean => kind !== "sandbox" && kind !== "none";

const isFailing = ({ pull, webhooks }: Status): boolean => pull?.state === "failed" || webhooks?.state === "incomplete";

const StateChip: FunctionComponent<{ readonly status: Status }> = ({ status }) => {
  if (!isStore(status)) return <span class="chip waiting">{words.states.sandbox}</span>;
  return isFailing(status) ? (
    <span class="chip bad">{words.states.failing}</span>
  ) : (
    <span class="chip done">{words.states.connected}</span>
  );
};

const kindName = (kind: string): string => new Map<string, string>(Object.entries(words.kinds)).get(kind) ?? kind;

const Token: FunctionComponent<{ readonly token: NonNullable<Status["token"]> }> = ({
  token: { renews, expiresAt },
}) => {
  if (expiresAt === null) return <>{renews ? words.token.renewed(null) : words.token.fixed}</>;
  return <Moment at={expiresAt} says={renews ? words.token.renewed : words.token.until} />;
};

const Facts: FunctionComponent<{ readonly status: Status }> = ({ status }) => {
  const { kind, account, apiVersion, token, scopes, lastCallAt, lastError, backlog, limits } = status;
  const { facts } = words;
  const missing = scopes?.missing ?? [];
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{facts.store}</dt>
          <dd class="url">
            {kindName(kind)} {account}
          </dd>
        </div>
        {token === null ? null : (
          <div>
            <dt>{facts.token}</dt>
            <dd>
              <Token token={token} />
            </dd>
          </div>
        )}
        {apiVersion === null ? null : (
          <div>
            <dt>{facts.apiVersion}</dt>
            <dd>{apiVersion}</dd>
          </div>
        )}
        <div>
          <dt>{facts.lastCall}</dt>
          <dd>{lastCallAt === null ? words.never : <Moment at={lastCallAt} />}</dd>
        </div>
        <div>
          <dt>{facts.lastError}</dt>
          <dd>
            {lastError === null ? (
              words.noError
            ) : (
              <Moment at={lastError.at} says={(shown) => `${shown}: ${lastError.message}`} />
            )}
          </dd>
        </div>
        <div>
          <dt>{facts.backlog}</dt>
          <dd>{words.backlog(backlog)}</dd>
        </div>
        {limits.points === null ? null : (
          <div>
            <dt>{facts.points}</dt>
            <dd>{words.points(Math.floor(limits.points.left), limits.points.max)}</dd>
          </div>
        )}
      </dl>
      {token === null ? null : (
        <p class="scopes">
          <span class="quiet">{facts.scopes}</span> {scopes === null ? words.noScopes : scopes.granted.join(", ")}
        </p>
      )}
      {missing.length === 0 ? null : (
        <p class="notice">{words.missing(missing.join(", "), missing.includes("read_orders"))}</p>
      )}
    </>
  );
};

interface WebhooksProps {
  readonly webhooks: NonNullable<Status["webhooks"]>;
  readonly again: () => Promise<void>;
}

/** State of the store's webhooks; if some are missing, they can be requested again. */
const Webhooks: FunctionComponent<WebhooksProps> = ({ webhooks: { state, address, reason, action }, again }) => {
  const isAsking = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const ask = async (): Promise<void> => {
    isAsking.value = true;
    const result = await openpoOnce.call("storefront_subscribe", { shopId: shopId() });
    isAsking.value = false;
    problem.value = result.ok ? null : problemOf(result);
    await again();
  };
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">
        {words.webhooks.title}{" "}
        <span class={state === "on" ? "chip done" : state === "off" ? "chip waiting" : "chip bad"}>
          {words.webhooks.states[state]}
        </span>
      </h2>
      <p>{state === "on" ? words.webhooks.on : reason}</p>
      {state === "off" && action !== null ? <p class="quiet">{action}</p> : null}
      {address === null || state === "off" ? null : <p class="quiet url">{words.webhooks.at(address)}</p>}
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {state === "incomplete" ? (
        <p class="buttons">
          <button type="button" disabled={isAsking.value} onClick={() => void ask()}>
            {words.webhooks.ask}
          </button>
          <span role="status">{isAsking.value ? words.webhooks.asking : ""}</span>
        </p>
      ) : null}
    </section>
  );
};

interface OperatorProps {
  readonly status: Status;
  readonly changed: (said: string) => Promise<void>;
}

/** Connecting and leaving: the operator's, whose token is asked for again after a reload. */
const OfOperator: FunctionComponent<OperatorProps> = ({ status, changed }) => {
  if (signedIn()?.person.personId !== null)
    return !isStore(status) ? (
      <section aria-labelledby="operators">
        <h2 id="operators">{words.operators.title}</h2>
        <p class="quiet">{words.operators.lead}</p>
        <CopyField
          label={words.operators.command}
          value={`openpo storefront connect --shop ${shopId()} --domain example.myshopify.com --token-file token.txt`}
          onCopied={() => {}}
        />
      </section>
    ) : null;
  if (operatorToken.value === null) return <Unlock />;
  return !isStore(status) ? (
    <section aria-labelledby="connect">
      <h2 id="connect">{words.connect.title}</h2>
      <ConnectForm status={status} changed={changed} />
    </section>
  ) : (
    <>
      <div class="sections">
        <details>
          <summary>{words.connect.anew}</summary>
          <ConnectForm status={status} changed={changed} />
        </details>
      </div>
      <Disconnect status={status} changed={changed} />
    </>
  );
};

const Disconnect: FunctionComponent<OperatorProps> = ({ status: { account }, changed }) => {
  const isAsking = useSignal(false);
  const leave = async (): Promise<Problem | null> => {
    const result = await asOperator().call("shop_put", { shopId: shopId(), storefront: { kind: "sandbox" } });
    if (!result.ok) return problemOf(result);
    await changed((result.data.warnings ?? []).join(" "));
    return null;
  };
  return (
    <p class="buttons">
      <button type="button" class="danger" onClick={() => (isAsking.value = true)}>
        {words.disconnect.action}
      </button>
      {isAsking.value ? (
        <AskFirst
          title={words.disconnect.title}
          text={words.disconnect.text(account ?? "")}
          action={words.disconnect.action}
          run={leave}
          onClose={() => (isAsking.value = false)}
        />
      ) : null}
    </p>
  );
};
