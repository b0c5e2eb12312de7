/**
 * A course over time: bars, and a line above them with a level that it is held against. Colours are the theme's. A
 * screen reader finds the same as a table.
 */
import type { FunctionComponent } from "preact";
import { HiddenTable } from "./plot.tsx";

interface Point {
  readonly name: string;
  /** Label below it; absent: its name. */
  readonly below?: string;
  readonly bar: number;
  /** Null: the line is not there. */
  readonly value: number | null;
  /** Cells of its row in the table. */
  readonly cells: readonly string[];
}

interface CourseProps {
  readonly label: string;
  /** Heads of the table. */
  readonly heads: readonly string[];
  readonly points: readonly Point[];
  readonly level?: number;
  /** The scale begins with the least value, for what is never near 0. */
  readonly isClose?: boolean;
  /** Reads an end of the scale. */
  readonly shown: (value: number) => string;
  /** Meanings of the marks, by the class of each. */
  readonly legend: readonly (readonly [mark: "bar" | "line" | "level" | "out", text: string])[];
}

/** Points that have their name below them, at most. */
const namesMax = 5;

export const Course: FunctionComponent<CourseProps> = (props) => {
  const { label, heads, points, level, isClose = false, shown, legend } = props;
  const values = points.flatMap(({ value }) => value ?? []);
  const all = [...values, ...points.map(({ bar }) => bar), ...(level === undefined ? [] : [level])];
  const [least, most] = isClose ? [Math.min(...values), Math.max(...values)] : [Math.min(0, ...all), Math.max(...all)];
  const span = most - least || 1;
  const x = (index: number): number => ((index + 0.5) / points.length) * 100;
  // Bars stand on the axis; a line that begins with its least value is not drawn on it.
  const foot = isClose ? 96 : 100;
  const y = (value: number): number => foot - ((value - least) / span) * (foot - 4);
  const out = points.findIndex(({ value }) => value !== null && value <= 0);
  const width = 60 / points.length;
  const step = Math.ceil(points.length / namesMax);
  return (
    <figure class="plot course">
      <p class="quiet">{shown(most)}</p>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {points.map(({ name, bar }, index) =>
          bar <= 0 ? null : (
            <rect key={name} class="bar" x={x(index) - width / 2} y={y(bar)} width={width} height={y(0) - y(bar)} />
          ),
        )}
        {level === undefined ? null : <line class="level" x1="0" x2="100" y1={y(level)} y2={y(level)} />}
        {out < 0 ? null : <line class="out" x1={x(out)} x2={x(out)} y1="0" y2="100" />}
        <polyline
          class="line"
          points={points.flatMap(({ value }, index) => (value === null ? [] : `${x(index)},${y(value)}`)).join(" ")}
        />
      </svg>
      {least === 0 ? null : <p class="quiet">{shown(least)}</p>}
      <ol class="axis sparse" aria-hidden="true">
        {points.map(({ name, below = name }, index) => (
          <li key={name}>{index % step === 0 ? below : ""}</li>
        ))}
      </ol>
      <figcaption class="legend">
        {legend.map(([mark, text]) => (
          <span key={mark} class={`of-${mark}`}>
            {text}
          </span>
        ))}
      </figcaption>
      <HiddenTable label={label} heads={heads} rows={points} />
    </figure>
  );
};
