/**
 * The orders that match a list's filters, by the shop's digest (block-tables.ts): how many, and a page of their keys.
 *
 * Owns: which blocks this process (or reader thread) remembers, and their counts for questions asked before. Does not
 * own: what is in a block and when it is opened.
 *
 * Sealed blocks never change: a block that is sealed anew has a higher number. So the remembered answer is brought up
 * to the state of the transaction. It reads the blocks with higher numbers, and those that are open there. What is
 * remembered is bounded by `digestsBytesMax`.
 */
import { RecentMap } from "../../base/recent-map.ts";
import { compareText } from "../../base/text/compare-text.ts";
import type { Tx } from "../../store/store.ts";
import { type DigestRow, OrderBlock, type Wanted } from "./block-format.ts";
import { type BlockKey, digestRows } from "./block-tables.ts";

/**
 * Digests of shops' orders that are remembered by each reader thread. One of 200,000 orders takes about 27 million
 * bytes.
 */
export const digestsBytesMax = 67_108_864;

/** Questions of which the counts are remembered, of all shops. */
export const questionsMax = 32;

/** Open blocks, and orders of one, beyond which the digest is no help. */
const openBlocksMax = 64;
const openOrdersMax = 2_000;

/** A block of the digest. `block` is null while it has never been seen sealed. */
interface Place {
  readonly key: BlockKey;
  readonly block: OrderBlock | null;
}

