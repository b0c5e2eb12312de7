/** Suppliers, products and locations: their lists, a record on its own page, and a new one. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { newIdempotencyKey } from "../../client/index.ts";
import type { Problem } from "../data/client.ts";
import { listOf } from "../data/pages.ts";
import { useReading } from "../data/reading.ts";
import { hasRole, platform } from "../data/session.ts";
import { addressOf as addressOfOrders } from "../orders/view-bar.tsx";
import { BackLink } from "../parts/frame/back-link.tsx";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { FactList } from "../parts/lists/facts.tsx";
import { Icon } from "../parts/icon.tsx";
import { ListScreen } from "../parts/lists/list-screen.tsx";
import { densityIn, filtersIn, shownColumns } from "../parts/lists/looks.ts";
import { RecordBar } from "../parts/lists/record-bar.tsx";
import { recordColumns } from "../parts/lists/record-columns.tsx";
import { OnceTicked, ticksOf } from "../parts/lists/ticks.tsx";
import { lazy } from "../parts/lazy.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { ShortDay } from "../parts/when.tsx";
import { go, hrefOf, listHref, place, withQuery } from "../router.ts";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { nameRecord } from "../title.ts";
import { factsOf, type FieldGroup, membersWith, spelled, tell, type Values, valueOf } from "./fields.ts";
import { RecordForm } from "./form.tsx";
import { History } from "./history.tsx";
import { type Came, isArchived, isKept, type KeptRow, type RecordKind, statusOf, tableOf } from "./kinds.ts";
import { locations } from "./locations.ts";
import { MergeSupplier } from "./merge.tsx";
import { products } from "./products.tsx";
import { suppliers } from "./suppliers.tsx";

const TickBar = lazy(async () => (await import("../orders/ticked/tick-bar.tsx")).RecordTickBar, { isQuiet: true });

const kinds = { suppliers, products, locations } as const satisfies Record<string, RecordKind>;

type KindName = keyof typeof kinds;

const isKind = (name: string | undefined): name is KindName => name !== undefined && Object.hasOwn(kinds, name);

export const RecordsScreen: FunctionComponent = () => {
  const [first, second] = place.value.steps;
  const name = first === "new" ? second : first;
  if (!isKind(name)) return <p class="notice">{texts.notFound}</p>;
  if (first === "new") return <NewRecord key={name} name={name} />;
  return second === undefined ? <Records key={name} name={name} /> : <Record key={second} name={name} id={second} />;
};

/** True if the person may add and delete records of the kind: those of a storefront are kept there. */
const isOwn = (kind: RecordKind): boolean => !kind.isOfStorefront || platform() === null;

/** The groups with what a person may change; a storefront keeps the rest. */
const ownGroups = ({ groups }: RecordKind): readonly FieldGroup[] =>
  groups
    .map(({ title, fields }) => ({
      title,
      fields: fields.filter(({ isOfStorefront }) => isOfStorefront !== true || platform() === null),
    }))
    .filter(({ fields }) => fields.length > 0);

const Records: FunctionComponent<{ readonly name: KindName }> = ({ name }) => {
  const kind: RecordKind = kinds[name];
  const { query } = place.value;
  const filters = filtersIn(query);
  const key = filters.toString();
  const list = useMemo(() => listOf<KeptRow>((cursor) => kind.page(filters, cursor)), [key]);
  // Other filters begin without ticks.
  const ticks = useMemo(ticksOf, [list]);
  /** Rows of the search before stay until those of this one are read. */
  const shown = useRef(list);
  if (list.state.value.rows.length > 0 || !list.state.value.isLoading) shown.current = list;
  const columns = useMemo(
    () => recordColumns(words.columns.name, words.columns.status, kind.columns, (id) => hrefOf(name, id)),
    [name],
  );
  const create = (look: string) =>
    hasRole("purchaser") && isOwn(kind) ? (
      <a class={`button ${look}`} href={hrefOf("new", name)}>
        <Icon name="plus" />
        {words[name].create}
      </a>
    ) : null;
  const addressOf = (next: URLSearchParams): string => withQuery(hrefOf(name), next);
  return (
    <ListScreen
      title={words[name].title}
      list={shown.current}
      columns={shownColumns(query, columns)}
      density={densityIn(query)}
      keyOf={(row) => row.id}
      ticking={{ ticks, nameOf: (row) => (row === null ? texts.orders.selectAll : texts.orders.select(row.title)) }}
      actions={<span class="at-end">{create("primary")}</span>}
      filters={
        <div class="bar-place">
          <RecordBar
            query={query}
            addressOf={addressOf}
            search={{ label: words[name].search, hint: words[name].hint }}
            picks={kind.picks}
            columns={columns}
          />
          <OnceTicked key={key} ticks={ticks}>
            <TickBar
              name={name}
              ticks={ticks}
              list={shown.current}
              setArchived={kind.setArchived}
              archiveTitle={words.archive}
              backTitle={words.bringBack}
              statusOf={(record) => statusOf(kind, record)}
              tableOf={(rows) => tableOf(kind, rows)}
            />
          </OnceTicked>
        </div>
      }
      empty={
        key === "" ? (
          <>
            <p>{isOwn(kind) ? words[name].empty : words.comeFrom(words[name].title, platform() ?? "")}</p>
            {create("")}
            {hasRole("owner") && isOwn(kind) ? <a href={hrefOf("import")}>{words.orImport}</a> : null}
          </>
        ) : (
          <>
            <p>{words.nothing}</p>
            <a href={hrefOf(name)}>{words.clear}</a>
          </>
        )
      }
    />
  );
};

