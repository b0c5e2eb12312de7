/**
 * Content of the directory of `openpo backup --follow`, and how a state of it is put together again (D384).
 *
 * Owns: the names, the forms and the checks. Does not own: what is copied when (cli/copies/follow.ts), what becomes of
 * a backup (cli/copies/backup.ts).
 *
 *     DIR/  lock.db · state.json (until when everything is copied) · latest/<part>/<id>.db (the newest copy of each
 *     file) · rounds/<n>.json (what a round has copied, in the order of n, without gaps) · pieces/<part>/<id>/<n>.base
 *     (a whole file) or .delta (the blocks that differ from the copy before)
 *
 * Invariants:
 * - B5. A round is there when its file in `rounds` is, which is written last, after all of its pieces are on disk. A
 *       round has everything that was acknowledged before `begunAtMs`.
 * - B6. Every round says the hash of the one before, and of every file as it is after each of its pieces. What is
 *       missing or damaged is named; nothing is put together without it.
 */
import { createHash, hash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { markFormat } from "../../service/data-directory.ts";
import { type CommandError, failedError } from "../errors.ts";

/** Blocks of files are compared and stored in this size: that of a page. */
export const extentBytes = 4_096;

export const parts = ["shops", "sandbox"] as const;

const pieceSchema = z.strictObject({
  part: z.enum(parts),
  shopId: z.string(),
  kind: z.enum(["base", "delta"]),
  /** Of the piece itself. */
  pieceBytes: z.int(),
  /** The file after this piece. */
  bytes: z.int(),
  sha256: z.string(),
});

const roundSchema = z.strictObject({
  round: z.int(),
  begunAtMs: z.int(),
  endedAtMs: z.int(),
  /** SHA-256 of the file of the round before; empty for the first. */
  previous: z.string(),
  pieces: z.array(pieceSchema),
  /** Files that are there no more: `shops/<id>`. */
  removed: z.array(z.string()),
  /** Files that could not be copied: their newest copy is older. */
  failed: z.array(z.string()),
});

const stateSchema = z.strictObject({
  /** Everything that was acknowledged before is in a round. */
  copiedUntilMs: z.int(),
  oldestRound: z.int(),
  newestRound: z.int(),
});

export type Piece = z.output<typeof pieceSchema>;
export type Round = z.output<typeof roundSchema>;
export type State = z.output<typeof stateSchema>;

export const stateFile = (directory: string): string => path.join(directory, "state.json");

const numbered = (round: number): string => String(round).padStart(9, "0");

export const roundFile = (directory: string, round: number): string =>
  path.join(directory, "rounds", `${numbered(round)}.json`);

export const pieceFile = (
  directory: string,
  round: number,
  { part, shopId, kind }: Pick<Piece, "part" | "shopId" | "kind">,
): string => path.join(directory, "pieces", part, shopId, `${numbered(round)}.${kind}`);

export const nameOf = ({ part, shopId }: Pick<Piece, "part" | "shopId">): string => `${part}/${shopId}`;

export const isFollowed = (directory: string): boolean => existsSync(path.join(directory, "rounds"));

const instant = (ms: number): string => new Date(ms).toISOString();

const parsed = <T>(schema: z.ZodType<T>, text: string): T | null => {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

export async function stateOf(directory: string): Promise<State | null> {
  if (!existsSync(stateFile(directory))) return null;
  return parsed(stateSchema, await readFile(stateFile(directory), "utf8"));
}

/** A round as it is stored. */
interface StoredRound {
  readonly number: number;
  /** Null: its file is damaged. */
  readonly round: Round | null;
  readonly sha256: string;
}

/** The rounds that are there, in their order. */
export async function roundsOf(directory: string): Promise<readonly StoredRound[]> {
  const names = (await readdir(path.join(directory, "rounds"))).filter((name) => /^\d{9}\.json$/.test(name)).sort();
  const rounds: StoredRound[] = [];
  for (const name of names) {
    const text = await readFile(path.join(directory, "rounds", name), "utf8");
    const number = Number(name.slice(0, 9));
    const round = parsed(roundSchema, text);
    rounds.push({ number, round: round?.round === number ? round : null, sha256: hash("sha256", text) });
  }
  return rounds;
}

/** Why the chain of rounds does not hold before this one; null: it does. */
function brokenBefore(
  directory: string,
  state: State | null,
  rounds: readonly StoredRound[],
  index: number,
): string | null {
  const stored = rounds[index];
  if (stored === undefined) return null;
  const before = rounds[index - 1];
  const file = roundFile(directory, stored.number);
  if (stored.round === null) return `${file} is damaged`;
  if (before === undefined)
    return state !== null && stored.number > state.oldestRound
      ? `${roundFile(directory, state.oldestRound)} is missing`
      : null;
  if (stored.number !== before.number + 1) return `${roundFile(directory, before.number + 1)} is missing`;
  return stored.round.previous === before.sha256 ? null : `${roundFile(directory, before.number)} is damaged`;
}

/** A file as it is put together: its base and what changes it, in their order. */
interface Chain {
  readonly steps: readonly { readonly number: number; readonly endedAtMs: number; readonly piece: Piece }[];
  /** It could not be copied since its last step. */
  readonly isBehind: boolean;
}

/** The files as of the newest of these rounds. */
function chainsOf(rounds: readonly Round[]): ReadonlyMap<string, Chain> {
  const chains = new Map<string, Chain>();
  for (const { round: number, endedAtMs, pieces, removed, failed } of rounds) {
    for (const name of removed) chains.delete(name);
    for (const piece of pieces) {
      const before = piece.kind === "base" ? [] : (chains.get(nameOf(piece))?.steps ?? []);
      chains.set(nameOf(piece), { steps: [...before, { number, endedAtMs, piece }], isBehind: false });
    }
    for (const name of failed) {
      const chain = chains.get(name);
      if (chain !== undefined) chains.set(name, { ...chain, isBehind: true });
    }
  }
  return chains;
}

/** State that was put together. */
interface Assembled {
  /** The round. */
  readonly round: number;
  /** Everything that was acknowledged before is in it. */
  readonly asOfMs: number;
  /** Shops whose newest copy is older, and how old. */
  readonly behind: readonly { readonly shopId: string; readonly asOfMs: number }[];
}

interface Wanted {
  /** The state of the newest round that had ended by then; null: of the newest. */
  readonly atMs: number | null;
  /** Null: all shops. */
  readonly shopId: string | null;
}

/**
 * The rounds up to the one that is wanted, checked as far as they matter (B6). @throws CommandError naming what is
 * wrong.
 */
async function wantedRounds(directory: string, { atMs }: Wanted): Promise<readonly Round[]> {
  const state = await stateOf(directory);
  const rounds = await roundsOf(directory);
  const last = rounds.findLastIndex(({ round }) => round !== null && (atMs === null || round.endedAtMs <= atMs));
  if (atMs === null && state !== null && rounds.at(-1)?.number !== state.newestRound)
    throw failedError(
      `${roundFile(directory, state.newestRound)} is missing: the newest copies cannot be told.`,
      "Name an earlier time: --at.",
    );
  const first = rounds[0]?.round;
  if (last === -1)
    throw failedError(
      `${directory} has nothing ${atMs === null ? "yet" : `from before ${instant(atMs)}`}.`,
      first === undefined || first === null
        ? "Let openpo backup --follow end a round first."
        : `The earliest is of ${instant(first.endedAtMs)}.`,
    );
  const until: Round[] = [];
  for (let index = 0; index <= last; index += 1) {
    const broken = brokenBefore(directory, state, rounds, index);
    if (broken !== null) {
      const earlier = until.at(-1);
      throw failedError(
        `${broken}, so nothing after it is certain.`,
        `${earlier === undefined ? "" : `The latest time before it is --at ${instant(earlier.endedAtMs)}. `}A new start of openpo backup --follow into an empty directory begins anew.`,
      );
    }
    const round = rounds[index]?.round;
    if (round !== null && round !== undefined) until.push(round);
  }
  return until;
}

/**
 * Puts a backup together, as of the newest round that had ended at this time.
 *
 * @param target  a directory that does not exist, for a backup.
 * @throws CommandError naming the round or the piece that is missing or damaged.
 */
export async function assemble(directory: string, target: string, wanted: Wanted): Promise<Assembled> {
  const rounds = await wantedRounds(directory, wanted);
  const chains = chainsOf(rounds);
  for (const part of parts) await mkdir(path.join(target, part), { recursive: true, mode: 0o700 });
  const newest = rounds.at(-1);
  if (newest === undefined) throw new Error("a wanted round is there");
  const behind: { shopId: string; asOfMs: number }[] = [];
  for (const [name, { steps, isBehind }] of chains) {
    const latest = steps.at(-1);
    if (latest === undefined) continue;
    const { part, shopId } = latest.piece;
    if (wanted.shopId !== null && shopId !== wanted.shopId) continue;
    await assembleFile(directory, path.join(target, `${name}.db`), steps);
    if (isBehind && part === "shops") behind.push({ shopId, asOfMs: latest.endedAtMs });
  }
  markFormat(target);
  return { round: newest.round, asOfMs: newest.begunAtMs, behind };
}

async function assembleFile(directory: string, file: string, steps: Chain["steps"]): Promise<void> {
  for (const [index, { number, piece }] of steps.entries()) {
    const from = pieceFile(directory, number, piece);
    const before = steps[index - 1];
    const wayOut =
      before === undefined
        ? "Name a time before it, or one after its next whole copy (.base): --at."
        : `The latest time before it is --at ${instant(before.endedAtMs)}.`;
    const wrong = (what: string): CommandError =>
      failedError(`${from} is ${what}: shop ${piece.shopId} cannot be put together as it was then.`, wayOut);
    if (!existsSync(from)) throw wrong("missing");
    if (piece.kind === "base") await copyFile(from, file);
    else if (index === 0) throw wrong("a piece without a whole copy before it");
    else if (!(await applyDelta(from, file))) throw wrong("damaged");
    if ((await sha256Of(file)) !== piece.sha256) throw wrong("damaged");
  }
}

/** SHA-256 of a file, in hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const sum = createHash("sha256");
  const handle = await open(file, "r");
  try {
    for await (const piece of handle.createReadStream({ highWaterMark: 1_048_576, autoClose: false }))
      sum.update(piece);
  } finally {
    await handle.close();
  }
  return sum.digest("hex");
}

const deltaHead = z.strictObject({ bytes: z.int(), blocks: z.array(z.int()) });

/** A delta as it is stored: a line of JSON, then the blocks that differ. */
export const deltaOf = (bytes: number, blocks: readonly number[], contents: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify({ bytes, blocks })}\n`), ...contents]);

/** @returns false when the delta is damaged. */
async function applyDelta(delta: string, file: string): Promise<boolean> {
  const stored = await readFile(delta);
  const end = stored.indexOf("\n");
  const head = end === -1 ? null : parsed(deltaHead, stored.toString("utf8", 0, end));
  if (head === null) return false;
  const handle = await open(file, "r+");
  try {
    let at = end + 1;
    for (const block of head.blocks) {
      const length = Math.min(extentBytes, head.bytes - block * extentBytes);
      if (length <= 0 || at + length > stored.length) return false;
      await handle.write(stored, at, length, block * extentBytes);
      at += length;
    }
    await handle.truncate(head.bytes);
    return at === stored.length;
  } finally {
    await handle.close();
  }
}

/** Removes what an assembly has left. */
export const dropAssembled = (target: string): Promise<void> => rm(target, { recursive: true, force: true });
