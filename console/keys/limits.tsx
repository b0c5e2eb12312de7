/** Limits of a key or connection (C78): the fields of a new one, and the dialog that changes those of another. */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Input, Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { money, number } from "../data/format.ts";
import { locations, suppliers } from "../data/look-ups.ts";
import { shopCurrency, shopId } from "../data/session.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { PickMany } from "../parts/fields/pick-filter.tsx";
import { Field, useSending, type Wrong } from "../parts/sending.tsx";
import { texts } from "../texts/en/texts.ts";

export type Key = Output<"key_list">["keys"][number];

const words = texts.keys.limits;

const maximums = ["orderValueMax", "dayValueMax", "monthValueMax", "unitCostRisePercentMax"] as const;

/** Limits as they are typed; empty: there is no such limit. */
interface TypedLimits extends Readonly<Record<(typeof maximums)[number], string>> {
  readonly supplierIds: readonly string[];
  readonly locationIds: readonly string[];
  readonly beyond: "ask" | "refuse";
}

export const noLimits: TypedLimits = {
  orderValueMax: "",
  dayValueMax: "",
  monthValueMax: "",
  unitCostRisePercentMax: "",
  supplierIds: [],
  locationIds: [],
  beyond: "ask",
};

const amountOf = (value: number | null): string => (value === null ? "" : String(value));

const typedOf = (limits: Key["limits"]): TypedLimits =>
  limits === null
    ? noLimits
    : {
        orderValueMax: amountOf(limits.orderValueMax),
        dayValueMax: amountOf(limits.dayValueMax),
        monthValueMax: amountOf(limits.monthValueMax),
        unitCostRisePercentMax: amountOf(limits.unitCostRisePercentMax),
        supplierIds: limits.supplierIds ?? [],
        locationIds: limits.locationIds ?? [],
        beyond: limits.beyond,
      };

/** Limits as they are sent; null: none. */
export function limitsIn({ supplierIds, locationIds, beyond, ...values }: TypedLimits): Input<"key_create">["limits"] {
  const set = maximums.flatMap((name) => {
    const text = values[name];
    return text === "" ? [] : [[name, Number(text)] as const];
  });
  if (set.length + supplierIds.length + locationIds.length === 0) return null;
  return {
    ...Object.fromEntries(set),
    supplierIds: supplierIds.length === 0 ? null : [...supplierIds],
    locationIds: locationIds.length === 0 ? null : [...locationIds],
    beyond,
  };
}

interface FieldsProps {
  readonly limits: Signal<TypedLimits>;
  /** Spending of the key so far; null: it is new, or has had no limits. */
  readonly used?: Key["limitsUsed"];
  /** Faults, by the limit's name. */
  readonly wrong: Wrong;
}

/** The field of a member of what is sent: a limit has the name that it has there. */
export const limitFieldAt = ([member = "", limit = ""]: readonly string[]): string =>
  member === "limits" && limit !== "" ? limit : member;

const LimitFields: FunctionComponent<FieldsProps> = ({ limits, used = null, wrong }) => {
  const { supplierIds, locationIds, beyond } = limits.value;
  const set = (changed: Partial<TypedLimits>): void => void (limits.value = { ...limits.value, ...changed });
  const spent = {
    orderValueMax: null,
    dayValueMax: used?.dayValue,
    monthValueMax: used?.monthValue,
    unitCostRisePercentMax: null,
  } as const;
  return (
    <div class="fields">
      {maximums.map((name) => {
        const value = spent[name];
        return (
          <Field
            key={name}
            name={name}
            label={texts.keys.limitsAsked[name]}
            {...(typeof value === "number" ? { hint: words.used[name](money(value, shopCurrency())) } : {})}
            wrong={wrong}
          >
            {(common) => (
              <input
                {...common}
                type="number"
                min="0"
                step="0.01"
                placeholder={name === "unitCostRisePercentMax" ? "%" : shopCurrency()}
                autocomplete="off"
                value={limits.value[name]}
                onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
              />
            )}
          </Field>
        );
      })}
      <PickMany
        label={words.onlySuppliers}
        hint={words.any}
        ids={supplierIds}
        lookUp={suppliers}
        change={(ids) => set({ supplierIds: ids })}
      />
      <PickMany
        label={words.onlyLocations}
        hint={words.any}
        ids={locationIds}
        lookUp={locations}
        change={(ids) => set({ locationIds: ids })}
      />
      <div class="field">
        <label>
          {words.beyond}
          <select
            value={beyond}
            onChange={({ currentTarget: { value } }) => set({ beyond: value === "refuse" ? "refuse" : "ask" })}
          >
            <option value="ask">{words.ask}</option>
            <option value="refuse">{words.refuse}</option>
          </select>
        </label>
      </div>
    </div>
  );
};

