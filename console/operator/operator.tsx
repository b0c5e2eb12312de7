/**
 * The operator's shops: what they hold, and whether the service is ready. A shop of its own has settings and faults of
 * its sandbox.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { type Problem, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { number } from "../data/format.ts";
import {
  chooseShop,
  leaveShop,
  operatorToken,
  sessionState,
  type ShopChoice,
  signedIn,
  signOut,
} from "../data/session.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { go, hrefOf, listHref, place } from "../router.ts";
import { ShopSettings } from "../settings/shop-settings.tsx";
import { texts } from "../texts/en/texts.ts";
import { operatorTexts } from "../texts/en/shop/operator.ts";
import { settingsTexts } from "../texts/en/shop/settings.ts";
import { asOperator } from "./as-operator.ts";
import { SandboxFaults } from "./sandbox-faults.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

type Listed = Output<"shop_list">["shops"][number];

/** Works in a shop, beginning with its orders, or with the question of an assistant that has led here (C74). */
async function open(shopId: string): Promise<void> {
  await chooseShop(shopId);
  if (place.value.steps[0] !== "connect") go(hrefOf("orders"));
}

export const OperatorScreen: FunctionComponent = () => {
  const state = sessionState.value;
  const shops = state.kind === "choose-shop" ? state.shops : [];
  const [, shopId] = place.value.steps;
  const name = shops.find((shop) => shop.shopId === shopId)?.name ?? shopId;
  return (
    <main>
      <div class="heading">
        <h1>{name === undefined ? texts.signIn.chooseShop : settingsTexts.formOf(name)}</h1>
        <button type="button" class="plain" onClick={() => void signOut()}>
          {texts.navigation.signOut}
        </button>
      </div>
      <p class="quiet">{operatorTexts.lead}</p>
      <Health />
      {operatorToken.value === null ? <Choices shops={shops} /> : <Shops />}
    </main>
  );
};

/** The way from a shop to all shops; a person of a shop has none. */
export const ShopsScreen: FunctionComponent = () => {
  const isOperator = signedIn()?.person.personId === null;
  useEffect(() => {
    if (isOperator) void leaveShop();
  }, []);
  return isOperator ? (
    <Skeleton />
  ) : (
    <div class="empty">
      <h1>{operatorTexts.notYours}</h1>
      <p>{operatorTexts.notYoursHint}</p>
      <p>
        <a href={hrefOf("orders")}>{texts.navigation.places.orders}</a>
      </p>
    </div>
  );
};

const Health: FunctionComponent = () => {
  const isReady = useSignal<boolean | null>(null);
  useEffect(() => {
    void fetch("/readyz")
      .then(({ ok }) => (isReady.value = ok))
      .catch(() => (isReady.value = false));
  }, []);
  if (isReady.value === null) return null;
  return (
    <p role="status" class={isReady.value ? "quiet" : "problem"}>
      {isReady.value ? operatorTexts.health.good : operatorTexts.health.bad}
    </p>
  );
};

/** After a reload the page has no token: shops can be opened, nothing else. */
const Choices: FunctionComponent<{ readonly shops: readonly ShopChoice[] }> = ({ shops }) => (
  <>
    <ul class="choices">
      {shops.map(({ shopId, name }) => (
        <li key={shopId}>
          <button type="button" onClick={() => void open(shopId)}>
            {name ?? shopId} <span class="quiet">{shopId}</span>
          </button>
        </li>
      ))}
    </ul>
    <p class="quiet">{operatorTexts.locked}</p>
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        operatorToken.value = field(event.currentTarget, "token");
      }}
    >
      <label>
        {texts.signIn.adminToken}
        <input name="token" type="password" autocomplete="off" required />
      </label>
      <button>{operatorTexts.unlock}</button>
    </form>
  </>
);

const Shops: FunctionComponent = () => {
  const shops = useSignal<readonly Listed[] | null>(null);
  const problem = useSignal<Problem | null>(null);
  const read = async (): Promise<void> => {
    const result = await asOperator().call("shop_list", {});
    problem.value = result.ok ? null : problemOf(result);
    if (result.ok) shops.value = result.data.shops;
    // Another token can be given.
    else if (result.status === 401) operatorToken.value = null;
  };
  // A page that is left has been saved, or not: the list says what is.
  useEffect(() => void read(), [place.value.steps.length]);
  const { columns } = operatorTexts;
  const amounts = [columns.orders, columns.suppliers, columns.locations, columns.variants, columns.keys];
  const [, shopId] = place.value.steps;
  const chosen = shops.value?.find((shop) => shop.shopId === shopId);
  return (
    <>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} again={() => void read()} />}
      {shops.value === null && problem.value === null ? <Skeleton /> : null}
      {shops.value === null ? null : chosen !== undefined ? (
        <ShopPage key={chosen.shopId} shop={chosen} />
      ) : shopId !== undefined ? (
        <p class="notice">
          {operatorTexts.noShop(shopId)} <a href={hrefOf("shops")}>{operatorTexts.allShops}</a>
        </p>
      ) : shops.value.length === 0 ? (
        <div class="empty">
          <p>{operatorTexts.empty}</p>
          <p class="quiet">{operatorTexts.emptyHint}</p>
        </div>
      ) : (
        <table class="rows">
          <TableHead titles={[columns.shop, ...amounts, columns.settings]} amounts={amounts} />
          <tbody>
            {shops.value.map((shop) => (
              <ShopRow key={shop.shopId} shop={shop} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
};

const ShopRow: FunctionComponent<{ readonly shop: Listed }> = ({ shop }) => {
  const { columns } = operatorTexts;
  if ("unavailable" in shop)
    return (
      <tr>
        <th scope="row">{shop.shopId}</th>
        <td colSpan={5} class="bad">
          {shop.unavailable}
        </td>
      </tr>
    );
  const { counts } = shop;
  return (
    <tr>
      <th scope="row">
        <button type="button" aria-label={operatorTexts.open(shop.name)} onClick={() => void open(shop.shopId)}>
          {shop.name}
        </button>
        <span class="quiet">
          {shop.shopId} · {shop.currencyCode} · {shop.storefront.kind}
        </span>
      </th>
      {(
        [
          [columns.orders, counts.purchaseOrders],
          [columns.suppliers, counts.suppliers],
          [columns.locations, counts.locations],
          [columns.variants, counts.variants],
          [columns.keys, counts.apiKeys],
        ] as const
      ).map(([title, count]) => (
        <td key={title} class="amount" data-name={title}>
          {number(count)}
        </td>
      ))}
      <td>
        <a href={hrefOf("shops", shop.shopId)} aria-label={settingsTexts.formOf(shop.name)}>
          {columns.settings}
        </a>
      </td>
    </tr>
  );
};

const ShopPage: FunctionComponent<{ readonly shop: Listed }> = ({ shop }) => (
  <>
    <BackLink href={listHref("shops")}>{operatorTexts.allShops}</BackLink>
    {"unavailable" in shop ? (
      <p class="problem">{shop.unavailable}</p>
    ) : (
      <>
        <ShopSettings shop={shop} isOperator />
        {shop.storefront.kind === "sandbox" ? <SandboxFaults shopId={shop.shopId} /> : null}
      </>
    )}
  </>
);
