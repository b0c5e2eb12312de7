/** The kit on one page, each part in its states: `/console/kit` of a console that was built with it (`--kit`). */
import type { FunctionComponent } from "preact";
import { Actions } from "./actions.tsx";
import { Fields } from "./fields.tsx";
import { Lists } from "./lists.tsx";
import { ToldAndDrawn } from "./told.tsx";

export const KitScreen: FunctionComponent = () => (
  <>
    <div class="heading">
      <h1>Kit</h1>
      <span class="quiet">Each part in its states</span>
    </div>
    <div class="board">
      <Actions />
      <Fields />
      <ToldAndDrawn />
    </div>
    <Lists />
  </>
);
