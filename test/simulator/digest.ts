/** What a simulation has come to as one number: the same seed has the same one. */
import { createHash } from "node:crypto";
import type { Course } from "./world.ts";

export function digestOf({ attempts, ends, kills, elapsedMs, tasksRun }: Course): string {
  const told = attempts.map(({ requestId, deed, sentMs, answeredMs, reply }) => [
    requestId,
    deed,
    sentMs,
    answeredMs,
    reply?.status ?? null,
    reply?.body ?? null,
  ]);
  return createHash("sha256")
    .update(JSON.stringify([told, ends, kills, elapsedMs, tasksRun]))
    .digest("hex");
}
