/** What a power cut leaves of a file that was written since it was last synced. */
import type { Random } from "../../world/random.ts";

const extentBytes = 4_096;
const sectorBytes = 512;

/** What was synced, and of what was written since any blocks: kept, lost, or torn. */
export function leftOf(random: Random, synced: Buffer, written: Buffer): Buffer {
  const left = Buffer.alloc(Math.max(synced.length, written.length));
  synced.copy(left);
  // How much is kept differs from cut to cut: nothing, any part, all of it.
  const kept = random.pick([0, 0.5, 0.9, 1]);
  let end = synced.length;
  for (let at = 0; at < left.length; at += extentBytes) {
    const [before, after] = [synced.subarray(at, at + extentBytes), written.subarray(at, at + extentBytes)];
    if (before.equals(after) || !random.chance(kept)) continue;
    const bytes = random.chance(0.1) ? sectorBytes * random.int(1, extentBytes / sectorBytes - 1) : extentBytes;
    const until = Math.min(at + bytes, written.length);
    // What was synced is written again only with a new header, or by a copy of pages.
    written.copy(left, at, at, until);
    end = Math.max(end, until);
  }
  return left.subarray(0, end);
}
