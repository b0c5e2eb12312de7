/**
 * Connecting the shop to its store, as the operator. Secrets are in the form's own fields alone, which are emptied when
 * the store is connected.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Input } from "../../client/index.ts";
import { problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { operatorToken, shopId } from "../data/session.ts";
import { asOperator } from "../operator/as-operator.ts";
import { Field, useSending } from "../parts/sending.tsx";
import { storefrontTexts } from "../texts/en/shop/storefront.ts";
import { texts } from "../texts/en/texts.ts";
import type { Status } from "./storefront.tsx";

const words = storefrontTexts.connect;

type Sent = NonNullable<Input<"shop_put">["storefront"]>;

const kinds = ["shopify", "medusa", "none"] as const;

type Kind = (typeof kinds)[number];

type Way = "credentials" | "token";

interface ConnectProps {
  readonly status: Status;
  readonly changed: (said: string) => Promise<void>;
}

/** Returns the input of the form; empty members are left out. */
function storeIn(form: HTMLFormElement, kind: Kind, way: Way): Sent {
  if (kind === "none") return { kind };
  if (kind === "medusa") return { kind, url: field(form, "url"), secretKey: field(form, "secretKey") };
  const clientSecret = field(form, "clientSecret");
  const domain = field(form, "domain")
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/\/.*$/, "");
  if (way === "credentials") return { kind, domain, clientId: field(form, "clientId"), clientSecret };
  const accessToken = field(form, "accessToken");
  return { kind, domain, accessToken, ...(clientSecret === "" ? {} : { clientSecret }) };
}

export const ConnectForm: FunctionComponent<ConnectProps> = ({ status: { kind: now, account }, changed }) => {
  const kind = useSignal<Kind>(kinds.find((each) => each === now) ?? "shopify");
  const way = useSignal<Way>("credentials");
  const isAsking = useSignal(false);
  // What is wrong with the store itself is said beside its address.
  const { wrong, notice, came } = useSending((steps) => steps[1] ?? (kind.value === "shopify" ? "domain" : "url"), "");
  const connect = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    isAsking.value = true;
    const storefront = storeIn(form, kind.value, way.value);
    const result = await asOperator().call("shop_put", { shopId: shopId(), storefront });
    isAsking.value = false;
    came(result.ok ? null : problemOf(result));
    if (!result.ok) {
      // Another admin token can be given.
      if (result.status === 401) operatorToken.value = null;
      return;
    }
    form.reset();
    await changed([kind.value === "none" ? words.doneWithout : words.done, ...(result.data.warnings ?? [])].join(" "));
  };
  const isToken = way.value === "token";
  return (
    <form class="shop-settings" data-asks aria-label={words.title} onSubmit={(event) => void connect(event)}>
      <p class="quiet">{words.lead}</p>
      <div class="fields">
        <label>
          {words.platform}
          <select
            name="kind"
            value={kind.value}
            onChange={({ currentTarget }) =>
              (kind.value = kinds.find((each) => each === currentTarget.value) ?? "shopify")
            }
          >
            {kinds.map((each) => (
              <option key={each} value={each}>
                {storefrontTexts.kinds[each]}
              </option>
            ))}
          </select>
        </label>
        {kind.value !== "shopify" ? null : (
          <label>
            {words.way}
            <select
              name="way"
              value={way.value}
              onChange={({ currentTarget }) => (way.value = currentTarget.value === "token" ? "token" : "credentials")}
            >
              <option value="credentials">{words.ways.credentials}</option>
              <option value="token">{words.ways.token}</option>
            </select>
          </label>
        )}
      </div>
      {kind.value === "medusa" ? (
        <div key="medusa" class="fields">
          <Field name="url" {...words.url} wrong={wrong}>
            {(common) => (
              <input {...common} required autocomplete="off" defaultValue={now === "medusa" ? (account ?? "") : ""} />
            )}
          </Field>
          <Secret name="secretKey" {...words.secretKey} wrong={wrong} />
        </div>
      ) : kind.value === "none" ? null : (
        <div key="shopify" class="fields">
          <Field name="domain" {...words.domain} wrong={wrong}>
            {(common) => (
              <input {...common} required autocomplete="off" defaultValue={now === "shopify" ? (account ?? "") : ""} />
            )}
          </Field>
          {isToken ? (
            <Secret key="token" name="accessToken" {...words.accessToken} wrong={wrong} />
          ) : (
            <Field key="id" name="clientId" {...words.clientId} wrong={wrong}>
              {(common) => <input {...common} required autocomplete="off" />}
            </Field>
          )}
          <Secret
            key={isToken ? "hooks" : "secret"}
            name="clientSecret"
            {...(isToken ? words.hookSecret : words.clientSecret)}
            wrong={wrong}
            isOptional={isToken}
          />
        </div>
      )}
      {kind.value === "shopify" ? <p class="quiet">{words.scopes}</p> : null}
      <p class="buttons">
        <button class="primary" disabled={isAsking.value}>
          {kind.value === "none" ? words.without : words.send}
        </button>
        {isAsking.value ? <span role="status">{words.asking}</span> : notice}
      </p>
    </form>
  );
};

interface SecretProps extends Omit<Parameters<typeof Field>[0], "children"> {
  readonly isOptional?: boolean;
}

const Secret: FunctionComponent<SecretProps> = ({ isOptional = false, ...named }) => (
  <Field {...named}>
    {(common) => <input {...common} type="password" required={!isOptional} autocomplete="off" spellcheck={false} />}
  </Field>
);

/** After a reload the page has no admin token. */
export const Unlock: FunctionComponent = () => (
  <form
    class="inline-form"
    aria-label={storefrontTexts.operators.title}
    onSubmit={(event) => {
      event.preventDefault();
      operatorToken.value = field(event.currentTarget, "token");
    }}
  >
    <p class="quiet">{storefrontTexts.locked}</p>
    <label>
      {texts.signIn.adminToken}
      <input name="token" type="password" autocomplete="off" required />
    </label>
    <button>{storefrontTexts.unlock}</button>
  </form>
);
