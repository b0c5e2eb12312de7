/**
 * Creates a key and shows it, once. The key is in this component's memory and leaves it, and the page, with the dialog.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpoOnce, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { shopId } from "../data/session.ts";
import { CopyField } from "../parts/fields/copy-field.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { ShownOnce } from "../parts/dialogs/shown-once.tsx";
import { texts } from "../texts/en/texts.ts";
import { FirstCall } from "./first-call.tsx";
import { FoldedLimits, limitFieldAt, limitsIn, noLimits } from "./limits.tsx";
import { keyScopes, scopeNamed } from "./scopes.ts";
import { snippetsFor } from "./snippets.ts";

type NewKey = Output<"key_create">;

export const NewKeyForm: FunctionComponent<{ readonly onMade: () => void }> = ({ onMade }) => {
  const made = useSignal<NewKey | null>(null);
  const { wrong, notice, came } = useSending(limitFieldAt);
  const isSending = useSignal(false);
  const limits = useSignal(noLimits);
  const create = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    isSending.value = true;
    const result = await openpoOnce.call("key_create", {
      shopId: shopId(),
      name: field(form, "name"),
      scope: scopeNamed(field(form, "scope")),
      signIn: field(form, "signIn") === "on",
      limits: limitsIn(limits.value),
    });
    isSending.value = false;
    came(result.ok ? null : problemOf(result));
    if (!result.ok) return;
    made.value = result.data;
    form.reset();
    limits.value = noLimits;
  };
  return (
    <>
      <form class="inline-form" data-asks aria-label={texts.keys.create} onSubmit={(event) => void create(event)}>
        <Field name="name" label={texts.keys.name} wrong={wrong}>
          {(common) => (
            <input {...common} required maxLength={200} placeholder={texts.keys.nameHint} autocomplete="off" />
          )}
        </Field>
        <label>
          {texts.keys.scope}
          <select name="scope">
            {keyScopes.map((scope) => (
              <option key={scope} value={scope}>
                {texts.keys.scopes[scope]}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" name="signIn" /> {texts.keys.signIn}
        </label>
        <FoldedLimits limits={limits} wrong={wrong} />
        <button class="primary" disabled={isSending.value}>
          {texts.keys.create}
        </button>
      </form>
      {notice}
      {made.value === null ? null : (
        <KeyShown
          made={made.value}
          onClose={() => {
            made.value = null;
            onMade();
          }}
        />
      )}
    </>
  );
};

const KeyShown: FunctionComponent<{ readonly made: NewKey; readonly onClose: () => void }> = ({ made, onClose }) => (
  <ShownOnce title={texts.keys.made(made.name)} label={texts.keys.key} secret={made.apiKey} onClose={onClose}>
    {(copied) => (
      <section aria-labelledby="connect">
        <h3 id="connect">{texts.keys.connect}</h3>
        {snippetsFor(location.origin, made.apiKey).map(({ name, text }) => (
          // Opening one closes the others.
          <details key={name} name="snippet">
            <summary>{name}</summary>
            <CopyField label={name} value={text} onCopied={copied} />
          </details>
        ))}
        <FirstCall keyId={made.keyId} />
      </section>
    )}
  </ShownOnce>
);
