/** Rows pasted from a sheet become lines of an order: their codes are looked up, and one call adds them all. */
import type { FunctionComponent } from "preact";
import type { CatalogueLineInput, Input, Output } from "../../../client/index.ts";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { codeKey, scannedCode } from "../../../src/core/goods/codes.ts";
import { signedIn } from "../../data/session.ts";
import { type CheckedRows, PasteRows } from "../../parts/fields/paste-rows.tsx";
import type { PastedRow } from "../../parts/fields/pasted-rows.ts";
import { texts } from "../../texts/en/texts.ts";
import { lineColumns, linesOf } from "./pasted-lines.ts";

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

/** The variants that codes stand for, the codes that several have, and those of what is no longer bought. */
interface Coded {
  readonly ids: ReadonlyMap<string, string>;
  readonly shared: ReadonlySet<string>;
  readonly archived: ReadonlySet<string>;
}

/** Variants of codes: SKUs, then barcodes, then ids. A code that two products share is not guessed. */
async function variantIdsOf(codes: readonly string[]): Promise<Coded | Problem> {
  const ids = new Map<string, string>();
  const shared = new Set<string>();
  const archived = new Set<string>();
  const note = (code: string, carriers: Variants): void => {
    const [variant, another] = carriers.filter(({ isArchived }) => !isArchived);
    if (another !== undefined) shared.add(code);
    else if (variant !== undefined) ids.set(code, variant.variantId);
    else if (carriers.length > 0) archived.add(code);
  };
  // A list has commas between its members, so a code with one is asked for alone.
  const alone = codes.filter((code) => code.includes(","));
  for (const code of alone) {
    const coded = await variantsBy({ sku: code });
    if ("message" in coded) return coded;
    note(code, coded);
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
      const carriers = bySku.length > 0 ? bySku : coded.filter(({ barcode }) => isIt(barcode));
      if (carriers.length === 0) rest.push(code);
      else note(code, carriers);
    }
    const byId = rest.length === 0 ? [] : await variantsBy({ ids: rest });
    if ("message" in byId) return byId;
    for (const variant of byId) note(variant.variantId, [variant]);
  }
  return { ids, shared, archived };
}

interface PasteProps {
  /** @returns null when the lines were not added. */
  readonly add: (lines: readonly CatalogueLineInput[]) => Promise<object | null>;
}

export const PasteLines: FunctionComponent<PasteProps> = ({ add }) => {
  const check = async (rows: readonly PastedRow[]): Promise<CheckedRows | Problem> => {
    const found = await variantIdsOf([...new Set(rows.map(({ code }) => code))].filter((code) => code !== ""));
    if ("message" in found) return found;
    return {
      faults: rows.flatMap((row) =>
        row.code === "" || found.ids.has(row.code)
          ? []
          : {
              row,
              text: found.shared.has(row.code)
                ? words.rowFaults.shared
                : found.archived.has(row.code)
                  ? words.rowFaults.archived
                  : words.rowFaults.code,
            },
      ),
      action: words.adding(rows.length),
      run: async () => (await add(linesOf(rows, found.ids))) !== null,
    };
  };
  return <PasteRows columns={lineColumns} help={words.pasteHelp} check={check} />;
};
