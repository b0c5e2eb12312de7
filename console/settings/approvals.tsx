/** Rules by which orders of the shop need approval, and who decides (C79). What was changed is sent alone. */
import { texts } from "../texts/en/texts.ts";
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { type Input, newIdempotencyKey, type Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { numberIn, typed } from "../data/format.ts";
import { locations, type LookUp, suppliers } from "../data/look-ups.ts";
import { type Role, roles, shopCurrency, shopId } from "../data/session.ts";
import { PickMany } from "../parts/fields/pick-filter.tsx";
import { Field, useSending, type Wrong } from "../parts/sending.tsx";
import { settingsTexts } from "../texts/en/shop/settings.ts";

const words = settingsTexts.approvals;

type Settings = Output<"shop_put">["shop"]["settings"];
type SentRule = NonNullable<NonNullable<Input<"shop_put">["settings"]>["approvalRules"]>[number];

/** A rule as it is typed. */
interface Rule {
  readonly ruleId: string;
  readonly name: string;
  readonly totalAbove: string;
  readonly supplierIds: readonly string[];
  readonly locationIds: readonly string[];
  readonly actors: (typeof actors)[number];
  readonly roles: readonly Role[];
  readonly personIds: readonly string[];
}

const actors = ["any", "agents", "people"] as const;

const ruleFrom = ({ ruleId, name, when, approvers }: Settings["approvalRules"][number]): Rule => ({
  ruleId,
  name,
  totalAbove: when.totalAbove === null ? "" : typed(when.totalAbove),
  supplierIds: when.supplierIds ?? [],
  locationIds: when.locationIds ?? [],
  actors: when.actors,
  ...approvers,
});

const orNull = (ids: readonly string[]): string[] | null => (ids.length === 0 ? null : [...ids]);

const sentRule = ({
  ruleId,
  name,
  totalAbove,
  supplierIds,
  locationIds,
  actors: by,
  ...approvers
}: Rule): SentRule => ({
  ruleId,
  name,
  when: {
    totalAbove: totalAbove.trim() === "" ? null : (numberIn(totalAbove) ?? 0),
    supplierIds: orNull(supplierIds),
    locationIds: orNull(locationIds),
    actors: by,
  },
  approvers: { roles: [...approvers.roles], personIds: [...approvers.personIds] },
});

const people: LookUp = async (by) => {
  const result = await openpo.call("person_list", { shopId: shopId() });
  if (!result.ok) return problemOf(result);
  const search = "search" in by ? by.search.toLowerCase() : "";
  return result.data.people
    .filter(({ personId, name }) => ("ids" in by ? by.ids.includes(personId) : name.toLowerCase().includes(search)))
    .map(({ personId, name, role }) => ({ id: personId, title: name, hint: role }));
};

/** The field that a fault is about: the rule's, by its place. */
function fieldAt(steps: readonly string[]): string {
  const [, , nth, name = ""] = steps;
  if (!steps.includes("approvalRules")) return steps.at(-1) ?? "";
  const last = steps.at(-1) ?? "";
  return `${name === "approvers" ? name : last}-${nth}`;
}

export const Approvals: FunctionComponent<{ readonly shop: Output<"shop_put">["shop"] }> = ({ shop: { settings } }) => {
  const { wrong, notice, refuse, came } = useSending(fieldAt, settingsTexts.saved);
  const rules = useSignal<readonly Rule[]>(settings.approvalRules.map(ruleFrom));
  const approverRoles = useSignal<readonly Role[]>(settings.approverRoles);
  const set = (nth: number, changed: Partial<Rule>): void => {
    rules.value = rules.value.map((rule, each) => (each === nth ? { ...rule, ...changed } : rule));
  };
  const add = (): void => {
    const ruleId = `rule-${newIdempotencyKey().slice(0, 12)}`;
    const empty = { name: "", totalAbove: "", supplierIds: [], locationIds: [], personIds: [] };
    rules.value = [...rules.value, { ...empty, ruleId, actors: "any", roles: ["owner"] }];
  };
  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const faults = new Map<string, string>();
    for (const [nth, rule] of rules.value.entries()) {
      if (rule.totalAbove.trim() !== "" && numberIn(rule.totalAbove) === null)
        faults.set(`totalAbove-${nth}`, settingsTexts.notNumber);
      if (rule.roles.length + rule.personIds.length === 0) faults.set(`approvers-${nth}`, words.nobody);
    }
    const approvalDays = numberIn(field(form, "approvalDays"));
    if (approvalDays === null) faults.set("approvalDays", settingsTexts.notNumber);
    if (approverRoles.value.length === 0) faults.set("approverRoles", words.nobody);
    if (faults.size > 0 || approvalDays === null) return refuse(faults);
    const result = await openpo.call("shop_put", {
      shopId: shopId(),
      settings: {
        approvalRules: rules.value.map(sentRule),
        approverRoles: [...approverRoles.value],
        approveOwnAgents: field(form, "approveOwnAgents") !== "",
        approvalDays,
        approvalMails: field(form, "approvalMails") !== "",
      },
    });
    came(result.ok ? null : problemOf(result));
  };
  return (
    <form
      class="shop-settings"
      data-asks
      aria-label={settingsTexts.views.approvals}
      onSubmit={(event) => void save(event)}
    >
      <p class="quiet">{words.lead}</p>
      <h2>{words.rules}</h2>
      {rules.value.length === 0 ? <p class="quiet">{words.none}</p> : null}
      {rules.value.map((rule, nth) => (
        <RuleFields
          key={rule.ruleId}
          rule={rule}
          nth={nth}
          wrong={wrong}
          set={(changed) => set(nth, changed)}
          remove={() => (rules.value = rules.value.filter((each) => each !== rule))}
        />
      ))}
      <p>
        <button type="button" onClick={add}>
          {words.add}
        </button>
      </p>
      <h2>{words.rest}</h2>
      <RoleTicks
        label={words.approverRoles}
        chosen={approverRoles.value}
        change={(next) => (approverRoles.value = next)}
        fault={wrong.get("approverRoles")}
      />
      <div class="fields">
        <Field name="approveOwnAgents" {...words.approveOwnAgents} wrong={wrong}>
          {(common) => <input {...common} type="checkbox" defaultChecked={settings.approveOwnAgents} />}
        </Field>
        <Field name="approvalMails" {...words.approvalMails} wrong={wrong}>
          {(common) => <input {...common} type="checkbox" defaultChecked={settings.approvalMails} />}
        </Field>
        <Field name="approvalDays" {...words.approvalDays} wrong={wrong}>
          {(common) => <input {...common} inputMode="numeric" required defaultValue={typed(settings.approvalDays)} />}
        </Field>
      </div>
      <p class="buttons">
        <button class="primary">{settingsTexts.save}</button>
        {notice}
      </p>
    </form>
  );
};

