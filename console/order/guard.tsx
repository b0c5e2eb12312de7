/** Products that the storefront cannot take: each is activated or skipped, then the same change is sent once more. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { PurchaseOrder, VariantDetail } from "../../client/index.ts";
import type { Problem } from "../data/client.ts";
import { sentence } from "../data/format.ts";
import { texts } from "../texts/en/texts.ts";
import { nameOf } from "./lines/edit-cell.tsx";
import type { Refusal, Resolution } from "./order-state.ts";

export const lineNamed = (order: PurchaseOrder, lineItemId: string): string => {
  const line = order.lineItems.find((each) => each.poLineItemId === lineItemId);
  return line === undefined ? texts.order.goneLine : nameOf(line);
};

export const Guard: FunctionComponent<{
  readonly problem: Problem;
  readonly variants: readonly VariantDetail[];
  readonly order: PurchaseOrder;
  readonly again: Refusal["again"];
}> = ({ problem, variants, order, again }) => {
  const answers = useSignal<readonly Resolution[]>(
    variants.map(({ itemId, allowedActions }) => ({ itemId, action: allowedActions[0] ?? "skip" })),
  );
  return (
    <form
      class="problem"
      onSubmit={(event) => {
        event.preventDefault();
        void again(answers.value);
      }}
    >
      <p role="alert">
        <strong>{texts.guard.title}.</strong> {texts.guard.choose}
      </p>
      {variants.map((variant, index) => (
        <fieldset key={variant.itemId} class="plain-fields">
          <legend>
            {lineNamed(order, variant.itemId)} {texts.guard.issues[variant.issue]}
          </legend>
          {variant.allowedActions.map((action) => (
            <label key={action}>
              <input
                type="radio"
                name={variant.itemId}
                checked={answers.value[index]?.action === action}
                onChange={() => {
                  answers.value = answers.value.with(index, { itemId: variant.itemId, action });
                }}
              />
              {texts.guard[action]}
            </label>
          ))}
        </fieldset>
      ))}
      <button class="primary">{texts.guard.again}</button>
      <p class="quiet">
        {sentence(problem.message)} {problem.action}
      </p>
    </form>
  );
};
