/** Importing a file: what it begins with, what it would change, then all of it or nothing. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import type { Problem } from "../data/client.ts";
import { percent, number, withoutPaths } from "../data/format.ts";
import { type Imported, importFile, type RefusedFile } from "../data/import-file.ts";
import { useReading } from "../data/reading.ts";
import { faultInWords, shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { importTexts } from "../texts/en/shop/import.ts";
import { type Kind, kindOf, kinds, type Mistake, mistakeIn, type Preview, previewOf } from "./preview.ts";
import { FieldsOfType, PreviewTable, RefusedNotice } from "./table.tsx";

const rowsShown = 20;

/** Bytes of a file that are read to show its first rows. */
const previewBytes = 262_144;

interface Chosen {
  readonly file: File;
  readonly preview: Preview;
}

/** Progress of the file. */
type Came =
  | { readonly kind: "waiting" }
  | { readonly kind: "checking" | "importing"; readonly sent: number }
  | { readonly kind: "checked" | "imported"; readonly result: Imported }
  | { readonly kind: "refused"; readonly problem: Problem; readonly mistakes: readonly Mistake[] };

/** The mistakes in the person's words. Of a record that has no columns, each begins with its field. */
const mistakesIn = async ({ mistakes }: RefusedFile): Promise<readonly Mistake[]> =>
  await Promise.all(
    mistakes.map(async ({ path, message }) => {
      const { text, ...place } = mistakeIn(message);
      const words = await faultInWords(text);
      return { ...place, text: place.column === null ? withoutPaths(`${path}: ${words}`).replace(/^: /, "") : words };
    }),
  );

export const ImportScreen: FunctionComponent = () => (
  <OwnerOnly why={importTexts.why}>
    <Importing />
  </OwnerOnly>
);

const Importing: FunctionComponent = () => {
  const chosen = useSignal<Chosen | null>(null);
  const kind = useSignal<Kind | null>(null);
  const supplierId = useSignal("");
  const came = useSignal<Came>({ kind: "waiting" });
  /** Answers of a check that was overtaken by another choice are dropped. */
  const nth = useRef(0);

  const run = async (what: "checking" | "importing"): Promise<void> => {
    if (chosen.value === null || kind.value === null) return;
    nth.current += 1;
    const mine = nth.current;
    const format = kind.value;
    came.value = { kind: what, sent: 0 };
    const options = {
      format,
      ...(format === "supplier-prices" && supplierId.value !== "" ? { supplierId: supplierId.value } : {}),
      ...(what === "checking" ? { dryRun: "true" as const } : {}),
    };
    const result = await importFile(chosen.value.file, options, (sent) => {
      if (mine === nth.current) came.value = { kind: what, sent };
    });
    const mistakes = "problem" in result ? await mistakesIn(result) : [];
    if (mine !== nth.current) return;
    came.value =
      "problem" in result
        ? { kind: "refused", problem: result.problem, mistakes }
        : { kind: what === "checking" ? "checked" : "imported", result };
  };
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const preview = previewOf(await file.slice(0, previewBytes).text(), rowsShown);
    chosen.value = { file, preview };
    kind.value = kindOf(file.name, preview) ?? kind.value;
    came.value = { kind: "waiting" };
    await run("checking");
  };
  const isBusy = came.value.kind === "importing";
  return (
    <>
      <div class="heading">
        <h1>{importTexts.title}</h1>
      </div>
      <p class="quiet lead">{importTexts.lead}</p>
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          if (!isBusy) void choose(event.dataTransfer?.files[0]);
        }}
      >
        <strong>{importTexts.drop}</strong>
        <span class="quiet">{kinds.map((each) => importTexts.kinds[each].title).join(" · ")}</span>
        <input
          type="file"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl"
          disabled={isBusy}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            // The same file can be chosen again when it was corrected.
            currentTarget.value = "";
            void choose(file);
          }}
        />
        <output>
          {chosen.value === null
            ? null
            : importTexts.chosen(
                chosen.value.file.name,
                importTexts.kilobytes(Math.ceil(chosen.value.file.size / 1_000)),
              )}
        </output>
      </label>
      {chosen.value === null ? null : (
        <>
          <div class="inline-form">
            <label>
              {importTexts.kind}
              <select
                value={kind.value ?? ""}
                disabled={isBusy}
                onChange={({ currentTarget }) => {
                  kind.value = kinds.find((each) => each === currentTarget.value) ?? null;
                  void run("checking");
                }}
              >
                {kind.value === null ? <option value="" /> : null}
                {kinds.map((each) => (
                  <option key={each} value={each}>
                    {importTexts.kinds[each].title}
                  </option>
                ))}
              </select>
            </label>
            {kind.value === "supplier-prices" ? (
              <SupplierChoice
                supplierId={supplierId.value}
                choose={(id) => {
                  supplierId.value = id;
                  void run("checking");
                }}
              />
            ) : null}
          </div>
          {kind.value === null ? null : <p class="quiet">{importTexts.kinds[kind.value].hint}</p>}
          <Outcome came={came.value} file={chosen.value.file} go={() => void run("importing")} />
          {came.value.kind === "imported" ? null : (
            <PreviewTable
              preview={chosen.value.preview}
              mistakes={came.value.kind === "refused" ? came.value.mistakes : []}
            />
          )}
        </>
      )}
    </>
  );
};