const NewRecord: FunctionComponent<{ readonly name: KindName }> = ({ name }) => {
  const kind: RecordKind = kinds[name];
  /** The same values make one record, however often they have to be sent. */
  const sent = useRef({ values: "", key: "" });
  const save = async (changes: Values): Promise<Problem | null> => {
    const members = membersWith({}, changes);
    const values = JSON.stringify(members);
    if (values !== sent.current.values) sent.current = { values, key: newIdempotencyKey() };
    const came = await kind.create(members, sent.current.key);
    if (!isKept(came)) return came.problem;
    go(hrefOf(name, idOf(kind, came.record)), { replace: true });
    return null;
  };
  return (
    <>
      <BackLink href={listHref(name)}>{words[name].title}</BackLink>
      <div class="heading">
        <h1>{words[name].create}</h1>
      </div>
      {!isOwn(kind) ? (
        <p class="notice">{words.comeFrom(words[name].title, platform() ?? "")}</p>
      ) : hasRole("purchaser") ? (
        <RecordForm
          label={words[name].create}
          groups={kind.groups}
          record={{ status: "active" }}
          action={words.add}
          isNew
          save={save}
          close={() => go(hrefOf(name))}
        />
      ) : (
        <p class="notice">{words.closed}</p>
      )}
    </>
  );
};

interface RecordProps {
  readonly name: KindName;
  readonly id: string;
}

const Record: FunctionComponent<RecordProps> = ({ name, id }) => {
  const kind: RecordKind = kinds[name];
  const state = useSignal<Came | null>(null);
  const isEditing = useSignal(false);
  /** Number of changes from here: the history is read again after each. */
  const version = useSignal(0);
  const read = async (): Promise<Came> => {
    const came = await kind.get(id);
    const present = isKept(came) ? idOf(kind, came.record) : id;
    // The id of a supplier that was merged leads to the other one.
    if (present !== id) go(hrefOf(name, present), { replace: true });
    return (state.value = came);
  };
  useEffect(() => void read(), [id]);
  const came = state.value;
  const known = came !== null && isKept(came) ? came : null;
  const title = known === null ? words[name].title : kind.titleOf(known.record);
  useEffect(() => {
    if (known !== null) nameRecord(id, title);
  }, [known, title]);

  /** Saves for the version that was read; once more when others changed other fields meanwhile. */
  const save = async (changes: Values): Promise<Problem | { readonly theirs: object } | null> => {
    if (known === null) return null;
    const send = (record: object, etag: string): Promise<Came> => kind.update(id, membersWith(record, changes), etag);
    let before = known.record;
    let answer = await send(before, known.etag);
    if (!isKept(answer) && answer.isStale) {
      const now = await read();
      if (!isKept(now)) return now.problem;
      const isTouched = [...changes.keys()].some(
        (field) => JSON.stringify(valueOf(now.record, field)) !== JSON.stringify(valueOf(known.record, field)),
      );
      if (isTouched) return { theirs: now.record };
      before = now.record;
      answer = await send(before, now.etag);
    }
    if (!isKept(answer)) return answer.problem;
    const taken = (now: Came): void => {
      state.value = now;
      version.value += 1;
    };
    taken(answer);
    const { etag } = answer;
    tell(({ tellSaved }) => tellSaved({ kind, id, name: title, before, changes, etag }, taken));
    isEditing.value = false;
    return null;
  };
  return (
    <>
      <BackLink href={listHref(name)}>{words[name].title}</BackLink>
      {came === null ? <Skeleton /> : null}
      {came !== null && !isKept(came) ? (
        <>
          <h1>{title}</h1>
          <ProblemNotice problem={came.problem} again={() => void read()} />
        </>
      ) : null}
      {known === null ? null : (
        <>
          <div class="heading">
            <h1>{title}</h1>
            <StatusChip status={statusOf(kind, known.record)} />
            {isEditing.value || !hasRole("purchaser") ? null : (
              <Actions
                kind={kind}
                id={id}
                title={title}
                isArchived={isArchived(kind, known.record)}
                edit={() => (isEditing.value = true)}
                archive={async (value) => {
                  const answer = await save(new Map([[kind.archive.field, value]]));
                  return answer !== null && "message" in answer ? answer : null;
                }}
                remove={async () => {
                  const refused = await kind.remove(id, known.etag);
                  if (refused !== null) return refused;
                  tell(({ tellDeleted }) => tellDeleted(title));
                  go(hrefOf(name), { replace: true });
                  return null;
                }}
                merge={async (into) => {
                  const refused = (await kind.merge?.(id, into, known.etag)) ?? null;
                  if (refused === null) go(hrefOf(name, into), { replace: true });
                  return refused;
                }}
              />
            )}
          </div>
          {isEditing.value ? (
            <RecordForm
              label={title}
              groups={ownGroups(kind)}
              record={known.record}
              action={words.save}
              save={save}
              close={() => (isEditing.value = false)}
            />
          ) : (
            <>
              <Facts kind={kind} id={id} record={known.record} />
              {kind.Sections === null ? null : (
                <kind.Sections id={id} record={known.record} save={save} changed={() => (version.value += 1)} />
              )}
              {kind.idField === "variantId" ? null : <Orders filter={kind.idField} id={id} />}
              <History key={version.value} kind={kind.kind} id={id} />
            </>
          )}
        </>
      )}
    </>
  );
};

