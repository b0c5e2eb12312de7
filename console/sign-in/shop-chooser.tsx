/** The operator belongs to no shop and names one. */
import type { FunctionComponent } from "preact";
import { chooseShop, type ShopChoice } from "../data/session.ts";
import { texts } from "../texts.ts";

export const ShopChooser: FunctionComponent<{ readonly shops: readonly ShopChoice[] }> = ({ shops }) => (
  <main class="narrow">
    <h1>{texts.signIn.chooseShop}</h1>
    <ul class="choices">
      {shops.map(({ shopId, name }) => (
        <li key={shopId}>
          <button type="button" onClick={() => void chooseShop(shopId)}>
            {name ?? shopId} <span class="quiet">{shopId}</span>
          </button>
        </li>
      ))}
    </ul>
  </main>
);
