/** A supplier's price list: what it charges for each product, added, changed and removed entry by entry. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { Output } from "../../../client/index.ts";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { variants } from "../../data/look-ups.ts";
import { type KeptList, listOf } from "../../data/pages.ts";
import { hasRole, shopId } from "../../data/session.ts";
import { AskFirst } from "../../parts/dialogs/ask-first.tsx";
import { Dialog } from "../../parts/dialogs/dialog.tsx";
import { Combobox } from "../../parts/fields/combobox.tsx";
import { MoreRows } from "../../parts/lists/more-rows.tsx";
import { ProblemNotice } from "../../parts/problem.tsx";
import { hrefOf } from "../../router.ts";
import { PastePrices } from "./paste-prices.tsx";
import { recordTexts } from "../../texts/en/goods/records.ts";
import { texts } from "../../texts/en/texts.ts";
import { currencyCode, type FieldGroup, tell, type Values, valueOf } from "../fields.ts";
import { RecordForm } from "../form.tsx";
import type { SectionProps } from "../kinds.ts";
import { productOf, TermsCells, TermsHead } from "./terms.tsx";

type Entry = Output<"supplier_variant_list">["supplierVariants"][number];

const { prices: words, fields, supplier } = recordTexts;

const groups: readonly FieldGroup[] = [
  {
    title: words.title,
    fields: [
      { name: "unitCost", label: fields.unitCost, kind: "number" },
      { name: "unitCostCurrencyCode", label: supplier.terms.currencyCode, hint: fields.currencyHint, kind: "code" },
      { name: "supplierSku", label: fields.supplierSku },
      { name: "supplierBarcode", label: fields.supplierBarcode },
      { name: "supplierProductName", label: fields.supplierProductName },
      { name: "moq", label: fields.moq, kind: "number" },
      { name: "packSize", label: fields.packSize, kind: "number" },
      { name: "leadTimeDays", label: fields.leadTimeDays, kind: "number" },
      { name: "isPreferred", label: fields.isPreferred, hint: fields.preferredHint, kind: "tick" },
    ],
  },
];

/** A step that a person has begun: an entry is written or removed. */
type Doing =
  | {
      readonly kind: "write";
      readonly product: string;
      readonly entry: object;
      readonly variantId: string;
      /** Null: the entry is new. */
      readonly version: string | null;
    }
  | { readonly kind: "remove"; readonly product: string; readonly variantId: string };

