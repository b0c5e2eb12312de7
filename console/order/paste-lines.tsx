/** Rows pasted from a sheet: their codes are looked up, what is wrong is told row by row, and one call adds them all. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedClipboardEvent, TargetedEvent } from "preact";
import type { CatalogueLineInput } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { numberIn } from "../data/format.ts";
import { signedIn } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { texts } from "../texts.ts";
import { linesOf, type PastedRow, rowsIn } from "./pasted-rows.ts";

const words = texts.addLines;

/** Ids that one look-up takes. */
const idsMax = 50;
/** Look-ups at the same time. */
const lookUpsMax = 4;

/** Variants of codes: ids first, many at a time, then SKUs and barcodes one by one. */
async function variantIdsOf(codes: readonly string[]): Promise<ReadonlyMap<string, string> | Problem> {
  const shopId = signedIn()?.shop.shopId ?? "";
  const found = new Map<string, string>();
  let problem: Problem | null = null;
  for (let from = 0; from < codes.length; from += idsMax) {
    const ids = codes.slice(from, from + idsMax);
    const result = await openpo.call("variant_search", { shopId, ids, limit: idsMax });
    if (!result.ok) return problemOf(result);
    for (const { variantId } of result.data.variants) found.set(variantId, variantId);
  }
  const rest = codes.filter((code) => !found.has(code));
  const work = async (): Promise<void> => {
    for (let code = rest.shift(); code !== undefined && problem === null; code = rest.shift())
      for (const by of [{ sku: code }, { barcode: code }]) {
        const result = await openpo.call("variant_search", { shopId, ...by, limit: 2 });
        if (!result.ok) {
          problem = problemOf(result);
          return;
        }
        const [variant, another] = result.data.variants;
        // A code that two products share is not guessed.
        if (variant !== undefined && another === undefined) found.set(code, variant.variantId);
        if (variant !== undefined) break;
      }
  };
  await Promise.all(Array.from({ length: lookUpsMax }, work));
  return problem ?? found;
}

interface PasteProps {
  /** @returns null when the lines were not added. */
  readonly add: (lines: readonly CatalogueLineInput[]) => Promise<object | null>;
}

export const PasteLines: FunctionComponent<PasteProps> = ({ add }) => {
  const text = useSignal("");
  const rows = useSignal<readonly PastedRow[]>([]);
  const variantIds = useSignal<ReadonlyMap<string, string> | null>(null);
  const problem = useSignal<Problem | null>(null);
  const isBusy = useSignal(false);

  const check = async (pasted: string): Promise<void> => {
    text.value = pasted;
    problem.value = null;
    variantIds.value = null;
    rows.value = rowsIn(pasted, numberIn);
    if (rows.value.length === 0) return;
    isBusy.value = true;
    const found = await variantIdsOf([...new Set(rows.value.map(({ code }) => code))].filter((code) => code !== ""));
    isBusy.value = false;
    if ("message" in found) problem.value = found;
    else variantIds.value = found;
  };
  const onPaste = (event: TargetedClipboardEvent<HTMLTextAreaElement>): void => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.trim() === "" || text.value !== "") return;
    event.preventDefault();
    void check(pasted);
  };
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (variantIds.value === null) {
      await check(text.value);
      return;
    }
    const lines = linesOf(rows.value, variantIds.value);
    if (lines === null) return;
    isBusy.value = true;
    const answer = await add(lines);
    isBusy.value = false;
    if (answer === null) return;
    text.value = "";
    rows.value = [];
    variantIds.value = null;
  };
  const known = variantIds.value;
  const wrong = rows.value.flatMap((row) => [
    ...row.faults.map((fault) => ({ row: row.row, code: row.code, fault })),
    ...(known !== null && row.code !== "" && !known.has(row.code)
      ? [{ row: row.row, code: row.code, fault: "code" as const }]
      : []),
  ]);
  const isReady = known !== null && wrong.length === 0 && rows.value.length > 0;
  return (
    <form class="paste" onSubmit={(event) => void submit(event)}>
      <label>
        {words.rows}
        <textarea
          rows={6}
          aria-describedby="paste-help"
          value={text.value}
          onPaste={onPaste}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            variantIds.value = null;
          }}
        />
      </label>
      <p id="paste-help" class="quiet">
        {words.pasteHelp}
      </p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {wrong.length === 0 ? null : (
        <ul class="details" role="alert">
          {wrong.map(({ row, code, fault }) => (
            <li key={`${row}${fault}`}>
              {words.row(row)} {code === "" ? null : <code>{code}</code>}: {words.rowFaults[fault]}
            </li>
          ))}
        </ul>
      )}
      <button class={isReady ? "primary" : undefined} disabled={isBusy.value || (known !== null && !isReady)}>
        {isBusy.value ? texts.loading : isReady ? words.adding(rows.value.length) : words.check}
      </button>
    </form>
  );
};