/** The limits, with what was used of them, as sentences; none without limits. */
export function limitsSaid(
  limits: Input<"key_create">["limits"] | Key["limits"],
  used: Key["limitsUsed"],
): readonly string[] {
  if (!limits) return [];
  const {
    orderValueMax,
    dayValueMax,
    monthValueMax,
    unitCostRisePercentMax: rise,
    supplierIds,
    locationIds,
    beyond = "ask",
  } = limits;
  const shown = (value: number | null | undefined): string => money(value ?? 0, shopCurrency());
  return [
    isSet(orderValueMax) ? words.order(shown(orderValueMax)) : "",
    isSet(dayValueMax) ? words.day(shown(dayValueMax), used && shown(used.dayValue)) : "",
    isSet(monthValueMax) ? words.month(shown(monthValueMax), used && shown(used.monthValue)) : "",
    isSet(rise) ? words.rise(number(rise ?? 0)) : "",
    words.places(supplierIds?.length ?? 0, locationIds?.length ?? 0),
    words.outcome[beyond],
  ].filter((sentence) => sentence !== "");
}

const isSet = (value: number | null | undefined): boolean => value !== null && value !== undefined;

/** The fields behind one line, which says what is set. */
export const FoldedLimits: FunctionComponent<Pick<FieldsProps, "limits" | "wrong">> = ({ limits, wrong }) => {
  const said = limitsSaid(limitsIn(limits.value), null);
  return (
    // A field with a mistake cannot have the focus while it is folded away.
    <details class="limits" onInvalidCapture={({ currentTarget }) => (currentTarget.open = true)}>
      <summary>
        {words.title} <span class="quiet">{said.length === 0 ? words.none : said.join(" · ")}</span>
      </summary>
      <LimitFields limits={limits} wrong={wrong} />
    </details>
  );
};

interface EditProps {
  readonly shopKey: Key;
  readonly again: () => Promise<void>;
  readonly onClose: () => void;
}

export const EditLimits: FunctionComponent<EditProps> = ({
  shopKey: { keyId, name, limits, limitsUsed },
  ...props
}) => {
  const typing = useSignal(typedOf(limits));
  const { wrong, notice, came } = useSending(limitFieldAt);
  const save = async (close: () => void): Promise<void> => {
    const result = await openpo.call("key_patch", { shopId: shopId(), keyId, limits: limitsIn(typing.value) });
    came(result.ok ? null : problemOf(result));
    if (!result.ok) return;
    await props.again();
    close();
  };
  return (
    <Dialog title={words.of(name)} isWide onClose={props.onClose}>
      {(close) => (
        <form
          data-asks
          onSubmit={(event) => {
            event.preventDefault();
            void save(close);
          }}
        >
          <p class="quiet">{words.lead}</p>
          <LimitFields limits={typing} used={limitsUsed} wrong={wrong} />
          {notice}
          <p class="actions">
            <button type="button" onClick={close}>
              {texts.cancel}
            </button>
            <button class="primary">{words.save}</button>
          </p>
        </form>
      )}
    </Dialog>
  );
};
