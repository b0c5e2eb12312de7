/** Sales and stock of a product over its row of a forecast. */
import type { FunctionComponent } from "preact";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Outlook } from "../records/figures/outlook.tsx";
import { hrefOf } from "../router.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import { type ForecastRow, productOf } from "./ticked.ts";

interface ProductProps {
  readonly row: ForecastRow;
  readonly onClose: () => void;
}

export const ProductDialog: FunctionComponent<ProductProps> = ({ row, onClose }) => (
  <Dialog title={productOf(row)} isWide onClose={onClose}>
    {(close) => (
      <>
        <Outlook id={row.variantId} />
        <p class="buttons actions">
          <a href={hrefOf("products", row.variantId)}>{reorderTexts.toProduct}</a>
          <button type="button" onClick={close}>
            {reorderTexts.plan.close}
          </button>
        </p>
      </>
    )}
  </Dialog>
);
