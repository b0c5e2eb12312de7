/** Space that a store takes, measured on request: the files of a data directory, or tables of a database. */
import { readdir, stat, statfs } from "node:fs/promises";
import path from "node:path";
import type { Gauge } from "../http/metrics.ts";

const measuredEveryMs = 30_000;

/** Sizes by name, and what measures them anew: at most every half minute, however often it is asked for. */
export interface Sizes {
  readonly gauges: readonly Gauge[];
  readonly measure: () => Promise<void>;
}

/**
 * @param shown   the names of the metrics, and what they say.
 * @param read    measures all of them.
 * @param nowMs   time that is never set.
 */
export function sizesOf<Name extends string>(
  shown: readonly { readonly name: Name; readonly help: string }[],
  read: () => Promise<Readonly<Record<Name, number>>>,
  nowMs: () => number,
): Sizes {
  let sizes: Readonly<Record<Name, number>> | null = null;
  let readAtMs: number | null = null;
  let reading: Promise<void> | null = null;
  const readNow = async (): Promise<void> => {
    readAtMs = nowMs();
    sizes = await read();
  };
  return {
    gauges: shown.map(({ name, help }) => ({ name, help, type: "gauge", value: () => sizes?.[name] ?? 0 })),
    async measure() {
      if (readAtMs !== null && nowMs() < readAtMs + measuredEveryMs) return reading ?? undefined;
      reading ??= readNow()
        .catch(() => {})
        .finally(() => (reading = null));
      await reading;
    },
  };
}

/** Bytes of the files in a folder; 0 for one that is not there. */
async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  let bytes = 0;
  for (const name of names) bytes += (await stat(path.join(folder, name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}

/** The sizes of a data directory. */
export const directorySizes = (dataDir: string, nowMs: () => number): Sizes =>
  sizesOf(
    [
      { name: "shop_files_bytes", help: "Files of the shops in the data directory." },
      { name: "sandbox_files_bytes", help: "Files of the built-in storefronts in the data directory." },
      { name: "disk_free_bytes", help: "Space that is left on the disk of the data directory." },
    ],
    async () => {
      const { bavail, bsize } = await statfs(dataDir);
      return {
        shop_files_bytes: await bytesIn(path.join(dataDir, "shops")),
        sandbox_files_bytes: await bytesIn(path.join(dataDir, "sandbox")),
        disk_free_bytes: bavail * bsize,
      };
    },
    nowMs,
  );
