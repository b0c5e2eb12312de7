/** Of the kit: lists, with what stands above, in and below them. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { PickFilter } from "../parts/fields/pick-filter.tsx";
import { SearchFilter } from "../parts/fields/search-filter.tsx";
import { ColumnsMenu } from "../parts/lists/columns-menu.tsx";
import { ColumnsPop } from "../parts/lists/columns.tsx";
import { ListBar } from "../parts/lists/list-bar.tsx";
import { Table } from "../parts/lists/list-screen.tsx";
import { MoreRows } from "../parts/lists/more-rows.tsx";
import { column, recordColumns } from "../parts/lists/record-columns.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { setTicks, ticksOf } from "../parts/lists/ticks.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { ShortDay } from "../parts/when.tsx";
import { statuses, teas } from "./sample.tsx";

const ticks = ticksOf();
setTicks(ticks, ["Sent"], true);

const records = ["Assam", "緑茶の詰め合わせ"].map((title) => ({
  id: title,
  title,
  hint: "SKU-1",
  status: "active",
  values: ["Maasbrand Roastery", "48"],
}));

const more = {
  state: signal({ rows: records, totalCount: 24, hasMore: true, isLoading: false, problem: null }),
  more: () => Promise.resolve(),
};

export const Lists: FunctionComponent = () => (
  <>
    <table class="rows grid" aria-label="Cells">
      <TableHead
        titles={["Product", "Ordered", "Confirmed", "Written"]}
        amounts={["Ordered", "Confirmed"]}
        does="Opens"
      />
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
    <ListBar
      search={<SearchFilter label="Search" hint="Search samples" value="" search={() => {}} />}
      taken={[{ label: "Status", name: "Sent", takeOff: () => {} }]}
      more={
        <ColumnsPop>
          <ColumnsMenu
            query={new URLSearchParams()}
            columns={[
              { name: "number", title: "Order" },
              { name: "status", title: "Status" },
              { name: "value", title: "Value" },
            ]}
            addressOf={() => "/console/kit"}
          />
        </ColumnsPop>
      }
    >
      <fieldset class="chips">
        <legend>Status</legend>
        {statuses.map((status) => (
          <button key={status} type="button" class="toggle" aria-pressed={status === "Sent"}>
            {status}
          </button>
        ))}
      </fieldset>
      <div class="filter-row">
        <PickFilter label="Supplier" value={null} lookUp={teas} choose={() => {}} />
        <PickFilter label="Product" value="kit_0" lookUp={teas} choose={() => {}} />
        <label>
          Expected before
          <input type="date" />
        </label>
      </div>
    </ListBar>
    <Table
      title="Table"
      rows={statuses}
      of={statuses}
      keyOf={(status) => status}
      ticking={{ ticks, nameOf: (status) => (status === null ? "All" : `PO-10${status.length}`) }}
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
    <Table
      title="Records"
      rows={records}
      of={records}
      keyOf={({ id }) => id}
      columns={recordColumns(
        "Record",
        "Status",
        { supplier: column("Supplier"), onHand: column("On hand", true, true) },
        () => "#kit",
      )}
    />
    <MoreRows list={more} label="More" />
  </>
);
