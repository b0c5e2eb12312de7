/** Steps by which a person connects an assistant by its address: theirs in the assistant, and ours with pictures. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { theme } from "../data/look.ts";
import { CopyField } from "../parts/fields/copy-field.tsx";
import { Segments } from "../parts/frame/segments.tsx";
import consentDark from "../pictures/consent-dark.webp";
import consentLight from "../pictures/consent-light.webp";
import signInDark from "../pictures/sign-in-dark.webp";
import signInLight from "../pictures/sign-in-light.webp";
import { connectTexts } from "../texts/en/shop/connect.ts";
import { texts } from "../texts/en/texts.ts";
import { type AssistantClient, clients, snippetFor } from "./clients.ts";

const { steps } = connectTexts;

/** When the dark one of two pictures is shown. */
const darkMedia = { system: "(prefers-color-scheme: dark)", light: "not all", dark: "all" } as const;

const addressOf = (file: string): string => new URL(file, import.meta.url).href;

const Picture: FunctionComponent<{ readonly light: string; readonly dark: string; readonly alt: string }> = ({
  light,
  dark,
  alt,
}) => (
  <picture>
    <source media={darkMedia[theme.value]} srcset={addressOf(dark)} />
    <img src={addressOf(light)} alt={alt} loading="lazy" />
  </picture>
);

export const ConnectSteps: FunctionComponent = () => {
  const client = useSignal<AssistantClient>("claude");
  const url = `${location.origin}/mcp`;
  const snippet = snippetFor(client.value, url);
  const [first, second] = steps.of[client.value];
  return (
    <>
      <div class="heading">
        <h1>{texts.titles.connect}</h1>
      </div>
      <p class="quiet lead">{steps.lead}</p>
      <CopyField label={texts.keys.address} value={url} onCopied={() => {}} />
      <Segments
        label={steps.assistant}
        words={clients}
        titles={steps.names}
        value={client.value}
        choose={(chosen) => (client.value = chosen)}
      />
      {snippet === null && location.protocol !== "https:" ? <p class="notice">{steps.hosted}</p> : null}
      <ol class="steps">
        <li>
          {first}
          {snippet === null ? null : (
            <CopyField label={steps.names[client.value]} value={snippet} onCopied={() => {}} />
          )}
        </li>
        <li>{second}</li>
        <li>
          {steps.here}
          <p class="pictures">
            <Picture light={signInLight} dark={signInDark} alt={steps.signIn} />
            <Picture light={consentLight} dark={consentDark} alt={steps.consent} />
          </p>
        </li>
      </ol>
      <p class="quiet">{steps.tried}</p>
    </>
  );
};
