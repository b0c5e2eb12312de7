/** All settings of a shop (contract, "Shop settings"), each with its unit; what is wrong is said beside its field. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useMemo } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { numberIn, typed } from "../data/format.ts";
import { operatorTexts } from "../texts-operator.ts";
import { asOperator } from "./as-operator.ts";
import { Field, useSending } from "./sending.tsx";

type Shop = Extract<Output<"shop_list">["shops"][number], { readonly settings: unknown }>;

const costSyncModes = ["unit-cost", "moving-average", "disabled"] as const;

/** A rate as it is written: the currency, and what one of it is in the shop's. */
interface RateRow {
  readonly currency: string;
  readonly rate: string;
}

const { settings: words } = operatorTexts;

export const ShopSettings: FunctionComponent<{ readonly shop: Shop }> = ({ shop }) => {
  const { shopId, currencyCode, plan, settings } = shop;
  const { wrong, notice, refuse, came } = useSending((steps) =>
    steps.includes("fxRates") ? "fxRates" : (steps.at(-1) ?? ""),
  );
  const rates = useSignal<readonly RateRow[]>(
    Object.entries(settings.fxRates).map(([currency, rate]) => ({ currency, rate: typed(rate) })),
  );
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone"), []);

  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const faults = new Map<string, string>();
    const numeric = (name: string): number => {
      const value = numberIn(field(form, name));
      if (value === null) faults.set(name, operatorTexts.notNumber);
      return value ?? 0;
    };
    const amounts = {
      followOnWaitMs: numeric("followOnWaitMs"),
      confirmationWaitMs: numeric("confirmationWaitMs"),
      auditRetentionDays: numeric("auditRetentionDays"),
      rateLimit: { capacity: numeric("capacity"), refillPerSecond: numeric("refillPerSecond") },
    };
    const fxRates: Record<string, number> = {};
    for (const { currency, rate } of rates.value) {
      if (currency.trim() === "" && rate.trim() === "") continue;
      const value = numberIn(rate);
      if (value === null) faults.set("fxRates", operatorTexts.rates.notNumber(currency));
      else if (currency.trim() === "") faults.set("fxRates", operatorTexts.rates.noCurrency);
      else if (Object.hasOwn(fxRates, currency.trim())) faults.set("fxRates", operatorTexts.rates.twice(currency));
      else fxRates[currency.trim()] = value;
    }
    if (faults.size > 0) {
      refuse(faults);
      return;
    }
    const result = await asOperator().call("shop_put", {
      shopId,
      plan: { restApi: field(form, "restApi") !== "" },
      settings: {
        ...amounts,
        autoSyncOnReceiving: field(form, "autoSyncOnReceiving") !== "",
        emailOnSent: field(form, "emailOnSent") !== "",
        costSyncMode: costSyncModes.find((mode) => mode === field(form, "costSyncMode")),
        onOrderTag: field(form, "onOrderTag") === "" ? null : field(form, "onOrderTag"),
        timezone: field(form, "timezone"),
        fxRates,
      },
    });
    came(result.ok ? null : problemOf(result));
  };

  const amount = (
    name: "followOnWaitMs" | "confirmationWaitMs" | "auditRetentionDays" | "capacity" | "refillPerSecond",
    value: number,
  ) => (
    <Field name={name} {...words[name]} wrong={wrong}>
      {(common) => <input {...common} inputMode="decimal" required defaultValue={typed(value)} />}
    </Field>
  );
  const tick = (name: "restApi" | "autoSyncOnReceiving" | "emailOnSent", isOn: boolean) => (
    <Field name={name} {...words[name]} wrong={wrong}>
      {(common) => <input {...common} type="checkbox" defaultChecked={isOn} />}
    </Field>
  );
  return (
    <form class="shop-settings" aria-label={operatorTexts.settingsOf(shop.name)} onSubmit={(event) => void save(event)}>
      <h2>{operatorTexts.groups.receiving}</h2>
      <div class="fields">
        {tick("autoSyncOnReceiving", settings.autoSyncOnReceiving)}
        {tick("emailOnSent", settings.emailOnSent)}
        <Field name="costSyncMode" {...words.costSyncMode} wrong={wrong}>
          {(common) => (
            <select {...common} defaultValue={settings.costSyncMode}>
              {costSyncModes.map((mode) => (
                <option key={mode} value={mode}>
                  {operatorTexts.costSyncModes[mode]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field name="onOrderTag" {...words.onOrderTag} wrong={wrong}>
          {(common) => <input {...common} defaultValue={settings.onOrderTag ?? ""} />}
        </Field>
        {amount("followOnWaitMs", settings.followOnWaitMs)}
        {amount("confirmationWaitMs", settings.confirmationWaitMs)}
      </div>
      <h2>{operatorTexts.groups.money}</h2>
      <Rates rates={rates.value} change={(next) => (rates.value = next)} currencyCode={currencyCode} />
      {wrong.has("fxRates") ? (
        <p class="cell-note" role="alert">
          {wrong.get("fxRates")}
        </p>
      ) : null}
      <h2>{operatorTexts.groups.service}</h2>
      <div class="fields">
        {tick("restApi", plan.restApi)}
        {amount("capacity", settings.rateLimit.capacity)}
        {amount("refillPerSecond", settings.rateLimit.refillPerSecond)}
        {amount("auditRetentionDays", settings.auditRetentionDays)}
        <Field name="timezone" {...words.timezone} wrong={wrong}>
          {(common) => <input {...common} list="zones" required defaultValue={settings.timezone} />}
        </Field>
        <datalist id="zones">
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      <p class="buttons">
        <button class="primary">{operatorTexts.save}</button>
        {notice}
      </p>
    </form>
  );
};

interface RatesProps {
  readonly rates: readonly RateRow[];
  readonly change: (next: readonly RateRow[]) => void;
  readonly currencyCode: string;
}

/** What one of another currency is in the shop's. */
const Rates: FunctionComponent<RatesProps> = ({ rates, change, currencyCode }) => {
  const set = (index: number, changed: Partial<RateRow>): void =>
    change(rates.map((row, each) => (each === index ? { ...row, ...changed } : row)));
  return (
    <fieldset class="rates">
      <legend>{operatorTexts.rates.title}</legend>
      <p class="quiet">{operatorTexts.rates.hint(currencyCode)}</p>
      {rates.map(({ currency, rate }, index) => (
        <p key={index} class="inline">
          <label>
            {operatorTexts.rates.currency}
            <input
              value={currency}
              maxLength={3}
              size={4}
              onInput={(event) => set(index, { currency: event.currentTarget.value.toUpperCase() })}
            />
          </label>
          <label>
            {operatorTexts.rates.rate(currency, currencyCode)}
            <input
              value={rate}
              inputMode="decimal"
              size={10}
              onInput={(event) => set(index, { rate: event.currentTarget.value })}
            />
          </label>
          <button type="button" onClick={() => change(rates.filter((_, each) => each !== index))}>
            {operatorTexts.rates.remove(currency)}
          </button>
        </p>
      ))}
      <button type="button" onClick={() => change([...rates, { currency: "", rate: "" }])}>
        {operatorTexts.rates.add}
      </button>
    </fieldset>
  );
};
