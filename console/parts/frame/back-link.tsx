/** The link from a page to the one above it: its list, its order. */
import type { FunctionComponent } from "preact";

export const BackLink: FunctionComponent<{ readonly href: string }> = ({ href, children }) => (
  <p class="back">
    <a href={href}>{children}</a>
  </p>
);
