/** Adds lines: a product found by name, SKU or barcode; something that is in no catalogue; rows pasted from a sheet. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CatalogueLineInput, Input } from "../../../client/index.ts";
import { faultsOf, openpo, type Problem, problemOf } from "../../data/client.ts";
import { money, number, numberIn, typed } from "../../data/format.ts";
import { signedIn } from "../../data/session.ts";
import type { Choice } from "../../data/look-ups.ts";
import { Combobox } from "../../parts/fields/combobox.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { texts } from "../../texts/en/texts.ts";
import type { FullOrder, OrderState } from "../order-state.ts";
import { roundedUp } from "../../data/packs.ts";
import { noteRefused } from "../../unsaved.ts";

const PasteLines = lazy(async () => (await import("./paste-lines.tsx")).PasteLines);

const words = texts.addLines;

/** A product to choose, with what its supplier asks for. */
interface VariantChoice extends Choice {
  readonly moq: number | null;
  readonly packSize: number | null;
}

const isProblem = (found: readonly VariantChoice[] | Problem): found is Problem => "message" in found;

/** Stock at the place that the goods go to; of all places where the order names none. */
const onHandOf = (
  levels: readonly { readonly locationId: string; readonly onHand: number }[],
  locationId: string | null,
): number =>
  levels.reduce((sum, level) => sum + (locationId === null || level.locationId === locationId ? level.onHand : 0), 0);

/** Variants with exactly this SKU or barcode, then by name, those of the order's supplier first. */
async function variants(
  text: string,
  { supplierId, supplierName, locationId }: FullOrder,
): Promise<readonly VariantChoice[] | Problem> {
  const shopId = signedIn()?.shop.shopId ?? "";
  const ask = (by: Pick<Input<"variant_search">, "search" | "codes" | "sku" | "supplierId">) =>
    openpo.call("variant_search", { shopId, ...by, limit: 20 });
  const byCode = text.includes(",") ? { sku: text } : { codes: [text] };
  // What the supplier sells comes with the supplier's terms, so it is taken first.
  const searches = [byCode, { search: text }].flatMap((by) => [
    ...(supplierId === null ? [] : [{ ...by, supplierId }]),
    by,
  ]);
  const results = await Promise.all(searches.map(ask));
  const found = new Map<string, VariantChoice>();
  for (const result of results) {
    if (!result.ok) return problemOf(result);
    for (const { variantId, productName, variantName, sku, barcode, terms, suppliers, levels, isArchived } of result
      .data.variants)
      if (!isArchived && !found.has(variantId))
        found.set(variantId, {
          id: variantId,
          title: variantName === null ? productName : `${productName} ${variantName}`,
          hint: [
            sku ?? barcode,
            typeof terms?.unitCost === "number" ? money(terms.unitCost, terms.unitCostCurrencyCode) : null,
            supplierId !== null && suppliers.every((each) => each.supplierId !== supplierId)
              ? words.notSold(supplierName ?? supplierId)
              : null,
            words.onHand(number(onHandOf(levels, locationId))),
          ]
            .filter((part) => part !== null)
            .join(" · "),
          moq: terms?.moq ?? null,
          packSize: terms?.packSize ?? null,
        });
  }
  return [...found.values()].slice(0, 10);
}

/** Adds lines in one call. A new line replaces nothing, so it fits whatever others did meanwhile. */
const addLines = (state: OrderState, purchaseOrderId: string, lineItems: readonly CatalogueLineInput[]) =>
  state.change<"purchase_order_line_item_add">({
    send: (ifMatch, _, how) =>
      openpo.call("purchase_order_line_item_add", { purchaseOrderId, lineItems, ...how }, { ifMatch }),
    isTried: true,
    touches: [],
    made: (made) => state.tell(({ tellLinesAdded }) => tellLinesAdded(state, made)),
  });

interface AddLinesProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  /** True if the search has the focus when the page opens. */
  readonly isFirst?: boolean;
}

