/** Section of the address by which assistants connect, to copy. */
import type { FunctionComponent } from "preact";
import { CopyField } from "../parts/fields/copy-field.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";

export const ConnectHere: FunctionComponent = () => (
  <section aria-labelledby="connect-here">
    <h2 id="connect-here">{texts.keys.assistant}</h2>
    <p class="quiet">
      {texts.keys.assistantHow} <a href={hrefOf("connect")}>{texts.keys.assistantSteps}</a>
    </p>
    <CopyField label={texts.keys.address} value={`${location.origin}/mcp`} onCopied={() => {}} />
  </section>
);
