/** Rows of a sheet as prices of a supplier: a dry run says what is wrong with them and what they would change. */
import type { FunctionComponent } from "preact";
import type { Output } from "../../../client/index.ts";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { shopId } from "../../data/session.ts";
import { type CheckedRows, PasteRows } from "../../parts/fields/paste-rows.tsx";
import type { PasteColumn, PastedRow } from "../../parts/fields/pasted-rows.ts";
import { TableHead } from "../../parts/lists/table-head.tsx";
import { type RecordField, said, tell } from "../fields.ts";
import { productOf } from "./terms.tsx";
import { recordTexts } from "../../texts/en/goods/records.ts";

const { prices: words, paste } = recordTexts;

const numberColumn = (name: "unitCost" | "moq" | "packSize" | "leadTimeDays", head: RegExp): PasteColumn => ({
  name,
  kind: name === "unitCost" ? "amount" : "number",
  head,
  fault: `${recordTexts.fields[name]}: ${paste.number}`,
});

const columns: readonly PasteColumn[] = [
  { name: "code", head: /sku|code|ean|article|variant/, fault: paste.code },
  numberColumn("unitCost", /cost|price|prei[js]|prijs|coût|prix|precio/),
  numberColumn("moq", /moq|m[ií]nim|mindest|afname/),
  numberColumn("packSize", /pack|vpe|verpak|paquet|conditionnement/),
  numberColumn("leadTimeDays", /lead|lieferzeit|levertijd|délai|plazo/),
  { name: "unitCostCurrencyCode", head: /currency|währung|valuta|devise|moneda/, fault: "" },
];

interface PasteProps {
  readonly supplierId: string;
  readonly fields: readonly RecordField[];
  readonly saved: () => Promise<void>;
}

export const PastePrices: FunctionComponent<PasteProps> = ({ supplierId, fields, saved }) => {
  const check = async (pasted: readonly PastedRow[]): Promise<CheckedRows | Problem> => {
    const sent = pasted.filter(({ code }) => code !== "");
    const input = {
      shopId: shopId(),
      supplierId,
      rows: sent.map(({ code, values }) => ({ code, terms: values })),
    };
    if (sent.length === 0) return { faults: [], action: null, run: () => Promise.resolve(false) };
    const dry = await openpo.call("supplier_variant_update", { ...input, dryRun: true });
    if (!dry.ok) {
      const problem = problemOf(dry);
      const faults = problem.details.flatMap((detail) => {
        if (!("path" in detail)) return [];
        const [, index, name] = /^\/rows\/(\d+)\/(?:terms\/)?(\w+)/.exec(detail.path) ?? [];
        const row = sent[Number(index)];
        const label = fields.find((field) => field.name === name)?.label ?? paste.variant;
        return row === undefined ? [] : { row, text: `${label}: ${detail.message}` };
      });
      return faults.length === 0 ? problem : { faults, action: null, run: () => Promise.resolve(false) };
    }
    const { entries, version } = dry.data;
    const changed = entries.filter(({ action }) => action !== "unchanged");
    return {
      faults: [],
      shown: <Told entries={changed} kept={entries.length - changed.length} fields={fields} />,
      action: changed.length === 0 ? null : paste.save(changed.length),
      run: async () => {
        const result = await openpo.call("supplier_variant_update", input, { ifMatch: `"${version}"` });
        if (!result.ok) return problemOf(result);
        const back = await wayBack(supplierId, changed);
        if (back !== null)
          tell(({ tellWritten }) =>
            tellWritten(words.title, async () => {
              const problem = await back();
              await saved();
              return problem;
            }),
          );
        await saved();
        return true;
      },
    };
  };
  return <PasteRows columns={columns} help={paste.help} check={check} />;
};

type Entries = Output<"supplier_variant_update">["entries"];

/**
 * The opposite of what was just saved, for the prices as they are now and no others: a dry run says which they are.
 *
 * @returns null where there is none: a new price is removed by a call of its own, and somebody may have been faster.
 */
async function wayBack(supplierId: string, changed: Entries): Promise<(() => Promise<Problem | null>) | null> {
  if (changed.some(({ action }) => action === "created")) return null;
  const rows = changed.map(({ variantId, changes }) => ({
    code: variantId,
    terms: Object.fromEntries(changes.map(({ field, before }) => [field, before])),
  }));
  const input = { shopId: shopId(), supplierId, rows };
  const dry = await openpo.call("supplier_variant_update", { ...input, dryRun: true });
  const isAsSaved =
    dry.ok &&
    JSON.stringify(dry.data.entries.map(({ changes }) => changes.map(({ field, before }) => [field, before]))) ===
      JSON.stringify(changed.map(({ changes }) => changes.map(({ field, after }) => [field, after])));
  if (!isAsSaved) return null;
  const ifMatch = `"${dry.data.version}"`;
  return async () => {
    const result = await openpo.call("supplier_variant_update", input, { ifMatch });
    return result.ok ? null : problemOf(result);
  };
}

interface ToldProps {
  readonly entries: Entries;
  readonly kept: number;
  readonly fields: readonly RecordField[];
}

/** Changes, product by product. */
const Told: FunctionComponent<ToldProps> = ({ entries, kept, fields }) => (
  <>
    <p role="status">
      {paste.told(entries.length, kept)} {entries.some(({ action }) => action === "created") ? paste.noUndo : null}
    </p>
    {entries.length === 0 ? null : (
      <table class="rows" aria-label={paste.changes}>
        <TableHead titles={[words.product, paste.changes]} amounts={[]} />
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.variantId}>
              <th scope="row">
                {productOf(entry)}
                {entry.action === "created" ? <span class="quiet">{paste.isNew}</span> : null}
              </th>
              <td data-name={paste.changes}>
                {fields
                  .flatMap((field) => {
                    const change = entry.changes.find((each) => each.field === field.name);
                    if (change === undefined || change.after === false) return [];
                    return `${field.label}: ${said(field, change.before)} → ${said(field, change.after)}`;
                  })
                  .join("; ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </>
);