const SupplierChoice: FunctionComponent<{ readonly supplierId: string; readonly choose: (id: string) => void }> = ({
  supplierId,
  choose,
}) => {
  const { data } = useReading("supplier_list", { shopId: shopId(), limit: 50 });
  return (
    <label>
      {importTexts.supplier}
      <select value={supplierId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="" />
        {(data?.suppliers ?? []).map((supplier) => (
          <option key={supplier.supplierId} value={supplier.supplierId}>
            {supplier.name}
          </option>
        ))}
      </select>
    </label>
  );
};

/** Result of the check or the import. */
const Outcome: FunctionComponent<{ readonly came: Came; readonly file: File; readonly go: () => void }> = ({
  came,
  file,
  go,
}) => {
  switch (came.kind) {
    case "waiting":
      return null;
    case "checking":
    case "importing":
      return (
        <div class="notice" role="status">
          <p>
            {came.kind === "checking" ? importTexts.checking : importTexts.importing}{" "}
            <span class="quiet">{importTexts.sent(percent(came.sent))}</span>
          </p>
          <progress value={came.sent} aria-label={importTexts[came.kind]} />
        </div>
      );
    case "refused":
      return came.mistakes.length === 0 ? (
        <ProblemNotice problem={came.problem} />
      ) : (
        <RefusedNotice mistakes={came.mistakes} file={file} />
      );
    case "checked":
      return (
        <div class="notice" role="status">
          <p>{came.result.counts.size === 0 ? importTexts.nothing : importTexts.good}</p>
          <Counts result={came.result} />
          {came.result.isTruncated ? <p class="quiet">{importTexts.truncated}</p> : null}
          <p class="quiet">{importTexts.rule}</p>
          {came.result.counts.size === 0 ? null : (
            <button type="button" class="primary" onClick={go}>
              {importTexts.go} ({number([...came.result.counts.values()].reduce((sum, count) => sum + count, 0))})
            </button>
          )}
        </div>
      );
    case "imported":
      return (
        <div class="notice" role="status">
          <p>
            <strong>{importTexts.done}</strong>
          </p>
          <Counts result={came.result} />
        </div>
      );
  }
};

const Counts: FunctionComponent<{ readonly result: Imported }> = ({ result: { counts, replaced, preview } }) => (
  <ul>
    {[...counts].map(([type, count]) => (
      <li key={type}>
        <span>
          {importTexts.records(type, count)}
          {replaced.has(type) ? importTexts.replaced(replaced.get(type) ?? 0) : null}
        </span>
        {preview
          .filter((each) => each.type === type)
          .map((each) => (
            <FieldsOfType key={type} of={each} />
          ))}
      </li>
    ))}
  </ul>
);
