/** Builds the library that stands between a process and its files (interposer.c), and tells it what is to go wrong. */
import { spawnSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Whether there is a compiler, on a system that loads such a library. */
export const mayInterpose = (): boolean =>
  process.platform === "linux" && spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;

interface Interposer {
  /** For the process whose files are to fail. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on calls have these fates, as interposer.c describes them; none: nothing goes wrong. */
  set(...rules: readonly string[]): void;
}

/**
 * @param place   a directory for the library and its control file.
 * @param below   the directory whose files are meant.
 * @param record  the file to which calls on them are recorded (recording.ts). Null: none is.
 */
export function buildInterposer(place: string, below: string, record: string | null = null): Interposer {
  const library = path.join(place, "interposer.so");
  const source = path.join(import.meta.dirname, "interposer.c");
  const built = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-Wall", "-o", library, source, "-ldl", "-lpthread"], {
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`interposer.c was not built: ${built.stderr}`);
  const control = path.join(place, "control");
  writeFileSync(control, "");
  return {
    env: {
      LD_PRELOAD: library,
      OPENPO_FAULTS_DIR: below,
      OPENPO_FAULTS_CONTROL: control,
      ...(record === null ? {} : { OPENPO_FAULTS_RECORD: record }),
    },
    set(...rules) {
      writeFileSync(`${control}.next`, rules.map((rule) => `${rule}\n`).join(""));
      renameSync(`${control}.next`, control);
    },
  };
}
