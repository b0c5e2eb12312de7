/** The kit on one page, each part in its states: `/console/kit` of a console that was built with it (`--kit`). */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { iconNames } from "../icons/names.ts";
import { AskFirst } from "./dialogs/ask-first.tsx";
import { CopyField } from "./fields/copy-field.tsx";
import { Combobox } from "./fields/combobox.tsx";
import { Segments } from "./frame/segments.tsx";
import { Toast } from "./frame/toast.tsx";
import type { Told } from "./frame/told.ts";
import { Icon } from "./icon.tsx";
import { Table } from "./lists/list-screen.tsx";
import { Columns, Ranks } from "./plot.tsx";
import { Pop } from "./pop.tsx";
import { ProblemNotice } from "./problem.tsx";
import { Progress } from "./progress.tsx";
import { Field } from "./sending.tsx";
import { Skeleton } from "./skeleton.tsx";
import { StatusChip } from "./status-chip.tsx";
import { ShortDay } from "./when.tsx";

const statuses = ["Draft", "Sent", "Confirmed", "Received", "On Hold"] as const;

const fruits = ["Assam", "Ceylon", "Darjeeling", "مسحوق القهوة", "緑茶の詰め合わせ"].map((title, index) => ({
  id: String(index),
  title,
  hint: index % 2 === 0 ? `SKU-${index}` : null,
}));

const bars = [14, 40, 25, 0, 33].map((value, index) => ({
  name: `Dec ${index * 7 + 1}`,
  value,
  shown: `€${value}`,
  isBad: index === 0,
}));

const wrong = new Map([["zone", "must be a time zone like Europe/Amsterdam"]]);

const toasts: readonly Told[] = [
  { text: "Deleted: Assam", undo: async () => ({ text: "Put back: Assam" }) },
  { text: "Not undone: it was changed since.", state: "failed", link: { href: "#", title: "Open it" } },
  { text: "Not undone yet: it waits for approval.", state: "waiting" },
];

const Sample: FunctionComponent<{ readonly title: string; readonly children: ComponentChildren }> = ({
  title,
  children,
}) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

