/** The chain of hashes over a shop's audit log: its head, its verification, its export (docs/audit.md). */
import { z } from "zod";
import { decodeAnyCursor, encodeCursor, hasKinds, invalidCursor } from "../../base/cursor.ts";
import { neutralisedJson } from "../../base/text/plain-text.ts";
import { AuditTrail } from "../../requests/audit/audit-trail.ts";
import { instant } from "../../operations/fields.ts";
import { type ChainPoint, chainOf } from "../../shop/audit/audit-chain.ts";
import {
  auditFindingKinds,
  type AuditProgress,
  compareNotedHead,
  exportedLinks,
  notedHeadStates,
  verifyAudit,
} from "../../shop/audit/audit-verification.ts";
import { type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";

/**
 * Rows of the audit log that one slice of its verification looks at, or one page of its links has; a link is never
 * divided.
 */
export const auditRowsVerifiedMax = 500;

const pointSchema = z.strictObject({
  position: z.int().meta({ description: "Its place in the chain; the first link has 1." }),
  hash: z.string(),
});

const chainSchema = z.strictObject({
  anchor: z.strictObject({ ...pointSchema.shape, prunedAt: z.string().nullable() }).meta({
    description: "The last link that was deleted with its old rows; the rest is verified from it. 0: none was.",
  }),
  head: z
    .strictObject({ ...pointSchema.shape, at: z.string().nullable() })
    .meta({ description: "The newest link. Its hash stands for all before it." }),
});

/** Gives links that wait their places, so that the head stands for everything that was answered. */
async function placed({ engine, clock, calls: { log } }: AdminContext, shopId: string): Promise<void> {
  await engine.peek(shopId, (tx) => shopOf(tx, shopId));
  await new AuditTrail({ engine, clock, log }).place(shopId);
}

async function chainIn({ engine }: AdminContext, shopId: string): Promise<z.output<typeof chainSchema>> {
  const chain = await engine.read(shopId, (tx) => chainOf(tx, shopId));
  const none = { position: 0, hash: "" };
  return {
    anchor: {
      ...(chain?.anchor ?? none),
      prunedAt: typeof chain?.anchorAtMs === "number" ? instant(chain.anchorAtMs) : null,
    },
    head: { ...(chain?.head ?? none), at: chain === null ? null : instant(chain.headAtMs) },
  };
}

export const auditChain = operation({
  name: "audit_log_chain",
  route: { method: "GET", path: "/shops/{shopId}/audit-log/chain" },
  role: "owner",
  describes: {
    summary: "Where the chain of hashes over the audit log begins and ends.",
    description:
      "Whoever notes the head elsewhere can have it compared later: nothing that was written until then can have been changed unnoticed.",
    output: z.strictObject({ chain: chainSchema }),
  },
  input: z.strictObject({ ...inShop }),
  async run(context, { shopId }) {
    await placed(context, shopId);
    return data({ chain: await chainIn(context, shopId) });
  },
});

const findingSchema = z.strictObject({
  kind: z.enum(auditFindingKinds),
  auditId: z.string().nullable().meta({ description: "The row; null when only its place is known." }),
  at: z.string().nullable().meta({ description: "The row's time, as the log tells it." }),
  position: z.int().nullable().meta({ description: "The place of its link; null when it is in none." }),
  message: z.string(),
});

export const auditVerification = operation({
  name: "audit_log_verify",
  route: { method: "GET", path: "/shops/{shopId}/audit-log/verification" },
  role: "owner",
  describes: {
    summary: "Verifies a slice of the audit log against its chain of hashes.",
    description:
      "Each call looks at a bounded number of rows; `cursor` leads to the next slice and is null when the log was verified whole. Findings name rows that were changed, put in or taken out, in the order of the chain, then rows that are in no link.",
    output: z.strictObject({
      findings: z.array(findingSchema),
      links: z.int().meta({ description: "Links that this slice has looked at." }),
      rows: z.int().meta({ description: "Rows of these links." }),
      unchainedRows: z.int().meta({ description: "Rows from before the chain began; nothing is known of them." }),
      chain: chainSchema,
      notedHead: z
        .enum(notedHeadStates)
        .nullable()
        .meta({ description: "What became of the head that was given, in the first slice." }),
      cursor: z.string().nullable(),
    }),
  },
  input: z.strictObject({
    ...inShop,
    head: z
      .string()
      .regex(/^\d{1,15}:[\w-]{43}$/, "must be a head as it was noted: its position, a colon, its hash")
      .optional()
      .meta({
        description: "A head that was noted earlier, as `position:hash`: whether the chain still leads through it.",
      }),
    cursor: z.string().min(1).optional(),
  }),
  async run(context, { shopId, head, cursor }) {
    const scope = { list: "audit-verification", shopId, filters: { head } };
    const isFirst = cursor === undefined;
    if (isFirst) await placed(context, shopId);
    const progress = isFirst ? ({ part: "links", at: null } as const) : progressOf(decodeAnyCursor(scope, cursor));
    const noted = isFirst && head !== undefined ? pointOf(head) : null;
    const [slice, notedHead] = await context.engine.read(shopId, (tx) =>
      Promise.all([
        verifyAudit(tx, shopId, progress, auditRowsVerifiedMax),
        noted === null ? null : compareNotedHead(tx, shopId, noted),
      ]),
    );
    const { findings, links, rows, unchainedRows, next } = slice;
    return data({
      findings: findings.map(({ atMs, ...finding }) => ({ ...finding, at: atMs === null ? null : instant(atMs) })),
      links,
      rows,
      unchainedRows,
      chain: await chainIn(context, shopId),
      notedHead,
      cursor: next === null ? null : encodeCursor(scope, keysOf(next)),
    });
  },
});

const pointOf = (noted: string): ChainPoint => {
  const [position = "", hash = ""] = noted.split(":");
  return { position: Number(position), hash };
};

const keysOf = (progress: AuditProgress): readonly (string | number)[] =>
  progress.part === "rows"
    ? ["rows", progress.afterId]
    : ["links", progress.at?.position ?? 0, progress.at?.hash ?? ""];

function progressOf(position: unknown): AuditProgress {
  if (hasKinds(position, ["string", "string"]) && position[0] === "rows") return { part: "rows", afterId: position[1] };
  if (!hasKinds(position, ["string", "number", "string"]) || position[0] !== "links") throw invalidCursor();
  return { part: "links", at: { position: position[1], hash: position[2] } };
}

export const auditExport = operation({
  name: "audit_log_export",
  route: { method: "GET", path: "/shops/{shopId}/audit-log/export" },
  role: "owner",
  describes: {
    summary: "The audit log with its chain of hashes, as a file that anybody can verify.",
    description:
      "NDJSON: where the chain begins and ends, then a line for each link, in order, with the rows in it. docs/audit.md has the form that is hashed, and a program that verifies the file.",
    output: { file: "application/x-ndjson" },
  },
  input: z.strictObject({ ...inShop }),
  async run(context, { shopId }) {
    await placed(context, shopId);
    return { file: exportLines(context, shopId), contentType: "application/x-ndjson" };
  },
});

async function* exportLines(context: AdminContext, shopId: string): AsyncGenerator<string> {
  const { anchor, head } = await chainIn(context, shopId);
  const pointAt = ({ position, hash }: ChainPoint): ChainPoint => ({ position, hash });
  yield `${JSON.stringify({ shopId, anchor: pointAt(anchor), head: pointAt(head) })}\n`;
  let after = anchor.position;
  while (after < head.position) {
    const from = after;
    const links = await context.engine.read(shopId, (tx) =>
      exportedLinks(tx, shopId, from, head.position, auditRowsVerifiedMax),
    );
    const last = links.at(-1);
    if (last === undefined) return;
    after = last.position;
    yield neutralisedJson(links.map(lineOf).join(""));
  }
}

/** Rows stand in the file in the form that is hashed. */
const lineOf = ({ position, hash, rows }: Awaited<ReturnType<typeof exportedLinks>>[number]): string => {
  const listed = rows.map(
    ({ auditId, digest, row }) =>
      `{"auditId":${JSON.stringify(auditId)},"digest":${JSON.stringify(digest)},"row":${row ?? "null"}}`,
  );
  return `{"position":${position},"hash":${JSON.stringify(hash)},"rows":[${listed.join(",")}]}\n`;
};
