/**
 * `openpo backup --follow`: copies what has changed, again and again, so that a state of any time can be restored
 * (D384).
 *
 * Owns: what a round copies, in which order it is stored, and what is kept. Does not own: the forms of the files
 * (cli/copies/followed-backup.ts), how a shop's file is copied (the engine).
 *
 * A round asks the server for the shops whose files have changed since they were copied last. Of each copy only the
 * blocks are kept that differ from the copy before, until they are as much as the file itself. Then the whole file is
 * kept, and a new chain begins.
 */
import { memberOf } from "../../base/json.ts";
import { createHash, hash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Ask } from "../../admin/ask.ts";
import { adminTokenFile } from "../../service/data-directory.ts";
import { CommandError, commandErrorOf, exitCodes } from "../errors.ts";
import {
  extentBytes,
  deltaOf,
  isFollowed,
  nameOf,
  parts,
  type Piece,
  pieceFile,
  type Round,
  roundFile,
  roundsOf,
  sha256Of,
  type State,
  stateFile,
} from "./followed-backup.ts";
import { makeDurable } from "../../copies/shop-restore.ts";

/** A file of a shop. */
type FileName = Pick<Piece, "part" | "shopId">;

/** A file whose stamp is younger than this when it is looked at may change once more within the same stamp. */
const stampMs = 2_000;

/** Stamp by which a file counts as unchanged: times and sizes of it and its log. */
interface Stamp {
  readonly text: string;
  readonly latestMs: number;
}

function stampOf(file: string): Stamp | null {
  const [main, log] = [file, `${file}-wal`].map((name) => statSync(name, { throwIfNoEntry: false }));
  if (main === undefined) return null;
  const of = [main, log].map((each) => (each === undefined ? "" : `${each.mtimeMs} ${each.size}`));
  return { text: of.join(" "), latestMs: Math.max(main.mtimeMs, log?.mtimeMs ?? 0) };
}

/** State of a file's chain. */
interface Chain {
  readonly sha256: string;
  readonly bytes: number;
  readonly deltaBytes: number;
  /** When its newest whole copy was stored. */
  readonly baseAtMs: number;
}

/** A round of the directory, with the hash of its file. */
interface KnownRound {
  readonly number: number;
  readonly sha256: string;
  readonly round: Round;
}

interface FollowerOptions {
  readonly dataDir: string;
  readonly directory: string;
  /** Rounds that ended longer ago are dropped, unless a later state needs them. */
  readonly keptMs: number;
  /** The machine's time, which the times of files have too. */
  readonly now: () => number;
}

/** Result of a round. */
interface RoundDone {
  readonly round: Round | null;
  readonly changedFiles: number;
  readonly pieceBytes: number;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #chains: Map<string, Chain>;
  readonly #stamps = new Map<string, string>();
  #rounds: KnownRound[];

  private constructor(options: FollowerOptions, rounds: readonly KnownRound[]) {
    this.#options = options;
    this.#rounds = [...rounds];
    this.#chains = new Map();
    for (const { round } of rounds) this.#learn(round);
  }

  /**
   * Goes on with what is in the directory, or begins.
   *
   * @throws CommandError when a round in it is damaged or missing, or something else is in it.
   */
  static async open(options: FollowerOptions): Promise<Follower> {
    const { directory } = options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const names = (await readdir(directory)).filter((name) => !name.startsWith("lock.db"));
    if (names.length > 0 && !isFollowed(directory))
      throw new CommandError(exitCodes.failed, `${directory} is not empty, and no followed backup.`, {
        action: "Name a directory that is empty or does not exist, or the one that was followed into before.",
      });
    for (const part of parts) await mkdir(path.join(directory, "latest", part), { recursive: true, mode: 0o700 });
    await mkdir(path.join(directory, "pieces"), { recursive: true, mode: 0o700 });
    await mkdir(path.join(directory, "rounds"), { recursive: true, mode: 0o700 });
    const rounds = (await roundsOf(directory)).map(({ number, sha256, round }, index, all) => {
      const before = all[index - 1];
      const isNext = before === undefined || (number === before.number + 1 && round?.previous === before.sha256);
      if (round !== null && isNext) return { number, sha256, round };
      throw new CommandError(
        exitCodes.failed,
        `${roundFile(directory, round === null ? number : number - 1)} is missing or damaged.`,
        { action: "Follow into another directory, and keep this one for the times before that round." },
      );
    });
    return new Follower(options, rounds);
  }

