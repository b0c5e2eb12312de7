/** Home: what is to be done today, what is on its way, what runs out, and what happened lately. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { followEvents } from "../data/events.ts";
import { about, dayOfYear, number, weekday } from "../data/format.ts";
import { hasRole, type Role, shopId, signedIn, today } from "../data/session.ts";
import { later, useReading } from "../data/reading.ts";
import type { IconName } from "../icons/names.ts";
import { views } from "../orders/filters.ts";
import { dueIn, lateFor } from "../orders/lateness.ts";
import { addressOf } from "../orders/view-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Columns, Ranks } from "../parts/plot.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { Moment, ShortDay } from "../parts/when.tsx";
import { type ForecastRow, isSuggested, productOf, suggested } from "../reorder/ticked.ts";
import { waiting } from "../data/waiting.ts";
import { hrefOf, withQuery } from "../router.ts";
import { homeTexts as words } from "../texts/en/home.ts";
import { ShortEntry } from "../parts/service-says.tsx";
import { texts } from "../texts/en/texts.ts";
import { type Board, boardOf, dueByToday, failuresShown } from "./board.ts";
import { dayAfter } from "../orders/lateness.ts";
import { daysBetween, mondayOf } from "./days.ts";

/** However much happens in the shop, the board is read this often at most. */
const restMs = 15_000;

export const HomeScreen: FunctionComponent = () => {
  const { board, read } = useMemo(boardOf, []);
  useEffect(() => {
    void read();
    const reading = later(() => void read());
    const unfollow = followEvents(() => reading.in(restMs));
    return () => {
      unfollow();
      reading.cancel();
    };
  }, []);
  const now = board.value;
  const isNew = now.counts.all === 0;
  return (
    <>
      <div class="heading">
        <h1>{words.hello(firstName())}</h1>
        <span class="quiet">
          <ShortDay at={today()} />
        </span>
        {hasRole("purchaser") ? (
          <div class="buttons at-end">
            <a class="primary" href={hrefOf("new-order")}>
              <Icon name="plus" />
              {texts.orders.create}
            </a>
          </div>
        ) : null}
      </div>
      {isNew ? <FirstSteps /> : <Today board={now} />}
    </>
  );
};

/** Name by which a person is greeted; a key is greeted by its whole name. */
function firstName(): string {
  const person = signedIn()?.person;
  return (person?.personId === null ? person.name : person?.name.split(/\s/)[0]) ?? "";
}

const Today: FunctionComponent<{ readonly board: Board }> = ({ board }) => {
  const { figures } = board;
  const shows = (part: object | null): boolean => part !== null || !board.isOver;
  return (
    <>
      {shows(board.next) ? null : (
        <p class="problem" role="alert">
          {words.unread}
        </p>
      )}
      <Tasks board={board} />
      <div class="board">
        <Failures board={board} />
        {shows(board.next) ? <Arriving board={board} /> : null}
        {shows(figures) ? <FiguresPanel title={words.value} figures={figures} of={Expected} /> : null}
        {shows(board.forecast) ? <Lasting board={board} /> : null}
        {shows(figures) ? <FiguresPanel title={words.received} figures={figures} of={ReceivedWeeks} /> : null}
        {shows(figures) ? <Calendar board={board} /> : null}
        {shows(figures) ? <FiguresPanel title={words.spend} figures={figures} of={SpendBySupplier} /> : null}
        {shows(board.changes) ? <Lately board={board} /> : null}
      </div>
    </>
  );
};

interface Task {
  readonly name: keyof typeof words.tasks;
  readonly icon: IconName;
  /** The words of a count that is not exact. */
  readonly count: number | string | undefined;
  readonly href: string;
  readonly least?: Role;
  readonly isBad?: boolean;
}

