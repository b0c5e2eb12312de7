/** Webhooks: the endpoints of the shop, and one of them with its deliveries. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpoOnce, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { hrefOf, place } from "../router.ts";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";
import { EndpointForm } from "./endpoint-form.tsx";
import { EndpointScreen } from "./endpoint.tsx";
import { wordOf } from "./event-types.tsx";
import { type Endpoint, SecretShown } from "./secret-shown.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const WebhooksScreen: FunctionComponent = () => {
  const [, endpointId] = place.value.steps;
  return (
    <OwnerOnly why={webhookTexts.why}>
      {endpointId === undefined ? <Webhooks /> : <EndpointScreen key={endpointId} endpointId={endpointId} />}
    </OwnerOnly>
  );
};

const Webhooks: FunctionComponent = () => {
  const { data, problem, again } = useReading("webhook_endpoint_list", { shopId: shopId() });
  const endpoints = data?.endpoints ?? [];
  return (
    <>
      <div class="heading">
        <h1>{webhookTexts.title}</h1>
      </div>
      <p class="quiet lead">{webhookTexts.lead}</p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {endpoints.length > 0 ? <EndpointTable endpoints={endpoints} /> : null}
      {data !== null && endpoints.length === 0 ? (
        <div class="empty">
          <p>{webhookTexts.empty}</p>
          <p class="quiet">{webhookTexts.emptyHint}</p>
        </div>
      ) : null}
      <NewEndpoint onMade={() => void again()} />
    </>
  );
};

const EndpointTable: FunctionComponent<{ readonly endpoints: readonly Endpoint[] }> = ({ endpoints }) => {
  const { columns } = webhookTexts;
  return (
    <table class="rows">
      <TableHead titles={[columns.url, columns.status, columns.events, columns.lastDelivered]} />
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.endpointId}>
            <th scope="row">
              <a class="url" href={hrefOf("webhooks", endpoint.endpointId)}>
                {endpoint.url}
              </a>
              {endpoint.description === null ? null : <span class="quiet">{endpoint.description}</span>}
            </th>
            <td data-name={columns.status}>
              <EndpointStatus endpoint={endpoint} />
            </td>
            <td data-name={columns.events}>{endpoint.eventTypes.map(wordOf).join(", ")}</td>
            <td data-name={columns.lastDelivered}>
              {endpoint.lastDeliveredAt === null ? webhookTexts.never : <Moment at={endpoint.lastDeliveredAt} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const EndpointStatus: FunctionComponent<{ readonly endpoint: Endpoint }> = ({
  endpoint: { status, disabledReason },
}) => (
  <>
    <span class={status === "enabled" ? "chip done" : "chip bad"}>{webhookTexts.statusNames[status]}</span>
    {disabledReason === null ? null : <span class="quiet">{webhookTexts.disabled[disabledReason]}</span>}
  </>
);

const nothing = { url: "", description: null, eventTypes: ["purchase_order.*"] } as const;

/** The secret is in this component's memory and leaves it, and the page, with the dialog. */
const NewEndpoint: FunctionComponent<{ readonly onMade: () => void }> = ({ onMade }) => {
  const made = useSignal<Output<"webhook_endpoint_create"> | null>(null);
  return (
    <section aria-labelledby="add">
      <h2 id="add">{webhookTexts.add}</h2>
      <EndpointForm
        label={webhookTexts.add}
        endpoint={nothing}
        action={webhookTexts.create}
        send={async ({ url, description, eventTypes }, form) => {
          const result = await openpoOnce.call("webhook_endpoint_create", {
            shopId: shopId(),
            url,
            eventTypes,
            signature: field(form, "signature") === "ed25519" ? "ed25519" : "hmac",
            ...(description === "" ? {} : { description }),
          });
          if (!result.ok) return problemOf(result);
          made.value = result.data;
          form.reset();
          return null;
        }}
      >
        <label>
          {webhookTexts.signature}
          <select name="signature">
            <option value="hmac">{webhookTexts.signatures.hmac}</option>
            <option value="ed25519">{webhookTexts.signatures.ed25519}</option>
          </select>
        </label>
      </EndpointForm>
      {made.value === null ? null : (
        <SecretShown
          endpoint={made.value}
          secret={made.value.secret}
          onClose={() => {
            made.value = null;
            onMade();
          }}
        />
      )}
    </section>
  );
};
