/**
 * Counts that this device keeps until they are saved: they survive a reload and a lost network. One record for each
 * order and person, since an idempotency key is the person's (C50).
 */
import type { Input } from "../../client/index.ts";
import type { Counts } from "./amounts.ts";

/** A save that was sent, or is about to be: sent again under its key until it is answered. */
export interface Save {
  readonly idempotencyKey: string;
  readonly ifMatch: string;
  readonly input: Input<"purchase_order_receive">;
  readonly madeAtMs: number;
}

export interface Kept {
  readonly counts: Counts;
  readonly save: Save | null;
  /** The name of who counted. */
  readonly by?: string;
}

/** Counts of another person that this device keeps for the same order. */
export interface OthersKept {
  readonly keptName: string;
  readonly kept: Kept;
}

const storeName = "counts";

const database = (): Promise<IDBDatabase> => {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("openpo", 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(storeName));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("no database")));
  });
  return opened;
};
let opened: Promise<IDBDatabase> | null = null;

// Only this file writes these records.
const isKept = (value: unknown): value is Kept =>
  typeof value === "object" && value !== null && "counts" in value && "save" in value;

/** Returns the counts that this device keeps under a name; null without any. */
export async function keptUnder(name: string): Promise<Kept | null> {
  const transaction = (await database()).transaction(storeName);
  const request = transaction.objectStore(storeName).get(name);
  return await new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve(isKept(request.result) ? request.result : null));
    transaction.addEventListener("error", () => reject(transaction.error ?? new Error("not read")));
  });
}

/** Where this device keeps a person's counts of an order. */
export const nameOfKept = (shopId: string, personId: string, purchaseOrderId: string): string =>
  [shopId, personId, purchaseOrderId].join("/");

/** Time for another tab to let go of counts. */
const letGoMs = 500;

/** Resolves to true if no tab counts under the name. */
async function isFree(name: string): Promise<boolean> {
  if (!("locks" in navigator)) return true;
  const signal = AbortSignal.timeout(letGoMs);
  return await navigator.locks.request(`openpo ${name}`, { signal }, () => true).catch(() => false);
}

/** Returns the counts that this device keeps for the order under names of others, without those of a tab at work. */
export async function keptByOthers(shopId: string, purchaseOrderId: string, own: string): Promise<OthersKept[]> {
  const transaction = (await database()).transaction(storeName);
  const found: OthersKept[] = [];
  // Keys of the shop: "0" comes after "/".
  const request = transaction.objectStore(storeName).openCursor(IDBKeyRange.bound(`${shopId}/`, `${shopId}0`));
  request.addEventListener("success", () => {
    const { result } = request;
    if (result === null) return;
    const { key, value } = result;
    const isOthers = typeof key === "string" && key !== own && key.endsWith(`/${purchaseOrderId}`);
    if (isOthers && isKept(value)) found.push({ keptName: key, kept: value });
    result.continue();
  });
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("error", () => reject(transaction.error ?? new Error("not read")));
  });
  const free = await Promise.all(found.map(({ keptName }) => isFree(keptName)));
  return found.filter((_, index) => free[index]);
}

/** Keeps under one name what has taken in what was under the other: both or neither. */
export async function takeOver(from: string, to: string, kept: Kept): Promise<void> {
  const transaction = (await database()).transaction(storeName, "readwrite");
  const store = transaction.objectStore(storeName);
  store.put(kept, to);
  store.delete(from);
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("not kept")));
  });
}

/** Keeps, or forgets with null. Writes are done in the order of the calls. */
export async function keep(name: string, kept: Kept | null): Promise<void> {
  const transaction = (await database()).transaction(storeName, "readwrite");
  const store = transaction.objectStore(storeName);
  if (kept === null) store.delete(name);
  else store.put(kept, name);
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("not kept")));
  });
}

/**
 * Does `work`, and holds the name until the signal: two tabs that count under one name would both save the same counts.
 */
export async function alone(name: string, until: AbortSignal, work: () => Promise<void>): Promise<void> {
  // Pages without TLS have no locks.
  if (!("locks" in navigator)) return await work();
  const ended = new Promise<void>((resolve) => until.addEventListener("abort", () => resolve()));
  const hold = async (): Promise<void> => {
    await work();
    await ended;
  };
  await navigator.locks.request(`openpo ${name}`, { signal: until }, hold).catch((error: unknown) => {
    if (!until.aborted) throw error;
  });
}
