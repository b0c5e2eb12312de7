/**
 * Confirming: everything as it was ordered, or line by line with quantity, cost and date. Nothing is saved before Save.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { LineFailure, PurchaseOrderLineItem as Line } from "../../client/index.ts";
import { openQuestions } from "../approvals/open-questions.ts";
import { openpo } from "../data/client.ts";
import { faultInWords, signedIn } from "../data/session.ts";
import { obstacleTexts } from "../texts/en/order/obstacles.ts";
import { texts } from "../texts/en/texts.ts";
import { confirmAll } from "./actions.tsx";
import { draftIn, editColumn, type LineDraft, productColumn, quantityColumn, skuColumn } from "./lines/columns.tsx";
import { EditGrid } from "./lines/edit-grid.tsx";
import { isConfirmedShort, mayDo, obstacleTo } from "./moves.ts";
import type { FullOrder, OrderState } from "./order-state.ts";
import { useUnsaved } from "../unsaved.ts";

const { columns: titles } = texts.order;

/** Columns that show values of the order itself, without what was written. */
const shownColumns = [
  editColumn("quantityConfirmed", titles.confirmed),
  editColumn("unitCost", titles.unitCost),
  editColumn("expectedDeliveryDate", titles.expected),
];

interface ConfirmProps {
  readonly state: OrderState;
  readonly order: FullOrder;
}

export const Confirm: FunctionComponent<ConfirmProps> = ({ state, order }) => {
  const drafts = useSignal<ReadonlyMap<string, LineDraft>>(new Map());
  const notes = useSignal<ReadonlyMap<string, string>>(new Map());
  const seen = useSignal(order);
  const role = signedIn()?.person.role ?? "viewer";
  const obstacle = obstacleTo(order, "confirm", role);
  const draftOf = (line: Line): LineDraft => drafts.value.get(line.poLineItemId) ?? {};
  const mayEdit = mayDo(role, "edit-lines");
  const columns = useMemo(
    () => [
      productColumn,
      skuColumn,
      quantityColumn("quantityOrdered", titles.ordered),
      editColumn("quantityConfirmed", titles.confirmed, draftOf),
      // Costs and dates are the purchaser's; a receiver confirms quantities.
      ...(mayEdit
        ? [
            editColumn("unitCost", titles.unitCost, draftOf),
            editColumn("expectedDeliveryDate", titles.expected, draftOf),
          ]
        : []),
    ],
    [mayEdit],
  );

  const save = async (): Promise<void> => {
    const failed = await saveDrafts(state, order, seen.value, drafts.value);
    if (failed?.length === 0) drafts.value = new Map();
    const now = state.order.value ?? seen.value;
    seen.value = now;
    const details = state.refusal.value?.problem.details ?? [];
    const conflicts = state.meanwhile.value?.unsaved?.conflicts ?? [];
    const refused = await Promise.all(
      [...details, ...(failed ?? [])].flatMap((each) =>
        "lineItemId" in each ? faultInWords(each.message).then((text) => [`${each.lineItemId}/`, text] as const) : [],
      ),
    );
    const replaced = conflicts.flatMap(({ lineItemId, field }) => {
      const line = now.lineItems.find((each) => each.poLineItemId === lineItemId);
      const column = shownColumns.find(({ name }) => name === field);
      return line === undefined || column === undefined
        ? []
        : [[`${line.poLineItemId}/${field}`, texts.confirm.theirs(column.shown(line))] as const];
    });
    notes.value = new Map([...refused, ...replaced]);
  };
  useUnsaved(drafts.value.size > 0);

  return (
    <section aria-labelledby="confirm">
      <h2 id="confirm">{texts.confirm.title}</h2>
      {obstacle === null ? (
        <p class="quiet">
          {texts.confirm.lead} <span class="if-keys">{texts.order.lineHelp}</span>
        </p>
      ) : (
        <p class="notice">
          {texts.confirm.closed} {obstacleTexts[obstacle]}
        </p>
      )}
      {obstacle === null && !isConfirmedShort(order) && drafts.value.size === 0 ? (
        <p class="buttons">
          <button
            type="button"
            class={openQuestions.value === 0 ? "primary" : undefined}
            disabled={state.isSaving.value}
            onClick={() => void confirmAll(state, order)}
          >
            {texts.confirm.all}
          </button>
        </p>
      ) : null}
      {isConfirmedShort(order) ? <p class="quiet">{texts.confirm.short}</p> : null}
      <EditGrid
        label={texts.confirm.title}
        lines={order.lineItems}
        columns={columns}
        isEditable={obstacle === null}
        set={(line, column, text) => {
          const key = `${line.poLineItemId}/${column.name}`;
          const draft = draftIn(column.name, text);
          const others = [...notes.value].filter(([each]) => each !== key);
          notes.value = new Map(draft === null ? [...others, [key, texts.order.notNumber]] : others);
          if (draft !== null)
            drafts.value = new Map([...drafts.value, [line.poLineItemId, { ...draftOf(line), ...draft }]]);
        }}
        noteOf={(line, column) => notes.value.get(`${line.poLineItemId}/${column ?? ""}`) ?? null}
      />
      {drafts.value.size === 0 ? null : (
        <div class="save-bar">
          <button type="button" class="primary" disabled={state.isSaving.value} onClick={() => void save()}>
            {texts.confirm.save}
          </button>
          <span role="status">{texts.confirm.changed(drafts.value.size)}</span>
        </div>
      )}
    </section>
  );
};

