/**
 * The chain of hashes over a shop's audit log (tables `audit_link`, `audit_chain`). By it rows that were changed, put
 * in or taken out are found afterwards (audit-verification.ts). Its proof, and the way to check it from outside, are in
 * docs/audit.md.
 *
 * - A link stands for the rows that one transaction has written. It has the digest of each and is never changed. A row
 *   that a later request writes again (its answer has changed, it counts more refusals) is in a later link, too. The
 *   last one counts.
 * - The hash of a link is made of the one before, so the hash of the newest, the head, stands for all. The head is kept
 *   beside the links: without it nobody would miss the newest ones.
 * - On an embedded engine a link gets its place when it is written. Nodes write rows of reads outside the shop's turn,
 *   where no link is known to be the newest. There links wait for their places, and get them a little later in a turn
 *   (`placeLinks`).
 * - Pruning takes whole links from the beginning of the chain. The last of them becomes the anchor, from which the rest
 *   is checked.
 */
import { hash } from "node:crypto";
import { chunksOf, inListMax, placeholders } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { type AuditEntry, auditRowsAfter, auditRowsOf, auditStatement, type StoredAudit } from "./audit.ts";
import { type Change, changeOf, insert, update, remove, upTo, oneOf, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** SHA-256 as base64url without padding: 43 characters. */
const sha256 = (text: string): string => hash("sha256", text, "base64url");

/** The row as docs/audit.md writes it: a JSON array without white space, its members in this order. */
export const canonicalRow = (entry: AuditEntry): string =>
  JSON.stringify([
    entry.auditId,
    entry.atMs,
    entry.requestId,
    entry.traceId,
    entry.spanId,
    entry.tag,
    entry.keyId,
    entry.personId,
    entry.method,
    entry.path,
    entry.status,
    entry.errorCode,
    entry.durationMs,
    entry.replayed,
    entry.count,
    ...(entry.detail === undefined ? [] : [entry.detail]),
  ]);

/** Returns the digest of a row in a link. */
export const digestOf = (entry: AuditEntry): string => sha256(canonicalRow(entry));

/** A place in the chain, and the hash of the link there. Before the first link: 0 and no hash. */
export interface ChainPoint {
  readonly position: number;
  readonly hash: string;
}

/** The hash of the link after this one. */
export const hashAfter = (before: ChainPoint, shopId: string, digests: readonly string[]): string =>
  sha256([before.hash, shopId, before.position + 1, ...digests].join("\n"));

/** A row as a link has it. */
interface LinkedRow {
  readonly auditId: string;
  readonly digest: string;
}

/** Links as they are stored. */
export interface AuditLink {
  readonly linkId: string;
  /** Null: it waits for its place. */
  readonly place: ChainPoint | null;
  readonly rows: readonly LinkedRow[];
}

/**
 * The name of the link that has this version of a row first. Another version has another, so that no link is ever
 * replaced.
 */
const linkIdOf = ({ auditId, digest }: LinkedRow): string => `${auditId}.${digest.slice(0, 8)}`;

/** The name of the link that the row is in, as far as the row says. */
export const linkOf = ({ entry, linkId }: StoredAudit): string =>
  linkId ?? linkIdOf({ auditId: entry.auditId, digest: digestOf(entry) });

/**
 * The rows as one text: the first's digest, since the link's name has its id, then id and digest of each further one.
 */
const linkedText = (rows: readonly LinkedRow[]): string =>
  rows.map(({ auditId, digest }, index) => (index === 0 ? digest : `${auditId} ${digest}`)).join("\n");

interface LinkRow {
  readonly link_id: string;
  readonly position: number | null;
  readonly hash: string | null;
  readonly row_digests: string;
}

const firstRowOf = (linkId: string): string => linkId.slice(0, Math.max(0, linkId.lastIndexOf(".")));

function linkFrom({ link_id, position, hash: stored, row_digests }: LinkRow): AuditLink {
  const firstId = firstRowOf(link_id);
  const rows = row_digests.split("\n").map((line, index) => {
    const space = line.indexOf(" ");
    return index === 0 || space === -1
      ? { auditId: index === 0 ? firstId : "", digest: line }
      : { auditId: line.slice(0, space), digest: line.slice(space + 1) };
  });
  return { linkId: link_id, place: position === null ? null : { position, hash: stored ?? "" }, rows };
}

/** Where a shop's chain begins and ends. */
export interface Chain {
  /** The newest row from before there was a chain; null: there was none. */
  readonly unchainedUntil: string | null;
  /** The last link that was pruned. */
  readonly anchor: ChainPoint;
  /** When it was pruned; null: nothing was. */
  readonly anchorAtMs: number | null;
  /** The last link that was pruned when prunings had no rows in the chain (audit-retention.ts). */
  readonly unrecordedAnchor: number;
  readonly head: ChainPoint;
  /** When the head got its place. */
  readonly headAtMs: number;
}

interface ChainRow {
  readonly unchained_until: string | null;
  readonly anchor_position: number;
  readonly anchor_hash: string;
  readonly anchor_at: number | null;
  readonly unrecorded_anchor: number | null;
  readonly head_position: number;
  readonly head_hash: string;
  readonly head_at: number;
}

/** A shop's chain; null: it has none yet. */
export async function chainOf(tx: Tx, shopId: string): Promise<Chain | null> {
  const [row] = await tx.all<ChainRow>(
    `select unchained_until, anchor_position, anchor_hash, anchor_at, unrecorded_anchor, head_position, head_hash, head_at
     from audit_chain where shop_id = ?`,
    [shopId],
  );
  if (row === undefined) return null;
  return {
    unchainedUntil: row.unchained_until,
    anchor: { position: row.anchor_position, hash: row.anchor_hash },
    anchorAtMs: row.anchor_at,
    unrecordedAnchor: row.unrecorded_anchor ?? 0,
    head: { position: row.head_position, hash: row.head_hash },
    headAtMs: row.head_at,
  };
}

const beginning: ChainPoint = { position: 0, hash: "" };

/** Chain to which a link is added. */
interface Growing {
  readonly head: ChainPoint;
  /** Null: the chain begins now. */
  readonly headAtMs: number | null;
  readonly unchainedUntil: string | null;
}

/**
 * The chain as it is continued. One that begins leaves out the rows that are there. If somebody has deleted the row of
 * the chain, requests must not fail for it. The chain goes on after the newest link, and leaves out a place, which
 * verification finds.
 */
async function growingOf(tx: Tx, shopId: string): Promise<Growing> {
  const [row] = await tx.all<{ head_position: number; head_hash: string; head_at: number }>(
    "select head_position, head_hash, head_at from audit_chain where shop_id = ?",
    [shopId],
  );
  if (row !== undefined)
    return {
      head: { position: row.head_position, hash: row.head_hash },
      headAtMs: row.head_at,
      unchainedUntil: null,
    };
  const [[link], [waiting]] = await Promise.all([
    tx.all<{ position: number; hash: string }>(
      "select position, hash from audit_link where shop_id = ? and position is not null order by position desc limit 1",
      [shopId],
    ),
    tx.all<{ link_id: string }>(
      "select link_id from audit_link where shop_id = ? and position is null order by link_id limit 1",
      [shopId],
    ),
  ]);
  if (link !== undefined)
    return { head: { ...link, position: link.position + 1 }, headAtMs: null, unchainedUntil: null };
  const [newest] = await tx.all<{ audit_id: string }>(
    "select audit_id from audit_log where shop_id = ? and audit_id < ? order by audit_id desc limit 1",
    // Ids are letters, digits and underscores: none is after this.
    [shopId, waiting === undefined ? "~" : firstRowOf(waiting.link_id)],
  );
  return { head: beginning, headAtMs: null, unchainedUntil: newest?.audit_id ?? null };
}

/**
 * The link at this place becomes the head. There is none if the rows were linked before (`linkStatement`): the head
 * stays then.
 */
const headStatement = (shopId: string, head: ChainPoint, unchainedUntil: string | null, nowMs: number): Change =>
  changeOf(moveHead, [shopId, unchainedUntil, head.position, head.hash, nowMs, shopId, head.position]);

const moveHead = textForm(
  tables.audit_chain,
  `insert into audit_chain (shop_id, unchained_until, anchor_position, anchor_hash, head_position, head_hash, head_at)
   select ?, ?, 0, '', cast(? as bigint), ?, cast(? as bigint)
   where exists (select 1 from audit_link where shop_id = ? and position = ?)
   on conflict (shop_id) do update set
     head_position = excluded.head_position, head_hash = excluded.head_hash, head_at = excluded.head_at`,
  ["shop_id", null, null, null, null, null, null],
);

/**
 * The same version of a row is linked once: a request that is tried again after a lost answer of the database writes it
 * again.
 */
const linkStatement = (
  shopId: string,
  linkId: string,
  where: { readonly place: ChainPoint } | { readonly writtenOrder: number },
  rowDigests: string,
): Change => {
  const at =
    "place" in where
      ? { position: where.place.position, hash: where.place.hash, written_order: null }
      : { position: null, hash: null, written_order: where.writtenOrder };
  return insert(tables.audit_link, shopId, { link_id: linkId, ...at, row_digests: rowDigests }, "keep");
};

/** The statements that write rows and their link. */
function writing(shopId: string, entries: readonly AuditEntry[]) {
  const rows = entries.map((entry) => ({ auditId: entry.auditId, digest: digestOf(entry) }));
  const [first] = rows;
  if (first === undefined) throw new Error("a link has no rows");
  const linkId = linkIdOf(first);
  return {
    rows,
    linkId,
    rowStatements: entries.map((entry, index) => auditStatement(shopId, entry, index === 0 ? null : linkId)),
  };
}

/**
 * Returns the statements that write these rows together. Their link waits for its place.
 *
 * @param writtenOrder  greater than that of every link that this process has written before: a row that is written
 *   again is in the later one.
 */
export function waitingAudit(
  shopId: string,
  entries: readonly AuditEntry[],
  writtenOrder: number,
): readonly Statement[] {
  const { rows, linkId, rowStatements } = writing(shopId, entries);
  return [...rowStatements, linkStatement(shopId, linkId, { writtenOrder }, linkedText(rows))];
}

/**
 * Returns the statements that write these rows together, their link as the new head, and the head before it. Only in
 * the shop's turn.
 */
export async function placedAudit(tx: Tx, shopId: string, entries: readonly AuditEntry[], nowMs: number) {
  const before = await growingOf(tx, shopId);
  const { rows, linkId, rowStatements } = writing(shopId, entries);
  const place = pointAfter(before.head, shopId, rows);
  return {
    before,
    statements: [
      ...rowStatements,
      linkStatement(shopId, linkId, { place }, linkedText(rows)),
      headStatement(shopId, place, before.unchainedUntil, nowMs),
    ],
  };
}

const pointAfter = (head: ChainPoint, shopId: string, rows: readonly LinkedRow[]): ChainPoint => ({
  position: head.position + 1,
  hash: hashAfter(
    head,
    shopId,
    rows.map(({ digest }) => digest),
  ),
});

/**
 * Gives links that wait their places, in the shop's turn.
 *
 * @returns how many, at most `linksMax`, and the head before them.
 */
export async function placeLinks(
  tx: Tx,
  shopId: string,
  nowMs: number,
  linksMax: number,
): Promise<{ readonly placed: number; readonly before: Growing }> {
  const [before, waiting] = await Promise.all([
    growingOf(tx, shopId),
    tx.all<LinkRow>(
      `select link_id, position, hash, row_digests from audit_link
       where shop_id = ? and position is null order by written_order, link_id limit ?`,
      [shopId, linksMax],
    ),
  ]);
  if (waiting.length === 0) return { placed: 0, before };
  let { head } = before;
  const placing = waiting.map((row): Change => {
    head = pointAfter(head, shopId, linkFrom(row).rows);
    return update(tables.audit_link, shopId, { link_id: row.link_id }, { position: head.position, hash: head.hash });
  });
  await tx.batch([...placing, headStatement(shopId, head, before.unchainedUntil, nowMs)]);
  return { placed: waiting.length, before };
}

const linkColumns = "link_id, position, hash, row_digests";

/** Links after a place, and whether there are none after them. */
interface FollowingLinks {
  readonly links: readonly AuditLink[];
  readonly isEnd: boolean;
}

/** Links after a place, in their order, as many as have no more than `rowsMax` rows together, and at least one. */
export async function linksAfter(tx: Tx, shopId: string, position: number, rowsMax: number): Promise<FollowingLinks> {
  const found = await tx.all<LinkRow>(
    `select ${linkColumns} from audit_link where shop_id = ? and position > ? order by position, link_id limit ?`,
    [shopId, position, rowsMax],
  );
  const links = upToRows(found.map(linkFrom), rowsMax);
  return { links, isEnd: links.length === found.length && found.length < rowsMax };
}

/** The first of these links that have no more than so many rows together, and at least one. */
function upToRows(links: readonly AuditLink[], rowsMax: number): readonly AuditLink[] {
  let rows = 0;
  return links.filter((link, index) => {
    rows += link.rows.length;
    return index === 0 || rows <= rowsMax;
  });
}

/** Links that wait for their places. */
export async function linksWaiting(tx: Tx, shopId: string, linksMax: number): Promise<readonly AuditLink[]> {
  const found = await tx.all<LinkRow>(
    `select ${linkColumns} from audit_link where shop_id = ? and position is null order by written_order, link_id limit ?`,
    [shopId, linksMax],
  );
  return found.map(linkFrom);
}

/** Links by their names. */
export async function linksNamed(
  tx: Tx,
  shopId: string,
  linkIds: readonly string[],
): Promise<ReadonlyMap<string, AuditLink>> {
  const queries = chunksOf([...new Set(linkIds)], inListMax).map((chunk) =>
    tx.all<LinkRow>(
      `select ${linkColumns} from audit_link where shop_id = ? and link_id in (${placeholders(chunk.length)})`,
      [shopId, ...chunk],
    ),
  );
  const found = (await Promise.all(queries)).flat();
  return new Map(found.map((row) => [row.link_id, linkFrom(row)]));
}

/**
 * Deletes the oldest rows that are from before `untilMs`, about `rowsMax`. First go those that are in no link, being
 * from before the chain. Then whole links go from its beginning, of which the last becomes the anchor. A link stays as
 * long as one of its rows does, and those after it, too. A row that says that it is from the future, as the clock went
 * wrong, keeps nothing.
 *
 * @returns how many rows were deleted, and the new anchor; null: no link was.
 */
export async function sweepAudit(
  tx: Tx,
  shopId: string,
  { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
  rowsMax: number,
): Promise<Swept> {
  const [oldest] = await tx.all<{ at: number }>(
    "select at from audit_log where shop_id = ? order by audit_id limit 1",
    [shopId],
  );
  if (oldest === undefined || oldest.at >= untilMs) return nothingSwept;
  const first = await auditRowsAfter(tx, shopId, "", rowsMax);
  const old = first.filter(({ entry }) => entry.atMs < untilMs);
  const named = await linksNamed(tx, shopId, old.map(linkOf));
  const unlinked = old.filter((row) => !named.has(linkOf(row)));
  if (unlinked.length > 0) await tx.batch(deleting(shopId, unlinked));
  if (unlinked.length >= rowsMax) return { rows: unlinked.length, anchor: null };
  // A node may have left links without places, and the shop may have had no request since.
  await placeLinks(tx, shopId, nowMs, rowsMax);
  const swept = await sweepLinks(tx, shopId, { untilMs, nowMs }, rowsMax - unlinked.length);
  return { ...swept, rows: unlinked.length + swept.rows };
}

/** Rows that a sweep has deleted. */
interface Swept {
  readonly rows: number;
  readonly anchor: ChainPoint | null;
}

const nothingSwept: Swept = { rows: 0, anchor: null };

const deleting = (shopId: string, rows: readonly StoredAudit[]): readonly Change[] =>
  chunksOf(
    rows.map(({ entry }) => entry.auditId),
    inListMax,
  ).map((chunk) => remove(tables.audit_log, shopId, { audit_id: oneOf(chunk) }));

async function sweepLinks(
  tx: Tx,
  shopId: string,
  { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
  rowsMax: number,
): Promise<Swept> {
  const chain = await chainOf(tx, shopId);
  if (chain === null) return nothingSwept;
  const { links } = await linksAfter(tx, shopId, chain.anchor.position, rowsMax);
  const rows = await auditRowsOf(
    tx,
    shopId,
    links.flatMap((link) => link.rows.map(({ auditId }) => auditId)),
  );
  const ages = links.map((link) => ownRows(link, rows).map(({ entry }) => entry.atMs));
  const staying = ages.findIndex((all) => all.some((atMs) => atMs >= untilMs && atMs <= nowMs));
  const mayGo = staying === -1 ? ages : ages.slice(0, staying);
  const going = links.slice(0, mayGo.findLastIndex((all) => all.some((atMs) => atMs < untilMs)) + 1);
  const anchor = going.at(-1)?.place ?? null;
  if (anchor === null) return nothingSwept;
  const deleted = going.flatMap((link) => ownRows(link, rows));
  await tx.batch([
    ...deleting(shopId, deleted),
    remove(tables.audit_link, shopId, { position: upTo(anchor.position) }),
    update(
      tables.audit_chain,
      shopId,
      {},
      { anchor_position: anchor.position, anchor_hash: anchor.hash, anchor_at: nowMs },
    ),
  ]);
  return { rows: deleted.length, anchor };
}

/** The stored rows that are in this link, and in none after it. */
const ownRows = (link: AuditLink, rows: ReadonlyMap<string, StoredAudit>): readonly StoredAudit[] =>
  link.rows.flatMap(({ auditId }) => {
    const row = rows.get(auditId);
    return row !== undefined && linkOf(row) === link.linkId ? [row] : [];
  });
