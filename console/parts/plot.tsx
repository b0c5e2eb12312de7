/** Bars, up or across, drawn from numbers. Colours are the theme's. A screen reader finds the same as a table. */
import type { FunctionComponent } from "preact";
import { TableHead } from "./lists/table-head.tsx";

interface Bar {
  readonly name: string;
  readonly value: number;
  /** The value in words. */
  readonly shown: string;
  readonly isBad?: boolean;
}

interface PlotProps {
  readonly label: string;
  /** Heads of the table. */
  readonly heads: readonly [string, string];
  readonly bars: readonly Bar[];
}

const shareOf = (value: number, bars: readonly Bar[]): number => {
  const most = Math.max(...bars.map((bar) => bar.value));
  return most === 0 ? 0 : value / most;
};

/** Bars that stand beside each other, for what goes by time. */
export const Columns: FunctionComponent<PlotProps> = (props) => {
  const { bars } = props;
  const [width, height, least] = [100 / bars.length, 100, 1.5];
  return (
    <figure class="plot">
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ name, value, isBad }, index) => {
          const size = value === 0 ? 0 : Math.max(shareOf(value, bars) * height, least);
          return (
            <rect
              key={name}
              class={isBad === true ? "bar bad" : "bar"}
              x={index * width + width * 0.15}
              y={height - size}
              width={width * 0.7}
              height={size}
            />
          );
        })}
      </svg>
      <ol class="axis" aria-hidden="true">
        {bars.map(({ name, shown, value }) => (
          <li key={name} title={shown}>
            <span>{name}</span>
            <span class="quiet">{value === 0 ? "" : shown}</span>
          </li>
        ))}
      </ol>
      <Table {...props} />
    </figure>
  );
};

/** Bars below each other, for what goes by name. */
export const Ranks: FunctionComponent<PlotProps> = (props) => (
  <figure class="plot">
    <ol class="ranks" aria-hidden="true">
      {props.bars.map(({ name, value, shown }) => (
        <li key={name}>
          <span class="name">{name}</span>
          <span>{shown}</span>
          <svg viewBox="0 0 100 1" preserveAspectRatio="none">
            <rect class="track" width="100" height="1" />
            <rect class="bar" width={shareOf(value, props.bars) * 100} height="1" />
          </svg>
        </li>
      ))}
    </ol>
    <Table {...props} />
  </figure>
);

const Table: FunctionComponent<PlotProps> = ({ label, heads, bars }) => (
  <HiddenTable label={label} heads={heads} rows={bars.map(({ name, shown }) => ({ name, cells: [shown] }))} />
);

interface HiddenTableProps {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** Table with the values of a plot, for screen readers. */
export const HiddenTable: FunctionComponent<HiddenTableProps> = ({ label, heads, rows }) => (
  <div class="hidden">
    <table>
      <caption>{label}</caption>
      <TableHead titles={heads} />
      <tbody>
        {rows.map(({ name, cells }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              <td key={heads[index]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
