/** Of the kit: what is told, drawn and not there yet. */
import type { FunctionComponent } from "preact";
import { iconNames } from "../icons/names.ts";
import { Course } from "../parts/course.tsx";
import { Dotted } from "../parts/dotted.tsx";
import { FieldValue } from "../parts/fields/field-value.tsx";
import { Toast } from "../parts/frame/toast.tsx";
import type { Told } from "../parts/frame/told.ts";
import { Icon } from "../parts/icon.tsx";
import { FactList } from "../parts/lists/facts.tsx";
import { Picture } from "../parts/picture.tsx";
import { Columns, Ranks } from "../parts/plot.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Progress } from "../parts/progress.tsx";
import { EntrySays } from "../parts/service-says.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { ShortDay } from "../parts/when.tsx";
import { Sample, statuses } from "./sample.tsx";

const bars = [14, 40, 25, 0, 33].map((value, index) => ({
  name: `Dec ${index * 7 + 1}`,
  value,
  shown: `€${value}`,
  isBad: index === 0,
}));

const points = [40, 31, 22, 14, 6, -2].map((value, index) => ({
  name: `Dec ${index * 5 + 1}`,
  bar: index === 2 ? 12 : 0,
  value,
  cells: [String(value)],
}));

const toasts: readonly Told[] = [
  { text: "Deleted: Assam", undo: async () => ({ text: "Put back: Assam" }) },
  { text: "Not undone: it was changed since.", state: "failed", link: { href: "#", title: "Open it" } },
  { text: "Not undone yet: it waits for approval.", state: "waiting" },
];

export const ToldAndDrawn: FunctionComponent = () => (
  <>
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
      <FactList
        facts={[
          ["Supplier", "Maasbrand Roastery"],
          ["Expected", <ShortDay key="at" at="2026-12-03" />],
          ["Left out", null],
          ["Terms", <Dotted key="terms" parts={["30 days", "مسحوق القهوة", "CIF"]} />],
          ["Picture", <Picture key="picture" url={null} />],
          ["A long name", "Donaudampfschifffahrtsgesellschaftskapitänsmützenmanufaktur", true],
        ]}
      />
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
            <a href="#kit">Ana</a> <EntrySays entry={{ operation: "comment_add", message: "Please call before." }} />{" "}
            <time dateTime="2026-12-03">3 December</time>
          </p>
        </li>
      </ol>
      <table class="diff">
        <tbody>
          <tr>
            <th scope="row">Note</th>
            <td class="before">
              <FieldValue field="note" value="" none="nothing" />
            </td>
            <td class="after">
              <FieldValue field="note" value="Ask for the new harvest" none="nothing" />
            </td>
          </tr>
        </tbody>
      </table>
    </Sample>
    <Sample title="Plots">
      <Columns label="By week" heads={["Week", "Value"]} bars={bars} />
      <Ranks label="By supplier" heads={["Supplier", "Value"]} bars={bars} />
      <Course
        label="Stock to come"
        heads={["Day", "Stock"]}
        points={points}
        level={10}
        shown={String}
        legend={[
          ["line", "Stock"],
          ["bar", "Incoming"],
          ["level", "Reorder point"],
          ["out", "Nothing left"],
        ]}
      />
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
  </>
);
