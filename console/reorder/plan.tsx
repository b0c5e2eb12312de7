/**
 * Orders that would be placed, by supplier, and the drafts as they are made. A draft that could not be made leaves the
 * others as they are.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Problem } from "../data/client.ts";
import { money } from "../data/format.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { Dotted } from "../parts/dotted.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Day } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import { type Made, makeDraft } from "./drafts.ts";
import { type Draft, planOf, type Ticked } from "./ticked.ts";

const words = reorderTexts.plan;

/** Progress of a draft. */
type Came = "making" | Made | Problem;

const isMade = (came: Came | undefined): came is Made => typeof came === "object" && "poNumber" in came;
const isProblem = (came: Came | undefined): came is Problem => typeof came === "object" && "message" in came;

const placeName = (): string => `openpo deliver to ${shopId()}`;

interface PlanProps {
  readonly ticked: Ticked;
  readonly currencyCode: string;
  /** Called for the lines of each draft that exists. */
  readonly onMade: (draft: Draft) => void;
  readonly onClose: (hasMade: boolean) => void;
}

export const PlanDialog: FunctionComponent<PlanProps> = ({ ticked, currencyCode, onMade, onClose }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // What is made stays listed, though its lines are unticked.
  const { drafts, unsupplied } = useRef(planOf(ticked, currencyCode)).current;
  const came = useSignal<ReadonlyMap<string, Came>>(new Map());
  const locations = useReading("location_list", { shopId: shopId(), limit: 50 });
  const chosen = useSignal<string | null>(localStorage.getItem(placeName()));
  useEffect(() => dialog.current?.showModal(), []);

  const known = (locations.data?.locations ?? []).filter(({ status }) => status === "active");
  const locationId = (known.find((each) => each.locationId === chosen.value) ?? known[0])?.locationId ?? null;
  const states = drafts.map(({ key }) => came.value.get(key));
  const isMaking = states.includes("making");
  const left = states.filter((state) => !isMade(state)).length;
  const make = async (): Promise<void> => {
    if (locationId === null || isMaking) return;
    localStorage.setItem(placeName(), locationId);
    for (const draft of drafts) {
      if (isMade(came.value.get(draft.key))) continue;
      came.value = new Map([...came.value, [draft.key, "making"]]);
      const made = await makeDraft(draft, locationId);
      came.value = new Map([...came.value, [draft.key, made]]);
      if (isMade(made)) onMade(draft);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="dialog wide"
      aria-labelledby={heading}
      onCancel={(event) => {
        if (isMaking) event.preventDefault();
      }}
      onClose={() => onClose(states.some(isMade))}
    >
      <h2 id={heading}>{words.title(drafts.length)}</h2>
      <p class="quiet">{words.lead}</p>
      {locations.problem === null ? null : (
        <ProblemNotice problem={locations.problem} again={() => void locations.again()} />
      )}
      {locations.data !== null && known.length === 0 ? <p>{words.noLocation}</p> : null}
      <label class="deliver">
        {words.location}
        <select
          value={locationId ?? ""}
          disabled={isMaking || left < drafts.length}
          onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
        >
          {known.map((each) => (
            <option key={each.locationId} value={each.locationId}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
      <ul class="drafts">
        {drafts.map((draft, index) => (
          <DraftRow key={draft.key} draft={draft} came={states[index]} />
        ))}
      </ul>
      {unsupplied.length === 0 ? null : <p class="quiet">{words.unsupplied(unsupplied.join(", "))}</p>}
      <p role="status">
        {isMaking ? words.making : left === 0 && drafts.length > 0 ? words.done(drafts.length) : null}
        {!isMaking && states.some(isProblem) ? words.failed : null}
      </p>
      <p class="actions">
        <button type="button" disabled={isMaking} onClick={() => dialog.current?.close()}>
          {left < drafts.length ? words.close : words.cancel}
        </button>
        {left === 0 ? null : (
          <button type="button" class="primary" disabled={isMaking || locationId === null} onClick={() => void make()}>
            {states.some(isProblem) ? words.again : reorderTexts.make(left)}
          </button>
        )}
      </p>
    </dialog>
  );
};

const DraftRow: FunctionComponent<{ readonly draft: Draft; readonly came: Came | undefined }> = ({ draft, came }) => (
  <li>
    <strong>{draft.supplierName}</strong>
    <span>
      <Dotted
        parts={[
          words.lines(draft.lines.length),
          ...[...draft.values].map(([currency, value]) => money(value, currency)),
          draft.arrivalDate === null ? null : <Day at={draft.arrivalDate} says={words.arrival} />,
        ]}
      />
      {draft.onDraft === 0 ? null : <span class="chip waiting">{words.onDraft(draft.onDraft)}</span>}
    </span>
    {isMade(came) ? <a href={hrefOf("orders", came.purchaseOrderId)}>{came.poNumber}</a> : null}
    {came === "making" ? <span class="quiet">{texts.loading}</span> : null}
    {isProblem(came) ? <ProblemNotice problem={came} /> : null}
  </li>
);
