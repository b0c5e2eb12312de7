/** Outcomes of the deliveries to an endpoint; each can be sent once more. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { openpo, openpoOnce, type Problem, problemOf } from "../data/client.ts";
import { number } from "../data/format.ts";
import { listOf } from "../data/pages.ts";
import { shopId } from "../data/session.ts";
import { howMany, MoreRows } from "../parts/lists/more-rows.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { go, hrefOf, place } from "../router.ts";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";
import { texts } from "../texts/en/texts.ts";
import type { Endpoint } from "./secret-shown.tsx";

export type Delivery = Output<"webhook_delivery_list">["deliveries"][number];

const states = ["all", "pending", "delivered", "failed"] as const;

const tones = { pending: "chip waiting", delivered: "chip done", failed: "chip bad" } as const;

/** Returns the endpoint's latest answer, or why there is none. */
export const answerOf = ({ lastStatus, lastError }: Delivery): string =>
  lastError ?? (lastStatus === null ? texts.orders.none : `HTTP ${lastStatus}`);

interface Shown {
  readonly endpoint: Endpoint;
  /** Another number reads the list again. */
  readonly version: number;
  readonly again: () => void;
}

export const Deliveries: FunctionComponent<Shown> = ({ endpoint, version, again }) => {
  const { endpointId } = endpoint;
  const state = states.find((each) => each === place.value.query.get("state")) ?? "all";
  const list = useMemo(
    () =>
      listOf<Delivery>(async (cursor) => {
        const result = await openpo.call("webhook_delivery_list", {
          shopId: shopId(),
          endpointId,
          ...(state === "all" ? {} : { state: [state] }),
          ...(cursor === null ? {} : { cursor }),
        });
        if (!result.ok) return { problem: problemOf(result) };
        const { deliveries, totalCount, cursor: next } = result.data;
        return { rows: deliveries, totalCount, cursor: next };
      }),
    [endpointId, state, version],
  );
  const { rows, isLoading, problem } = list.state.value;
  const choose = (value: string): void => {
    const href = hrefOf("webhooks", endpointId);
    go(value === "all" ? href : `${href}?state=${value}`);
  };
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{webhookTexts.deliveries}</h2>
      <div class="inline-form">
        <label>
          {webhookTexts.state}
          <select value={state} onChange={(event) => choose(event.currentTarget.value)}>
            {states.map((each) => (
              <option key={each} value={each}>
                {webhookTexts.states[each]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={again}>
          {webhookTexts.refresh}
        </button>
        <output class="quiet">{howMany(list.state.value, texts.orders.shown)}</output>
      </div>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length > 0 ? <DeliveryTable rows={rows} endpoint={endpoint} again={again} /> : null}
      {rows.length === 0 && !isLoading && problem === null ? (
        <p class="empty">{state === "all" ? webhookTexts.noDeliveries : webhookTexts.noSuchDeliveries}</p>
      ) : null}
      <MoreRows list={list} label={webhookTexts.more} />
    </section>
  );
};

interface Table {
  readonly rows: readonly Delivery[];
  readonly endpoint: Endpoint;
  readonly again: () => void;
}

const DeliveryTable: FunctionComponent<Table> = ({ rows, endpoint, again }) => {
  const { columns } = webhookTexts;
  const problem = useSignal<Problem | null>(null);
  const retry = async ({ deliveryId }: Delivery): Promise<void> => {
    const input = { shopId: shopId(), endpointId: endpoint.endpointId, deliveryId };
    const result = await openpoOnce.call("webhook_delivery_retry", input);
    problem.value = result.ok ? null : problemOf(result);
    if (result.ok) again();
  };
  return (
    <>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      <table class="rows">
        <TableHead
          titles={[columns.event, columns.state, columns.attempts, columns.answer, columns.next]}
          amounts={[columns.attempts]}
          does={columns.does}
        />
        <tbody>
          {rows.map((delivery) => (
            <tr key={delivery.deliveryId}>
              <th scope="row">
                {delivery.type}
                <span class="quiet">
                  <code>{delivery.eventId}</code>
                </span>
              </th>
              <td>
                <span class={tones[delivery.state]}>{webhookTexts.stateNames[delivery.state]}</span>
              </td>
              <td class="amount" data-name={columns.attempts}>
                {number(delivery.attempts)}
              </td>
              <td class="answer" data-name={columns.answer}>
                {answerOf(delivery)}
                {delivery.lastMs === null ? null : (
                  <span class="quiet">{texts.activity.milliseconds(Math.round(delivery.lastMs))}</span>
                )}
              </td>
              <td data-name={columns.next}>
                {delivery.nextAttemptAt === null ? texts.orders.none : <Moment at={delivery.nextAttemptAt} />}
              </td>
              <td class="does">
                {endpoint.status === "enabled" ? (
                  <button
                    type="button"
                    aria-label={webhookTexts.retryOf(delivery.type)}
                    onClick={() => void retry(delivery)}
                  >
                    {webhookTexts.retry}
                  </button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};
