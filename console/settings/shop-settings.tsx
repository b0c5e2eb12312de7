/**
 * Settings of a shop (contract, "Shop settings"), each with its unit; what is wrong is said beside its field. Only what
 * was changed is sent, so that two people who change different settings both have theirs.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useMemo } from "preact/hooks";
import type { Input, Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { number, numberIn, typed } from "../data/format.ts";
import { renewBearer } from "../data/session.ts";
import { asOperator } from "../operator/as-operator.ts";
import { FactList } from "../parts/lists/facts.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { settingsTexts } from "../texts/en/shop/settings.ts";

type Shop = Output<"shop_put">["shop"];

type Sent = NonNullable<Input<"shop_put">["settings"]>;

const costSyncModes = ["unit-cost", "moving-average", "disabled"] as const;

/** A rate as it is written: the currency, and what one of it is in the shop's. */
interface RateRow {
  readonly currency: string;
  readonly rate: string;
}

const { settings: words, groups } = settingsTexts;

/** The rates by currency. A row without both is left out. `refuse` learns what is wrong. */
function ratesIn(rows: readonly RateRow[], refuse: (text: string) => void): Readonly<Record<string, number>> {
  const { rates } = settingsTexts;
  const found: Record<string, number> = {};
  for (const row of rows) {
    const [currency, rate] = [row.currency.trim(), row.rate.trim()];
    if (currency === "" && rate === "") continue;
    const value = numberIn(rate);
    if (value === null) refuse(rates.notNumber(currency));
    else if (currency === "") refuse(rates.noCurrency);
    else if (Object.hasOwn(found, currency)) refuse(rates.twice(currency));
    else found[currency] = value;
  }
  return found;
}

/** A value whose members are in one order. */
const comparable = (value: unknown): string =>
  JSON.stringify(
    typeof value === "object" && value !== null
      ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
      : value,
  );

/** The settings that are not as they were read. */
const changedOf = (settings: Sent, before: Shop["settings"]): Sent => {
  const was = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => comparable(value) !== comparable(was.get(name))),
  );
};

interface ShopSettingsProps {
  readonly shop: Shop;
  /** The operator changes plan and rate limit too; an owner sees them. */
  readonly isOperator: boolean;
}

