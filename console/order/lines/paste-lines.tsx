/**
 * Rows pasted from a sheet: their codes are looked up, what is wrong is told row by row, and one call adds them all.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedClipboardEvent, TargetedEvent } from "preact";
import type { CatalogueLineInput, Input, Output } from "../../../client/index.ts";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { codeKey, scannedCode } from "../../data/codes.ts";
import { numberIn } from "../../data/format.ts";
import { signedIn } from "../../data/session.ts";
import { ProblemNotice } from "../../parts/problem.tsx";
import { texts } from "../../texts/texts.ts";
import { linesOf, type PastedRow, rowsIn } from "./pasted-rows.ts";

const words = texts.addLines;

/** Codes that one look-up takes. Two variants may have each as SKU or barcode, and a page holds 50. */
const codesMax = 25;

type Variants = Output<"variant_search">["variants"];

/** All variants that a look-up finds, page by page. */
async function variantsBy(by: Pick<Input<"variant_search">, "ids" | "codes" | "sku">): Promise<Variants | Problem> {
  const found: Variants[number][] = [];
  const input = { shopId: signedIn()?.shop.shopId ?? "", ...by };
  for (let cursor: string | null | undefined; cursor !== null;) {
    const result = await openpo.call("variant_search", cursor === undefined ? input : { ...input, cursor });
    if (!result.ok) return problemOf(result);
    found.push(...result.data.variants);
    ({ cursor } = result.data);
  }
  return found;
}

/** Variants of codes: SKUs, then barcodes, then ids. A code that two products share is not guessed. */
async function variantIdsOf(codes: readonly string[]): Promise<ReadonlyMap<string, string> | Problem> {
  const found = new Map<string, string>();
  // A list has commas between its members, so a code with one is asked for alone.
  const alone = codes.filter((code) => code.includes(","));
  for (const code of alone) {
    const coded = await variantsBy({ sku: code });
    if ("message" in coded) return coded;
    const [variant, another] = coded;
    if (variant !== undefined && another === undefined) found.set(code, variant.variantId);
  }
  const listed = codes.filter((code) => !code.includes(","));
  for (let from = 0; from < listed.length; from += codesMax) {
    const batch = listed.slice(from, from + codesMax);
    const coded = await variantsBy({ codes: batch });
    if ("message" in coded) return coded;
    const rest: string[] = [];
    for (const code of batch) {
      const { keys } = scannedCode(code);
      const isIt = (carried: string | null): boolean => carried !== null && keys.includes(codeKey(carried));
      const bySku = coded.filter(({ sku }) => isIt(sku));
      const [variant, another] = bySku.length > 0 ? bySku : coded.filter(({ barcode }) => isIt(barcode));
      if (variant === undefined) rest.push(code);
      else if (another === undefined) found.set(code, variant.variantId);
    }
    const byId = rest.length === 0 ? [] : await variantsBy({ ids: rest });
    if ("message" in byId) return byId;
    for (const { variantId } of byId) found.set(variantId, variantId);
  }
  return found;
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
