/**
 * The simulated disk under the embedded engine: real files in memory, of which the simulation knows what a power cut would leave.
 *
 * sqlite writes real files on a file system in memory, so that the real engine runs with nothing in between. What the engine itself asks of
 * the system (`fdatasync`, `fsync`, opening a folder) is answered by the simulation: it takes virtual time, may fail, and says which bytes
 * are on the platter. A power cut leaves of each file what was synced, and of what was written since any part: blocks of 4 KiB are kept,
 * lost or torn, each by itself, so writes are lost, reordered and torn. That goes for a `-wal` file that is written from its start again, too.
 * What a sync that has failed was to make durable is forgotten by the system: later syncs that succeed do not make it durable either.
 *
 * What is trusted: sqlite's own syncs (the header of a `-wal` that is begun anew, and those of closing), and that a sync that has succeeded
 * keeps its promise.
 */
import type * as nodeFs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import type * as nodeSqlite from "node:sqlite";
import { leftOf } from "../support/engine/torn-blocks.ts";
import type { Random } from "../world/random.ts";
import { type Machine, type Process, replace, replaceBuiltin } from "./time.ts";

const require = createRequire(import.meta.url);
/** Node's own, whatever stands in their place later. */
const fs: typeof nodeFs = { ...(require("node:fs") as typeof nodeFs) };
const { DatabaseSync } = require("node:sqlite") as typeof nodeSqlite;

type Database = nodeSqlite.DatabaseSync;

/** The header of a `-wal` file. Its salt is another one when the file is begun anew. */
const walHeaderBytes = 32;

/** What a power cut takes: frames of a `-wal` file, its name, or pages that were on their way into a database file. */
export type Loss = "frames" | "name" | "pages";

type Done = (error: Error | null) => void;

/** A connection of the engine. */
interface Opened {
  readonly process: Process;
  readonly path: string;
  /** Tells how many frames of the `-wal` file count. Prepared at first use. */
  state?: nodeSqlite.StatementSync;
  pageBytes?: number;
}

/** What happens to the disk, as a story says. */
interface DiskWeather {
  /** The longest that a sync takes. */
  syncMsMax: number;
  /** The next syncs of the service that fail. */
  syncsThatFail: number;
  /** If not, what is on the platter does not matter. */
  mayLosePower: boolean;
}

/** Before each page in a `-wal` file. */
const frameHeaderBytes = 24;

/**
 * What is known to be on the platter of a file.
 *
 * `wal`: the frames that sqlite counted when the file was last synced, with the header before them. What lies behind them is left from before
 * the file was begun anew, and counts for nothing. `isExact`: sqlite has written none of these bytes since; of what a crash has left it
 * writes the end anew. `forgotten`: the header with which a sync has failed; frames behind it are not durable until the file is begun anew.
 * `main`: the content from the moment at which pages are about to be copied into the file, and how often that has happened since. `isForgotten`:
 * a sync of them has failed.
 */
type Durable =
  | { readonly kind: "wal"; content: Buffer; bytes: number; isExact: boolean; forgotten: Buffer | null }
  | { readonly kind: "main"; readonly content: Buffer; copies: number; isForgotten: boolean };

/** A sync that has begun. */
interface Begun {
  succeed(): void;
  fail(): void;
}

const nothingToSync: Begun = { succeed: () => {}, fail: () => {} };

export class Disk {
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #root: string;
  readonly weather: DiskWeather = { syncMsMax: 2, syncsThatFail: 0, mayLosePower: true };
  readonly #paths = new Map<number, { readonly place: string; readonly process: Process }>();
  readonly #durable = new Map<string, Durable>();
  /** Memory for the contents of database files. */
  readonly #contents = new Map<string, Buffer>();
  /** `-wal` files whose names are on the platter. */
  readonly #listed = new Set<string>();
  readonly #databases = new Map<Database, Opened>();
  /** By process, how many syncs are under way. */
  readonly #syncing = new Map<Process, number>();
  /** What power cuts have taken. */
  readonly lost = new Set<Loss>();

  constructor(machine: Machine, random: Random, root: string) {
    this.#machine = machine;
    this.#random = random;
    this.#root = root;
  }

