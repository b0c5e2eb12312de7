/** A product's figures, its stock and reorder settings place by place, who sells it, and the orders with it. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { number } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { hasRole, member, platform, shopId } from "../data/session.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Dotted } from "../parts/dotted.tsx";
import { FactList } from "../parts/lists/facts.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { ShortDay } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { recordTexts } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { factsOf, type FieldGroup, ruleFieldsOf, tell, type Values, valueOf } from "./fields.ts";
import { Cover } from "./figures/figures.tsx";
import { RecordForm } from "./form.tsx";
import type { SectionProps } from "./kinds.ts";
import { Outlook } from "./figures/outlook.tsx";
import { ProductOrders } from "./figures/over-time.tsx";
import { TermsCells, TermsHead } from "./prices/terms.tsx";

const { stock: words, figures, offers, fields, columns } = recordTexts;

export const ProductCard: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const found = useReading("variant_figures_list", { shopId: shopId(), ids: [id] }).data?.variants[0];
  if (found === undefined) return null;
  const { onHand, incoming, stockoutDate, reorderPoint } = found;
  return (
    <section class="card" aria-label={figures.product}>
      <h2>{figures.product}</h2>
      <FactList
        facts={[
          [columns.onHand, number(onHand)],
          [columns.incoming, number(incoming)],
          [columns.cover, <Cover of={found} />],
          [figures.stockout, stockoutDate === null ? null : <ShortDay at={stockoutDate} />],
          [figures.reorderPoint, number(Math.ceil(reorderPoint))],
        ]}
      />
    </section>
  );
};

const groups: readonly FieldGroup[] = [
  {
    title: words.set,
    fields: [
      { name: "onHand", label: fields.onHand, kind: "number", isNeeded: true },
      { name: "reason", label: fields.reason, hint: fields.reasonHint },
    ],
  },
];

const ruleFields = ruleFieldsOf("");

interface Rule {
  readonly locationId: string;
}

const isRule = (each: unknown): each is Rule => typeof member(each, "locationId") === "string";

/** Reorder settings of a record's locations. */
function rulesOf(record: object): readonly Rule[] {
  const rules = valueOf(record, "reorder.locations");
  return Array.isArray(rules) ? rules.filter(isRule) : [];
}

/** The rules with another one for a location; one that says nothing is none. */
function rulesWith(rules: readonly Rule[], locationId: string, changes: Values): readonly Rule[] {
  const before = rules.find((rule) => rule.locationId === locationId);
  const { locationId: _id, ...rule } = { ...before, ...Object.fromEntries(changes), locationId };
  const says = Object.values(rule).some((value) => value !== null && value !== false);
  const others = rules.filter((each) => each.locationId !== locationId);
  return says ? [...others, { ...rule, locationId }] : others;
}

interface Place {
  readonly locationId: string;
  readonly name: string;
  readonly onHand: number;
}

/** The storefront's refusal of a stock that was saved and is as before; null: none. */
const refusedIn = ({ recovery }: Output<"variant_level_put">): Problem | null =>
  recovery === undefined
    ? null
    : { message: recovery, action: null, requestId: null, code: "UPSTREAM_STOREFRONT", reason: null, details: [] };

/** Locations shown with what is on hand there. */
const locationsMax = 50;

export const ProductSections: FunctionComponent<SectionProps> = ({ id, record, save, changed }) => {
  const found = useReading("variant_search", { shopId: shopId(), ids: [id], limit: 1 });
  const places = useReading("location_list", { shopId: shopId(), limit: locationsMax });
  const setting = useSignal<Place | null>(null);
  const steering = useSignal<Place | null>(null);
  const variant = found.data?.variants[0];
  const maySteer = hasRole("purchaser");
  const maySet = maySteer && platform() === null;
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
  const steered = steering.value;
  const rules = rulesOf(record);
  const ruleAt = (locationId: string): Rule | undefined => rules.find((rule) => rule.locationId === locationId);
  return (
    <>
      <Outlook id={id} />
      <section aria-labelledby="levels">
        <h2 id="levels">{words.title}</h2>
        {rows.length === 0 ? (
          <p class="quiet">{words.empty}</p>
        ) : (
          <table class="rows" aria-label={words.title}>
            <TableHead
              titles={[words.location, columns.onHand, columns.incoming, words.rule]}
              amounts={[columns.onHand, columns.incoming]}
              {...(maySteer ? { does: words.set } : {})}
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
                  <td data-name={words.rule}>
                    {ruleAt(row.locationId) === undefined ? (
                      texts.orders.none
                    ) : (
                      <Dotted
                        parts={factsOf(ruleFields, ruleAt(row.locationId) ?? {}).map(([title, value]) => (
                          <>
                            {title}: {value}
                          </>
                        ))}
                      />
                    )}
                  </td>
                  {maySteer ? (
                    <td class="does">
                      {maySet ? (
                        <button type="button" aria-label={words.setOf(row.name)} onClick={() => (setting.value = row)}>
                          {words.set}
                        </button>
                      ) : null}
                      <button type="button" aria-label={words.ruleOf(row.name)} onClick={() => (steering.value = row)}>
                        {words.steer}
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
      <ProductOrders id={id} />
      {steered === null ? null : (
        <Dialog title={words.ruleOf(steered.name)} isWide onClose={() => (steering.value = null)}>
          {(close) => (
            <>
              <p class="quiet">{words.ruleHint}</p>
              <RecordForm
                isInDialog
                label={words.ruleOf(steered.name)}
                groups={[{ title: words.rule, fields: ruleFields }]}
                record={ruleAt(steered.locationId) ?? {}}
                action={recordTexts.save}
                save={async (changes) => {
                  const locations = rulesWith(rules, steered.locationId, changes);
                  const answer = await save(new Map([["reorder.locations", locations]]));
                  if (answer === null) close();
                  return answer !== null && "theirs" in answer
                    ? { theirs: rulesOf(answer.theirs).find((rule) => rule.locationId === steered.locationId) ?? {} }
                    : answer;
                }}
                close={close}
              />
            </>
          )}
        </Dialog>
      )}
      {now === null ? null : (
        <Dialog title={words.setOf(now.name)} onClose={() => (setting.value = null)}>
          {(close) => (
            <RecordForm
              isInDialog
              label={words.setOf(now.name)}
              groups={groups}
              record={{ onHand: now.onHand }}
              action={recordTexts.save}
              isNew
              save={async (changes) => {
                const input = { shopId: shopId(), variantId: id, locationId: now.locationId, onHand: now.onHand };
                const result = await openpo.call("variant_level_put", { ...input, ...Object.fromEntries(changes) });
                if (!result.ok) return problemOf(result);
                const read = async (): Promise<void> => {
                  changed();
                  await found.again();
                };
                const refused = refusedIn(result.data);
                if (refused !== null) {
                  await read();
                  return refused;
                }
                const options = { ifMatch: result.etag ?? "" };
                const takeBack = async (): Promise<Problem | null> => {
                  const back = await openpo.call("variant_level_put", input, options);
                  await read();
                  return back.ok ? refusedIn(back.data) : problemOf(back);
                };
                tell(({ tellWritten, whatAt }) => tellWritten(whatAt(columns.onHand, now.name), takeBack));
                await read();
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
