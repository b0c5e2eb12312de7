/** The heads of a table's columns. */
import type { FunctionComponent } from "preact";

interface TableHeadProps {
  readonly titles: readonly string[];
  /** Heads whose columns hold numbers. */
  readonly amounts?: readonly string[];
  /** Name of the last column, which has buttons and no visible head. */
  readonly does?: string;
}

export const TableHead: FunctionComponent<TableHeadProps> = ({ titles, amounts = [], does }) => (
  <thead>
    <tr>
      {titles.map((title) => (
        <th key={title} scope="col" class={amounts.includes(title) ? "amount" : undefined}>
          {title}
        </th>
      ))}
      {does === undefined ? null : (
        <th scope="col">
          <span class="hidden">{does}</span>
        </th>
      )}
    </tr>
  </thead>
);
