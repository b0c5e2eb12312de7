/** Facts of something, each under its name. */
import type { ComponentChildren, FunctionComponent } from "preact";

/** A fact; without a value it is left out. */
export type FactRow = readonly [name: string, value: ComponentChildren, isLong?: boolean];

export const FactList: FunctionComponent<{ readonly facts: readonly FactRow[] }> = ({ facts }) => (
  <dl class="facts">
    {facts.map(([name, value, isLong = false]) =>
      value === null ? null : (
        <div key={name} class={isLong ? "long" : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
);
