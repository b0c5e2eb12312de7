/**
 * The question of an approval request to a client that shows people pages (C80): it leads to where they decide. Its
 * answer decides nothing. The call that goes on after it tells the request as it is then.
 *
 * The request's id goes along with the question. It is no secret: whoever sends it back reads a request of its own, and
 * writes nothing.
 */
import { inputRequired, type InputRequiredResult } from "@modelcontextprotocol/server";
import type { JsonObject } from "../base/json.ts";
import { getOwnRequest } from "../operations/approvals/tools.ts";
import { isReplay, type Reply } from "../requests/envelope.ts";
import { asObject } from "./schemas.ts";
import { type OperationTool, pendingStatus, toolOf } from "./tools.ts";

/** The name of the question among those of a call. */
const approvalQuestion = "approval";

/** The question about what has just been asked of people; null: nothing was, or there is no address to lead to. */
export function questionOf(reply: Reply): InputRequiredResult | null {
  if (reply.status !== pendingStatus || isReplay(reply)) return null;
  const { approvalRequestId, summary, url } = asObject(
    asObject(asObject(JSON.parse(reply.body))["data"])["approvalRequest"],
  );
  if (typeof approvalRequestId !== "string" || typeof url !== "string") return null;
  const message = `Somebody decides about this in the console, after signing in: ${typeof summary === "string" ? summary : ""}`;
  return inputRequired({
    inputRequests: { [approvalQuestion]: inputRequired.elicitUrl({ message, url }) },
    requestState: approvalRequestId,
  });
}

/** The call that tells what became of a request. */
export const callOfRequest = (
  approvalRequestId: string,
): { readonly tool: OperationTool; readonly arguments: JsonObject } => ({
  tool: toolOf(getOwnRequest),
  arguments: { approvalRequestId },
});
