/** Sends past events to an endpoint. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { openpoOnce, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { shopId } from "../data/session.ts";
import { Field, useSending } from "../parts/sending.tsx";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";
import type { Endpoint } from "./secret-shown.tsx";

/** An instant for a field of the reader's time, to the minute before it. */
function localMinute(instant: string): string {
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param replayed  called when events are on their way. */
export const Replay: FunctionComponent<{ readonly endpoint: Endpoint; readonly replayed: () => void }> = ({
  endpoint: { endpointId, createdAt, lastDeliveredAt },
  replayed,
}) => {
  const said = useSignal("");
  const { wrong, notice, came } = useSending(() => "since");
  const replay = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const from = new Date(field(event.currentTarget, "since")).toISOString();
    const result = await openpoOnce.call("webhook_endpoint_replay", { shopId: shopId(), endpointId, from });
    came(result.ok ? null : problemOf(result));
    said.value = result.ok ? webhookTexts.replayed(result.data.replayed) : "";
    if (result.ok) replayed();
  };
  return (
    <>
      <p class="quiet">{webhookTexts.replayText}</p>
      <form class="inline-form" data-asks aria-label={webhookTexts.replay} onSubmit={(event) => void replay(event)}>
        <Field name="since" label={webhookTexts.since} wrong={wrong}>
          {(common) => (
            <input
              {...common}
              type="datetime-local"
              required
              defaultValue={localMinute(lastDeliveredAt ?? createdAt)}
            />
          )}
        </Field>
        <button>{webhookTexts.replay}</button>
        <span role="status">{said.value}</span>
      </form>
      {notice}
    </>
  );
};