export const PriceList: FunctionComponent<SectionProps> = ({ id, record, changed }) => {
  const list = useMemo(
    () =>
      listOf<Entry>(async (cursor) => {
        const page = cursor === null ? {} : { cursor };
        const result = await openpo.call("supplier_variant_list", { shopId: shopId(), supplierId: id, ...page });
        if (!result.ok) return { problem: problemOf(result) };
        const { supplierVariants, totalCount, cursor: next } = result.data;
        return { rows: supplierVariants, totalCount, cursor: next };
      }),
    [id],
  );
  const doing = useSignal<Doing | null>(null);
  const { rows, isLoading, problem } = list.state.value;
  const mayChange = hasRole("purchaser");
  const change = (row: Entry, product: string): void => {
    const { productName: _name, variantName: _variant, sku: _sku, version, ...entry } = row;
    doing.value = { kind: "write", product, entry, variantId: entry.variantId, version };
  };
  const choose = async (variantId: string, product: string): Promise<void> => {
    const entry = await entryOf(list, id, variantId);
    if (entry !== null) return change(entry, product);
    const unitCostCurrencyCode = valueOf(record, "currencyCode") ?? currencyCode();
    doing.value = { kind: "write", product, entry: { unitCostCurrencyCode }, variantId, version: null };
  };
  const saved = async (): Promise<void> => {
    changed();
    await list.again((entry) => entry.variantId);
  };
  const input = (variantId: string) => ({ shopId: shopId(), supplierId: id, variantId });
  const remove = async (variantId: string, product: string): Promise<Problem | null> => {
    const result = await openpo.call("supplier_variant_delete", input(variantId));
    if (!result.ok) return problemOf(result);
    // Nothing puts it back whole: what the supplier said of the variant is shown nowhere.
    tell(({ tellDeleted }) => tellDeleted(words.addOf(product)));
    await saved();
    return null;
  };
  const write = async (of: Doing & { readonly kind: "write" }, changes: Values): Promise<Problem | null> => {
    const { entry, variantId, product, version } = of;
    const result = await openpo.call(
      "supplier_variant_put",
      { ...entry, ...Object.fromEntries(changes), ...input(variantId) },
      version === null ? {} : { ifMatch: `"${version}"` },
    );
    await saved();
    if (!result.ok) return problemOf(result);
    const options = { ifMatch: result.etag ?? "" };
    const takeBack = async (): Promise<Problem | null> => {
      const back =
        version === null
          ? await openpo.call("supplier_variant_delete", input(variantId), options)
          : await openpo.call("supplier_variant_put", { ...entry, ...input(variantId) }, options);
      await saved();
      return back.ok ? null : problemOf(back);
    };
    tell(({ tellWritten }) => tellWritten(words.addOf(product), takeBack));
    return null;
  };
  const now = doing.value;
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{words.title}</h2>
      {mayChange ? (
        <div class="stack narrow">
          <Combobox
            label={words.add}
            hint={words.hint}
            search={(search) => variants({ search }, true)}
            choose={({ id: variantId, title }) => void choose(variantId, title)}
            isCleared
          />
          <details>
            <summary>{texts.addLines.paste}</summary>
            <PastePrices supplierId={id} fields={groups.flatMap(({ fields: own }) => own)} saved={saved} />
          </details>
        </div>
      ) : null}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length === 0 && !isLoading && problem === null ? (
        <p class="quiet">{mayChange ? words.empty : words.emptyToRead}</p>
      ) : null}
      {rows.length === 0 ? null : (
        <table class="rows" aria-label={words.title}>
          <TermsHead first={words.product} {...(mayChange ? { does: words.does } : {})} />
          <tbody>
            {rows.map((entry) => {
              const { variantId } = entry;
              const product = productOf(entry);
              return (
                <tr key={variantId}>
                  <th scope="row">
                    <a href={hrefOf("products", variantId)}>{product}</a>
                    {entry.sku === null ? null : <span class="quiet">{entry.sku}</span>}
                    {entry.isPreferred ? <span class="quiet">{words.preferred}</span> : null}
                  </th>
                  <TermsCells terms={entry} />
                  {mayChange ? (
                    <td class="does">
                      <button type="button" aria-label={words.changeOf(product)} onClick={() => change(entry, product)}>
                        {words.change}
                      </button>
                      <button
                        type="button"
                        aria-label={words.removeOf(product)}
                        onClick={() => (doing.value = { kind: "remove", product, variantId })}
                      >
                        {words.remove}
                      </button>
                    </td>
                  ) : null}
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      <MoreRows list={list} label={texts.orders.more} />
      {now?.kind === "remove" ? (
        <AskFirst
          title={words.removeTitle(now.product)}
          text={words.removeText}
          action={words.remove}
          run={() => remove(now.variantId, now.product)}
          onClose={() => (doing.value = null)}
        />
      ) : null}
      {now === null || now.kind === "remove" ? null : (
        <Dialog title={words.addOf(now.product)} isWide onClose={() => (doing.value = null)}>
          {(close) => (
            <RecordForm
              isInDialog
              label={words.addOf(now.product)}
              groups={groups}
              record={now.entry}
              action={recordTexts.save}
              isNew={now.version === null}
              save={async (changes) => {
                const refused = await write(now, changes);
                if (refused === null) close();
                return refused;
              }}
              close={close}
            />
          )}
        </Dialog>
      )}
    </section>
  );
};

/** The supplier's entry for the variant, which may stand on a page that is not read yet; null: it has none. */
async function entryOf(list: KeptList<Entry>, supplierId: string, variantId: string): Promise<Entry | null> {
  const isIt = (entry: Entry): boolean => entry.variantId === variantId;
  const result = await openpo.call("variant_search", { shopId: shopId(), supplierId, ids: [variantId] });
  if (result.ok && result.data.variants.length === 0) return null;
  for (;;) {
    const { rows, hasMore, problem } = list.state.value;
    const found = rows.find(isIt) ?? null;
    if (found !== null || !hasMore || problem !== null) return found;
    await list.more();
  }
}
