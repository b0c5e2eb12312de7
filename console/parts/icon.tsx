/** An icon: one of the symbols that the page carries. It says nothing that words beside it or a label do not say. */
import type { FunctionComponent } from "preact";
import type { IconName } from "../icons/names.ts";

export const Icon: FunctionComponent<{ readonly name: IconName }> = ({ name }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`#icon-${name}`} />
  </svg>
);

/** The mark of OpenPO: an order that is a box, open at its top. */
export const Mark: FunctionComponent = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <use href="#mark" />
  </svg>
);
