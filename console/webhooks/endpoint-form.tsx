/** The fields of an endpoint, for a new one and for changes. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent, TargetedEvent } from "preact";
import type { Problem } from "../data/client.ts";
import { field } from "../data/form.ts";
import { Field, useSending } from "../parts/sending.tsx";
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
  const { wrong, notice, refuse, came } = useSending(([name = ""]) => name);
  const isSending = useSignal(false);
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const eventTypes = chosenTypes(form);
    if (eventTypes.length === 0) return refuse(new Map([["eventTypes", webhookTexts.noTypes]]));
    isSending.value = true;
    const fields = { url: field(form, "url"), description: field(form, "description"), eventTypes };
    came(await send(fields, form));
    isSending.value = false;
  };
  return (
    <form class="endpoint-form" data-asks aria-label={label} onSubmit={(event) => void submit(event)}>
      <Field name="url" label={webhookTexts.url} wrong={wrong}>
        {(common) => (
          <input
            {...common}
            type="url"
            required
            maxLength={2_000}
            placeholder={webhookTexts.urlHint}
            defaultValue={endpoint.url}
            autocomplete="off"
          />
        )}
      </Field>
      <Field name="description" label={webhookTexts.description} wrong={wrong}>
        {(common) => <input {...common} maxLength={500} defaultValue={endpoint.description ?? ""} autocomplete="off" />}
      </Field>
      {children}
      <EventTypes chosen={endpoint.eventTypes} />
      {wrong.has("eventTypes") ? <p class="cell-note">{wrong.get("eventTypes")}</p> : null}
      <p class="buttons">
        <button class="primary" disabled={isSending.value}>
          {action}
        </button>
        {notice}
      </p>
    </form>
  );
};
