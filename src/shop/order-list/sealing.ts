/**
 * Moving orders into segments.
 *
 * Owns: which orders are in which segment, the rows of segments, articles and totals. Does not own: a segment's stored
 * form (segment.ts), when there is something to seal (segment-upkeep.ts).
 *
 * A turn seals orders of one segment and commits. Between turns every order is found: sealed, or in `order_recent`
 * (R4).
 *
 * Invariants:
 * - R5. Segments divide a shop's orders by age, without gaps. Totals count what is in segments.
 */
import { createHash } from "node:crypto";
import { compareText } from "../../base/text/compare-text.ts";
import { chunksOf, inListMax, selectIn } from "../../store/in-lists.ts";
import { type Change, insert, oneOf, remove, replace, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { wholeOrders } from "../order/purchase-orders.ts";
import { tables } from "../tables.ts";
import { type Article, type OrderFacts, articlesOf, factsOf } from "./order-facts.ts";
import { type RecentOrder, type SealedFacts, countedColumns, loadRecent } from "./order-recent.ts";
import {
  type SegmentHead,
  type SegmentKey,
  articlesOfWords,
  bodyOf,
  indexOf,
  loadHeads,
  oldest,
  saveBody,
  saveHeads,
} from "./segment-heads.ts";
import {
  type Bodies,
  type SealedOrder,
  articleIdsFrom,
  headerColumns,
  columnsText,
  factsFrom,
  postingColumns,
  postingsText,
  segmentOrdersMax,
} from "./segment.ts";

/** Recent orders beyond which some are sealed, and down to which. */
export const recentMax = 64;
const recentMin = 32;

/** Orders that one turn seals: some 5 ms. */
const sealOrdersMax = 128;

/** Characters of a segment's stamp. */
const stampLength = 16;

/** The segments that are about a recent order: that in which it was sealed, and that in which it belongs. */
function indexesOf(heads: readonly SegmentKey[], { purchaseOrderId, sealed, facts }: RecentOrder): Set<number> {
  const ages = [sealed, facts].flatMap((each) => each?.createdAtMs ?? []);
  return new Set(ages.map((atMs) => indexOf(heads, atMs, purchaseOrderId)));
}

// Articles.

/** Numbers of these articles, by key. Those that the shop does not have yet are added. */
async function numberArticles(
  tx: Tx,
  shopId: string,
  articles: ReadonlyMap<string, Article>,
): Promise<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  if (articles.size === 0) return numbers;
  const [[newest], rows] = await Promise.all([
    tx.all<{ last: number | null }>("select max(article_id) as last from order_article where shop_id = ?", [shopId]),
    selectIn<{ article_id: number; article_key: string }>(
      tx,
      "select article_id, article_key from order_article where shop_id = ? and variant_id in (?)",
      [shopId],
      [...articles.values()].map((article) => article.variantId),
    ),
  ]);
  for (const row of rows) numbers.set(row.article_key, row.article_id);
  const added = [...articles].filter(([key]) => !numbers.has(key));
  const first = (newest?.last ?? -1) + 1;
  const changes: Change[] = [];
  for (const [index, [key, article]] of added.entries()) {
    numbers.set(key, first + index);
    changes.push(
      insert(tables.order_article, shopId, {
        article_id: first + index,
        variant_id: article.variantId,
        sku: article.sku,
        barcode: article.barcode,
        supplier_sku: article.supplierSku,
        supplier_barcode: article.supplierBarcode,
        article_key: key,
      }),
    );
  }
  const words = added.map(([, article]) => article.words);
  await tx.batch([...changes, ...(await addWords(tx, shopId, first, words))]);
  return numbers;
}

/** Adds the words of articles, of which the first has this number. */
async function addWords(tx: Tx, shopId: string, first: number, words: readonly string[]): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (let index = 0; index < words.length;) {
    const group = Math.floor((first + index) / articlesOfWords);
    const end = (group + 1) * articlesOfWords - first;
    const known = (first + index) % articlesOfWords === 0 ? null : await bodyOf(tx, shopId, "words", wordsKey(group));
    const texts = [...(known === null ? [] : [known]), ...words.slice(index, end)];
    changes.push(saveBody(shopId, "words", wordsKey(group), texts.join("\n")));
    index = end;
  }
  return changes;
}

const wordsKey = (group: number): SegmentKey => ({ created_from: group, id_from: "" });

// Segments.

/** Columns of a segment with these names. */
async function loadBodies(
  tx: Tx,
  shopId: string,
  names: readonly string[],
  { created_from, id_from }: SegmentKey,
): Promise<Bodies> {
  const rows = await selectIn<{ name: string; body: string }>(
    tx,
    "select name, body from order_segment where shop_id = ? and created_from = ? and id_from = ? and name in (?)",
    [shopId, created_from, id_from],
    names,
  );
  return new Map(rows.map(({ name, body }) => [name, body]));
}

