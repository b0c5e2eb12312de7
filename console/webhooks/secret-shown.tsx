/** The secret of an endpoint, or the public key of its pair, shown once. */
import type { ComponentChildren, FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { ShownOnce } from "../parts/dialogs/shown-once.tsx";
import { webhookTexts } from "../texts/en/shop/webhooks.ts";

export type Endpoint = Output<"webhook_endpoint_list">["endpoints"][number];

interface Shown {
  readonly endpoint: Pick<Endpoint, "url" | "signature">;
  readonly secret: string;
  /** Further text about it. */
  readonly hint?: ComponentChildren;
  readonly onClose: () => void;
}

export const SecretShown: FunctionComponent<Shown> = ({ endpoint: { url, signature }, secret, hint, onClose }) => (
  <ShownOnce
    title={webhookTexts.made}
    label={signature === "hmac" ? webhookTexts.secret : webhookTexts.publicKey}
    secret={secret}
    onClose={onClose}
  >
    {() => (
      <>
        <p class="url">{url}</p>
        <p class="quiet">
          {webhookTexts.secretHint} {hint}
        </p>
      </>
    )}
  </ShownOnce>
);
