/**
 * The simulated disk under the embedded engine: real files in memory, of which the simulation knows what a power cut would leave.
 *
 * sqlite writes real files on a file system in memory, so that the real engine runs with nothing in between. What the engine itself asks of
 * the system (`fdatasync`, `fsync`, opening a folder) is answered by the simulation: it takes virtual time, may fail, and says which bytes
 * are on the platter. A power cut leaves of each file what was synced, and of what was written since any part: blocks of 4 KiB are kept,
 * lost or torn, each by itself, so writes are lost, reordered and torn.
 *
 * What is trusted: sqlite's own syncs (the header of a `-wal` that is begun anew, and those of closing), and that a sync that has succeeded
 * keeps its promise.
 */
import type * as nodeFs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import type * as nodeSqlite from "node:sqlite";
import type { Random } from "./random.ts";
import { type Machine, type Process, replaceBuiltin } from "./time.ts";

const require = createRequire(import.meta.url);
/** Node's own, whatever stands in their place later. */
const fs: typeof nodeFs = { ...(require("node:fs") as typeof nodeFs) };
const sqlite: typeof nodeSqlite = { ...(require("node:sqlite") as typeof nodeSqlite) };

type Database = nodeSqlite.DatabaseSync;

const blockBytes = 4_096;
const sectorBytes = 512;
/** The header of a `-wal` file. Its salt is another one when the file is begun anew. */
const walHeaderBytes = 32;

type Done = (error: Error | null) => void;

/** What happens to the disk, as a story says. */
export interface DiskWeather {
  /** The longest that a sync takes. */
  syncMsMax: number;
  /** The next syncs of the service that fail. */
  syncsThatFail: number;
}

/**
 * What is known to be on the platter of a file.
 *
 * A `-wal` file only grows until sqlite begins it anew: of the bytes that were synced none is written again, so their number and the header
 * are enough. Of a database file the content is kept from the moment at which pages are about to be copied into it.
 */
type Durable =
  | { readonly kind: "wal"; readonly bytes: number; readonly header: Buffer }
  | { readonly kind: "main"; readonly content: Buffer };

export class Disk {
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #root: string;
  readonly weather: DiskWeather = { syncMsMax: 2, syncsThatFail: 0 };
  readonly #paths = new Map<number, { readonly place: string; readonly process: Process }>();
  readonly #durable = new Map<string, Durable>();
  /** `-wal` files whose names are on the platter. */
  readonly #listed = new Set<string>();
  readonly #databases = new Map<Database, { readonly process: Process; readonly path: string }>();
  /** Syncs that were asked for, for the report. */
  syncs = 0;

  constructor(machine: Machine, random: Random, root: string) {
    this.#machine = machine;
    this.#random = random;
    this.#root = root;
  }

  /** Puts the simulation in the place of the system. @returns what puts that back. */
  install(): () => void {
    const tracked = (database: Database, place: string): void => {
      this.#databases.set(database, { process: this.#machine.current, path: place });
    };
    const beforeMove = (database: Database): void => {
      const place = this.#databases.get(database)?.path ?? "";
      if (place.startsWith(this.#root) && !this.#durable.has(place))
        this.#durable.set(place, { kind: "main", content: fs.readFileSync(place) });
    };
    const forget = (database: Database): void => void this.#databases.delete(database);
    class DatabaseSync extends sqlite.DatabaseSync {
      constructor(place: string, options?: ConstructorParameters<typeof sqlite.DatabaseSync>[1]) {
        super(place, options);
        tracked(this, place);
      }

      // The engine switches sqlite's own syncs off before it copies pages into the database file.
      override exec(sql: string): void {
        if (sql === "pragma synchronous = off") beforeMove(this);
        super.exec(sql);
      }

      override close(): void {
        super.close();
        forget(this);
      }
    }
    const undo = [
      replaceBuiltin("node:sqlite", { DatabaseSync }),
      replaceBuiltin("node:fs", {
        openSync: (...args: Parameters<typeof fs.openSync>) => this.#opened(fs.openSync(...args), args[0]),
        closeSync: (descriptor: number) => this.#close(descriptor),
        open: (place: string, flags: string, done: (error: Error | null, descriptor?: number) => void) => {
          this.#machine.after(this.#latency(0.2), () => done(null, this.#opened(fs.openSync(place, flags), place)));
        },
        fsyncSync: (descriptor: number) => this.#begun(descriptor)(),
        fdatasync: (descriptor: number, done: Done) => this.#sync(descriptor, done),
        fsync: (descriptor: number, done: Done) => this.#sync(descriptor, done),
      }),
      replaceBuiltin("node:fs/promises", {
        readdir: (place: string) => Promise.resolve(fs.readdirSync(place)),
      }),
    ];
    return () => {
      for (const each of undo) each();
      for (const database of this.#databases.keys()) database.close();
      this.#databases.clear();
      for (const descriptor of this.#paths.keys()) fs.closeSync(descriptor);
      this.#paths.clear();
    };
  }

  #latency(mostMs: number): number {
    return 0.02 + this.#random.next() * mostMs;
  }

  #opened(descriptor: number, place: unknown): number {
    if (typeof place === "string" && place.startsWith(this.#root))
      this.#paths.set(descriptor, { place, process: this.#machine.current });
    return descriptor;
  }

  #close(descriptor: number): void {
    const place = this.#paths.get(descriptor)?.place;
    this.#paths.delete(descriptor);
    fs.closeSync(descriptor);
    // The engine closes the `-wal` after sqlite has moved all of it into the database file and synced that.
    if (place?.endsWith("-wal") !== true || fs.existsSync(place)) return;
    this.#durable.delete(place);
    this.#listed.delete(place);
    this.#durable.delete(place.slice(0, -"-wal".length));
  }

  /** What a sync that begins now makes durable. Of a folder, the names in it. */
  #begun(descriptor: number): () => void {
    const place = this.#paths.get(descriptor)?.place;
    if (place === undefined) return () => {};
    const stat = fs.fstatSync(descriptor);
    if (stat.isDirectory())
      return () => {
        for (const name of fs.existsSync(place) ? fs.readdirSync(place) : []) {
          if (name.endsWith("-wal")) this.#listed.add(path.join(place, name));
        }
      };
    if (!place.endsWith("-wal")) return () => void this.#durable.delete(place);
    const header = Buffer.alloc(Math.min(stat.size, walHeaderBytes));
    fs.readSync(descriptor, header, 0, header.length, 0);
    return () => {
      if (fs.existsSync(place)) this.#durable.set(place, { kind: "wal", bytes: stat.size, header });
    };
  }

  #sync(descriptor: number, done: Done): void {
    this.syncs += 1;
    const succeed = this.#begun(descriptor);
    const isOfService = this.#machine.current.name.startsWith("service");
    const fails = this.weather.syncsThatFail > 0 && isOfService && !fs.fstatSync(descriptor).isDirectory();
    if (fails) this.weather.syncsThatFail -= 1;
    this.#machine.after(this.#latency(this.weather.syncMsMax), () => {
      if (fails) {
        done(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
        return;
      }
      succeed();
      done(null);
    });
  }

