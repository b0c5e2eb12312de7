/**
 * Settings of the shop's documents: language, paper, columns and letterhead. What is wrong is said beside its field.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Input, Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { documentTexts as words } from "../texts/en/order/documents.ts";
import { languageNames, languages } from "../texts/languages.ts";
import { Skeleton } from "../parts/skeleton.tsx";

type Settings = Output<"document_settings_get">["documentSettings"];
type Sent = Omit<Input<"document_settings_put">, "shopId">;

/** A larger logo is refused before it is sent. */
const logoKilobytesMax = 256;

const columns = [
  "position",
  "supplierSku",
  "sku",
  "barcode",
  "expectedDeliveryDate",
  "packSize",
  "unitCost",
  "lineTotal",
] as const;

const addressFields = [
  "companyName",
  "contactName",
  "address1",
  "address2",
  "zip",
  "city",
  "province",
  "country",
  "phone",
  "email",
] as const;

export const Letterhead: FunctionComponent = () => {
  const { data, problem, again } = useReading("document_settings_get", { shopId: shopId() });
  return (
    <>
      <p class="quiet">{words.lead}</p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {data === null ? null : <SettingsForm settings={data.documentSettings} again={again} />}
    </>
  );
};

/** The base64 text of a file. */
async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCodePoint(byte);
  return btoa(text);
}

const textIn = (form: FormData, name: string): string | null => {
  const value = form.get(name);
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? null : text;
};

const SettingsForm: FunctionComponent<{ readonly settings: Settings; readonly again: () => Promise<void> }> = ({
  settings,
  again,
}) => {
  const { wrong, notice, refuse, came } = useSending(([member = "", inside = ""]) => {
    if (member === "address" && inside !== "") return inside;
    return member;
  }, words.saved);
  const isSaving = useSignal(false);
  const send = async (sent: Sent): Promise<void> => {
    isSaving.value = true;
    const result = await openpo.call("document_settings_put", { shopId: shopId(), ...sent });
    isSaving.value = false;
    came(result.ok ? null : problemOf(result));
    if (result.ok) await again();
  };
  /** Sends what is not as it was read, so that two people who change different settings both have theirs. */
  const save = (form: FormData): void => {
    const address = Object.fromEntries(addressFields.map((name) => [name, textIn(form, name)]));
    const was = Object.fromEntries(addressFields.map((name) => [name, settings.address?.[name] ?? null]));
    const language = languages.find((each) => each === form.get("language"));
    const paper = form.get("paper") === "Letter" ? "Letter" : "A4";
    const chosen = columns.filter((column) => form.get(column) !== null);
    const footer = textIn(form, "footer");
    void send({
      ...(language === settings.language ? {} : { language }),
      ...(paper === settings.paper ? {} : { paper }),
      ...(columns.every((column) => chosen.includes(column) === settings.columns.includes(column))
        ? {}
        : { columns: chosen }),
      ...(addressFields.every((name) => address[name] === was[name])
        ? {}
        : { address: Object.values(address).every((value) => value === null) ? null : address }),
      ...(footer === settings.footer ? {} : { footer }),
    });
  };
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const file = input.files?.[0];
    if (file === undefined) return;
    if (file.size > logoKilobytesMax * 1_024) refuse(new Map([["logo", words.logoTooLarge(logoKilobytesMax)]]));
    else await send({ logo: { base64: await base64Of(file) } });
    input.value = "";
  };
  const choice = (name: "language" | "paper", names: Readonly<Record<string, string>>) => (
    <Field name={name} label={words[name]} wrong={wrong}>
      {(common) => (
        <select {...common}>
          {Object.entries(names).map(([value, text]) => (
            <option key={value} value={value} selected={value === settings[name]}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  return (
    <form
      class="letterhead"
      data-asks
      aria-label={words.title}
      onSubmit={(event) => {
        event.preventDefault();
        save(new FormData(event.currentTarget));
      }}
    >
      <div class="fields">
        {choice("language", languageNames)}
        {choice("paper", words.papers)}
      </div>
      <fieldset class="ticks">
        <legend>{words.columns}</legend>
        <div>
          {columns.map((column) => (
            <label key={column}>
              <input type="checkbox" name={column} defaultChecked={settings.columns.includes(column)} />
              {words.columnNames[column]}
            </label>
          ))}
        </div>
        {wrong.has("columns") ? <p class="cell-note">{wrong.get("columns")}</p> : null}
      </fieldset>
      <fieldset class="address">
        <legend>{words.address}</legend>
        <div class="fields">
          {addressFields.map((name) => (
            <Field key={name} name={name} label={words.fields[name]} wrong={wrong}>
              {(common) => <input {...common} maxLength={200} defaultValue={settings.address?.[name] ?? ""} />}
            </Field>
          ))}
        </div>
        {wrong.has("address") ? <p class="cell-note">{wrong.get("address")}</p> : null}
      </fieldset>
      <Field name="footer" label={words.footer} hint={words.footerHint} wrong={wrong}>
        {(common) => <textarea {...common} rows={3} maxLength={600} defaultValue={settings.footer ?? ""} />}
      </Field>
      <Field name="logo" label={words.logo} hint={words.logoHint(logoKilobytesMax)} wrong={wrong}>
        {(common) => (
          <input
            {...common}
            type="file"
            accept="image/png,image/jpeg,image/svg+xml"
            onChange={(event) => void choose(event.currentTarget)}
          />
        )}
      </Field>
      {settings.logo === null ? null : (
        <p class="logo">
          <img src={`data:${settings.logo.contentType};base64,${settings.logo.base64}`} alt={words.currentLogo} />
          <button type="button" class="plain" onClick={() => void send({ logo: null })}>
            {words.removeLogo}
          </button>
        </p>
      )}
      <p class="buttons">
        <button type="submit" class="primary" disabled={isSaving.value}>
          {isSaving.value ? words.saving : words.save}
        </button>
        {notice}
      </p>
    </form>
  );
};
