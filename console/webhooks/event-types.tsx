/** Which events an endpoint is told of: groups of them, or single types. */
import type { FunctionComponent } from "preact";
import type { Input } from "../../client/index.ts";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";

/** A type of event, all of a group, or all. */
export type EventPattern = Input<"webhook_endpoint_create">["eventTypes"][number];

const words: Readonly<Record<EventPattern, string>> = webhookTexts.types;

const isPattern = (value: string): value is EventPattern => Object.hasOwn(words, value);

const patterns = Object.keys(words).filter(isPattern);

// A test goes to its endpoint whatever it is subscribed to.
const offered = patterns.filter((pattern) => !pattern.startsWith("test."));
const groups = offered.filter((pattern) => pattern.endsWith("*"));
const singleTypes = offered.filter((pattern) => !pattern.endsWith("*"));

export const wordOf = (pattern: string): string => (isPattern(pattern) ? words[pattern] : pattern);

/** Returns the ticked types of the form. */
export const chosenTypes = (form: HTMLFormElement): readonly EventPattern[] =>
  new FormData(form)
    .getAll("eventTypes")
    .flatMap((value) => (typeof value === "string" && isPattern(value) ? [value] : []));

interface Chosen {
  readonly chosen: readonly string[];
}

export const EventTypes: FunctionComponent<Chosen> = ({ chosen }) => (
  <fieldset class="ticks">
    <legend>{webhookTexts.events}</legend>
    <Ticks patterns={groups} chosen={chosen} />
    <details open={singleTypes.some((type) => chosen.includes(type))}>
      <summary>{webhookTexts.singleTypes}</summary>
      <Ticks patterns={singleTypes} chosen={chosen} />
    </details>
  </fieldset>
);

const Ticks: FunctionComponent<Chosen & { readonly patterns: readonly EventPattern[] }> = ({
  patterns: offers,
  chosen,
}) => (
  <div>
    {offers.map((pattern) => (
      <label key={pattern} title={pattern}>
        <input type="checkbox" name="eventTypes" value={pattern} defaultChecked={chosen.includes(pattern)} />
        {wordOf(pattern)}
      </label>
    ))}
  </div>
);
