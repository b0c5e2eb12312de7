/** A product's stock, place by place, and who sells it. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, problemOf } from "../data/client.ts";
import { number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { hasRole, shopId } from "../data/session.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf } from "../router.ts";
import { recordTexts } from "./words.ts";
import { type FieldGroup, platform } from "./fields.ts";
import { RecordForm } from "./form.tsx";
import type { SectionProps } from "./kinds.ts";
import { TermsCells, TermsHead } from "./terms.tsx";

const { stock: words, offers, fields, columns } = recordTexts;

const groups: readonly FieldGroup[] = [
  {
    title: words.set,
    fields: [
      { name: "onHand", label: fields.onHand, kind: "number", isNeeded: true },
      { name: "reason", label: fields.reason, hint: fields.reasonHint },
    ],
  },
];

/** Locations shown with what is on hand there. */
const locationsMax = 50;

export const ProductSections: FunctionComponent<SectionProps> = ({ id, changed }) => {
  const found = useReading("variant_search", { shopId: shopId(), ids: [id], limit: 1 });
  const places = useReading("location_list", { shopId: shopId(), limit: locationsMax });
  const setting = useSignal<{ readonly locationId: string; readonly name: string; readonly onHand: number } | null>(
    null,
  );
  const variant = found.data?.variants[0];
  const maySet = hasRole("purchaser") && platform() === null;
  const problem = found.problem ?? places.problem;
  if (problem !== null)
    return (
      <ProblemNotice problem={problem} again={() => void Promise.all([found, places].map((each) => each.again()))} />
    );
  if (variant === undefined || places.data === null) return null;
  const levels = new Map(variant.levels.map((level) => [level.locationId, level]));
  const rows = places.data.locations
    .filter(({ locationId, status }) => status === "active" || levels.has(locationId))
    .map(({ locationId, name }) => ({
      locationId,
      name,
      onHand: levels.get(locationId)?.onHand ?? 0,
      incoming: levels.get(locationId)?.incoming ?? 0,
    }));
  const now = setting.value;
  return (
    <>
      <section aria-labelledby="levels">
        <h2 id="levels">{words.title}</h2>
        {rows.length === 0 ? (
          <p class="quiet">{words.empty}</p>
        ) : (
          <table class="rows" aria-label={words.title}>
            <TableHead
              titles={[words.location, columns.onHand, columns.incoming]}
              amounts={[columns.onHand, columns.incoming]}
              {...(maySet ? { does: words.set } : {})}
            />
            <tbody>
              {rows.map((row) => (
                <tr key={row.locationId}>
                  <th scope="row">
                    <a href={hrefOf("locations", row.locationId)}>{row.name}</a>
                  </th>
                  <td class="amount" data-name={columns.onHand}>
                    {number(row.onHand)}
                  </td>
                  <td class="amount" data-name={columns.incoming}>
                    {number(row.incoming)}
                  </td>
                  {maySet ? (
                    <td class="does">
                      <button type="button" aria-label={words.setOf(row.name)} onClick={() => (setting.value = row)}>
                        {words.set}
                      </button>
                    </td>
                  ) : null}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section aria-labelledby="offers">
        <h2 id="offers">{offers.title}</h2>
        <p class="quiet">{variant.suppliers.length === 0 ? offers.empty : offers.lead}</p>
        {variant.suppliers.length === 0 ? null : (
          <table class="rows" aria-label={offers.title}>
            <TermsHead first={columns.supplier} />
            <tbody>
              {variant.suppliers.map(({ supplierId, supplierName, terms }) => (
                <tr key={supplierId}>
                  <th scope="row">
                    <a href={hrefOf("suppliers", supplierId)}>{supplierName ?? supplierId}</a>
                  </th>
                  <TermsCells terms={terms} />
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {now === null ? null : (
        <Dialog title={words.setOf(now.name)} onClose={() => (setting.value = null)}>
          {(close) => (
            <RecordForm
              label={words.setOf(now.name)}
              groups={groups}
              record={{ onHand: now.onHand }}
              action={recordTexts.save}
              isNew
              save={async (changes) => {
                const input = { shopId: shopId(), variantId: id, locationId: now.locationId, onHand: now.onHand };
                const result = await openpo.call("variant_level_put", { ...input, ...Object.fromEntries(changes) });
                if (!result.ok) return problemOf(result);
                changed();
                await found.again();
                close();
                return null;
              }}
              close={close}
            />
          )}
        </Dialog>
      )}
    </>
  );
};
