/**
 * Import and export records of console views (C54).
 */
import { z } from "zod";
import { id, shortTextMax, text, plain } from "../../operations/fields.ts";
import { type ConsoleView, consoleViewTable } from "../../shop/access/console-views.ts";
import { findPerson } from "../../shop/access/people.ts";
import { optional, type RecordType, tableRecordType } from "../record-type.ts";

/** Characters of a view's query. */
export const viewQueryMax = 4_000;

const consoleViewInput = z
  .strictObject({
    type: z.literal("consoleView"),
    viewId: id,
    viewName: text(shortTextMax),
    query: z.string().max(viewQueryMax).check(plain("line")),
    isShared: z.boolean().default(false),
    personId: optional(id),
  })
  .transform(({ type: _type, ...view }): ConsoleView => view);

/** A view of a person that the shop does not know is everybody's: people are not exported. */
export const consoleViewType: RecordType = tableRecordType(
  consoleViewInput,
  (view) => ({ type: "consoleView", ...view }),
  consoleViewTable,
  {
    async becomes(view, { tx, shop }) {
      const isKnown = view.personId !== null && (await findPerson(tx, shop.shopId, view.personId)) !== null;
      return isKnown ? view : { ...view, personId: null, isShared: true };
    },
  },
);