/** A shop's digest as it was seen at some state. */
interface Remembered {
  readonly epoch: string;
  /** Number of times that the digest was sealed by then. */
  readonly changes: number;
  /** In order of age. */
  readonly places: readonly Place[];
  /** By key, as text, the index in `places`. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly bytes: number;
}

const nothing: Remembered = { epoch: "", changes: -1, places: [], indexes: new Map(), bytes: 0 };

/** By shop; the one that was asked for the longest time ago is forgotten first. */
const remembered = new Map<string, Remembered>();

/**
 * Remembered answer to a question: how many orders of each block match, and of all sealed blocks together in one state.
 */
interface Counted {
  readonly blocks: WeakMap<OrderBlock, number>;
  sealed: { readonly places: readonly Place[]; readonly open: string; readonly count: number } | null;
}

/** By shop and question. */
const counts = new RecentMap<Counted>(questionsMax);

const textOf = ({ created_from, id_from }: BlockKey): string => `${created_from} ${id_from}`;

const compareKeys = (a: BlockKey, b: BlockKey): number =>
  a.created_from - b.created_from || compareText(a.id_from, b.id_from);

interface SealedRow extends BlockKey {
  readonly facts: string;
}

const sealedAfter = (tx: Tx, shopId: string, changes: number): Promise<SealedRow[]> =>
  tx.all<SealedRow>(
    `select b.created_from, b.id_from, c.facts from purchase_order_block b
     join purchase_order_block_content c
       on c.shop_id = b.shop_id and c.created_from = b.created_from and c.id_from = b.id_from
     where b.shop_id = ? and b.changed > ?`,
    [shopId, changes],
  );

/** Returns the remembered answer with these blocks, of which the open ones may be new. */
function updated(
  known: Remembered,
  epoch: string,
  changes: number,
  sealed: readonly SealedRow[],
  open: readonly BlockKey[],
): Remembered {
  const added = open.filter((key) => !known.indexes.has(textOf(key)));
  if (sealed.length === 0 && added.length === 0) return { ...known, epoch, changes };
  const places = new Map(known.places.map((place) => [textOf(place.key), place] as const));
  let { bytes } = known;
  for (const { created_from, id_from, facts } of sealed) {
    const key = { created_from, id_from };
    bytes += (places.get(textOf(key))?.block ?? null) === null ? facts.length : 0;
    places.set(textOf(key), { key, block: OrderBlock.read(facts) });
  }
  for (const { created_from, id_from } of added) {
    const key = { created_from, id_from };
    places.set(textOf(key), { key, block: null });
  }
  const sorted = [...places.values()].sort((a, b) => compareKeys(a.key, b.key));
  return {
    epoch,
    changes,
    places: sorted,
    bytes,
    indexes: new Map(sorted.map(({ key }, index) => [textOf(key), index])),
  };
}

function remember(shopId: string, found: Remembered): void {
  remembered.delete(shopId);
  remembered.set(shopId, found);
  let bytes = [...remembered.values()].reduce((sum, each) => sum + each.bytes, 0);
  for (const [each, { bytes: freed }] of remembered) {
    if (bytes <= digestsBytesMax) return;
    remembered.delete(each);
    bytes -= freed;
  }
}

/** The digest as it is in this transaction. Null: there is none, or too many orders are in open blocks. */
interface Digest {
  readonly places: readonly Place[];
  /** Open blocks, from their rows, by index in `places`. */
  readonly open: ReadonlyMap<number, readonly DigestRow[]>;
}

async function loadDigest(tx: Tx, shopId: string): Promise<Digest | null> {
  const known = remembered.get(shopId) ?? nothing;
  const [[digest], open, sealed] = await Promise.all([
    tx.all<{ epoch: string; changes: number }>("select epoch, changes from purchase_order_digest where shop_id = ?", [
      shopId,
    ]),
    tx.all<BlockKey>(
      "select created_from, id_from from purchase_order_block where shop_id = ? and changed is null limit ?",
      [shopId, openBlocksMax + 1],
    ),
    sealedAfter(tx, shopId, known.changes),
  ]);
  if (digest === undefined || open.length > openBlocksMax) return null;
  const { epoch, changes } = digest;
  // Another digest, or an older state than the one that is remembered.
  const isKnown = known.epoch === epoch && known.changes <= changes;
  const base = isKnown ? known : nothing;
  const now = updated(base, epoch, changes, isKnown ? sealed : await sealedAfter(tx, shopId, -1), open);
  if (known.epoch !== epoch || known.changes <= changes) remember(shopId, now);
  const rows = await Promise.all(
    open.map(async (from): Promise<readonly [number, readonly DigestRow[]]> => {
      const index = now.indexes.get(textOf(from)) ?? 0;
      return [index, await digestRows(tx, shopId, from, now.places[index + 1]?.key ?? null, openOrdersMax + 1)];
    }),
  );
  if (rows.some(([, found]) => found.length > openOrdersMax)) return null;
  return { places: now.places, open: new Map(rows) };
}

/** The counts that are remembered for a question. */
function countsOf(shopId: string, { key }: Wanted): Counted {
  const question = JSON.stringify([shopId, key]);
  const found = counts.get(question) ?? { blocks: new WeakMap<OrderBlock, number>(), sealed: null };
  counts.set(question, found);
  return found;
}

/** An order's place in the list. */
export interface OrderKey {
  readonly created_at: number;
  readonly purchase_order_id: string;
}

interface Matches {
  readonly totalCount: number;
  /** Newest first, after the position. */
  readonly keys: readonly OrderKey[];
}

/** Orders of a block that belong to a page, if they are after the position. */
interface PageRange {
  readonly key: BlockKey;
  readonly createdAt: readonly number[];
  /** Null: they are read. */
  readonly ids: readonly string[] | null;
  /** Places in the block, newest first. */
  readonly places: readonly number[];
}

async function idsOf(tx: Tx, shopId: string, { key, ids }: PageRange): Promise<readonly string[]> {
  if (ids !== null) return ids;
  const [row] = await tx.all<{ ids: string }>(
    "select ids from purchase_order_block_content where shop_id = ? and created_from = ? and id_from = ?",
    [shopId, key.created_from, key.id_from],
  );
  const found: readonly string[] = JSON.parse(row?.ids ?? "[]");
  return found;
}

/** True if one order comes after another in the list, which is newest first. */
const isAfter = (key: OrderKey, position: OrderKey): boolean =>
  key.created_at < position.created_at ||
  (key.created_at === position.created_at && compareText(key.purchase_order_id, position.purchase_order_id) < 0);

const beginOf = ({ key }: Place): OrderKey => ({ created_at: key.created_from, purchase_order_id: key.id_from });

/** Which orders of a block come after the position. The next block, which is newer, is undefined for the newest. */
function shareAfter(place: Place, next: Place | undefined, after: OrderKey | null): "all" | "some" | "none" {
  if (after === null) return "all";
  if (!isAfter(beginOf(place), after)) return "none";
  return next === undefined || isAfter(after, beginOf(next)) ? "some" : "all";
}

/** Counts the matches, and finds the parts of a page, from the newest block on. */
function searchBlocks(
  { places, open }: Digest,
  wanted: Wanted,
  known: Counted,
  after: OrderKey | null,
  limit: number,
): { readonly totalCount: number; readonly parts: readonly PageRange[] } {
  const parts: PageRange[] = [];
  const openText = [...open.keys()].join(" ");
  const sealed = known.sealed?.places === places && known.sealed.open === openText ? known.sealed.count : null;
  const oldestOpen = Math.min(...open.keys());
  let sealedCount = 0;
  let openCount = 0;
  let found = 0;
  for (let index = places.length - 1; index >= 0; index -= 1) {
    const place = places[index];
    if (place === undefined) continue;
    if (sealed !== null && found >= limit && index < oldestOpen) break;
    const rows = open.get(index);
    const block = rows === undefined ? place.block : OrderBlock.of(rows);
    if (block === null) throw new Error("a sealed block has no content");
    const share = found < limit ? shareAfter(place, places[index + 1], after) : "none";
    const count = known.blocks.get(block);
    const matches = count === undefined || (share !== "none" && count > 0) ? block.matches(wanted) : [];
    if (rows === undefined) sealedCount += count ?? matches.length;
    else openCount += matches.length;
    if (count === undefined && rows === undefined) known.blocks.set(block, matches.length);
    if (share === "none" || matches.length === 0) continue;
    if (share === "all") found += matches.length;
    const ids = rows?.map((row) => row.purchase_order_id) ?? null;
    parts.push({ key: place.key, createdAt: block.createdAt, ids, places: matches.toReversed() });
  }
  if (sealed === null) known.sealed = { places, open: openText, count: sealedCount };
  return { totalCount: (sealed ?? sealedCount) + openCount, parts };
}

/**
 * Counts the orders that match and finds the keys of a page of them, newest first, by the digest.
 *
 * @param after where the page before ended; null for the first.
 * @returns null when the digest is no help: the shop has few orders, or many are outside sealed blocks.
 */
export async function matchesOf(
  tx: Tx,
  shopId: string,
  wantedOf: () => Promise<Wanted>,
  after: OrderKey | null,
  limit: number,
): Promise<Matches | null> {
  const [digest, wanted] = await Promise.all([loadDigest(tx, shopId), wantedOf()]);
  if (digest === null) return null;
  const { totalCount, parts } = searchBlocks(digest, wanted, countsOf(shopId, wanted), after, limit);
  const keys = await Promise.all(
    parts.map(async (part) => {
      const ids = await idsOf(tx, shopId, part);
      return part.places.map((place) => ({
        created_at: part.createdAt[place] ?? 0,
        purchase_order_id: ids[place] ?? "",
      }));
    }),
  );
  return {
    totalCount,
    keys: keys
      .flat()
      .filter((key) => after === null || isAfter(key, after))
      .slice(0, limit),
  };
}
