/**
 * The program `openpo` as a process: it gives the command line its words, environment and streams, and ends with its
 * status.
 */
import { machineEnvironment } from "../service/options.ts";
import { runCommandLine } from "./command-line.ts";
import { exitCodes } from "./errors.ts";

// A reader that closes the pipe, like head, needs no message.
process.stdout.on("error", () => process.exit(exitCodes.failed));

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: machineEnvironment(),
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  nowMs: Date.now(),
});
