/** The fields of an endpoint, for a new one and for changes. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent, TargetedEvent } from "preact";
import type { Problem } from "../data/client.ts";
import { field } from "../data/form.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";
import { chosenTypes, type EventPattern, EventTypes } from "./event-types.tsx";
import type { Endpoint } from "./secret-shown.tsx";

/** Fields that the form sends. */
interface EndpointFields {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly EventPattern[];
}

interface FormProps {
  readonly label: string;
  readonly endpoint: Pick<Endpoint, "url" | "description" | "eventTypes">;
  /** Text of the button that sends. */
  readonly action: string;
  /** Sends the fields; returns what went wrong, null when it is done. */
  readonly send: (fields: EndpointFields, form: HTMLFormElement) => Promise<Problem | null>;
  /** More fields. */
  readonly children?: ComponentChildren;
}

export const EndpointForm: FunctionComponent<FormProps> = ({ label, endpoint, action, send, children }) => {
  const problem = useSignal<Problem | null>(null);
  const isUntyped = useSignal(false);
  const isSending = useSignal(false);
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const eventTypes = chosenTypes(form);
    isUntyped.value = eventTypes.length === 0;
    if (isUntyped.value) return;
    isSending.value = true;
    const fields = { url: field(form, "url"), description: field(form, "description"), eventTypes };
    problem.value = await send(fields, form);
    isSending.value = false;
  };
  return (
    <form class="endpoint-form" data-asks aria-label={label} onSubmit={(event) => void submit(event)}>
      <label>
        {webhookTexts.url}
        <input
          name="url"
          type="url"
          required
          maxLength={2_000}
          placeholder={webhookTexts.urlHint}
          defaultValue={endpoint.url}
          autocomplete="off"
        />
      </label>
      <label>
        {webhookTexts.description}
        <input name="description" maxLength={500} defaultValue={endpoint.description ?? ""} autocomplete="off" />
      </label>
      {children}
      <EventTypes chosen={endpoint.eventTypes} />
      {isUntyped.value ? (
        <p class="cell-note" role="alert">
          {webhookTexts.noTypes}
        </p>
      ) : null}
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      <p class="buttons">
        <button class="primary" disabled={isSending.value}>
          {action}
        </button>
      </p>
    </form>
  );
};