export const ShopSettings: FunctionComponent<ShopSettingsProps> = ({ shop, isOperator }) => {
  const { shopId, currencyCode } = shop;
  const { wrong, notice, refuse, came } = useSending(
    (steps) => (steps.includes("fxRates") ? "fxRates" : (steps.at(-1) ?? "")),
    settingsTexts.saved,
  );
  /** As it was read, or saved last. */
  const known = useSignal(shop);
  const { name, plan, settings } = known.value;
  const rates = useSignal<readonly RateRow[]>(
    Object.entries(settings.fxRates).map(([currency, rate]) => ({ currency, rate: typed(rate) })),
  );
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone"), []);

  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const faults = new Map<string, string>();
    const numeric = (of: string): number => {
      const value = numberIn(field(form, of));
      if (value === null) faults.set(of, settingsTexts.notNumber);
      return value ?? 0;
    };
    const isTicked = (of: string): boolean => field(form, of) !== "";
    const tag = field(form, "onOrderTag");
    const replyTo = field(form, "replyTo").trim();
    const changed = changedOf(
      {
        followOnWaitMs: numeric("followOnWaitMs"),
        confirmationWaitMs: numeric("confirmationWaitMs"),
        auditRetentionDays: numeric("auditRetentionDays"),
        unconfirmedDays: numeric("unconfirmedDays"),
        autoSyncOnReceiving: isTicked("autoSyncOnReceiving"),
        emailOnSent: isTicked("emailOnSent"),
        costSyncMode: costSyncModes.find((mode) => mode === field(form, "costSyncMode")),
        onOrderTag: tag === "" ? null : tag,
        replyTo: replyTo === "" ? null : replyTo,
        timezone: field(form, "timezone"),
        fxRates: ratesIn(rates.value, (text) => faults.set("fxRates", text)),
        ...(isOperator
          ? {
              rateLimit: { capacity: numeric("capacity"), refillPerSecond: numeric("refillPerSecond") },
              auditRetentionFloorDays: numeric("auditRetentionFloorDays"),
            }
          : {}),
      },
      settings,
    );
    if (faults.size > 0) {
      refuse(faults);
      return;
    }
    const typedName = field(form, "name");
    const input: Input<"shop_put"> = {
      shopId,
      ...(isOperator ? { plan: { restApi: isTicked("restApi") } } : {}),
      ...(typedName === name ? {} : { name: typedName }),
      ...(Object.keys(changed).length === 0 ? {} : { settings: changed }),
    };
    const result = await (isOperator ? asOperator() : openpo).call("shop_put", input);
    came(result.ok ? null : problemOf(result));
    if (!result.ok) return;
    known.value = result.data.shop;
    // The head of the page has the shop's name, and its day.
    if (!isOperator) await renewBearer();
  };

  const amount = (
    of:
      | "followOnWaitMs"
      | "confirmationWaitMs"
      | "auditRetentionDays"
      | "auditRetentionFloorDays"
      | "unconfirmedDays"
      | "capacity"
      | "refillPerSecond",
    value: number,
  ) => (
    <Field name={of} {...words[of]} wrong={wrong}>
      {(common) => <input {...common} inputMode="decimal" required defaultValue={typed(value)} />}
    </Field>
  );
  const tick = (of: "restApi" | "autoSyncOnReceiving" | "emailOnSent", isOn: boolean) => (
    <Field name={of} {...words[of]} wrong={wrong}>
      {(common) => <input {...common} type="checkbox" defaultChecked={isOn} />}
    </Field>
  );
  return (
    <form
      class="shop-settings"
      data-asks
      aria-label={settingsTexts.formOf(name)}
      onSubmit={(event) => void save(event)}
    >
      <h2>{groups.shop}</h2>
      <div class="fields">
        <Field name="name" {...words.name} wrong={wrong}>
          {(common) => <input {...common} required maxLength={200} defaultValue={name} />}
        </Field>
        <Field name="timezone" {...words.timezone} wrong={wrong}>
          {(common) => <input {...common} list="zones" required defaultValue={settings.timezone} />}
        </Field>
        <datalist id="zones">
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        {amount("auditRetentionDays", settings.auditRetentionDays)}
      </div>
      <h2>{groups.receiving}</h2>
      <div class="fields">
        {tick("autoSyncOnReceiving", settings.autoSyncOnReceiving)}
        <Field name="costSyncMode" {...words.costSyncMode} wrong={wrong}>
          {(common) => (
            <select {...common} defaultValue={settings.costSyncMode}>
              {costSyncModes.map((mode) => (
                <option key={mode} value={mode}>
                  {settingsTexts.costSyncModes[mode]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field name="onOrderTag" {...words.onOrderTag} wrong={wrong}>
          {(common) => <input {...common} defaultValue={settings.onOrderTag ?? ""} />}
        </Field>
      </div>
      <h2>{groups.sending}</h2>
      <div class="fields">
        {tick("emailOnSent", settings.emailOnSent)}
        <Field name="replyTo" {...words.replyTo} wrong={wrong}>
          {(common) => <input {...common} inputMode="email" maxLength={200} defaultValue={settings.replyTo ?? ""} />}
        </Field>
        {amount("unconfirmedDays", settings.unconfirmedDays)}
      </div>
      <h2>{groups.money}</h2>
      <Rates rates={rates.value} change={(next) => (rates.value = next)} currencyCode={currencyCode} />
      {wrong.has("fxRates") ? (
        <p class="cell-note" role="alert">
          {wrong.get("fxRates")}
        </p>
      ) : null}
      <h2>{groups.waiting}</h2>
      <div class="fields">
        {amount("followOnWaitMs", settings.followOnWaitMs)}
        {amount("confirmationWaitMs", settings.confirmationWaitMs)}
      </div>
      {isOperator ? (
        <>
          <h2>{groups.service}</h2>
          <div class="fields">
            {tick("restApi", plan.restApi)}
            {amount("capacity", settings.rateLimit.capacity)}
            {amount("refillPerSecond", settings.rateLimit.refillPerSecond)}
            {amount("auditRetentionFloorDays", settings.auditRetentionFloorDays)}
          </div>
        </>
      ) : null}
      <p class="buttons">
        <button class="primary">{settingsTexts.save}</button>
        {notice}
      </p>
      {isOperator ? null : <OfOperator shop={known.value} />}
    </form>
  );
};

/** Settings that an owner cannot change. */
const OfOperator: FunctionComponent<{ readonly shop: Shop }> = ({ shop }) => {
  const { ofOperator } = settingsTexts;
  const { capacity, refillPerSecond } = shop.settings.rateLimit;
  const facts = [
    [ofOperator.currency, shop.currencyCode],
    [ofOperator.storefront, shop.storefront.kind],
    [ofOperator.restApi, shop.plan.restApi ? ofOperator.restApiOn : ofOperator.restApiOff],
    [ofOperator.rate, ofOperator.rateOf(number(refillPerSecond), number(capacity))],
  ] as const;
  return (
    <>
      <h2>{ofOperator.title}</h2>
      <FactList facts={facts} />
    </>
  );
};

interface RatesProps {
  readonly rates: readonly RateRow[];
  readonly change: (next: readonly RateRow[]) => void;
  readonly currencyCode: string;
}

/** Values of other currencies' units in the shop's. */
const Rates: FunctionComponent<RatesProps> = ({ rates, change, currencyCode }) => {
  const set = (index: number, changed: Partial<RateRow>): void =>
    change(rates.map((row, each) => (each === index ? { ...row, ...changed } : row)));
  return (
    <fieldset class="rates">
      <legend>{settingsTexts.rates.title}</legend>
      <p class="quiet">{settingsTexts.rates.hint(currencyCode)}</p>
      {rates.map(({ currency, rate }, index) => (
        <p key={index} class="inline">
          <label>
            {settingsTexts.rates.currency}
            <input
              value={currency}
              maxLength={3}
              size={4}
              onInput={(event) => set(index, { currency: event.currentTarget.value.toUpperCase() })}
            />
          </label>
          <label>
            {settingsTexts.rates.rate(currency, currencyCode)}
            <input
              value={rate}
              inputMode="decimal"
              size={10}
              onInput={(event) => set(index, { rate: event.currentTarget.value })}
            />
          </label>
          <button type="button" onClick={() => change(rates.filter((_, each) => each !== index))}>
            {settingsTexts.rates.remove(currency)}
          </button>
        </p>
      ))}
      <button type="button" onClick={() => change([...rates, { currency: "", rate: "" }])}>
        {settingsTexts.rates.add}
      </button>
    </fieldset>
  );
};
