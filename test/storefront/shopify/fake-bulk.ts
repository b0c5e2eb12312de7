/** Bulk operations of the fake: what a query finds, as the lines of a file. */
import assert from "node:assert/strict";
import { type DocumentNode, parse, type SelectionNode } from "graphql";

interface Node {
  readonly id: string;
  readonly [member: string]: unknown;
}

interface Connection {
  readonly edges: readonly { readonly node: Node }[];
}

const isConnection = (value: unknown): value is Connection =>
  typeof value === "object" && value !== null && "edges" in value && Array.isArray(value.edges);

interface Line {
  readonly text: string;
  readonly isPart: boolean;
}

/** Each node is a line without its own connections, whose nodes are lines with `__parentId`. */
function linesOf(connection: Connection, parentId: string | null): readonly Line[] {
  return connection.edges.flatMap(({ node }) => {
    const own: Record<string, unknown> = {};
    const parts: Line[] = [];
    for (const [member, value] of Object.entries(node))
      if (isConnection(value)) parts.push(...linesOf(value, node.id));
      else own[member] = value;
    if (parentId !== null) own["__parentId"] = parentId;
    return [{ text: JSON.stringify(own), isPart: parentId !== null }, ...parts];
  });
}

/** The file of what a bulk query has found. Without grouping, parts stand anywhere: here before what they belong to. */
export function bulkFile(data: Readonly<Record<string, unknown>>, grouped: boolean): { text: string; count: number } {
  const [found] = Object.values(data);
  assert.ok(isConnection(found), "a bulk query without a connection");
  const lines = linesOf(found, null);
  const ordered = grouped ? lines : [...lines].sort((a, b) => Number(b.isPart) - Number(a.isPart));
  return { text: ordered.map(({ text }) => `${text}\n`).join(""), count: lines.length };
}

const depthOf = (selections: readonly SelectionNode[]): number =>
  Math.max(
    0,
    ...selections.map(
      ({ name, selectionSet }) => depthOf(selectionSet?.selections ?? []) + (name?.value === "edges" ? 1 : 0),
    ),
  );

/** The query as a document; a text for one that Shopify does not run in bulk. */
export function bulkDocument(query: string): DocumentNode | string {
  const document = parse(query);
  const fields = document.definitions.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  if (fields.length !== 1) return "Bulk queries must have one top-level field.";
  const depth = depthOf(fields);
  if (depth === 0) return "Bulk queries must contain at least one connection.";
  // Two levels below the first.
  if (depth > 3) return "Bulk queries cannot contain connections nested deeper than 2 levels.";
  if (/\bfirst:|\bafter:/.test(query.replaceAll(/fulfillments\(first: \d+\)/g, "")))
    return "Bulk queries take no page arguments.";
  return document;
}

/** From when on a filter (`updated_at:>='…'`) wants things; 0 without one. */
export function filterSince(filter: string | null | undefined, member: string): number {
  const [, time] = new RegExp(`${member}:>='([^']+)'`).exec(filter ?? "") ?? [];
  if (time === undefined) return 0;
  const atMs = Date.parse(time);
  assert.ok(Number.isFinite(atMs), `no time: ${time}`);
  return atMs;
}
