/** One endpoint: how it stands, what can be done with it, and what became of its deliveries. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import { openpo, openpoOnce, type Problem, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { Moment } from "../parts/when.tsx";
import { go, hrefOf, listHref } from "../router.ts";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";
import { texts } from "../texts/en/texts.ts";
import { nameRecord } from "../title.ts";
import { answerOf, Deliveries, type Delivery } from "./deliveries.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { wordOf } from "./event-types.tsx";
import { Replay } from "./replay.tsx";
import { type Endpoint, SecretShown } from "./secret-shown.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const EndpointScreen: FunctionComponent<{ readonly endpointId: string }> = ({ endpointId }) => {
  const { data, problem, again } = useReading("webhook_endpoint_get", { shopId: shopId(), endpointId });
  useEffect(() => {
    if (data !== null) nameRecord(endpointId, data.endpoint.url);
  }, [data]);
  return (
    <>
      <BackLink href={listHref("webhooks")}>{webhookTexts.back}</BackLink>
      {data === null ? <h1>{webhookTexts.title}</h1> : null}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {data === null ? null : <EndpointView endpoint={data.endpoint} again={again} />}
    </>
  );
};

interface Shown {
  readonly endpoint: Endpoint;
  readonly again: () => Promise<void>;
}

const EndpointView: FunctionComponent<Shown> = ({ endpoint, again }) => {
  const { endpointId, url, status } = endpoint;
  const version = useSignal(0);
  const wasEnabled = useSignal(false);
  const enable = async (): Promise<Problem | null> => {
    const result = await openpo.call("webhook_endpoint_update", { shopId: shopId(), endpointId, status: "enabled" });
    if (!result.ok) return problemOf(result);
    wasEnabled.value = true;
    await again();
    version.value += 1;
    return null;
  };
  /** Reads deliveries and endpoint again: what was sent may have disabled it. */
  const sent = (): void => {
    version.value += 1;
    void again();
  };
  return (
    <>
      <div class="heading">
        <h1 class="url">{url}</h1>
        <span class={status === "enabled" ? "chip done" : "chip bad"}>{webhookTexts.statusNames[status]}</span>
      </div>
      {status === "disabled" ? <Disabled endpoint={endpoint} enable={enable} /> : null}
      {wasEnabled.value && status === "enabled" ? (
        <div class="notice" role="status">
          <p>{webhookTexts.enabled}</p>
          <Replay endpoint={endpoint} replayed={sent} />
        </div>
      ) : null}
      <dl class="facts">
        <div>
          <dt>{webhookTexts.events}</dt>
          <dd>{endpoint.eventTypes.map(wordOf).join(", ")}</dd>
        </div>
        <div>
          <dt>{webhookTexts.signature}</dt>
          <dd>{webhookTexts.signatures[endpoint.signature]}</dd>
        </div>
        <div>
          <dt>{webhookTexts.columns.lastDelivered}</dt>
          <dd>{endpoint.lastDeliveredAt === null ? webhookTexts.never : <Moment at={endpoint.lastDeliveredAt} />}</dd>
        </div>
        {endpoint.description === null ? null : (
          <div>
            <dt>{webhookTexts.columns.description}</dt>
            <dd>{endpoint.description}</dd>
          </div>
        )}
      </dl>
      <Actions endpoint={endpoint} again={again} tested={sent} />
      <Sections endpoint={endpoint} again={again} replayed={sent} />
      <Deliveries endpoint={endpoint} version={version.value} again={sent} />
    </>
  );
};

const Disabled: FunctionComponent<{ readonly endpoint: Endpoint; readonly enable: () => Promise<Problem | null> }> = ({
  endpoint: { disabledReason },
  enable,
}) => {
  const problem = useSignal<Problem | null>(null);
  const enableAgain = async (): Promise<void> => {
    problem.value = await enable();
  };
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{disabledReason === null ? null : webhookTexts.disabled[disabledReason]}</strong>{" "}
        {webhookTexts.disabledHint}
      </p>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => void enableAgain()}>
          {webhookTexts.enable}
        </button>
      </p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
    </div>
  );
};

/** Returns the outcome of a test, in words. */
function outcomeOf(delivery: Delivery): string {
  const { tested } = webhookTexts;
  if (delivery.state === "delivered")
    return tested.delivered(String(delivery.lastStatus), texts.activity.milliseconds(delivery.lastMs ?? 0));
  return delivery.lastMs === null ? tested.pending : tested.failed(answerOf(delivery));
}

