/**
 * Verification of the audit log, slice by slice: what was changed in it, put in or taken out (audit-chain.ts). A slice
 * takes a bounded time and needs only the end of the one before. So the log may be of any length, and the shop is
 * served meanwhile.
 *
 * First come the links in their order. Each has its place, its hash follows from the one before, and the log has its
 * rows as it has their digests. Then the rows in theirs: each is in the link that it names.
 */
import type { Tx } from "../../store/store.ts";
import { auditRowsAfter, auditRowsOf, type StoredAudit } from "./audit.ts";
import {
  type AuditLink,
  type Chain,
  type ChainPoint,
  canonicalRow,
  chainOf,
  digestOf,
  hashAfter,
  linkOf,
  linksAfter,
  linksNamed,
  linksWaiting,
} from "./audit-chain.ts";
import { missingBeginning } from "./audit-retention.ts";

/** Kinds of findings. */
export const auditFindingKinds = ["changed", "put-in", "taken-out"] as const;

export interface AuditFinding {
  readonly kind: (typeof auditFindingKinds)[number];
  /** The row; null: only its place is known, or it is about the chain itself. */
  readonly auditId: string | null;
  /** The row's time as the log tells it; null: there is no row. */
  readonly atMs: number | null;
  /** The place in the chain; null: the row has none. */
  readonly position: number | null;
  readonly message: string;
}

/** Where a slice ended. */
export type AuditProgress =
  | { readonly part: "links"; readonly at: ChainPoint | null }
  | { readonly part: "rows"; readonly afterId: string };

interface AuditSlice {
  readonly findings: readonly AuditFinding[];
  /** Links and rows that this slice has looked at, rows from before the chain apart. */
  readonly links: number;
  readonly rows: number;
  readonly unchainedRows: number;
  /** Null: the log was verified whole. */
  readonly next: AuditProgress | null;
}

const none = { findings: [], links: 0, rows: 0, unchainedRows: 0 } as const;

/** Verifies the next slice, of about `rowsMax` rows. */
export async function verifyAudit(
  tx: Tx,
  shopId: string,
  progress: AuditProgress,
  rowsMax: number,
): Promise<AuditSlice> {
  const chain = await chainOf(tx, shopId);
  return progress.part === "links"
    ? await verifyLinks(tx, shopId, chain, progress.at, rowsMax)
    : await verifyRows(tx, shopId, chain, progress.afterId, rowsMax);
}

const places = (from: number, to: number): string => (from === to ? `link ${from}` : `links ${from} to ${to}`);

const ofChain = (kind: AuditFinding["kind"], position: number | null, message: string): AuditFinding => ({
  kind,
  auditId: null,
  atMs: null,
  position,
  message,
});

async function verifyLinks(
  tx: Tx,
  shopId: string,
  chain: Chain | null,
  at: ChainPoint | null,
  rowsMax: number,
): Promise<AuditSlice> {
  const anchor = chain?.anchor ?? { position: 0, hash: "" };
  // What was verified may have been pruned since.
  const from = at === null || at.position < anchor.position ? anchor : at;
  const { links: placed, isEnd } = await linksAfter(tx, shopId, from.position, rowsMax);
  // The end is where it is in this slice: requests may add links for as long as slices are asked for.
  const waiting = isEnd ? await linksWaiting(tx, shopId, rowsMax) : [];
  const links = [...placed, ...waiting];
  const rows = await rowsIn(tx, shopId, links);
  const others = await otherLinksOf(tx, shopId, links, rows);
  const missing = at === null && chain !== null ? await missingBeginning(tx, shopId, chain) : [];
  const findings: AuditFinding[] = [];
  const find = (fault: AuditFinding | null): void => {
    if (fault !== null) findings.push(fault);
  };
  const findInRows = (link: AuditLink): void => {
    for (const { auditId, digest } of link.rows) find(rowFault({ auditId, digest, link }, rows.get(auditId), others));
  };
  let last: ChainPoint = from;
  for (const link of placed) {
    if (link.place !== null) {
      find(placeFault(last, shopId, link, link.place, rows));
      last = link.place;
    }
    findInRows(link);
  }
  if (isEnd) find(headFault(chain, last));
  for (const link of waiting) findInRows(link);
  for (const each of missing) find({ kind: "taken-out", ...each });
  return {
    ...none,
    findings,
    links: links.length,
    rows: links.reduce((sum, link) => sum + link.rows.length, 0),
    next: isEnd ? { part: "rows", afterId: "" } : { part: "links", at: last },
  };
}

const rowsIn = (tx: Tx, shopId: string, links: readonly AuditLink[]): Promise<ReadonlyMap<string, StoredAudit>> =>
  auditRowsOf(
    tx,
    shopId,
    links.flatMap((link) => link.rows.map(({ auditId }) => auditId)),
  );

/** The links that these rows name, beside those in which they were found. */
async function otherLinksOf(
  tx: Tx,
  shopId: string,
  links: readonly AuditLink[],
  rows: ReadonlyMap<string, StoredAudit>,
): Promise<ReadonlyMap<string, AuditLink>> {
  const linkIds = links.flatMap((link) =>
    link.rows.flatMap(({ auditId }) => {
      const row = rows.get(auditId);
      const named = row === undefined ? link.linkId : linkOf(row);
      return named === link.linkId ? [] : [named];
    }),
  );
  return await linksNamed(tx, shopId, linkIds);
}

