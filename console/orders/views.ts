/**
 * Saved views of the list of orders: a name for a query, kept by the service (C54).
 *
 * A person's first view, for an address without a query, is a view of their own under an id that is made of theirs.
 * This browser keeps a copy, so that the list does not wait for it (D206).
 */
import { signal } from "@preact/signals";
import { newIdempotencyKey, type Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { hasRole, shopId, signedIn } from "../data/session.ts";

export type View = Output<"console_view_list">["consoleViews"][number];

const firstViewPrefix = "first-";

const personId = (): string | null => signedIn()?.person.personId ?? null;
const firstViewId = (): string => `${firstViewPrefix}${personId() ?? "operator"}`;
const copyName = (): string => `openpo first view ${shopId()} ${firstViewId()}`;

/** As far as they were read. */
const views = signal<readonly View[]>([]);

let reading: Promise<Problem | null> | null = null;

/**
 * Reads the views; who asks while they are being read waits for the same answer. @returns why they could not be read.
 */
export function readViews(): Promise<Problem | null> {
  reading ??= read().finally(() => (reading = null));
  return reading;
}

async function read(): Promise<Problem | null> {
  const result = await openpo.call("console_view_list", { shopId: shopId() });
  if (!result.ok) return problemOf(result);
  views.value = result.data.consoleViews;
  const first = views.value.find(({ viewId }) => viewId === firstViewId());
  if (first === undefined) localStorage.removeItem(copyName());
  else localStorage.setItem(copyName(), first.query);
  return null;
}

/** The query of the person's first view; null without one. */
export const firstQuery = (): string | null => localStorage.getItem(copyName());

/** Views that are shown by name. */
export const namedViews = (): readonly View[] =>
  views.value.filter(({ viewId }) => !viewId.startsWith(firstViewPrefix));

/** True if the person may rename, share and delete it. */
export const mayChange = (view: View): boolean =>
  view.personId === personId() || (view.isShared && hasRole("owner")) || personId() === null;

/** Wish of a person about a view. */
interface Wish {
  /** Null makes a new one. */
  readonly viewId: string | null;
  readonly viewName: string;
  readonly query: string;
  readonly isShared: boolean;
}

/** Saves the view. @returns why it could not be saved. */
export async function saveView({ viewId, ...wish }: Wish): Promise<Problem | null> {
  const id = viewId ?? `view_${newIdempotencyKey()}`;
  const result = await openpo.call("console_view_put", { shopId: shopId(), viewId: id, ...wish });
  return result.ok ? await readViews() : problemOf(result);
}

export async function deleteView(viewId: string): Promise<Problem | null> {
  const result = await openpo.call("console_view_delete", { shopId: shopId(), viewId });
  return result.ok ? await readViews() : problemOf(result);
}

/** Makes the query the person's first view; null: the whole list is. @returns why it could not. */
export async function setFirst(query: string | null, viewName: string): Promise<Problem | null> {
  if (query !== null) return await saveView({ viewId: firstViewId(), viewName, query, isShared: false });
  return views.value.some(({ viewId }) => viewId === firstViewId()) ? await deleteView(firstViewId()) : null;
}