const Actions: FunctionComponent<Shown & { readonly tested: () => void }> = ({ endpoint, again, tested }) => {
  const { endpointId, status } = endpoint;
  const asking = useSignal<"disable" | "delete" | null>(null);
  const said = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const isTesting = useSignal(false);
  const input = { shopId: shopId(), endpointId };
  const test = async (): Promise<void> => {
    isTesting.value = true;
    said.value = webhookTexts.testing;
    const result = await openpoOnce.call("webhook_endpoint_test", input);
    isTesting.value = false;
    problem.value = result.ok ? null : problemOf(result);
    said.value = result.ok ? outcomeOf(result.data.delivery) : "";
    tested();
  };
  const disable = async (): Promise<Problem | null> => {
    const result = await openpo.call("webhook_endpoint_update", { ...input, status: "disabled" });
    if (!result.ok) return problemOf(result);
    await again();
    return null;
  };
  const remove = async (): Promise<Problem | null> => {
    const result = await openpo.call("webhook_endpoint_delete", input);
    if (!result.ok) return problemOf(result);
    go(hrefOf("webhooks"));
    return null;
  };
  const close = (): void => void (asking.value = null);
  return (
    <>
      <p class="buttons endpoint-actions">
        {status === "enabled" ? (
          <>
            <button type="button" class="primary" disabled={isTesting.value} onClick={() => void test()}>
              {webhookTexts.test}
            </button>
            <button type="button" onClick={() => (asking.value = "disable")}>
              {webhookTexts.disable}
            </button>
          </>
        ) : null}
        <button type="button" class="danger" onClick={() => (asking.value = "delete")}>
          {webhookTexts.remove}
        </button>
        <span role="status">{said.value}</span>
      </p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {asking.value === "disable" ? (
        <AskFirst
          title={webhookTexts.disableTitle}
          text={webhookTexts.disableText}
          action={webhookTexts.disable}
          run={disable}
          onClose={close}
        />
      ) : null}
      {asking.value === "delete" ? (
        <AskFirst
          title={webhookTexts.removeTitle}
          text={webhookTexts.removeText}
          action={webhookTexts.remove}
          run={remove}
          onClose={close}
        />
      ) : null}
    </>
  );
};

/** Rare actions: each opens a form. */
const Sections: FunctionComponent<Shown & { readonly replayed: () => void }> = ({ endpoint, again, replayed }) => (
  <div class="sections">
    <details>
      <summary>{webhookTexts.change}</summary>
      <EndpointForm
        label={webhookTexts.change}
        endpoint={endpoint}
        action={webhookTexts.save}
        send={async ({ url, description, eventTypes }) => {
          const result = await openpo.call("webhook_endpoint_update", {
            shopId: shopId(),
            endpointId: endpoint.endpointId,
            url,
            eventTypes,
            description: description === "" ? null : description,
          });
          if (!result.ok) return problemOf(result);
          await again();
          return null;
        }}
      />
    </details>
    <details>
      <summary>{webhookTexts.rotate}</summary>
      <Rotate endpoint={endpoint} />
    </details>
    {endpoint.status === "enabled" ? (
      <details>
        <summary>{webhookTexts.replay}</summary>
        <Replay endpoint={endpoint} replayed={replayed} />
      </details>
    ) : null}
  </div>
);

const overlapHours = Object.entries(webhookTexts.overlaps);

const Rotate: FunctionComponent<{ readonly endpoint: Endpoint }> = ({ endpoint }) => {
  const made = useSignal<{ readonly secret: string; readonly until: string } | null>(null);
  const { wrong, notice, came } = useSending(([name = ""]) => name);
  const rotate = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const { endpointId } = endpoint;
    const hours = Number(field(event.currentTarget, "overlapHours"));
    const result = await openpoOnce.call("webhook_endpoint_rotate_secret", {
      shopId: shopId(),
      endpointId,
      overlapHours: hours,
    });
    came(result.ok ? null : problemOf(result));
    if (result.ok) made.value = { secret: result.data.secret, until: result.data.previousSecretUntil };
  };
  return (
    <>
      <p class="quiet">{webhookTexts.rotateText}</p>
      <form class="inline-form" aria-label={webhookTexts.rotate} onSubmit={(event) => void rotate(event)}>
        <Field name="overlapHours" label={webhookTexts.overlap} wrong={wrong}>
          {(common) => (
            <select {...common}>
              {overlapHours.map(([hours, words]) => (
                <option key={hours} value={hours} selected={hours === "24"}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button>{webhookTexts.rotate}</button>
      </form>
      {notice}
      {made.value === null ? null : (
        <SecretShown
          endpoint={endpoint}
          secret={made.value.secret}
          hint={<Moment at={made.value.until} says={webhookTexts.rotated} />}
          onClose={() => (made.value = null)}
        />
      )}
    </>
  );
};
