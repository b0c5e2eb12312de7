/** Changes the order's header: only what differs is sent, and what is wrong is told beside its field. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Input } from "../../client/index.ts";
import { useOpenQuestion } from "../approvals/open-questions.ts";
import { faultsOf, openpo } from "../data/client.ts";
import { numberIn, typed } from "../data/format.ts";
import { locations, suppliers } from "../data/look-ups.ts";
import { Combobox } from "../parts/fields/combobox.tsx";
import { Field } from "../parts/sending.tsx";
import { texts } from "../texts/en/texts.ts";
import type { FullOrder, OrderState } from "./order-state.ts";
import { noteRefused } from "../unsaved.ts";

const fields = [
  { name: "poName", kind: "text" },
  { name: "supplierReference", kind: "text" },
  { name: "orderDate", kind: "date" },
  { name: "expectedDeliveryDate", kind: "date" },
  { name: "shippingCost", kind: "number" },
  { name: "discountAmount", kind: "number" },
  { name: "taxAmount", kind: "number" },
  { name: "paymentTerms", kind: "text" },
  { name: "incoterm", kind: "text" },
  { name: "note", kind: "text" },
  { name: "noteToSupplier", kind: "text" },
] as const;

/** The names of fields, as the form says them. */
const titlesOf = (changed: readonly string[]): string =>
  [
    ...(changed.includes("supplierId") ? [texts.orderHeader.findSupplier] : []),
    ...(changed.includes("locationId") ? [texts.orderHeader.findLocation] : []),
    ...fields.flatMap(({ name }) => (changed.includes(name) ? [texts.orderHeader[name]] : [])),
  ].join(", ");

type Changes = Omit<Input<"purchase_order_update">, "purchaseOrderId">;

interface HeaderFormProps {
  readonly state: OrderState;
  /** The order as it was when editing began: what a save is compared with. */
  readonly order: FullOrder;
  readonly close: () => void;
}

export const HeaderForm: FunctionComponent<HeaderFormProps> = ({ state, order, close }) => {
  const chosen = useSignal<{ readonly supplierId?: string; readonly locationId?: string }>({});
  const seen = useSignal(order);
  const wrong = useSignal<ReadonlyMap<string, string>>(new Map());
  useOpenQuestion(true);

  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const changes = new Map<string, string | number | null>(Object.entries(chosen.value));
    const faults = new Map<string, string>();
    for (const { name, kind } of fields) {
      const written = values.get(name);
      const text = typeof written === "string" ? written.trim() : "";
      const value = text === "" ? null : kind === "number" ? numberIn(text) : text;
      if (text !== "" && value === null) faults.set(name, texts.order.notNumber);
      else if (value !== order[name]) changes.set(name, value);
    }
    wrong.value = faults;
    if (faults.size > 0) return noteRefused();
    if (changes.size === 0) {
      close();
      return;
    }
    const input: Changes = Object.fromEntries(changes);
    const answer = await state.change<"purchase_order_update">({
      send: (ifMatch, _, how) =>
        openpo.call("purchase_order_update", { ...input, purchaseOrderId: order.purchaseOrderId, ...how }, { ifMatch }),
      isTried: true,
      touches: [...changes.keys()].map((field) => ({ lineItemId: null, field })),
      seen: seen.value,
      made: (made) => state.tell(({ tellEdited }) => tellEdited(state, made, titlesOf([...changes.keys()]))),
    });
    if (answer !== null) {
      close();
      return;
    }
    noteRefused();
    wrong.value = faultsOf(state.refusal.value?.problem);
    // After a conflict the person has been told: the next save replaces what others made of these fields.
    const conflicts = state.meanwhile.value?.unsaved?.conflicts ?? [];
    const now = state.order.value;
    if (now === null || conflicts.length === 0) return;
    seen.value = now;
    wrong.value = new Map([
      ...wrong.value,
      ...fields.flatMap(({ name }) =>
        conflicts.some(({ field }) => field === name)
          ? [[name, texts.orderHeader.theirs(String(now[name] ?? texts.changes.nothing))] as const]
          : [],
      ),
    ]);
  };

  return (
    <form class="fields" data-asks aria-label={texts.orderHeader.edit} onSubmit={(event) => void save(event)}>
      <Combobox
        label={texts.orderHeader.findSupplier}
        initial={order.supplierName ?? ""}
        search={(search) => suppliers({ search }, true)}
        choose={({ id }) => (chosen.value = { ...chosen.value, supplierId: id })}
      />
      <Combobox
        label={texts.orderHeader.findLocation}
        initial={order.locationName ?? ""}
        search={(search) => locations({ search }, true)}
        choose={({ id }) => (chosen.value = { ...chosen.value, locationId: id })}
      />
      {fields.map(({ name, kind }) => {
        const value = order[name];
        const defaultValue = typeof value === "number" ? typed(value) : (value ?? "");
        return (
          <Field key={name} name={name} label={texts.orderHeader[name]} wrong={wrong.value}>
            {(common) => (
              <input
                {...common}
                defaultValue={defaultValue}
                {...(kind === "date" ? { type: "date" } : kind === "number" ? { inputMode: "decimal" } : {})}
              />
            )}
          </Field>
        );
      })}
      <p class="buttons">
        <button class="primary" disabled={state.isSaving.value}>
          {texts.orderHeader.save}
        </button>
        <button type="button" onClick={close}>
          {texts.orderHeader.cancel}
        </button>
      </p>
    </form>
  );
};
