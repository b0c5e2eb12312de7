/** The version of the program, as its package has it. */
import { readFileSync } from "node:fs";

export function programVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
}

/** The program as people know it: `OpenPO 0.1.0`. */
export const programName = (): string => `OpenPO ${programVersion()}`;
