/** Placeholder of something that is being read. */
import type { FunctionComponent } from "preact";
import { texts } from "../texts/en/texts.ts";

export const Skeleton: FunctionComponent = () => (
  <div class="skeleton" role="status">
    <span class="hidden">{texts.loading}</span>
    <span />
    <span />
    <span />
    <span />
  </div>
);