interface RuleProps {
  readonly rule: Rule;
  readonly nth: number;
  readonly wrong: Wrong;
  readonly set: (changed: Partial<Rule>) => void;
  readonly remove: () => void;
}

const RuleFields: FunctionComponent<RuleProps> = ({ rule, nth, wrong, set, remove }) => (
  <fieldset class="rule">
    <legend>{rule.name === "" ? words.add : rule.name}</legend>
    <div class="fields">
      <Field name={`name-${nth}`} {...words.name} wrong={wrong}>
        {(common) => (
          <input
            {...common}
            required
            maxLength={200}
            value={rule.name}
            onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          />
        )}
      </Field>
      <Field name={`totalAbove-${nth}`} {...words.totalAbove(shopCurrency())} wrong={wrong}>
        {(common) => (
          <input
            {...common}
            inputMode="decimal"
            value={rule.totalAbove}
            onInput={({ currentTarget }) => set({ totalAbove: currentTarget.value })}
          />
        )}
      </Field>
      <Field name={`actors-${nth}`} label={words.actors.label} wrong={wrong}>
        {(common) => (
          <select
            {...common}
            value={rule.actors}
            onChange={({ currentTarget: { value } }) => set({ actors: actors.find((each) => each === value) ?? "any" })}
          >
            {actors.map((each) => (
              <option key={each} value={each}>
                {words.actors[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <PickMany
        label={words.suppliers}
        hint={words.anyPlace}
        ids={rule.supplierIds}
        lookUp={suppliers}
        change={(supplierIds) => set({ supplierIds })}
      />
      <PickMany
        label={words.locations}
        hint={words.anyPlace}
        ids={rule.locationIds}
        lookUp={locations}
        change={(locationIds) => set({ locationIds })}
      />
    </div>
    <RoleTicks
      label={words.roles}
      chosen={rule.roles}
      change={(next) => set({ roles: next })}
      fault={wrong.get(`approvers-${nth}`)}
    />
    <PickMany
      label={words.people}
      hint={texts.keys.columns.name}
      ids={rule.personIds}
      lookUp={people}
      change={(personIds) => set({ personIds })}
    />
    <p>
      <button type="button" class="danger" onClick={remove}>
        {words.remove(rule.name)}
      </button>
    </p>
  </fieldset>
);

interface RoleTicksProps {
  readonly label: string;
  readonly chosen: readonly Role[];
  readonly change: (next: readonly Role[]) => void;
  readonly fault: string | undefined;
}

const RoleTicks: FunctionComponent<RoleTicksProps> = ({ label, chosen, change, fault }) => (
  <fieldset class="ticks">
    <legend>{label}</legend>
    <div>
      {roles.map((role) => (
        <label key={role}>
          <input
            type="checkbox"
            checked={chosen.includes(role)}
            aria-invalid={fault !== undefined}
            onChange={() => change(roles.filter((each) => (each === role) !== chosen.includes(each)))}
          />
          {texts.role.names[role]}
        </label>
      ))}
    </div>
    {fault === undefined ? null : <p class="cell-note">{fault}</p>}
  </fieldset>
);