const Tasks: FunctionComponent<{ readonly board: Board }> = ({ board }) => {
  const { counts, answers, forecast, mails } = board;
  const [answer] = answers ?? [];
  const [failedMail] = mails ?? [];
  const tasks: readonly Task[] = [
    ...(waiting.value === ""
      ? []
      : [{ name: "approvals", icon: "circle-check", count: waiting.value, href: hrefOf("approvals") } as const]),
    { name: "late", icon: "circle-alert", count: counts.late, href: addressOf(views.overdue), isBad: true },
    {
      name: "today",
      icon: "package-check",
      count: counts.due === undefined || counts.late === undefined ? undefined : counts.due - counts.late,
      // Today's come first, then those that are late.
      href: addressOf(`${dueByToday()}&sort=-nextExpectedDate`),
    },
    { name: "waiting", icon: "clock", count: counts.waiting, href: addressOf(views.waiting) },
    {
      name: "answers",
      icon: "inbox",
      count: answers?.length,
      href: answer === undefined ? addressOf(views.waiting) : hrefOf("orders", answer.purchaseOrderId),
      least: "purchaser",
    },
    {
      name: "reorder",
      icon: "refresh-cw",
      count: forecast === null ? undefined : forecast.rows.filter(isSuggested).length,
      href: hrefOf("reorder"),
      least: "purchaser",
    },
    { name: "drafts", icon: "mail", count: counts.drafts, href: addressOf("status=Draft"), least: "purchaser" },
    { name: "failed", icon: "store", count: counts.failed, href: addressOf(views.failed), isBad: true },
    ...(failedMail === undefined
      ? []
      : [
          {
            name: "mails",
            icon: "mail",
            count: mails?.length,
            href: hrefOf("orders", failedMail.purchaseOrderId),
            isBad: true,
          } as const,
        ]),
  ];
  return (
    <nav class="tasks" aria-label={words.todo}>
      {tasks
        .filter(({ least }) => least === undefined || hasRole(least))
        .map(({ name, icon, count, href, isBad }) => (
          <a key={name} class={count === 0 || count === undefined ? "calm" : isBad === true ? "bad" : ""} href={href}>
            <Icon name={icon} />
            <strong>{count === undefined ? "–" : typeof count === "string" ? count : number(count)}</strong>
            <span>{words.tasks[name]}</span>
          </a>
        ))}
    </nav>
  );
};

interface PanelProps {
  readonly title: string;
  readonly class?: string;
  readonly more?: { readonly href: string; readonly title: string };
  readonly isRead: boolean;
  readonly children?: ComponentChildren;
}

const Panel: FunctionComponent<PanelProps> = ({ title, more, isRead, children, ...props }) => (
  <section class={`card ${props.class ?? ""}`} aria-label={title}>
    <div class="heading">
      <h2>{title}</h2>
      {more === undefined ? null : (
        <a class="at-end" href={more.href}>
          {more.title}
        </a>
      )}
    </div>
    {isRead ? children : <Skeleton />}
  </section>
);