/** A segment that is sealed anew. */
interface OpenSegment {
  readonly index: number;
  readonly bodies: Bodies;
  readonly withArticles: boolean;
  readonly orders: Map<string, SealedOrder>;
}

async function openSegment(
  tx: Tx,
  shopId: string,
  heads: readonly SegmentHead[],
  index: number,
  withArticles: boolean,
): Promise<OpenSegment> {
  const names = withArticles ? [...headerColumns, ...postingColumns] : headerColumns;
  const bodies = await loadBodies(tx, shopId, names, heads[index] ?? oldest);
  const facts = factsFrom(bodies);
  const articleIds = withArticles ? articleIdsFrom(bodies, facts.length) : [];
  const orders = new Map(
    facts.map((each, place) => [each.purchaseOrderId, { facts: each, articleIds: articleIds[place] ?? [] }]),
  );
  return { index, bodies, withArticles, orders };
}

const byAge = ({ facts: one }: SealedOrder, { facts: other }: SealedOrder): number =>
  one.createdAtMs - other.createdAtMs || compareText(one.purchaseOrderId, other.purchaseOrderId);

/** A segment as it is stored; several, if its orders are too many for one. */
interface ClosedSegment {
  readonly heads: readonly SegmentHead[];
  readonly changes: readonly Change[];
}

function closeSegment(shopId: string, heads: readonly SegmentHead[], segment: OpenSegment): ClosedSegment {
  const { index, bodies, withArticles } = segment;
  const head = heads[index] ?? oldest;
  const orders = [...segment.orders.values()].sort(byAge);
  const pieceCount = Math.max(1, Math.ceil(orders.length / segmentOrdersMax));
  // Orders come to the newest segment as they are made, to others from anywhere.
  const size = index === heads.length - 1 ? segmentOrdersMax : Math.ceil(orders.length / pieceCount);
  const closed: { heads: SegmentHead[]; changes: Change[] } = { heads: [], changes: [] };
  for (let piece = 0; piece < pieceCount; piece += 1) {
    const some = orders.slice(piece * size, (piece + 1) * size);
    const [first] = some;
    const key =
      piece === 0 || first === undefined
        ? head
        : { created_from: first.facts.createdAtMs, id_from: first.facts.purchaseOrderId };
    const texts = [
      ...columnsText(some.map(({ facts }) => facts)),
      ...(withArticles ? postingsText(some.map(({ articleIds }) => articleIds)) : []),
    ].filter(([name, body]) => body !== (piece === 0 ? (bodies.get(name) ?? "") : ""));
    const stamp = createHash("sha256").update(piece === 0 ? head.stamp : "");
    for (const [name, body] of texts) {
      stamp.update(`${name} ${body}`);
      closed.changes.push(saveBody(shopId, name, key, body));
    }
    closed.heads.push({
      created_from: key.created_from,
      id_from: key.id_from,
      orders: some.length,
      stamp: stamp.digest("base64url").slice(0, stampLength),
    });
  }
  return closed;
}

/** True if the order's place or articles change. */
const isMoved = ({ facts, articles, sealed }: RecentOrder): boolean =>
  facts === null || sealed === null || articles !== null || facts.createdAtMs !== sealed.createdAtMs;

/** Changes the totals by what is sealed of these orders. */
function countChanges(shopId: string, orders: readonly RecentOrder[]): readonly Change[] {
  const counts = new Map<string, { readonly kind: string; readonly value: string; orders: number }>();
  const count = (facts: SealedFacts | OrderFacts | null, by: number): void => {
    for (const kind of countedColumns) {
      const value = facts?.[kind] ?? null;
      if (value === null) continue;
      const known = counts.get(`${kind} ${value}`) ?? { kind, value, orders: 0 };
      known.orders += by;
      counts.set(`${kind} ${value}`, known);
    }
  };
  for (const { facts, sealed } of orders) {
    count(sealed, -1);
    count(facts, 1);
  }
  return [...counts.values()].flatMap((row) =>
    row.orders === 0 ? [] : insert(tables.order_count, shopId, { ...row }, "add"),
  );
}

