/** How the shop's documents look: language, paper, columns and letterhead. Owners change it. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Input, Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { documentTexts as words } from "../texts-documents.ts";
import { texts } from "../texts.ts";

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

export const DocumentsScreen: FunctionComponent = () => (
  <OwnerOnly why={words.why}>
    <Documents />
  </OwnerOnly>
);

const Documents: FunctionComponent = () => {
  const { data, problem, again } = useReading("document_settings_get", { shopId: shopId() });
  return (
    <>
      <div class="heading">
        <h1>{words.title}</h1>
      </div>
      <p class="quiet">{words.lead}</p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <p role="status">{texts.loading}</p> : null}
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
  const problem = useSignal<Problem | null>(null);
  const state = useSignal<"still" | "saving" | "saved">("still");
  const send = async (sent: Sent): Promise<boolean> => {
    state.value = "saving";
    problem.value = null;
    const result = await openpo.call("document_settings_put", { shopId: shopId(), ...sent });
    state.value = result.ok ? "saved" : "still";
    if (!result.ok) problem.value = problemOf(result);
    else await again();
    return result.ok;
  };
  const save = (form: FormData): void => {
    const address = Object.fromEntries(addressFields.map((field) => [field, textIn(form, field)]));
    void send({
      language: (["en", "de", "fr", "es"] as const).find((language) => language === form.get("language")),
      paper: form.get("paper") === "Letter" ? "Letter" : "A4",
      columns: columns.filter((column) => form.get(column) !== null),
      address: Object.values(address).every((value) => value === null) ? null : address,
      footer: textIn(form, "footer"),
    });
  };
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const file = input.files?.[0];
    if (file === undefined) return;
    if (file.size > logoKilobytesMax * 1_024) {
      const message = words.logoTooLarge(logoKilobytesMax);
      problem.value = { message, action: null, requestId: null, code: "INVALID_INPUT", reason: null, details: [] };
    } else await send({ logo: { base64: await base64Of(file) } });
    input.value = "";
  };
  return (
    <form
      class="letterhead"
      onSubmit={(event) => {
        event.preventDefault();
        save(new FormData(event.currentTarget));
      }}
    >
      <div class="fields">
        <label>
          {words.language}
          <select name="language">
            {Object.entries(words.languages).map(([language, name]) => (
              <option key={language} value={language} selected={language === settings.language}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.paper}
          <select name="paper">
            {Object.entries(words.papers).map(([paper, name]) => (
              <option key={paper} value={paper} selected={paper === settings.paper}>
                {name}
              </option>
            ))}
          </select>
        </label>
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
      </fieldset>
      <fieldset class="address">
        <legend>{words.address}</legend>
        <div class="fields">
          {addressFields.map((field) => (
            <label key={field}>
              {words.fields[field]}
              <input name={field} maxLength={200} defaultValue={settings.address?.[field] ?? ""} />
            </label>
          ))}
        </div>
      </fieldset>
      <label>
        {words.footer}
        <textarea
          name="footer"
          rows={3}
          maxLength={600}
          aria-describedby="footer-hint"
          defaultValue={settings.footer ?? ""}
        />
      </label>
      <p id="footer-hint" class="quiet">
        {words.footerHint}
      </p>
      <label>
        {words.logo}
        <input
          type="file"
          accept="image/png,image/jpeg,image/svg+xml"
          aria-describedby="logo-hint"
          onChange={(event) => void choose(event.currentTarget)}
        />
      </label>
      <p id="logo-hint" class="quiet">
        {words.logoHint(logoKilobytesMax)}
      </p>
      {settings.logo === null ? null : (
        <p class="logo">
          <img src={`data:${settings.logo.contentType};base64,${settings.logo.base64}`} alt={words.currentLogo} />
          <button type="button" class="plain" onClick={() => void send({ logo: null })}>
            {words.removeLogo}
          </button>
        </p>
      )}
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      <p class="buttons">
        <button type="submit" class="primary" disabled={state.value === "saving"}>
          {words.save}
        </button>
        <span role="status" class="quiet">
          {state.value === "saving" ? words.saving : state.value === "saved" ? words.saved : null}
        </span>
      </p>
    </form>
  );
};