/**
 * Saves costs and dates first, then the quantities, which may move the order. @returns lines that were refused; null
 * when nothing more was saved.
 */
async function saveDrafts(
  state: OrderState,
  { purchaseOrderId }: FullOrder,
  seen: FullOrder,
  drafts: ReadonlyMap<string, LineDraft>,
): Promise<readonly LineFailure[] | null> {
  const all = [...drafts].map(([lineItemId, draft]) => ({ lineItemId, ...draft }));
  const terms = all
    .filter(({ unitCost, expectedDeliveryDate }) => unitCost !== undefined || expectedDeliveryDate !== undefined)
    .map(({ lineItemId, unitCost, expectedDeliveryDate }) => ({ lineItemId, unitCost, expectedDeliveryDate }));
  const lines = all.flatMap(({ lineItemId, quantityConfirmed }) =>
    quantityConfirmed === undefined ? [] : [{ lineItemId, quantityConfirmed }],
  );
  const touches = [...drafts].flatMap(([lineItemId, draft]) =>
    [...Object.keys(draft), "quantityOrdered"].map((field) => ({ lineItemId, field })),
  );
  if (terms.length > 0) {
    const answer = await state.change<"purchase_order_line_item_update">({
      send: (ifMatch) => openpo.call("purchase_order_line_item_update", { purchaseOrderId, lines: terms }, { ifMatch }),
      // Also what is confirmed after it, so that the second call replaces nothing that the person has not seen.
      touches,
      seen,
      ...(lines.length > 0
        ? {}
        : {
            made: (made) => state.tell(({ tellEdited }) => tellEdited(state, made, texts.confirm.title, terms.length)),
          }),
    });
    if (answer === null || answer.failed.length > 0) return answer?.failed ?? null;
  }
  if (lines.length === 0) return [];
  const answer = await state.change<"purchase_order_confirm">({
    send: (ifMatch, resolutions) =>
      openpo.call(
        "purchase_order_confirm",
        { purchaseOrderId, lines, ...(resolutions.length === 0 ? {} : { resolutions }) },
        { ifMatch },
      ),
    touches,
    made: (made) => state.tell(({ tellConfirmed }) => tellConfirmed(made)),
    ...(terms.length === 0 ? { seen } : {}),
  });
  return answer === null ? null : [];
}