  /** Puts the simulation in the place of the system. @returns what puts that back. */
  install(): () => void {
    // The class itself cannot be replaced where it was imported by name, so a connection becomes known when it is first used.
    const used = (database: Database): void => {
      if (this.#databases.has(database)) return;
      this.#databases.set(database, { process: this.#machine.current, path: database.location() ?? "" });
    };
    const own = DatabaseSync.prototype;
    // oxlint-disable-next-line typescript/unbound-method -- they are called on a connection
    const { exec, prepare, close } = own;
    const beforeMove = (database: Database): void => {
      const place = this.#databases.get(database)?.path ?? "";
      if (!this.weather.mayLosePower || !place.startsWith(this.#root)) return;
      const durable = this.#durable.get(place);
      if (durable?.kind === "main") durable.copies += 1;
      else this.#durable.set(place, { kind: "main", content: this.#contentOf(place), copies: 1, isForgotten: false });
    };
    const databases = this.#databases;
    const undo = [
      replace(own, {
        exec(this: Database, sql: string): void {
          used(this);
          // The engine switches sqlite's own syncs off before it copies pages into the database file.
          if (sql === "pragma synchronous = off") beforeMove(this);
          exec.call(this, sql);
        },
        prepare(this: Database, ...args: Parameters<Database["prepare"]>): nodeSqlite.StatementSync {
          used(this);
          return prepare.apply(this, args);
        },
        close(this: Database): void {
          close.call(this);
          databases.delete(this);
        },
      }),
      replaceBuiltin("node:fs", {
        openSync: (...args: Parameters<typeof fs.openSync>) => this.#opened(fs.openSync(...args), args[0]),
        closeSync: (descriptor: number) => this.#close(descriptor),
        open: (place: string, flags: string, done: (error: Error | null, descriptor?: number) => void) => {
          this.#machine.after(this.#latency(0.2), () => done(null, this.#opened(fs.openSync(place, flags), place)));
        },
        fsyncSync: (descriptor: number) => this.#begun(descriptor).succeed(),
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
  #begun(descriptor: number): Begun {
    const place = this.#paths.get(descriptor)?.place;
    if (place === undefined) return nothingToSync;
    const stat = fs.fstatSync(descriptor);
    if (stat.isDirectory())
      return {
        ...nothingToSync,
        succeed: () => {
          for (const name of fs.existsSync(place) ? fs.readdirSync(place) : []) {
            if (name.endsWith("-wal")) this.#listed.add(path.join(place, name));
          }
        },
      };
    if (!this.weather.mayLosePower) return nothingToSync;
    return place.endsWith("-wal") ? this.#walBegun(descriptor, place, stat.size) : this.#mainBegun(place);
  }

  #mainBegun(place: string): Begun {
    const known = this.#durable.get(place);
    const copies = known?.kind === "main" ? known.copies : 0;
    return {
      succeed: () => {
        const durable = this.#durable.get(place);
        // Pages that were copied while it ran may be on the platter or not.
        if (durable?.kind === "main" && durable.copies === copies && !durable.isForgotten) this.#durable.delete(place);
      },
      fail: () => {
        const durable = this.#durable.get(place);
        if (durable?.kind === "main") durable.isForgotten = true;
      },
    };
  }

  #walBegun(descriptor: number, place: string, size: number): Begun {
    const known = this.#durable.get(place);
    const bytes = this.#walBytes(place, size);
    const header = Buffer.alloc(Math.min(bytes, walHeaderBytes));
    fs.readSync(descriptor, header, 0, header.length, 0);
    if (known?.kind === "wal" && known.forgotten?.equals(header) === true) return nothingToSync;
    const isSame = known?.kind === "wal" && known.isExact && known.bytes <= bytes && headerOf(known).equals(header);
    const from = isSame ? known.bytes : 0;
    const added = Buffer.allocUnsafe(bytes - from);
    fs.readSync(descriptor, added, 0, added.length, from);
    return {
      succeed: () => {
        if (!fs.existsSync(place)) return;
        const durable = this.#durable.get(place);
        if (isSame && durable === known && known.bytes === from) {
          known.content = appended(known.content, from, added);
          known.bytes = bytes;
        } else if (from === 0) {
          const content = durable?.kind === "wal" && durable.isExact ? appended(durable.content, 0, added) : added;
          this.#durable.set(place, { kind: "wal", content, bytes, isExact: true, forgotten: null });
        }
      },
      fail: () => {
        if (added.length === 0) return;
        // What was durable before stays so.
        if (known?.kind === "wal" && headerOf(known).equals(header)) known.forgotten = header;
        else {
          // sqlite has synced the header of a file that it has begun anew.
          const durableBytes = known === undefined ? 0 : header.length;
          this.#durable.set(place, {
            kind: "wal",
            content: header,
            bytes: durableBytes,
            isExact: true,
            forgotten: header,
          });
        }
      },
    };
  }

  /** The content of a database file, in the memory that its content took the last time. */
  #contentOf(place: string): Buffer {
    const descriptor = fs.openSync(place, "r");
    const { size } = fs.fstatSync(descriptor);
    const held = this.#contents.get(place) ?? Buffer.alloc(0);
    const content = held.length >= size ? held : Buffer.allocUnsafe(2 * size);
    this.#contents.set(place, content);
    fs.readSync(descriptor, content, 0, size, 0);
    fs.closeSync(descriptor);
    return content.subarray(0, size);
  }

  /** How much of a `-wal` file sqlite counts: its header, and the frames up to the last commit. */
  #walBytes(place: string, size: number): number {
    if (size < walHeaderBytes) return 0;
    const main = place.slice(0, -"-wal".length);
    for (const [database, each] of this.#databases) {
      if (each.path !== main) continue;
      each.state ??= database.prepare("pragma wal_checkpoint(noop)");
      const frames = Number(each.state.get()?.["log"]);
      const pageBytes = (each.pageBytes ??= Number(database.prepare("pragma page_size").get()?.["page_size"]));
      return Math.min(size, walHeaderBytes + frames * (frameHeaderBytes + pageBytes));
    }
    throw new Error(`the connection to ${main} is not known`);
  }

