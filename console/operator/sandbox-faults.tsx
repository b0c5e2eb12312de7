/**
 * Slowness and failures of a shop's sandbox, for rehearsals. Each fault strikes one of its calls, or every one, some
 * times or always.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Input } from "../../client/index.ts";
import { problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { numberIn } from "../data/format.ts";
import { operatorTexts } from "../texts/en/shop/operator.ts";
import { settingsTexts } from "../texts/en/shop/settings.ts";
import { asOperator } from "./as-operator.ts";
import { Field, useSending, type Wrong } from "../parts/sending.tsx";

type Fault = NonNullable<Input<"sandbox_faults_put">["faults"]>[number];

const calls: readonly Fault["call"][] = [
  "*",
  "checkVariants",
  "activateVariants",
  "changeOnHand",
  "readOnHand",
  "setIncoming",
  "writeCosts",
  "readCosts",
  "setTags",
];

const outcomes: readonly Fault["outcome"][] = ["error", "throttled", "timeout", "refused", "lost-response"];

const { faults: words } = operatorTexts;

export const SandboxFaults: FunctionComponent<{ readonly shopId: string }> = ({ shopId }) => {
  const { wrong, notice, refuse, came } = useSending(
    (steps) =>
      steps
        .slice(-3)
        .join("-")
        .replace(/^faults-/, ""),
    settingsTexts.saved,
  );
  /** Faults by their numbers, which their fields have in their names. */
  const rows = useSignal<readonly number[]>([]);

  const set = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const faults = new Map<string, string>();
    const count = (name: string): number | null => {
      const text = field(form, name);
      const value = text === "" ? null : numberIn(text);
      if (text !== "" && value === null) faults.set(name, settingsTexts.notNumber);
      return value;
    };
    const input: Input<"sandbox_faults_put"> = {
      shopId,
      latencyMs: count("latencyMs") ?? 0,
      applyDelayMs: count("applyDelayMs") ?? 0,
      faults: rows.value.map((_, index) => {
        const variantIds = field(form, `${index}-variantIds`).split(/[\s,]+/);
        const named = variantIds.filter((id) => id !== "");
        return {
          call: calls.find((call) => call === field(form, `${index}-call`)) ?? "*",
          outcome: outcomes.find((outcome) => outcome === field(form, `${index}-outcome`)) ?? "error",
          variantIds: named.length === 0 ? null : named,
          times: count(`${index}-times`),
        };
      }),
    };
    if (faults.size > 0) {
      refuse(faults);
      return;
    }
    const result = await asOperator().call("sandbox_faults_put", input);
    came(result.ok ? null : problemOf(result));
  };

  const delay = (name: "latencyMs" | "applyDelayMs") => (
    <Field name={name} {...words[name]} wrong={wrong}>
      {(common) => <input {...common} inputMode="numeric" defaultValue="0" />}
    </Field>
  );
  return (
    <form class="shop-settings" data-asks aria-label={words.title} onSubmit={(event) => void set(event)}>
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <div class="fields">
        {delay("latencyMs")}
        {delay("applyDelayMs")}
      </div>
      {rows.value.map((number, index) => (
        <FaultFields
          key={number}
          index={index}
          wrong={wrong}
          remove={() => (rows.value = rows.value.filter((each) => each !== number))}
        />
      ))}
      <p class="buttons">
        <button type="button" onClick={() => (rows.value = [...rows.value, Math.max(0, ...rows.value) + 1])}>
          {words.add}
        </button>
        <button class="primary">{words.set}</button>
        {notice}
      </p>
    </form>
  );
};

interface FaultProps {
  readonly index: number;
  readonly wrong: Wrong;
  readonly remove: () => void;
}

const FaultFields: FunctionComponent<FaultProps> = ({ index, wrong, remove }) => (
  <fieldset class="fields">
    <legend>{words.fault(index + 1)}</legend>
    <Field name={`${index}-call`} label={words.call} wrong={wrong}>
      {(common) => (
        <select {...common}>
          {calls.map((call) => (
            <option key={call} value={call}>
              {call === "*" ? words.everyCall : call}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field name={`${index}-outcome`} label={words.outcome} wrong={wrong}>
      {(common) => (
        <select {...common}>
          {outcomes.map((outcome) => (
            <option key={outcome} value={outcome}>
              {words.outcomes[outcome]}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field name={`${index}-variantIds`} {...words.variantIds} wrong={wrong}>
      {(common) => <input {...common} />}
    </Field>
    <Field name={`${index}-times`} {...words.times} wrong={wrong}>
      {(common) => <input {...common} inputMode="numeric" />}
    </Field>
    <p class="buttons">
      <button type="button" onClick={remove}>
        {words.remove(index + 1)}
      </button>
    </p>
  </fieldset>
);
