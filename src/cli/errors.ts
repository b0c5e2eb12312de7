/** Failures of a command: exit statuses, and errors that are shown as a message instead of a stack. */
import { ConfigError } from "../service/config.ts";
import { Fault } from "../base/fault.ts";

/** The exit status of the program. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
} as const;

/** Ends the command with a message on stderr instead of a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;
  /** Next thing to do, on a line of its own. */
  readonly action: string | null;
  /** The error as `--json` shows it. */
  readonly body: object;

  constructor(exitCode: number, message: string, options: { readonly action?: string | null; body?: object } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.action = options.action ?? null;
    this.body = options.body ?? { message, ...(this.action === null ? {} : { action: this.action }) };
  }
}

/** The error of a command that was refused or failed. */
export const failedError = (message: string, action: string | null = null): CommandError =>
  new CommandError(exitCodes.failed, message, { action });

export const usageError = (message: string, action = "See openpo --help."): CommandError =>
  new CommandError(exitCodes.usage, message, { action });

/** The error that a command ends with, whatever part of the program threw it; null for a bug. */
export function commandErrorOf(error: unknown): CommandError | null {
  if (error instanceof CommandError) return error;
  if (error instanceof ConfigError) return new CommandError(exitCodes.failed, error.message);
  if (error instanceof Fault) {
    const { code, message, reason, action, details, retryable } = error;
    return new CommandError(exitCodes.failed, message, {
      action,
      body: {
        code,
        message,
        retryable,
        ...(reason === null ? {} : { reason }),
        ...(action === null ? {} : { action }),
        ...(details === null ? {} : { details }),
      },
    });
  }
  return null;
}