export const AddLines: FunctionComponent<AddLinesProps> = ({ state, order, isFirst }) => {
  const chosen = useSignal<VariantChoice | null>(null);
  const offered = useRef(new Map<string, VariantChoice>());
  const part = useRef<HTMLElement>(null);
  const search = async (text: string): Promise<readonly Choice[] | Problem> => {
    if (text === "") return [];
    const found = await variants(text, order);
    if (!isProblem(found)) for (const each of found) offered.current.set(each.id, each);
    return found;
  };
  const add = async (quantityOrdered: number): Promise<void> => {
    const variant = chosen.value;
    if (variant === null) return;
    const answer = await addLines(state, order.purchaseOrderId, [{ variantId: variant.id, quantityOrdered }]);
    if (answer === null) return;
    chosen.value = null;
    part.current?.querySelector<HTMLElement>("[role=combobox]")?.focus();
  };
  return (
    <section class="add-lines" aria-label={words.title} ref={part}>
      <Combobox
        label={words.variant}
        hint={words.variantHint}
        search={search}
        isCleared
        isFirst={isFirst === true}
        choose={({ id }) => (chosen.value = offered.current.get(id) ?? null)}
      />
      {chosen.value === null ? null : (
        <Quantity key={chosen.value.id} variant={chosen.value} add={(quantity) => void add(quantity)} />
      )}
      <details>
        <summary>{words.custom}</summary>
        <CustomLine state={state} order={order} />
      </details>
      <details>
        <summary>{words.paste}</summary>
        <PasteLines add={(lines) => addLines(state, order.purchaseOrderId, lines)} />
      </details>
    </section>
  );
};

const Quantity: FunctionComponent<{ readonly variant: VariantChoice; readonly add: (quantity: number) => void }> = ({
  variant,
  add,
}) => {
  const field = useRef<HTMLInputElement>(null);
  const wrong = useSignal(false);
  const quantity = useSignal<number | null>(roundedUp(1, variant));
  // Before the next key: a scanner or a quick hand has pressed Enter by the time the page is painted.
  useLayoutEffect(() => field.current?.select(), []);
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const written = numberIn(field.current?.value ?? "");
    wrong.value = written === null;
    if (written !== null) add(written);
  };
  const isOff = quantity.value !== null && roundedUp(quantity.value, variant) !== quantity.value;
  const round = (): void => {
    const next = roundedUp(quantity.value ?? 1, variant);
    quantity.value = next;
    if (field.current !== null) field.current.value = typed(next);
    field.current?.focus();
  };
  return (
    <form class="inline" data-asks onSubmit={submit}>
      <label>
        {words.quantity(variant.title)}
        <input
          ref={field}
          inputMode="decimal"
          defaultValue={typed(roundedUp(1, variant))}
          onInput={() => (quantity.value = numberIn(field.current?.value ?? ""))}
          required
        />
      </label>
      <button class="primary">{words.add}</button>
      {isOff ? (
        <button type="button" onClick={round}>
          {words.round}
        </button>
      ) : null}
      <span class="quiet">{words.terms(variant.moq, variant.packSize)}</span>
      {wrong.value ? <span class="cell-note">{texts.order.notNumber}</span> : null}
    </form>
  );
};

const customFields = [
  { name: "productName", title: words.customName, isNumber: false },
  { name: "quantityOrdered", title: words.customQuantity, isNumber: true },
  { name: "unitCost", title: words.customCost, isNumber: true },
  { name: "sku", title: words.customSku, isNumber: false },
] as const;

const CustomLine: FunctionComponent<AddLinesProps> = ({ state, order: { purchaseOrderId } }) => {
  const wrong = useSignal<ReadonlyMap<string, string>>(new Map());
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    const text = (name: string): string => {
      const value = values.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    const [quantityOrdered, unitCost] = [numberIn(text("quantityOrdered")), numberIn(text("unitCost"))];
    wrong.value = new Map([
      ...(quantityOrdered === null ? [["quantityOrdered", texts.order.notNumber] as const] : []),
      ...(unitCost === null && text("unitCost") !== "" ? [["unitCost", texts.order.notNumber] as const] : []),
    ]);
    if (quantityOrdered === null || wrong.value.size > 0) return noteRefused();
    const input = { purchaseOrderId, productName: text("productName"), quantityOrdered, sku: text("sku") || null };
    const answer = await state.change<"purchase_order_line_item_add_custom">({
      send: (ifMatch, _, how) =>
        openpo.call(
          "purchase_order_line_item_add_custom",
          { ...input, ...(unitCost === null ? {} : { unitCost }), ...how },
          { ifMatch },
        ),
      isTried: true,
      touches: [],
      made: (made) => state.tell(({ tellLinesAdded }) => tellLinesAdded(state, made)),
    });
    if (answer !== null) form.reset();
    else {
      noteRefused();
      wrong.value = faultsOf(state.refusal.value?.problem);
    }
  };
  return (
    <form class="inline" data-asks onSubmit={(event) => void submit(event)}>
      {customFields.map(({ name, title, isNumber }) => (
        <label key={name}>
          {title}
          <input
            name={name}
            required={name === "productName" || name === "quantityOrdered"}
            {...(isNumber ? { inputMode: "decimal" } : {})}
          />
          {wrong.value.has(name) ? <span class="cell-note">{wrong.value.get(name)}</span> : null}
        </label>
      ))}
      <button>{words.add}</button>
    </form>
  );
};
