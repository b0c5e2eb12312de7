/**
 * The loop of `openpo backup --follow`: one look after another at the server that runs on the data directory, for as
 * long as the process runs.
 *
 * While no server runs, nothing changes, and the directory is left alone: whoever opened it would keep a server from
 * starting.
 */
import { sleep } from "../../base/time/waiting.ts";
import { systemClock } from "../../base/time/system.ts";
import { lockDataDirectory, recordedServer } from "../../service/data-directory.ts";
import { serverUrl, whoAnswers } from "../admin-client.ts";
import type { CommandContext } from "../command.ts";
import { CommandError, commandErrorOf, exitCodes } from "../errors.ts";
import { Follower } from "./follow.ts";
import { openOperator } from "../operator.ts";
import { bytesShown } from "../output.ts";

interface Following {
  readonly directory: string;
  readonly everyMs: number;
  readonly keptMs: number;
  /** It ends after one look. */
  readonly isOnce: boolean;
}

interface Followed {
  readonly polls: number;
  readonly rounds: number;
  readonly bytes: number;
}

/**
 * Looks again and again. A look that fails is told, and the next one is made.
 *
 * @throws CommandError when the directory cannot be used, or the only look fails.
 */
export async function followBackup(
  context: CommandContext,
  { directory, everyMs, keptMs, isOnce }: Following,
): Promise<Followed> {
  const { config, output } = context;
  const lock = lockDataDirectory(directory);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  const totals = { polls: 0, rounds: 0, bytes: 0 };
  let problem: string | null = null;
  try {
    const follower = await Follower.open({
      dataDir: config.dataDir,
      directory,
      keptMs,
      now: () => systemClock.now(),
    });
    while (!stopping.signal.aborted) {
      const begunAtMs = performance.now();
      try {
        const { round, changedFiles, pieceBytes } = await poll(context, follower);
        totals.polls += 1;
        totals.rounds += round === null ? 0 : 1;
        totals.bytes += pieceBytes;
        output.progress(`Look ${totals.polls}: ${changedFiles} files had changed, ${bytesShown(pieceBytes)} kept`);
        problem = tellFailed(round?.failed ?? [], problem, output);
      } catch (thrown) {
        const error = commandErrorOf(thrown);
        if (error === null || isOnce) throw thrown;
        if (error.message !== problem) output.message(`Not copied: ${error.message} It is tried again.`);
        problem = error.message;
      }
      if (isOnce) break;
      await sleep(Math.max(0, everyMs - (performance.now() - begunAtMs)), stopping.signal);
    }
  } finally {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    lock.release();
  }
  return totals;
}

function tellFailed(failed: readonly string[], before: string | null, output: CommandContext["output"]): string | null {
  if (failed.length === 0) return null;
  const message = `${failed.join(", ")}: could not be copied; what is restored of them is older.`;
  if (message !== before) output.message(message);
  return message;
}

/** @throws CommandError when no server runs on the directory, or it cannot be asked. */
async function poll(context: CommandContext, follower: Follower): Promise<Awaited<ReturnType<Follower["round"]>>> {
  const { dataDir } = context.config;
  const recorded = recordedServer(dataDir);
  const answering = recorded === null ? null : await whoAnswers(serverUrl(recorded.url));
  if (recorded === null || answering === null || answering.identity !== recorded.identity)
    throw new CommandError(exitCodes.unreachable, `no server runs on ${dataDir}.`, {
      action: "Start one with openpo serve. To copy a directory without a server: openpo backup DIR.",
    });
  const quiet = { ...context.output, message: () => {} };
  const operator = await openOperator({ ...context, url: recorded.url, output: quiet, mayBegin: false });
  try {
    return await follower.round(operator.ask);
  } finally {
    await operator.close();
  }
}
