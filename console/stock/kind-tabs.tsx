/** The tabs of stock: what is on hand, and each kind of record. */
import type { FunctionComponent } from "preact";
import { hrefOf } from "../router.ts";
import { stockTexts } from "../texts/en/goods/stock.ts";

/** @param current  the kind that is shown; null: what is on hand. */
export const KindTabs: FunctionComponent<{ readonly current: string | null }> = ({ current }) => (
  <nav class="tabs" aria-label={stockTexts.navigation}>
    <a href={hrefOf("stock")} aria-current={current === null ? "page" : undefined}>
      {stockTexts.onHand.title}
    </a>
    {Object.entries(stockTexts.kinds).map(([step, title]) => (
      <a key={step} href={hrefOf("stock", step)} aria-current={step === current ? "page" : undefined}>
        {title}
      </a>
    ))}
  </nav>
);