  /** How many syncs of the process are under way. */
  syncsOf(process: Process): number {
    return this.#syncing.get(process) ?? 0;
  }

  #sync(descriptor: number, done: Done): void {
    const begun = this.#begun(descriptor);
    const process = this.#machine.current;
    this.#syncing.set(process, this.syncsOf(process) + 1);
    const isOfService = process.name.startsWith("service");
    const fails = this.weather.syncsThatFail > 0 && isOfService && !fs.fstatSync(descriptor).isDirectory();
    if (fails) this.weather.syncsThatFail -= 1;
    this.#machine.after(this.#latency(this.weather.syncMsMax), () => {
      this.#syncing.set(process, this.syncsOf(process) - 1);
      if (fails) {
        begun.fail();
        done(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
        return;
      }
      begun.succeed();
      done(null);
    });
  }

  /** Lets the files of a process grow no more, or as they like. */
  setFull(process: Process, isFull: boolean): void {
    const own = [...this.#databases].filter(([, { process: owner }]) => owner === process);
    if (own.length === 0 && process.isAlive) throw new Error(`no connection of ${process.name} is known`);
    for (const [database, { path: place }] of own) {
      if (place.endsWith("lock.db")) continue;
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
        if (withPower) {
          // What is on the platter stays as it was; the next process reads more than that.
          const durable = this.#durable.get(before);
          if (durable !== undefined) this.#durable.set(after, durable);
          if (this.#listed.has(before)) this.#listed.add(after);
        } else if (name.endsWith("-wal") && fs.existsSync(after)) {
          // What a power cut has left is on the platter.
          const written = fs.readFileSync(after);
          this.#listed.add(after);
          this.#durable.set(after, {
            kind: "wal",
            content: written,
            bytes: written.length,
            isExact: false,
            forgotten: null,
          });
        }
      }
    }
    for (const [database, { process: owner }] of this.#databases) if (owner === process) database.close();
    for (const [descriptor, { process: owner }] of this.#paths) {
      if (owner !== process) continue;
      this.#paths.delete(descriptor);
      fs.closeSync(descriptor);
    }
    for (const each of [this.#durable, this.#contents])
      for (const place of each.keys()) if (place.startsWith(`${from}/`)) each.delete(place);
    fs.rmSync(from, { recursive: true });
  }

  /** What a power cut leaves of a file. `nothing`: its name was not on the disk, and is lost. */
  #leftOf(place: string): Buffer | "all" | "nothing" {
    const durable = this.#durable.get(place);
    if (durable === undefined && !place.endsWith("-wal")) return "all";
    const written = fs.readFileSync(place);
    if (durable?.kind === "main") return this.#leftOver("pages", durable.content, written);
    if (!this.#listed.has(place) && this.#random.chance(0.5)) {
      this.lost.add("name");
      return "nothing";
    }
    if (durable === undefined) return this.#leftOver("frames", Buffer.alloc(0), written);
    const header = headerOf(durable);
    if (header.equals(written.subarray(0, header.length)))
      return this.#leftOver("frames", durable.content.subarray(0, durable.bytes), written);
    // It was begun anew: sqlite has synced the header before any frame, and what is left of old frames counts for nothing.
    return this.#leftOver("frames", written.subarray(0, walHeaderBytes), written);
  }

  #leftOver(what: Loss, synced: Buffer, written: Buffer): Buffer {
    const left = leftOf(this.#random, synced, written);
    if (!left.equals(written)) this.lost.add(what);
    return left;
  }
}

const headerOf = ({ content, bytes }: Extract<Durable, { readonly kind: "wal" }>): Buffer =>
  content.subarray(0, Math.min(bytes, walHeaderBytes));

/** The content with bytes added at the place; in the same memory where that has room. */
function appended(content: Buffer, at: number, added: Buffer): Buffer {
  const room =
    content.length >= at + added.length ? content : Buffer.alloc(Math.max(2 * content.length, at + added.length));
  if (room !== content) content.copy(room, 0, 0, at);
  added.copy(room, at);
  return room;
}
