/** Programs that tests install from package registries and run. What is downloaded is kept in `OPENPO_TOOLS_CACHE`, outside the tree. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A program and its arguments. `{cache}` in them is replaced by the folder of what is installed. */
export type Command = readonly [program: string, ...rest: readonly string[]];

/** Where everything is kept: the folder named by `OPENPO_TOOLS_CACHE`, by default one in the temporary directory. */
export const toolsCache = process.env["OPENPO_TOOLS_CACHE"] ?? path.join(tmpdir(), "openpo-tools");

const commandMinutesMax = 15;
const linesShownMax = 60;
const columnsShownMax = 400;

interface Ended {
  /** Null for a program that does not exist, or that was ended by its time limit. */
  readonly status: number | null;
  /** Both streams. */
  readonly output: string;
}

export function ended(
  [program, ...rest]: Command,
  directory: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, rest, {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: commandMinutesMax * 60_000,
    });
    const parts: Buffer[] = [];
    child.stdout.on("data", (data: Buffer) => parts.push(data));
    child.stderr.on("data", (data: Buffer) => parts.push(data));
    child.once("error", (error) => resolve({ status: null, output: error.message }));
    child.once("close", (status) => resolve({ status, output: Buffer.concat(parts).toString() }));
  });
}

/** The last lines of an output, none of them very long. */
export const shownEnd = (output: string, linesMax = linesShownMax): string =>
  output
    .trimEnd()
    .split("\n")
    .slice(-linesMax)
    .map((line) => line.slice(0, columnsShownMax))
    .join("\n");

/** Runs the commands of a step, and prints what went wrong. Returns whether all succeeded. */
export async function step(
  what: string,
  commands: readonly Command[],
  directory: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  const startedAtMs = performance.now();
  for (const command of commands) {
    const { status, output } = await ended(command, directory, environment);
    if (status === 0) continue;
    console.log(`✖ ${what}: ${command.join(" ")} ended with status ${String(status)}\n${shownEnd(output)}`);
    return false;
  }
  console.log(`  ${what} (${((performance.now() - startedAtMs) / 1000).toFixed(1)} s)`);
  return true;
}

/** The command with the folder of what is installed. */
export const placed = ([program, ...rest]: Command, folder: string): Command => [
  program.replace("{cache}", folder),
  ...rest.map((argument) => argument.replace("{cache}", folder)),
];

/**
 * Runs the commands in a new folder that has copies of the manifests, once for each content of the manifests.
 *
 * @param manifests  files that name versions.
 * @returns the folder, or null when a command failed.
 */
export async function installed(install: readonly Command[], manifests: readonly string[]): Promise<string | null> {
  const hash = createHash("sha256").update(JSON.stringify(install));
  for (const manifest of manifests) hash.update(readFileSync(manifest));
  const folder = path.join(toolsCache, hash.digest("hex").slice(0, 16));
  if (existsSync(path.join(folder, ".complete"))) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const manifest of manifests) await cp(manifest, path.join(folder, path.basename(manifest)));
  const commands = install.map((command) => placed(command, folder));
  if (!(await step("install", commands, folder))) return null;
  await writeFile(path.join(folder, ".complete"), "");
  return folder;
}

/** Brings the Python packages of a `requirements.txt`, each in the version that it names, into `{cache}/venv`. */
export const pipInstall: readonly Command[] = [
  ["python3", "-m", "venv", "venv"],
  ["venv/bin/pip", "install", "--quiet", "--no-deps", "--requirement", "requirements.txt"],
];