const idOf = ({ idField }: RecordKind, record: object): string => spelled(valueOf(record, idField));

interface ActionsProps {
  readonly kind: RecordKind;
  readonly id: string;
  readonly title: string;
  readonly isArchived: boolean;
  readonly edit: () => void;
  readonly archive: (value: unknown) => Promise<Problem | null>;
  readonly remove: () => Promise<Problem | null>;
  readonly merge: (into: string) => Promise<Problem | null>;
}

const Actions: FunctionComponent<ActionsProps> = (props) => {
  const { kind, id, title, isArchived: isOff, edit, archive, remove, merge } = props;
  const asks = useSignal<"delete" | "merge" | null>(null);
  const problem = useSignal<Problem | null>(null);
  const { on, off } = kind.archive;
  return (
    <>
      <div class="buttons at-end">
        <button type="button" class="primary" onClick={edit}>
          {words.edit}
        </button>
        <button type="button" onClick={() => void archive(isOff ? off : on).then((came) => (problem.value = came))}>
          {isOff ? words.bringBack : words.archive}
        </button>
        {kind.merge === undefined ? null : (
          <button type="button" onClick={() => (asks.value = "merge")}>
            {words.merge.action}
          </button>
        )}
        {isOwn(kind) ? (
          <button type="button" class="danger" onClick={() => (asks.value = "delete")}>
            {words.delete}
          </button>
        ) : null}
      </div>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {asks.value === "delete" ? (
        <AskFirst
          title={words.deleteTitle(title)}
          text={words.deleteText}
          action={words.delete}
          run={remove}
          onClose={() => (asks.value = null)}
        />
      ) : null}
      {asks.value === "merge" ? (
        <MergeSupplier id={id} title={title} merge={merge} onClose={() => (asks.value = null)} />
      ) : null}
    </>
  );
};

interface FactsProps {
  readonly kind: RecordKind;
  readonly id: string;
  readonly record: object;
}

const Facts: FunctionComponent<FactsProps> = ({ kind, id, record }) => {
  const groups = kind.groups.flatMap(({ title, fields }): readonly ComponentChildren[] => {
    const facts = factsOf(fields, record);
    return facts.length === 0
      ? []
      : [
          <section key={title} class="card" aria-label={title}>
            <h2>{title}</h2>
            <FactList facts={facts} />
          </section>,
        ];
  });
  return (
    <div class="board">
      {kind.Card === undefined ? null : <kind.Card id={id} />}
      {groups}
    </div>
  );
};

/** Orders that are shown; the list has the others. */
const ordersShown = 5;

const Orders: FunctionComponent<{ readonly filter: RecordKind["idField"]; readonly id: string }> = ({ filter, id }) => {
  const { data, problem, again } = useReading("purchase_order_list", { [filter]: id, limit: ordersShown });
  if (problem !== null) return <ProblemNotice problem={problem} again={() => void again()} />;
  if (data === null) return null;
  return (
    <section aria-labelledby="orders">
      <div class="heading">
        <h2 id="orders">{words.orders.title}</h2>
        {data.totalCount === 0 ? null : (
          <a href={addressOfOrders(new URLSearchParams({ [filter]: id }))}>
            {words.orders.all} ({data.totalCount})
          </a>
        )}
      </div>
      {data.purchaseOrders.length === 0 ? <p class="quiet">{words.orders.empty}</p> : null}
      <ul class="plain-rows">
        {data.purchaseOrders.map((order) => (
          <li key={order.purchaseOrderId}>
            <a href={hrefOf("orders", order.purchaseOrderId)}>{order.poNumber}</a>
            <span class="name">{(filter === "supplierId" ? order.poName : order.supplierName) ?? ""}</span>
            <StatusChip status={order.status} />
            {order.nextExpectedDate === null ? null : (
              <span class="quiet">
                <ShortDay at={order.nextExpectedDate} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
};
