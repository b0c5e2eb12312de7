/** Saved queries of the console: one's own and those that are shared (C54). */
import { z } from "zod";
import { Fault } from "../base/fault.ts";
import { viewQueryMax } from "../exchange/records/console-views.ts";
import type { SignedIn } from "../requests/caller.ts";
import { idMax, pageShape, pathId, plain, shortTextMax, shownId, text } from "../operations/fields.ts";
import {
  type ConsoleView,
  consoleViewTable,
  deleteConsoleViewStatement,
  listConsoleViews,
} from "../shop/access/console-views.ts";
import { replaceRecord } from "../shop/record-table.ts";
import { data, inShop, operation, shopOf } from "./operation.ts";
import { pageOfWhole, wholeList } from "./whole-lists.ts";

/** Saved queries of the console of a shop. */
export const consoleViewsMax = 1_000;

/** Of them, those of one person. */
export const consoleViewsOfPersonMax = 100;

const viewSchema = z.strictObject({
  viewId: z.string(),
  viewName: z.string(),
  query: z.string(),
  isShared: z.boolean(),
  personId: z.string().nullable(),
});

/** Who may see it: everybody if it is shared; else whose it is, and the operator. */
const isShownTo = (person: SignedIn | null, view: ConsoleView): boolean =>
  view.isShared || person === null || view.personId === person.personId;

/** Who may change it: whose it is; owners and the operator also what is shared. */
const isChangedBy = (person: SignedIn | null, view: ConsoleView): boolean =>
  person === null || view.personId === person.personId || (view.isShared && person.role === "owner");

const noSuchView = (id: string, viewId: string): Fault =>
  new Fault("NOT_FOUND", `Shop ${id} has no view ${shownId(viewId)}.`, {
    action: `See GET /admin/v1/shops/${id}/console-views.`,
  });

/**
 * The view among those of the shop; null when there is none. @throws Fault when it is there and the person may not
 * change it.
 */
function changeable(
  views: readonly ConsoleView[],
  id: string,
  viewId: string,
  person: SignedIn | null,
): ConsoleView | null {
  const view = views.find((each) => each.viewId === viewId);
  if (view === undefined) return null;
  if (!isShownTo(person, view)) throw noSuchView(id, viewId);
  if (!isChangedBy(person, view))
    throw new Fault("FORBIDDEN_SCOPE", "This view is shared by somebody else.", {
      action: "Save it as a view of your own, under another id.",
    });
  return view;
}

/** @throws Fault INVALID_INPUT when the shop, or the person, has as many views as may be. */
function requireRoom(views: readonly ConsoleView[], person: SignedIn | null): void {
  const own = person === null ? [] : views.filter((view) => view.personId === person.personId);
  if (own.length >= consoleViewsOfPersonMax)
    throw new Fault("INVALID_INPUT", `You have ${consoleViewsOfPersonMax} views, as many as one person may have.`, {
      action: "Delete some first.",
    });
  if (views.length >= consoleViewsMax)
    throw new Fault("INVALID_INPUT", `The shop has ${consoleViewsMax} views, as many as it may have.`, {
      action: "Delete some first.",
    });
}

export const listConsoleViewsOperation = operation({
  name: "console_view_list",
  route: { method: "GET", path: "/shops/{shopId}/console-views" },
  role: "viewer",
  describes: {
    summary: "One's own views and the shared ones, by name.",
    description:
      "A view is a name for filters of the console's list of orders. Views of others are listed when they are shared.",
    output: z.strictObject({ consoleViews: z.array(viewSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  /** One's own views and the shared ones, by name. */
  async run({ engine }, { shopId: id, ...page }, { person }) {
    const views = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listConsoleViews(tx, id);
    });
    const rows = views.filter((view) => isShownTo(person, view));
    const scope = { list: "console-views", shopId: id, filters: {} };
    return pageOfWhole({ scope, name: "consoleViews", rows, idOf: ({ viewId }) => viewId }, page);
  },
});

export const putConsoleView = operation({
  name: "console_view_put",
  route: { method: "PUT", path: "/shops/{shopId}/console-views/{viewId}" },
  role: "viewer",
  describes: {
    summary: "Saves a view.",
    description:
      "Replaces the view with this id, or adds one. What somebody else has shared is refused, but to an owner.",
    output: z.strictObject({ consoleView: viewSchema }),
  },
  input: z.strictObject({
    ...inShop,
    viewId: pathId.max(idMax).check(plain("line")),
    viewName: text(shortTextMax),
    query: z.string().max(viewQueryMax).check(plain("line")),
    isShared: z.boolean().default(false),
  }),
  /**
   * Saves the view, replacing the one with its id. Whoever made it keeps it.
   *
   * @throws Fault INVALID_INPUT   the shop or the person has too many views, or the id is too long for a new one.
   * @throws Fault FORBIDDEN_SCOPE somebody else has shared it.
   */
  async run({ engine }, { shopId: id, ...sent }, { person }) {
    return await engine.write(id, async (tx) => {
      await shopOf(tx, id);
      const views = await listConsoleViews(tx, id);
      const known = changeable(views, id, sent.viewId, person);
      if (known === null) requireRoom(views, person);
      const view: ConsoleView = { ...sent, personId: known === null ? (person?.personId ?? null) : known.personId };
      await tx.batch([replaceRecord(consoleViewTable, id, view)]);
      return data({ consoleView: view }, known === null ? 201 : 200);
    });
  },
});

export const deleteConsoleView = operation({
  name: "console_view_delete",
  route: { method: "DELETE", path: "/shops/{shopId}/console-views/{viewId}" },
  role: "viewer",
  describes: {
    summary: "Deletes a view.",
    description: "What somebody else has shared is refused, but to an owner.",
    output: z.strictObject({ viewId: z.string(), deleted: z.literal(true) }),
  },
  input: z.strictObject({ ...inShop, viewId: pathId }),
  async run({ engine }, { shopId: id, viewId }, { person }) {
    return await engine.write(id, async (tx) => {
      const views = await listConsoleViews(tx, id);
      if (changeable(views, id, viewId, person) === null) throw noSuchView(id, viewId);
      await tx.batch([deleteConsoleViewStatement(id, viewId)]);
      return data({ viewId, deleted: true });
    });
  },
});
