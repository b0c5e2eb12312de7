/** An approval request as answers show it (C77, C80). */
import { z } from "zod";
import { approvalStatuses, type ApprovalCause, type ApprovalStatus } from "../../core/access/approvals.ts";
import { actorTypes, type Actor } from "../../core/access/actor.ts";
import type { ApprovalRequest, ListedRequest } from "../../shop/access/approval-requests.ts";

const instant = (atMs: number): string => new Date(atMs).toISOString();

const actorSchema = z.strictObject({
  type: z.enum(actorTypes),
  id: z.string().nullable(),
  name: z.string().nullable(),
  keyId: z.string().optional(),
});

const actorJson = ({ keyId = null, ...actor }: Actor): z.output<typeof actorSchema> =>
  keyId === null ? actor : { ...actor, keyId };

export const causeSchema = z
  .strictObject({
    cause: z.enum(["scope", "limit", "rule"]),
    limit: z.string().optional(),
    allowed: z.union([z.number(), z.array(z.string())]).optional(),
    used: z.number().nullable().optional(),
    asked: z.union([z.number(), z.string()]).nullable().optional(),
    ruleId: z.string().optional(),
    name: z.string().optional(),
  })
  .meta({
    id: "ApprovalCause",
    description:
      "Why a write needs a decision: the key's scope, a limit of it with its figures, or a rule of the shop.",
  });

/** A cause without who decides about it. */
export function causeJson(cause: ApprovalCause): z.output<typeof causeSchema> {
  if (cause.cause === "rule") return { cause: cause.cause, ruleId: cause.ruleId, name: cause.name };
  if (cause.cause === "scope") return cause;
  const { allowed } = cause;
  return { ...cause, allowed: typeof allowed === "number" ? allowed : [...allowed] };
}

const changeSchema = z.strictObject({
  field: z.string(),
  poLineItemId: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
});

export const approvalRequestSchema = z
  .strictObject({
    approvalRequestId: z.string(),
    operation: z.string(),
    purchaseOrderId: z.string().optional(),
    summary: z.string(),
    status: z.enum(approvalStatuses),
    causes: z.array(causeSchema),
    preview: z.unknown().meta({ description: "What the write would have answered." }),
    changes: z.array(changeSchema).meta({ description: "Fields that it would change." }),
    requestedBy: actorSchema,
    requestedAt: z.string(),
    expiresAt: z.string(),
    decidedBy: actorSchema.optional(),
    decidedAt: z.string().optional(),
    comment: z.string().nullable().optional(),
    now: z
      .strictObject({ preview: z.unknown(), changes: z.array(changeSchema) })
      .optional()
      .meta({ description: "Of one that was overtaken: what it would have done when it was approved." }),
    refusal: z
      .strictObject({ code: z.string(), reason: z.string().nullable(), message: z.string() })
      .optional()
      .meta({ description: "Of one that has failed: what it was refused with when it was approved." }),
    url: z.string().nullable().meta({ description: "Where people decide." }),
    advice: z.string().optional().meta({ description: "Of one that waits: who decides, and what to do meanwhile." }),
  })
  .meta({ id: "ApprovalRequest", description: "A write that waits for a person's decision, or was decided." });

/** The status as it is now. */
export const statusNow = ({ status, expiresAtMs }: ListedRequest, nowMs: number): ApprovalStatus =>
  status === "pending" && expiresAtMs <= nowMs ? "expired" : status;

/** A request in a list: without what it would do. */
export const listedRequestSchema = approvalRequestSchema.omit({ preview: true, changes: true, now: true });

export function listedRequestJson(request: ListedRequest, nowMs: number): z.output<typeof listedRequestSchema> {
  const { approvalRequestId, operation, purchaseOrderId, summary, causes, decision, url } = request;
  const status = statusNow(request, nowMs);
  return {
    approvalRequestId,
    operation,
    ...(purchaseOrderId === null ? {} : { purchaseOrderId }),
    summary,
    status,
    causes: causes.map(causeJson),
    requestedBy: actorJson(request.requestedBy),
    requestedAt: instant(request.requestedAtMs),
    expiresAt: instant(request.expiresAtMs),
    ...(decision === null
      ? {}
      : { decidedBy: actorJson(decision.by), decidedAt: instant(decision.atMs), comment: decision.comment }),
    ...(decision?.refusal === undefined ? {} : { refusal: { ...decision.refusal } }),
    url,
    ...(status === "pending" ? { advice: request.advice } : {}),
  };
}

const previewJson = ({ preview, changes }: Pick<ApprovalRequest, "preview" | "changes">) => ({
  preview,
  changes: changes.map((change) => ({ ...change })),
});

export const approvalRequestJson = (
  request: ApprovalRequest,
  nowMs: number,
): z.output<typeof approvalRequestSchema> => ({
  ...listedRequestJson(request, nowMs),
  ...previewJson(request),
  ...(request.now === null ? {} : { now: previewJson(request.now) }),
});