export const KitScreen: FunctionComponent = () => {
  const word = useSignal<(typeof statuses)[number]>("Sent");
  const isAsking = useSignal(false);
  return (
    <>
      <div class="heading">
        <h1>Kit</h1>
        <span class="quiet">Each part in its states</span>
      </div>
      <div class="board">
        <Sample title="Buttons">
          <p class="buttons">
            <button type="button" class="primary">
              <Icon name="plus" /> Primary
            </button>
            <button type="button">Button</button>
            <button type="button" class="plain">
              Plain
            </button>
            <button type="button" class="danger">
              Danger
            </button>
            <button type="button" disabled>
              Disabled
            </button>
            <button type="button" class="primary" disabled>
              Disabled
            </button>
            <button type="button" class="plain" disabled>
              Disabled
            </button>
            <button type="button" class="danger" disabled>
              Disabled
            </button>
            <button type="button" class="icon-only" aria-label="Filter">
              <Icon name="list-filter" />
            </button>
            <a class="button" href="#kit">
              Link
            </a>
          </p>
          <p class="buttons">
            <Pop button="Menu" isMenu>
              <button type="button">Put on hold</button>
              <button type="button" class="danger">
                Cancel the order
              </button>
              <div class="why-not quiet">
                <p>Complete</p>
                <p>Receive goods first.</p>
              </div>
            </Pop>
            <button type="button" onClick={() => (isAsking.value = true)}>
              Dialog
            </button>
            <button type="button" class="toggle" aria-pressed="true">
              Pressed
            </button>
            <button type="button" class="toggle" aria-pressed="false">
              Not pressed
            </button>
            <button type="button" class="taken">
              <span>Status: Sent</span>
              <Icon name="x" />
            </button>
          </p>
          <Segments
            label="One of a few"
            words={statuses}
            titles={{
              Draft: "Draft",
              Sent: "Sent",
              Confirmed: "Confirmed",
              Received: "Received",
              "On Hold": "On hold",
            }}
            value={word.value}
            choose={(chosen) => (word.value = chosen)}
          />
          {isAsking.value ? (
            <AskFirst
              title="Delete the draft?"
              text="Its lines go with it."
              action="Delete"
              run={() => Promise.resolve(null)}
              onClose={() => (isAsking.value = false)}
            />
          ) : null}
        </Sample>
        <Sample title="Fields">
          <div class="stack">
            <label>
              Text
              <input placeholder="Placeholder" />
            </label>
            <label>
              Filled
              <input value="Warehouse Keilehaven" readOnly />
            </label>
            <label class="notice">
              On a ground
              <input placeholder="Placeholder" />
            </label>
            <label>
              Disabled
              <input value="Nothing to change" disabled />
            </label>
            <Field name="zone" label="Refused" hint="The name of a city" wrong={wrong}>
              {(common) => <input {...common} value="Atlantis" readOnly />}
            </Field>
            <label>
              Choice
              <select>
                <option>Unpaid</option>
                <option>Paid</option>
              </select>
            </label>
            <label>
              No choice
              <select disabled>
                <option>Unpaid</option>
              </select>
            </label>
            <label>
              Long text
              <textarea placeholder="Placeholder" />
            </label>
            <label class="check">
              <input type="checkbox" checked readOnly /> Ticked
            </label>
            <label class="check">
              <input type="checkbox" /> Not ticked
            </label>
            <label class="check">
              <input type="radio" /> One of two
            </label>
            <label>
              File
              <input type="file" />
            </label>
            <details open>
              <summary>Folded away</summary>
              <code>until it is pressed</code>
            </details>
            <label>
              Day
              <input type="date" value="2026-12-03" readOnly />
            </label>
            <Combobox
              label="Found by name"
              hint="Sample of the name"
              search={(text) => Promise.resolve(fruits.filter(({ title }) => title.includes(text)))}
              choose={() => {}}
            />
            <CopyField label="To copy" value="https://openpo.example/mcp" onCopied={() => {}} />
          </div>
        </Sample>
        <Sample title="Badges and progress">
          <p class="buttons">
            {statuses.map((status) => (
              <StatusChip key={status} status={status} />
            ))}
            <span class="late">3 days late</span>
            <span class="quiet">in 4 days</span>
            <kbd>Ctrl K</kbd>
          </p>
          <p class="buttons">
            <Progress received={0} ordered={48} pending={48} />
            <Progress received={30} ordered={48} pending={18} />
            <Progress received={60} ordered={60} pending={12} />
            <Progress received={48} ordered={48} pending={0} />
          </p>
        </Sample>
        <Sample title="Facts">
          <dl class="facts">
            <div>
              <dt>Supplier</dt>
              <dd>Maasbrand Roastery</dd>
            </div>
            <div>
              <dt>Expected</dt>
              <dd>
                <ShortDay at="2026-12-03" />
              </dd>
            </div>
            <div>
              <dt>A long name</dt>
              <dd>Donaudampfschifffahrtsgesellschaftskapitänsmützenmanufaktur</dd>
            </div>
          </dl>
        </Sample>
        <Sample title="Notices">
          <p class="notice">The order now says what somebody else wrote.</p>
          <ProblemNotice
            problem={{
              message: "The server does not answer",
              action: "Check your connection and try again.",
              requestId: "req_1",
              code: "UNREACHABLE",
              reason: null,
              details: [],
            }}
            again={() => {}}
          />
          {toasts.map((message) => (
            <Toast key={message.text} message={message} />
          ))}
        </Sample>
        <Sample title="What was done">
          <p class="outcome good">1 of 12 counted</p>
          <p class="outcome unknown">No such code</p>
          <ol class="timeline plain-list">
            <li>
              <p>
                <a href="#kit">Ana</a> confirmed 12 lines <time dateTime="2026-12-03">3 December</time>
              </p>
            </li>
          </ol>
          <table class="diff">
            <tbody>
              <tr>
                <th scope="row">Note</th>
                <td class="before">Ask for the old harvest</td>
                <td class="after">Ask for the new harvest</td>
              </tr>
            </tbody>
          </table>
        </Sample>
        <Sample title="Plots">
          <Columns label="By week" heads={["Week", "Value"]} bars={bars} />
          <Ranks label="By supplier" heads={["Supplier", "Value"]} bars={bars} />
        </Sample>
        <Sample title="Nothing yet, and not yet">
          <div class="empty">
            <p>There are no orders yet.</p>
            <button type="button" class="primary">
              New order
            </button>
          </div>
          <Skeleton />
        </Sample>
        <Sample title="Icons">
          <p class="buttons">
            {iconNames.map((name) => (
              <Icon key={name} name={name} />
            ))}
          </p>
        </Sample>
      </div>
      <table class="rows grid" aria-label="Cells">
        <tbody>
          <tr>
            <th scope="row">Assam</th>
            <td class="amount">
              <button type="button" class="cell">
                12
              </button>
            </td>
            <td class="amount">
              <button type="button" class="cell noted">
                8
              </button>
            </td>
            <td class="amount">
              <input class="cell" aria-label="Ordered" value="14" />
            </td>
            <td class="does">
              <button type="button" class="opens" aria-expanded="false">
                Changed an order
              </button>
            </td>
          </tr>
        </tbody>
      </table>
      <nav class="tabs" aria-label="Tabs">
        <a href="#kit" aria-current="true">
          All <span class="count">24</span>
        </a>
        <a href="#kit">To receive</a>
        <a href="#kit">Overdue</a>
      </nav>
      <Table
        title="Table"
        rows={statuses}
        of={statuses}
        keyOf={(status) => status}
        columns={[
          {
            name: "number",
            title: "Order",
            cell: (status) => (
              <>
                <a href="#kit">PO-10{status.length}</a> <span class="quiet">緑茶の詰め合わせ</span>
              </>
            ),
          },
          { name: "status", title: "Status", at: "state", cell: (status) => <StatusChip status={status} /> },
          {
            name: "supplier",
            title: "Supplier",
            kind: "name",
            at: "who",
            cell: () => "Donaudampfschifffahrtsgesellschaft",
          },
          { name: "expected", title: "Expected", kind: "date", at: "when", cell: () => <ShortDay at="2026-12-03" /> },
          { name: "value", title: "Value", kind: "amount", at: "amount", cell: (status) => `€${status.length},355.32` },
        ]}
      />
    </>
  );
};
