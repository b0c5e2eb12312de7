/**
 * Acts of the operator on a shop, in the shop's audit log (§7): a row for each act, by neither key nor person. Acts of
 * people have theirs with their requests (app.ts).
 */
import type { FaultCode } from "../base/fault.ts";
import { auditAlone, auditRowOf } from "../requests/audit/audit.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import { asFault } from "../requests/envelope.ts";
import { operatorHere } from "../requests/sessions.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import type { AdminAnswer, AdminCall, AdminContext } from "./operation.ts";

/** An operation as its row names it. */
interface Act {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

const noTrace = { traceId: null, spanId: null };

/** The row of an act as it ends now. */
export function rowOfAct(
  { clock, ids }: Pick<AdminContext, "clock" | "ids">,
  { requestId, trace, person }: Pick<AdminCall, "requestId" | "trace" | "person">,
  { operation, method, path }: Act,
  { status, errorCode = null, startedAtMs = clock.now() }: Outcome,
): AuditEntry {
  const request = { requestId, trace: trace ?? noTrace, request: { method }, path };
  const named = { auditId: ids.next("aud"), startedAtMs, operation, person: person ?? operatorHere };
  return auditRowOf(request, named, { status, errorCode, nowMs: clock.now() });
}

interface Outcome {
  readonly status: number;
  readonly errorCode?: FaultCode | null;
  readonly startedAtMs?: number;
}

export const auditTrailOf = ({ engine, clock, calls: { log } }: AdminContext): AuditTrail =>
  new AuditTrail({ engine, clock, log });

/**
 * Does what the operator asks for, and writes its row whatever becomes of it: a refusal may come after a part was done.
 */
export async function withRow(
  context: AdminContext,
  call: AdminCall,
  shopId: string,
  act: Act,
  run: () => Promise<AdminAnswer>,
): Promise<AdminAnswer> {
  const startedAtMs = context.clock.now();
  try {
    const answer = await run();
    const status = "status" in answer ? answer.status : 200;
    await writeRow(context, shopId, rowOfAct(context, call, act, { status, startedAtMs }));
    return answer;
  } catch (error) {
    const { status, code: errorCode } = asFault(error);
    await writeRow(context, shopId, rowOfAct(context, call, act, { status, errorCode, startedAtMs }));
    throw error;
  }
}

/**
 * The act is done: if its row cannot be written, the process's log tells of it. A shop that is not there has no log.
 */
async function writeRow(context: AdminContext, shopId: string, entry: AuditEntry): Promise<void> {
  const { engine, calls } = context;
  try {
    if (!(await engine.exists(shopId))) return;
    const trail = auditTrailOf(context);
    await engine.write(shopId, async (tx) => tx.batch(await trail.statements(tx, shopId, [entry])), auditAlone);
  } catch (error) {
    calls.log.warn(
      { shopId, ...entry, err: error },
      "an act of the operator has no audit row: the store cannot be written",
    );
  }
}