  /** Lets the files of a process grow no more, or as they like. */
  setFull(process: Process, isFull: boolean): void {
    for (const [database, { process: owner, path: place }] of this.#databases) {
      if (owner !== process || place.endsWith("lock.db")) continue;
      const pages = Number(database.prepare("pragma page_count").get()?.["page_count"]);
      database.exec(`pragma max_page_count = ${isFull ? pages : 1_073_741_823}`);
    }
  }

  /**
   * The data directory after a crash, in a new place: with the power, what a power cut leaves; without, all that was written.
   *
   * The killed process's connections are closed afterwards, at the old place.
   */
  crash(process: Process, from: string, to: string, withPower: boolean): void {
    fs.mkdirSync(to, { recursive: true });
    for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
      if (entry.isFile() && !entry.name.startsWith("lock.db"))
        fs.copyFileSync(path.join(from, entry.name), path.join(to, entry.name));
      if (!entry.isDirectory()) continue;
      const folder = path.join(from, entry.name);
      fs.mkdirSync(path.join(to, entry.name));
      for (const name of fs.readdirSync(folder)) {
        if (name.endsWith("-shm")) continue;
        const [before, after] = [path.join(folder, name), path.join(to, entry.name, name)];
        if (withPower || !name.includes(".db")) fs.copyFileSync(before, after);
        else {
          const left = this.#leftOf(before);
          if (left === "all") fs.copyFileSync(before, after);
          else if (left !== "nothing") fs.writeFileSync(after, left);
        }
        // What is there when a process starts again stays there: the file system has replayed its journal.
        if (name.endsWith("-wal") && fs.existsSync(after)) {
          const written = fs.readFileSync(after);
          this.#listed.add(after);
          this.#durable.set(after, { kind: "wal", bytes: written.length, header: written.subarray(0, walHeaderBytes) });
        }
      }
    }
    for (const [database, { process: owner }] of this.#databases) if (owner === process) database.close();
    for (const [descriptor, { process: owner }] of this.#paths) {
      if (owner !== process) continue;
      this.#paths.delete(descriptor);
      fs.closeSync(descriptor);
    }
    for (const place of this.#durable.keys()) if (place.startsWith(`${from}/`)) this.#durable.delete(place);
    fs.rmSync(from, { recursive: true });
  }

  /** What a power cut leaves of a file. `nothing`: its name was not on the disk, and is lost. */
  #leftOf(place: string): Buffer | "all" | "nothing" {
    const durable = this.#durable.get(place);
    if (durable === undefined && !place.endsWith("-wal")) return "all";
    const written = fs.readFileSync(place);
    if (durable?.kind === "main") return this.#mixed(durable.content, written);
    if (!this.#listed.has(place) && this.#random.chance(0.5)) return "nothing";
    if (durable === undefined) return this.#mixed(Buffer.alloc(0), written);
    const isSame = durable.header.equals(written.subarray(0, durable.header.length));
    if (isSame) return this.#mixed(written.subarray(0, Math.min(durable.bytes, written.length)), written);
    // It was begun anew: sqlite has synced the header before any frame, and what is left of old frames counts for nothing.
    return this.#mixed(written.subarray(0, walHeaderBytes), written);
  }

  /** What was synced, and of what was written since any blocks: kept, lost, or torn. */
  #mixed(synced: Buffer, written: Buffer): Buffer {
    const random = this.#random;
    const left = Buffer.alloc(Math.max(synced.length, written.length));
    synced.copy(left);
    // How much is kept differs from cut to cut: nothing, any part, all of it.
    const kept = random.pick([0, 0.5, 0.9, 1]);
    let end = synced.length;
    for (let at = 0; at < left.length; at += blockBytes) {
      const [before, after] = [synced.subarray(at, at + blockBytes), written.subarray(at, at + blockBytes)];
      if (before.equals(after) || !random.chance(kept)) continue;
      const bytes = random.chance(0.1) ? sectorBytes * random.int(1, blockBytes / sectorBytes - 1) : blockBytes;
      const until = Math.min(at + bytes, written.length);
      // What was synced is written again only with a new header, or by a copy of pages.
      written.copy(left, at, at, until);
      end = Math.max(end, until);
    }
    return left.subarray(0, end);
  }
}