/** Mails and pushes that did not arrive, each with the order where it is done again. Nothing without any. */
const Failures: FunctionComponent<{ readonly board: Board }> = ({ board: { mails, unsynced, counts } }) => {
  const failed = mails ?? [];
  if (failed.length === 0 && unsynced.length === 0) return null;
  const rest = Math.max(0, failed.length - failuresShown) + Math.max(0, (counts.failed ?? 0) - unsynced.length);
  const rows = [
    ...failed.slice(0, failuresShown).map(({ detail, ...row }) => ({ ...row, what: words.mailFailed, detail })),
    ...unsynced.map((order) => ({ ...order, what: texts.sync.failed, detail: null })),
  ];
  return (
    <Panel
      title={words.failures}
      class="failures"
      isRead
      {...(unsynced.length > 0 ? { more: { href: addressOf(views.failed), title: words.syncFailures } } : {})}
    >
      <ul class="plain-rows">
        {rows.map(({ purchaseOrderId, poNumber, supplierName, what, detail }) => (
          <li key={`${purchaseOrderId} ${what}`} class="of-two">
            <Icon name={what === words.mailFailed ? "mail" : "store"} />
            <span class="name">
              <a href={hrefOf("orders", purchaseOrderId)}>{poNumber}</a> <bdi>{supplierName ?? texts.orders.none}</bdi>
              <span class="quiet">
                <span class="bad">{what}</span> {detail}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {rest > 0 ? <p class="quiet">{words.moreFailures(rest)}</p> : null}
    </Panel>
  );
};

const arrivingShown = 6;

const Arriving: FunctionComponent<{ readonly board: Board }> = ({ board: { next } }) => {
  const arriving = (next ?? [])
    .filter(({ nextExpectedDate, quantityPending }) => nextExpectedDate !== null && quantityPending > 0)
    .slice(0, arrivingShown);
  return (
    <Panel title={words.arriving} isRead={next !== null} more={{ href: addressOf(views.open), title: words.allOpen }}>
      {arriving.length === 0 ? <p class="quiet">{words.nothingArriving}</p> : null}
      <ul class="plain-rows">
        {arriving.map((order) => (
          <li key={order.purchaseOrderId}>
            <a href={hrefOf("orders", order.purchaseOrderId)}>{order.poNumber}</a>
            <span class="name">{order.supplierName ?? texts.orders.none}</span>
            <StatusChip status={order.status} />
            <Due order={order} />
          </li>
        ))}
      </ul>
    </Panel>
  );
};

const Due: FunctionComponent<{ readonly order: PurchaseOrderHeader }> = ({ order }) => {
  const [late, due] = [lateFor(order), dueIn(order)];
  if (late !== null) return <span class="late">{texts.orders.lateFor(late)}</span>;
  if (due !== null) return <span class="quiet">{texts.orders.dueIn(due)}</span>;
  return <span class="quiet">{order.nextExpectedDate === null ? null : <ShortDay at={order.nextExpectedDate} />}</span>;
};

type Figures = NonNullable<Board["figures"]>;

/** A bar for each week, by its Monday. */
const weekBars = (weeks: readonly { readonly week: string; readonly value: number }[], currency: string) =>
  weeks.map(({ week, value }) => ({ name: dayOfYear(week), value, shown: about(value, currency) }));

interface FiguresPanelProps {
  readonly title: string;
  readonly figures: Figures | null;
  readonly of: FunctionComponent<Figures>;
}

const FiguresPanel: FunctionComponent<FiguresPanelProps> = ({ title, figures, of: Content }) => (
  <Panel title={title} isRead={figures !== null}>
    {figures === null ? null : <Content {...figures} />}
  </Panel>
);

const Expected: FunctionComponent<Figures> = ({ currencyCode, open }) => {
  const bars = [
    { name: words.lateWeek, value: open.lateValue, shown: about(open.lateValue, currencyCode), isBad: true },
    ...weekBars(open.weeks, currencyCode),
  ];
  return (
    <>
      <p class="quiet">{words.valueHint(about(open.value, currencyCode), open.orders)}</p>
      {bars.some(({ value }) => value > 0) ? (
        <Columns label={words.value} heads={[words.week, words.amount]} bars={bars} />
      ) : open.orders === 0 ? null : (
        <p class="quiet">{words.nothingExpected}</p>
      )}
    </>
  );
};

const ReceivedWeeks: FunctionComponent<Figures> = ({ currencyCode, received: { weeks } }) => {
  if (weeks.every(({ value }) => value === 0)) return <p class="quiet">{words.nothingReceived}</p>;
  const total = weeks.reduce((sum, { value }) => sum + value, 0);
  return (
    <>
      <p class="quiet">{words.receivedHint(about(total, currencyCode), weeks.length)}</p>
      <Columns label={words.received} heads={[words.week, words.amount]} bars={weekBars(weeks, currencyCode)} />
    </>
  );
};

const suppliersShown = 6;

const SpendBySupplier: FunctionComponent<Figures> = ({ currencyCode, ordered: { orders, value, suppliers } }) => {
  if (orders === 0) return <p class="quiet">{words.nothingOrdered}</p>;
  const bars = suppliers.slice(0, suppliersShown).map((each) => ({
    name: each.supplierName ?? texts.orders.none,
    value: each.value,
    shown: about(each.value, currencyCode),
  }));
  return (
    <>
      <p class="quiet">{words.spendHint(about(value, currencyCode), orders)}</p>
      <Ranks label={words.spend} heads={[words.supplier, words.amount]} bars={bars} />
    </>
  );
};

const runningOutShown = 6;

/** Days until stock and incoming goods are used up; null where the forecast does not say. */
function daysLeft(row: ForecastRow): number | null {
  const day = row["stockoutDate"];
  return typeof day === "string" ? Math.max(0, daysBetween(today(), day)) : null;
}

const Lasting: FunctionComponent<{ readonly board: Board }> = ({ board: { forecast } }) => {
  // Its place is kept while it is read: what stands below does not jump.
  if (forecast === null) return <Panel title={words.runsOut} isRead={false} />;
  const rows = forecast.rows
    .flatMap((row) => {
      const days = daysLeft(row);
      return days === null ? [] : [{ row, days }];
    })
    .toSorted((one, other) => one.days - other.days)
    .slice(0, runningOutShown);
  const address = withQuery(hrefOf("reorder"), new URLSearchParams({ view: forecast.viewId }));
  return (
    <Panel title={words.runsOut} isRead more={{ href: address, title: words.toReorder }}>
      <p class="quiet">{rows.length === 0 ? words.nothingRunsOut : words.runsOutHint}</p>
      <ul class="plain-rows">
        {rows.map(({ row, days }) => (
          <li key={row.variantId}>
            <span class="name">{productOf(row)}</span>
            {suggested(row) > 0 ? <span class="quiet">{words.order(suggested(row))}</span> : null}
            <span class={days <= soonDays ? "late" : "quiet"}>{words.days(days)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
};

/** Fewer days of stock than this are shown as urgent. */
const soonDays = 7;

const daysShown = 28;

const Calendar: FunctionComponent<{ readonly board: Board }> = ({ board: { figures } }) => {
  const first = mondayOf(today());
  const days = Array.from({ length: daysShown }, (_, nth) => dayAfter(first, nth));
  const arriving = new Map(figures?.open.days.map(({ date, orders }) => [date, orders]));
  const weeks = [0, 1, 2, 3].map((nth) => days.slice(nth * 7, nth * 7 + 7));
  return (
    <Panel title={words.calendar} isRead={figures !== null}>
      <table class="calendar">
        <thead>
          <tr>
            {days.slice(0, 7).map((day) => (
              <th key={day} scope="col">
                {weekday(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => {
                const count = arriving.get(day) ?? 0;
                const isPast = day < today();
                return (
                  <td
                    key={day}
                    class={count === 0 ? "" : isPast ? "some bad" : "some"}
                    aria-current={day === today() ? "date" : undefined}
                  >
                    <time dateTime={day} title={dayOfYear(day)}>
                      {Number(day.slice(8))}
                    </time>
                    {count === 0 ? null : (
                      <span class="count">
                        {number(count)}
                        <span class="hidden"> {words.deliveries(count)}</span>
                      </span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
};

const Lately: FunctionComponent<{ readonly board: Board }> = ({ board: { changes, ofAssistants } }) => (
  <Panel
    class="whole-row"
    title={words.lately}
    isRead={changes !== null}
    more={{ href: hrefOf("activity"), title: words.allActivity }}
  >
    {changes?.length === 0 ? <p class="quiet">{words.nothingLately}</p> : null}
    <ul class="plain-rows">
      {(changes ?? []).map((change) => (
        <li key={change.logId} class="of-two">
          <Icon name={change.actor.type === "agent" || change.actor.type === "api-key" ? "bot" : "user"} />
          <span class="name">
            <a href={hrefOf("orders", change.purchaseOrderId)}>{change.poNumber ?? change.purchaseOrderId}</a>{" "}
            <ShortEntry entry={change} />
            <span class="quiet">
              {change.actor.name ?? texts.activity.actorNames[change.actor.type]} · <Moment at={change.occurredAt} />
            </span>
          </span>
        </li>
      ))}
    </ul>
    <p>
      <a href={`${hrefOf("activity")}?view=changes&actor=agent&from=-1`}>{words.ofAssistants(ofAssistants ?? 0)}</a>
    </p>
  </Panel>
);

type StepName =
  | "locations"
  | "suppliers"
  | "products"
  | "prices"
  | "order"
  | "import"
  | "storefront"
  | "people"
  | "assistant";

type Step = readonly [name: StepName, icon: IconName, href: string, least: Role, isDone?: boolean];

/** Steps as a list; nothing of those that are none for the person. */
const Steps: FunctionComponent<{ readonly title: string; readonly steps: readonly Step[] }> = ({ title, steps }) => {
  const shown = steps.filter(([, , , least]) => hasRole(least));
  return shown.length === 0 ? null : (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <ul class="plain-rows">
        {shown.map(([name, icon, href, , isDone = false]) => (
          <li key={name} class="of-two">
            <Icon name={isDone ? "circle-check" : icon} />
            <span class="name">
              {isDone ? words.first[name] : <a href={href}>{words.first[name]}</a>}
              <span class="quiet">{isDone ? words.first.done : words.first[`${name}Hint`]}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

const FirstSteps: FunctionComponent = () => {
  const first = { shopId: shopId(), limit: 1 };
  const [location] = useReading("location_list", first).data?.locations ?? [];
  const [supplier] = useReading("supplier_list", first).data?.suppliers ?? [];
  const [product] = useReading("variant_search", first).data?.variants ?? [];
  // What comes from a storefront is not added here.
  const adding = (kind: string): string => (signedIn()?.shop.storefront === null ? hrefOf("new", kind) : hrefOf(kind));
  const steps: readonly Step[] = [
    ["locations", "warehouse", adding("locations"), "purchaser", location !== undefined],
    ["suppliers", "truck", hrefOf("new", "suppliers"), "purchaser", supplier !== undefined],
    ["products", "tag", adding("products"), "purchaser", product !== undefined],
    [
      "prices",
      "layers",
      supplier === undefined ? hrefOf("suppliers") : hrefOf("suppliers", supplier.supplierId),
      "purchaser",
      (product?.suppliers.length ?? 0) > 0,
    ],
    ["order", "shopping-cart", hrefOf("new-order"), "purchaser"],
  ];
  const others: readonly Step[] = [
    ["import", "upload", hrefOf("import"), "owner"],
    ["storefront", "store", hrefOf("storefront"), "owner"],
    ["people", "users", hrefOf("people"), "owner"],
    ["assistant", "bot", hrefOf("keys"), "owner"],
  ];
  return hasRole("purchaser") ? (
    <div class="board">
      <Steps title={words.first.title} steps={steps} />
      <Steps title={words.first.more} steps={others} />
    </div>
  ) : (
    <p class="empty">{words.first.idle}</p>
  );
};
