/** The operator's shops: what they hold, their settings, faults of their sandboxes, and whether the service is ready. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import { createClient, type Output } from "../../client/index.ts";
import { type Problem, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { number, numberIn, typed } from "../data/format.ts";
import { chooseShop, operatorToken, sessionState, type ShopChoice, signOut } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { texts } from "../texts.ts";
import { operatorTexts } from "../texts-operator.ts";

type Listed = Output<"shop_list">["shops"][number];
type Shop = Extract<Listed, { readonly settings: unknown }>;

/** Calls as the operator: with the token itself, since a session works in one shop. */
const asOperator = () => createClient({ baseUrl: location.origin, apiKey: operatorToken.value ?? "", retriesMax: 2 });

export const OperatorScreen: FunctionComponent = () => {
  const state = sessionState.value;
  const shops = state.kind === "choose-shop" ? state.shops : [];
  return (
    <main>
      <div class="heading">
        <h1>{texts.signIn.chooseShop}</h1>
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
          <button type="button" onClick={() => void chooseShop(shopId)}>
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
  useEffect(() => void read(), []);
  const { columns } = operatorTexts;
  const amounts = [columns.orders, columns.suppliers, columns.variants, columns.keys];
  return (
    <>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} again={() => void read()} />}
      {shops.value === null && problem.value === null ? <p role="status">{texts.loading}</p> : null}
      {shops.value === null ? null : (
        <table class="rows">
          <TableHead titles={[columns.shop, ...amounts]} amounts={amounts} />
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
        <td colSpan={4} class="bad">
          {shop.unavailable}
        </td>
      </tr>
    );
  const { counts } = shop;
  return (
    <tr>
      <th scope="row">
        <button type="button" aria-label={operatorTexts.open(shop.name)} onClick={() => void chooseShop(shop.shopId)}>
          {shop.name}
        </button>
        <span class="quiet">
          {shop.shopId} · {shop.currencyCode} · {shop.storefront.kind}
        </span>
        <details>
          <summary>{operatorTexts.settings(shop.name)}</summary>
          <Settings shop={shop} />
          {shop.storefront.kind === "sandbox" ? <Faults shopId={shop.shopId} /> : null}
        </details>
      </th>
      {(
        [
          [columns.orders, counts.purchaseOrders],
          [columns.suppliers, counts.suppliers],
          [columns.variants, counts.variants],
          [columns.keys, counts.apiKeys],
        ] as const
      ).map(([title, count]) => (
        <td key={title} class="amount" data-name={title}>
          {number(count)}
        </td>
      ))}
    </tr>
  );
};

/** A form whose sending can be refused. */
function useSending() {
  const problem = useSignal<Problem | null>(null);
  const isSaved = useSignal(false);
  const notice = (
    <>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      <span role="status">{isSaved.value ? operatorTexts.saved : null}</span>
    </>
  );
  const came = (refused: Problem | null): void => {
    problem.value = refused;
    isSaved.value = refused === null;
  };
  return { notice, came };
}

const Settings: FunctionComponent<{ readonly shop: Shop }> = ({ shop: { shopId, plan, settings } }) => {
  const { notice, came } = useSending();
  const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const numeric = (name: string): number | undefined => numberIn(field(form, name)) ?? undefined;
    const result = await asOperator().call("shop_put", {
      shopId,
      plan: { restApi: field(form, "restApi") !== "" },
      settings: {
        timezone: field(form, "timezone"),
        auditRetentionDays: numeric("auditRetentionDays"),
        rateLimit: { capacity: numeric("capacity"), refillPerSecond: numeric("refillPerSecond") },
      },
    });
    came(result.ok ? null : problemOf(result));
  };
  return (
    <form class="inline-form" onSubmit={(event) => void save(event)}>
      <label>
        {operatorTexts.timezone}
        <input name="timezone" defaultValue={settings.timezone} required />
      </label>
      <label>
        {operatorTexts.capacity}
        <input name="capacity" inputMode="numeric" defaultValue={typed(settings.rateLimit.capacity)} />
      </label>
      <label>
        {operatorTexts.refill}
        <input name="refillPerSecond" inputMode="decimal" defaultValue={typed(settings.rateLimit.refillPerSecond)} />
      </label>
      <label>
        {operatorTexts.auditDays}
        <input name="auditRetentionDays" inputMode="numeric" defaultValue={typed(settings.auditRetentionDays)} />
      </label>
      <label>
        {operatorTexts.restApi}
        <input name="restApi" type="checkbox" defaultChecked={plan.restApi} />
      </label>
      <button class="primary">{operatorTexts.save}</button>
      {notice}
    </form>
  );
};

const outcomes = ["error", "throttled", "timeout", "refused", "lost-response"] as const;

const Faults: FunctionComponent<{ readonly shopId: string }> = ({ shopId }) => {
  const { notice, came } = useSending();
  const set = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const outcome = outcomes.find((each) => each === field(form, "outcome"));
    const times = numberIn(field(form, "times"));
    const result = await asOperator().call("sandbox_faults_put", {
      shopId,
      latencyMs: numberIn(field(form, "latencyMs")) ?? 0,
      faults: outcome === undefined ? [] : [{ call: "*", outcome, times }],
    });
    came(result.ok ? null : problemOf(result));
  };
  return (
    <form class="inline-form" onSubmit={(event) => void set(event)}>
      <label>
        {operatorTexts.sandbox}
        <select name="outcome">
          <option value="">{operatorTexts.noFault}</option>
          {outcomes.map((outcome) => (
            <option key={outcome} value={outcome}>
              {outcome}
            </option>
          ))}
        </select>
      </label>
      <label>
        {operatorTexts.times}
        <input name="times" inputMode="numeric" />
      </label>
      <label>
        {operatorTexts.latency}
        <input name="latencyMs" inputMode="numeric" defaultValue="0" />
      </label>
      <button>{operatorTexts.setFaults}</button>
      {notice}
    </form>
  );
};