/** Returns the fault in the place of a link, or in its hash. */
function placeFault(
  before: ChainPoint,
  shopId: string,
  link: AuditLink,
  place: ChainPoint,
  rows: ReadonlyMap<string, StoredAudit>,
): AuditFinding | null {
  const [first] = link.rows;
  const ofFirst = (kind: AuditFinding["kind"], message: string): AuditFinding => ({
    kind,
    auditId: first?.auditId ?? null,
    atMs: rows.get(first?.auditId ?? "")?.entry.atMs ?? null,
    position: place.position,
    message,
  });
  if (place.position === before.position)
    return ofFirst("put-in", `The chain has more than one link ${place.position}.`);
  if (place.position > before.position + 1)
    return ofChain(
      "taken-out",
      before.position + 1,
      `The chain lacks ${places(before.position + 1, place.position - 1)}, with all rows in them.`,
    );
  const expected = hashAfter(
    before,
    shopId,
    link.rows.map(({ digest }) => digest),
  );
  if (expected === place.hash) return null;
  return ofFirst(
    "changed",
    `Link ${place.position} does not follow from the one before: it, or the order of links, was changed after it was written.`,
  );
}

/** Returns the fault in a row that a link has. */
function rowFault(
  { auditId, digest, link }: { readonly auditId: string; readonly digest: string; readonly link: AuditLink },
  row: StoredAudit | undefined,
  others: ReadonlyMap<string, AuditLink>,
): AuditFinding | null {
  const position = link.place?.position ?? null;
  if (row === undefined)
    return { kind: "taken-out", auditId, atMs: null, position, message: "The row was written and is not there." };
  const found = digestOf(row.entry);
  const named = linkOf(row);
  if (named === link.linkId ? found === digest : isLater(others.get(named), { auditId, digest: found }, position))
    return null;
  return {
    kind: "changed",
    auditId,
    atMs: row.entry.atMs,
    position,
    message: "The row is not as it was written.",
  };
}

/** True if a row was written again later, in this other link. That it is as that says is seen there. */
const isLater = (
  other: AuditLink | undefined,
  row: { readonly auditId: string; readonly digest: string },
  position: number | null,
): boolean =>
  other !== undefined &&
  other.rows.some(({ auditId, digest }) => auditId === row.auditId && digest === row.digest) &&
  (other.place === null || (position !== null && other.place.position > position));

/** Returns the fault in the head, when the last link is this. */
function headFault(chain: Chain | null, last: ChainPoint): AuditFinding | null {
  if (chain === null)
    return last.position === 0 ? null : ofChain("taken-out", null, "The shop's record of the head was taken out.");
  const { head } = chain;
  if (head.position > last.position)
    return ofChain(
      "taken-out",
      last.position + 1,
      `The chain ends before its head: it lacks ${places(last.position + 1, head.position)}, with all rows in them.`,
    );
  if (head.position < last.position)
    return ofChain("put-in", head.position + 1, `The chain goes on after its head, link ${head.position}.`);
  return head.hash === last.hash
    ? null
    : ofChain("changed", head.position, "The newest link and the shop's record of the head differ.");
}

async function verifyRows(
  tx: Tx,
  shopId: string,
  chain: Chain | null,
  afterId: string,
  rowsMax: number,
): Promise<AuditSlice> {
  const rows = await auditRowsAfter(tx, shopId, afterId, rowsMax);
  const last = rows.at(-1);
  const links = await linksNamed(tx, shopId, rows.map(linkOf));
  const unlinked = rows.filter((row) => {
    const link = links.get(linkOf(row));
    return link === undefined || !link.rows.some(({ auditId }) => auditId === row.entry.auditId);
  });
  const until = chain?.unchainedUntil ?? null;
  const isBefore = ({ entry }: StoredAudit): boolean => chain === null || (until !== null && entry.auditId <= until);
  const strange = unlinked.filter((row) => !isBefore(row));
  return {
    ...none,
    findings: strange.map(({ entry }) => ({
      kind: "put-in",
      auditId: entry.auditId,
      atMs: entry.atMs,
      position: null,
      message: "No link has this row: it was put in or changed, or a release from before the chain has written it.",
    })),
    unchainedRows: unlinked.length - strange.length,
    next: last === undefined || rows.length < rowsMax ? null : { part: "rows", afterId: last.entry.auditId },
  };
}

/**
 * States of a head that was noted before: `pruned` when it is older than the anchor, so that nothing is left to compare
 * it with.
 */
export const notedHeadStates = ["confirmed", "pruned", "changed", "taken-out"] as const;

/** Compares a head that was noted before with the link at its place now. All links up to it stand behind its hash. */
export async function compareNotedHead(
  tx: Tx,
  shopId: string,
  noted: ChainPoint,
): Promise<(typeof notedHeadStates)[number]> {
  const chain = await chainOf(tx, shopId);
  if (chain === null || chain.head.position < noted.position) return "taken-out";
  if (noted.position < chain.anchor.position) return "pruned";
  if (noted.position === chain.anchor.position) return noted.hash === chain.anchor.hash ? "confirmed" : "changed";
  const [link] = (await linksAfter(tx, shopId, noted.position - 1, 1)).links;
  if (link?.place?.position !== noted.position) return "taken-out";
  return link.place.hash === noted.hash ? "confirmed" : "changed";
}

/** A page of the chain as an export has it, links with the rows that are in no later one. */
export async function exportedLinks(tx: Tx, shopId: string, after: number, until: number, rowsMax: number) {
  const following = await linksAfter(tx, shopId, after, rowsMax);
  const links = following.links.filter(({ place }) => (place?.position ?? 0) <= until);
  const rows = await rowsIn(tx, shopId, links);
  return links.map((link) => ({
    ...(link.place ?? { position: 0, hash: "" }),
    rows: link.rows.map(({ auditId, digest }) => {
      const row = rows.get(auditId);
      const isHere = row !== undefined && linkOf(row) === link.linkId;
      return { auditId, digest, row: isHere ? canonicalRow(row.entry) : null };
    }),
  }));
}
