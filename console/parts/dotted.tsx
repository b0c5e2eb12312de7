/** Facts beside each other, with a dot between two of them. A name from right to left moves no other. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { Fragment } from "preact";

export const Dotted: FunctionComponent<{ readonly parts: readonly ComponentChildren[] }> = ({ parts }) => (
  <>
    {parts
      .filter((part) => part !== null && part !== "")
      .map((part, nth) => (
        <Fragment key={nth}>
          {nth === 0 ? null : " · "}
          <bdi>{part}</bdi>
        </Fragment>
      ))}
  </>
);
