/**
 * Calls on the files of a data directory that the interposer has recorded, and what a power cut between any two of them leaves.
 *
 * What is promised by a file system, and no more: a sync that has succeeded keeps what was written to that file before it began; a sync of a
 * folder keeps the names in it. Everything since may be kept or lost: contents by `leftOf`, names one by one, whatever their order was.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Random } from "../world/random.ts";
import { leftOf } from "../support/engine/torn-blocks.ts";

/** As `struct header` of interposer.c. */
const headerBytes = 32;

export interface Call {
  /** The letter by which interposer.c notes it. */
  readonly type: string;
  readonly inode: bigint;
  /** Of a write, where in the file; of a truncation, the new length; of a sync, its number in the process. */
  readonly offset: number;
  readonly place: string;
  readonly bytes: Buffer;
}

/** Reads what was recorded since the last reading. */
export class Recording {
  readonly #file: string;
  #read = 0;

  constructor(file: string) {
    this.#file = file;
  }

  more(): readonly Call[] {
    const descriptor = openSync(this.#file, "r");
    const all = Buffer.alloc(fstatSync(descriptor).size - this.#read);
    readSync(descriptor, all, 0, all.length, this.#read);
    closeSync(descriptor);
    const calls: Call[] = [];
    let at = 0;
    while (at + headerBytes <= all.length) {
      const placeBytes = all.readUInt32LE(at + 24);
      const bytes = all.readUInt32LE(at + 28);
      const end = at + headerBytes + placeBytes + bytes;
      if (end > all.length) break;
      calls.push({
        type: String.fromCharCode(Number(all.readBigUInt64LE(at))),
        inode: all.readBigUInt64LE(at + 8),
        offset: Number(all.readBigUInt64LE(at + 16)),
        place: all.toString("utf8", at + headerBytes, at + headerBytes + placeBytes),
        bytes: all.subarray(at + headerBytes + placeBytes, end),
      });
      at = end;
    }
    this.#read += at;
    return calls;
  }
}

/** Bytes that grow. */
class Content {
  #bytes: Buffer;
  #length: number;

  constructor(from: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(from);
    this.#length = from.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  apply({ type, offset, bytes }: Call): void {
    const end = type === "T" ? offset : Math.max(this.#length, offset + bytes.length);
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(end * 2);
      this.bytes.copy(grown);
      this.#bytes = grown;
    }
    // What a truncation has cut off is zero if the file grows over it again.
    if (end < this.#length) this.#bytes.fill(0, end, this.#length);
    this.#length = end;
    bytes.copy(this.#bytes, offset);
  }
}

interface Change {
  /** Of all changes of the recording. */
  readonly number: number;
  readonly call: Call;
}

class StoredFile {
  /** What is surely there. */
  readonly #synced = new Content();
  /** What a reader sees. */
  readonly written = new Content();
  #since: Change[] = [];

  change(change: Change): void {
    this.written.apply(change.call);
    this.#since.push(change);
  }

  /** Changes up to this number have been synced. */
  sync(until: number): void {
    for (const { number, call } of this.#since) if (number <= until) this.#synced.apply(call);
    this.#since = this.#since.filter(({ number }) => number > until);
  }

  /** What a power cut leaves. */
  left(random: Random): Buffer {
    let left: Buffer = Buffer.from(this.#synced.bytes);
    if (this.#since.length === 0) return left;
    // A block that was written twice may be left as it was in between.
    if (this.#since.length > 1 && random.chance(0.5)) {
      const before = new Content(left);
      for (const { call } of this.#since.slice(0, random.int(1, this.#since.length - 1))) before.apply(call);
      left = leftOf(random, left, before.bytes);
    }
    const { bytes } = this.written;
    left = leftOf(random, left, bytes);
    return left.length > bytes.length && random.chance(0.5) ? left.subarray(0, bytes.length) : left;
  }
}

/** What a name stands for. */
type Named = StoredFile | "folder" | null;

interface Renaming {
  readonly number: number;
  readonly folder: string;
  /** All of it at once, or nothing. */
  readonly names: readonly (readonly [place: string, named: Named])[];
}

interface Syncing {
  readonly call: Call;
  readonly until: number;
}

const ownFolder = (place: string): string => path.dirname(place);

export class PlayedDisk {
  readonly #root: string;
  /** Whether syncs of this file count; for faults that the replay plants. */
  readonly #keepsPromise: (place: string) => boolean;
  readonly #files = new Map<bigint, StoredFile>();
  /** What is surely there, and what a reader sees. */
  readonly #listed = new Map<string, Named>();
  readonly #names = new Map<string, Named>();
  #renamings: Renaming[] = [];
  readonly #syncing = new Map<number, Syncing>();
  #number = 0;
  /** Syncs that have succeeded. */
  syncs = 0;

  /** @param root the data directory that was recorded. */
  constructor(root: string, keepsPromise: (place: string) => boolean = () => true) {
    this.#root = root;
    this.#keepsPromise = keepsPromise;
    this.#listed.set(root, "folder");
    this.#names.set(root, "folder");
  }

  /** Syncs that have begun and not ended. */
  get isSyncing(): boolean {
    return this.#syncing.size > 0;
  }

  apply(call: Call): void {
    this.#number += 1;
    switch (call.type) {
      case "P":
        // Syncs of a process that is gone never ended.
        this.#syncing.clear();
        return;
      case "O": {
        const made = new StoredFile();
        this.#files.set(call.inode, made);
        this.#rename([[call.place, made]]);
        return;
      }
      case "W":
      case "T":
        this.#file(call).change({ number: this.#number, call });
        return;
      case "B":
        this.#syncing.set(call.offset, { call, until: this.#number });
        return;
      case "E": {
        const begun = this.#syncing.get(call.offset);
        if (begun === undefined) throw new Error("a sync ends that has not begun");
        this.#syncing.delete(call.offset);
        this.syncs += 1;
        if (this.#keepsPromise(begun.call.place)) this.#sync(begun);
        return;
      }
      case "R": {
        const to = call.bytes.toString("utf8");
        if (ownFolder(to) !== ownFolder(call.place)) throw new Error(`a move between folders is not modelled: ${to}`);
        this.#rename([
          [to, this.#names.get(call.place) ?? null],
          [call.place, null],
        ]);
        return;
      }
      case "U":
      case "D":
        this.#rename([[call.place, null]]);
        return;
      case "M":
        if (call.place !== this.#root) this.#rename([[call.place, "folder"]]);
        return;
      case "A":
        return;
      default:
        throw new Error(`the record has a call that is not modelled: ${call.type}`);
    }
  }

  #file(call: Call): StoredFile {
    const file = this.#files.get(call.inode);
    if (file === undefined) throw new Error(`a file is written that was not made: ${call.inode}`);
    return file;
  }

  #rename(names: Renaming["names"]): void {
    const [first] = names;
    if (first === undefined) return;
    for (const [place, named] of names) this.#set(this.#names, place, named);
    this.#renamings.push({ number: this.#number, folder: ownFolder(first[0]), names });
  }

  #set(into: Map<string, Named>, place: string, named: Named): void {
    if (named === null) into.delete(place);
    else into.set(place, named);
  }

  #sync({ call, until }: Syncing): void {
    if (this.#names.get(call.place) !== "folder") {
      this.#file(call).sync(until);
      return;
    }
    const isDue = ({ number, folder }: Renaming): boolean => folder === call.place && number <= until;
    for (const each of this.#renamings)
      if (isDue(each)) for (const [place, named] of each.names) this.#set(this.#listed, place, named);
    this.#renamings = this.#renamings.filter((each) => !isDue(each));
  }

  /** Makes the directory at another place as a power cut at this moment leaves it. */
  leave(random: Random, to: string): void {
    const names = new Map(this.#listed);
    const kept = random.pick([0, 0.5, 0.5, 1]);
    for (const each of this.#renamings)
      if (random.chance(kept)) for (const [place, named] of each.names) this.#set(names, place, named);
    const isThere = (place: string): boolean =>
      place === this.#root || (names.get(place) === "folder" && isThere(ownFolder(place)));
    for (const [place, named] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (!isThere(ownFolder(place)) && place !== this.#root) continue;
      const there = path.join(to, path.relative(this.#root, place));
      if (named === "folder") mkdirSync(there, { recursive: true, mode: 0o700 });
      else if (named !== null) writeFileSync(there, named.left(random), { mode: 0o600 });
    }
  }

  /** How what was recorded differs from the directory as it is: nothing, or a call was missed. */
  differences(): readonly string[] {
    const differences: string[] = [];
    const seen = new Set<string>();
    const isRecorded = (name: string): boolean => !name.startsWith("lock.db") && !name.endsWith("-shm");
    for (const entry of readdirSync(this.#root, { recursive: true, withFileTypes: true })) {
      const place = path.join(entry.parentPath, entry.name);
      if (!isRecorded(entry.name)) continue;
      seen.add(place);
      const named = this.#names.get(place) ?? null;
      if (entry.isDirectory() ? named !== "folder" : !(named instanceof StoredFile))
        differences.push(`${place} was not recorded`);
      else if (named instanceof StoredFile && !named.written.bytes.equals(readFileSync(place)))
        differences.push(`${place} has other bytes than were recorded`);
    }
    for (const place of this.#names.keys())
      if (place !== this.#root && !seen.has(place)) differences.push(`${place} is not there`);
    return differences;
  }
}