/** Moves these orders into segments (R4, R5). */
async function sealOrders(
  tx: Tx,
  shopId: string,
  heads: readonly SegmentHead[],
  orders: readonly RecentOrder[],
): Promise<void> {
  const touched = new Map<number, boolean>();
  for (const order of orders)
    for (const index of indexesOf(heads, order)) touched.set(index, (touched.get(index) ?? false) || isMoved(order));
  const articles = new Map(orders.flatMap((order) => [...(order.articles ?? [])]));
  const numbers = await numberArticles(tx, shopId, articles);
  const segments = new Map(
    await Promise.all(
      [...touched].map(
        async ([index, withArticles]) => [index, await openSegment(tx, shopId, heads, index, withArticles)] as const,
      ),
    ),
  );
  for (const { purchaseOrderId, facts, articles: own, sealed } of orders) {
    const from = sealed === null ? undefined : segments.get(indexOf(heads, sealed.createdAtMs, purchaseOrderId));
    const known = from?.orders.get(purchaseOrderId);
    if (sealed !== null && known === undefined) throw new Error(`${purchaseOrderId} is not in its segment`);
    from?.orders.delete(purchaseOrderId);
    if (facts === null) continue;
    const articleIds = own === null ? (known?.articleIds ?? []) : [...own.keys()].map((key) => numbers.get(key) ?? 0);
    const to = segments.get(indexOf(heads, facts.createdAtMs, purchaseOrderId));
    to?.orders.set(purchaseOrderId, { facts, articleIds });
  }
  const ids = orders.map((order) => order.purchaseOrderId);
  const closed = new Map([...segments].map(([index, segment]) => [index, closeSegment(shopId, heads, segment)]));
  const headsNow = heads.flatMap((head, index) => closed.get(index)?.heads ?? [head]);
  await tx.batch([
    ...[...closed.values()].flatMap(({ changes }) => changes),
    saveHeads(shopId, headsNow),
    ...countChanges(shopId, orders),
    ...chunksOf(ids, inListMax).map((some) => remove(tables.order_recent, shopId, { purchase_order_id: oneOf(some) })),
  ]);
}

/** True if so many orders are outside segments that lists become slower. */
export async function isBehind(tx: Tx, shopId: string): Promise<boolean> {
  const rows = await tx.all("select 1 as found from order_recent where shop_id = ? limit 1 offset ?", [
    shopId,
    recentMax,
  ]);
  return rows.length > 0;
}

/**
 * Seals the recent orders of one segment: of that which has the most.
 *
 * @param kept so many may stay.
 * @returns whether there is more to seal.
 */
export async function sealRecent(tx: Tx, shopId: string, kept: number = recentMin): Promise<boolean> {
  const [recent, heads] = await Promise.all([loadRecent(tx, shopId), loadHeads(tx, shopId)]);
  const bySegment = new Map<number, RecentOrder[]>();
  // Those that were made and deleted since are in no segment; they go with any.
  const nowhere: RecentOrder[] = [];
  for (const order of recent) {
    const indexes = indexesOf(heads, order);
    if (indexes.size === 0) nowhere.push(order);
    for (const index of indexes) bySegment.set(index, [...(bySegment.get(index) ?? []), order]);
  }
  const [most = []] = [...bySegment.values()].sort((one, other) => other.length - one.length);
  const sealed = [...nowhere, ...most].slice(0, sealOrdersMax);
  if (sealed.length === 0) return false;
  await sealOrders(tx, shopId, heads, sealed);
  return recent.length - sealed.length > kept;
}

// Filling.

/** Has all orders of the shop brought into segments anew. */
export const beginFilling = (shopId: string): Change =>
  replace(tables.order_fill, shopId, { created_at: Number.MIN_SAFE_INTEGER, purchase_order_id: "" });

/**
 * Brings the next of a shop's orders into segments that has none of them yet: after an upgrade or a restore.
 *
 * @returns whether there are more.
 */
export async function fillSegments(tx: Tx, shopId: string): Promise<boolean> {
  const [after] = await tx.all<{ created_at: number; purchase_order_id: string }>(
    "select created_at, purchase_order_id from order_fill where shop_id = ?",
    [shopId],
  );
  if (after === undefined) return false;
  if (after.purchase_order_id === "")
    await tx.batch(
      [tables.order_recent, tables.order_segment, tables.order_article, tables.order_count].map((table) =>
        remove(table, shopId),
      ),
    );
  const keys = await tx.all<{ created_at: number; purchase_order_id: string }>(
    `select created_at, purchase_order_id from purchase_order
     where shop_id = ? and deleted_at is null and (created_at, purchase_order_id) > (?, ?)
     order by created_at, purchase_order_id limit ?`,
    [shopId, after.created_at, after.purchase_order_id, sealOrdersMax],
  );
  const last = keys.at(-1);
  if (last === undefined) {
    await tx.batch([remove(tables.order_fill, shopId)]);
    return false;
  }
  const ids = keys.map((key) => key.purchase_order_id);
  const orders = await wholeOrders(tx, shopId, ids);
  const filled = orders.map((order) => ({
    purchaseOrderId: order.purchaseOrderId,
    facts: factsOf(order),
    articles: articlesOf(order),
    sealed: null,
  }));
  await sealOrders(tx, shopId, await loadHeads(tx, shopId), filled);
  await tx.batch([update(tables.order_fill, shopId, {}, { ...last })]);
  return true;
}

/** True if the shop has orders that are to be brought into segments first. */
export async function isUnfilled(tx: Tx, shopId: string): Promise<boolean> {
  return (await tx.all("select 1 as found from order_fill where shop_id = ?", [shopId])).length > 0;
}