  #learn({ pieces, removed, endedAtMs }: Round): void {
    for (const name of removed) this.#chains.delete(name);
    for (const piece of pieces) {
      const { sha256, bytes, kind, pieceBytes } = piece;
      const before = kind === "base" ? undefined : this.#chains.get(nameOf(piece));
      this.#chains.set(nameOf(piece), {
        sha256,
        bytes,
        deltaBytes: kind === "base" ? 0 : (before?.deltaBytes ?? 0) + pieceBytes,
        baseAtMs: before?.baseAtMs ?? endedAtMs,
      });
    }
  }

  /** Copies what has changed. @returns a round of null when nothing had. */
  async round(ask: Ask): Promise<RoundDone> {
    const { directory, now } = this.#options;
    const begunAtMs = now();
    const number = (this.#rounds.at(-1)?.number ?? 0) + 1;
    const found = await this.#files();
    const names = new Set(found.map(nameOf));
    const pieces: Piece[] = [];
    const failed: string[] = [];
    const copied: { readonly name: FileName; readonly file: string; readonly stamp: string | null }[] = [];
    let changedFiles = 0;
    for (const name of found) {
      const stamp = stampOf(this.#source(name));
      if (stamp === null || this.#stamps.get(nameOf(name)) === stamp.text) continue;
      changedFiles += 1;
      const file = `${this.#latest(name)}.part`;
      try {
        if (!(await copyOf(ask, name, file))) continue;
        const piece = await this.#store(number, name, file, begunAtMs);
        if (piece !== null) pieces.push(piece);
        copied.push({ name, file, stamp: begunAtMs - stamp.latestMs > stampMs ? stamp.text : null });
      } catch (error) {
        if (commandErrorOf(error) === null) throw error;
        failed.push(nameOf(name));
        await rm(file, { force: true });
      }
    }
    const seen = new Set([...pieces.map(nameOf), ...failed]);
    for (const name of found) if (!seen.has(nameOf(name))) pieces.push(...(await this.#renew(number, name, begunAtMs)));
    const removed = [...this.#chains.keys()].filter((name) => !names.has(name));
    let round: Round | null = null;
    if (pieces.length + removed.length + failed.length > 0) {
      const previous = this.#rounds.at(-1)?.sha256 ?? "";
      round = { round: number, begunAtMs, endedAtMs: now(), previous, pieces, removed, failed };
      for (const folder of new Set(pieces.map((piece) => path.dirname(pieceFile(directory, number, piece)))))
        await makeDurable(folder);
      const text = JSON.stringify(round);
      await writeWhole(roundFile(directory, number), text);
      this.#rounds.push({ number, sha256: hash("sha256", text), round });
      this.#learn(round);
    }
    for (const { name, file, stamp } of copied) {
      await rename(file, this.#latest(name));
      if (stamp !== null) this.#stamps.set(nameOf(name), stamp);
    }
    for (const name of removed) await rm(path.join(directory, "latest", `${name}.db`), { force: true });
    // One that a program of before has copied.
    await rm(adminTokenFile(directory), { force: true });
    await this.#prune(begunAtMs);
    await this.#tell(failed.length > 0 ? null : begunAtMs);
    return { round, changedFiles, pieceBytes: pieces.reduce((sum, { pieceBytes }) => sum + pieceBytes, 0) };
  }

  #source({ part, shopId }: FileName): string {
    return path.join(this.#options.dataDir, part, `${shopId}.db`);
  }

  #latest({ part, shopId }: FileName): string {
    return path.join(this.#options.directory, "latest", part, `${shopId}.db`);
  }

  /** The files of all shops; of a shop its sandbox comes after it (B1). */
  async #files(): Promise<readonly FileName[]> {
    const files: FileName[] = [];
    for (const part of parts) {
      const folder = path.join(this.#options.dataDir, part);
      const names = existsSync(folder) ? await readdir(folder) : [];
      for (const name of names.filter((each) => each.endsWith(".db")).sort())
        files.push({ part, shopId: name.slice(0, -".db".length) });
    }
    return files;
  }

  /** Stores what a copy has that the one before has not. @returns null when they are equal. */
  async #store(number: number, name: FileName, file: string, nowMs: number): Promise<Piece | null> {
    const { directory, keptMs } = this.#options;
    const chain = this.#chains.get(nameOf(name));
    const latest = this.#latest(name);
    // A copy that the last round of a process that died has not put in its place is no base for a delta.
    const hasLatest = chain !== undefined && existsSync(latest) && (await sha256Of(latest)) === chain.sha256;
    const { bytes, sha256, delta } = await compare(hasLatest ? latest : null, file);
    if (hasLatest && sha256 === chain.sha256) return null;
    const isYoung = chain !== undefined && nowMs - chain.baseAtMs <= keptMs / 2;
    const isDelta = hasLatest && isYoung && delta !== null && chain.deltaBytes + delta.length < bytes;
    const piece: Piece = {
      ...name,
      kind: isDelta ? "delta" : "base",
      pieceBytes: isDelta ? delta.length : bytes,
      bytes,
      sha256,
    };
    const to = pieceFile(directory, number, piece);
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    if (isDelta) await writeSynced(to, delta);
    else {
      // The copy is never changed in its place, so that both names may be of one file.
      await rm(to, { force: true });
      await link(file, to);
    }
    return piece;
  }

  /**
   * A whole copy anew of a file that has not changed for long, so that older rounds can be dropped. It takes no room:
   * it is the newest copy.
   */
  async #renew(number: number, name: FileName, nowMs: number): Promise<readonly Piece[]> {
    const { directory, keptMs } = this.#options;
    const chain = this.#chains.get(nameOf(name));
    if (chain === undefined || nowMs - chain.baseAtMs <= keptMs / 2) return [];
    const latest = this.#latest(name);
    if (!existsSync(latest) || (await sha256Of(latest)) !== chain.sha256) {
      // It is copied with the next round.
      this.#stamps.delete(nameOf(name));
      return [];
    }
    const { bytes, sha256 } = chain;
    const piece: Piece = { ...name, kind: "base", pieceBytes: bytes, bytes, sha256 };
    await rm(pieceFile(directory, number, piece), { force: true });
    await link(latest, pieceFile(directory, number, piece));
    return [piece];
  }

  /** Drops rounds that ended before, and pieces that no later state needs. The newest whole copy of a file stays. */
  async #prune(nowMs: number): Promise<void> {
    const { directory, keptMs } = this.#options;
    const until = nowMs - keptMs;
    // The newest round that had ended by then can still be restored, and so everything that it needs.
    const last = this.#rounds.findLastIndex(({ round }) => round.endedAtMs <= until);
    if (last < 1) return;
    const bases = new Map<string, number>();
    for (const { number, round } of this.#rounds.slice(0, last + 1)) {
      for (const name of round.removed) bases.delete(name);
      for (const piece of round.pieces) if (piece.kind === "base") bases.set(nameOf(piece), number);
    }
    const needed = Math.min(...bases.values(), this.#rounds[last]?.number ?? 0);
    const dropped = this.#rounds.filter(({ number }) => number < needed);
    if (dropped.length === 0) return;
    this.#rounds = this.#rounds.slice(dropped.length);
    // Nobody misses what is dropped: the state says first from where on it is whole.
    await this.#tell(null);
    for (const { number, round } of dropped) {
      for (const piece of round.pieces) await rm(pieceFile(directory, number, piece), { force: true });
      await rm(roundFile(directory, number), { force: true });
    }
  }

  #copiedUntilMs = 0;

  async #tell(copiedUntilMs: number | null): Promise<void> {
    if (copiedUntilMs !== null) this.#copiedUntilMs = copiedUntilMs;
    const [oldest, newest] = [this.#rounds[0], this.#rounds.at(-1)];
    if (oldest === undefined || newest === undefined) return;
    const state: State = {
      copiedUntilMs: this.#copiedUntilMs,
      oldestRound: oldest.number,
      newestRound: newest.number,
    };
    await writeWhole(stateFile(this.#options.directory), JSON.stringify(state));
  }
}

/** Asks for a copy of the file. @returns false when it is there no more. */
async function copyOf(ask: Ask, { part, shopId }: FileName, file: string): Promise<boolean> {
  await rm(file, { force: true });
  try {
    const answer = await ask("shop_snapshot", { shopId, part: part === "shops" ? "shop" : "sandbox" });
    if (!("file" in answer)) throw new Error("a snapshot is a file");
    const handle = await open(file, "wx", 0o600);
    try {
      for await (const piece of answer.file) await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (memberOf(commandErrorOf(error)?.body, "code") === "NOT_FOUND") return false;
    throw error;
  }
}

/** Blocks that are read at a time. */
const readBytes = 256 * extentBytes;

/**
 * Returns the hash of a file, and its blocks that the one before has not. Null without one, or when they are as much as
 * the file.
 */
async function compare(
  before: string | null,
  file: string,
): Promise<{ readonly bytes: number; readonly sha256: string; readonly delta: Uint8Array | null }> {
  const sum = createHash("sha256");
  const now = await open(file, "r");
  const old = before === null ? null : await open(before, "r");
  try {
    const { size: bytes } = await now.stat();
    const blocks: number[] = [];
    const contents: Uint8Array[] = [];
    let differing = 0;
    for (let at = 0; at < bytes; at += readBytes) {
      const read = Buffer.alloc(Math.min(readBytes, bytes - at));
      await now.read(read, 0, read.length, at);
      sum.update(read);
      if (old === null || differing * 2 >= bytes) continue;
      const other = Buffer.alloc(read.length);
      const { bytesRead } = await old.read(other, 0, other.length, at);
      for (let start = 0; start < read.length; start += extentBytes) {
        const end = Math.min(start + extentBytes, read.length);
        if (end <= bytesRead && read.subarray(start, end).equals(other.subarray(start, end))) continue;
        blocks.push((at + start) / extentBytes);
        contents.push(read.subarray(start, end));
        differing += end - start;
      }
    }
    const delta = old === null || differing * 2 >= bytes ? null : deltaOf(bytes, blocks, contents);
    return { bytes, sha256: sum.digest("hex"), delta };
  } finally {
    await now.close();
    await old?.close();
  }
}

async function writeSynced(file: string, bytes: string | Uint8Array): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file completely or not at all, durably. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeSynced(`${file}.unfinished`, text);
  await rename(`${file}.unfinished`, file);
  await makeDurable(path.dirname(file));
}
