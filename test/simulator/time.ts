/**
 * Virtual time: the event loop of a simulated machine room, with every process in it.
 *
 * The program reads time and waits by what the platform gives it (`setTimeout`, `setImmediate`, `Date.now`, `performance.now`, random
 * bytes). `Machine.install` puts those of the simulation in their place. So the real code runs without a change, nothing waits for real
 * time, and the same seed gives the same order of everything.
 *
 * A task (a timer, an end of a sync, a message that arrives) belongs to a process. After a task all promises that it has settled are
 * run to their ends, so between two tasks a process waits for further tasks only. A process that is killed gets none of them any more:
 * that is a crash at whatever it was waiting for.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Random } from "../world/random.ts";

/** A simulated process; of a killed one nothing runs any more. */
export class Process {
  readonly name: string;
  isAlive = true;

  constructor(name: string) {
    this.name = name;
  }
}

/** What was waited for was begun in a process that has been killed. */
export class ProcessEnded extends Error {
  override readonly name = "ProcessEnded";
}

interface Task {
  atMs: number;
  readonly order: number;
  readonly process: Process;
  readonly run: () => void;
  isCancelled: boolean;
}

/** What `setTimeout` returns. */
class Timer {
  readonly #machine: Machine;
  readonly #run: () => void;
  readonly #everyMs: number | null;
  #afterMs: number;
  task: Task;

  constructor(machine: Machine, run: () => void, afterMs: number, everyMs: number | null) {
    this.#machine = machine;
    this.#run = run;
    this.#afterMs = afterMs;
    this.#everyMs = everyMs;
    this.task = this.#schedule();
  }

  #schedule(): Task {
    return this.#machine.after(this.#afterMs, () => {
      if (this.#everyMs !== null) {
        this.#afterMs = this.#everyMs;
        this.task = this.#schedule();
      }
      this.#run();
    });
  }

  refresh(): this {
    this.task.isCancelled = true;
    this.task = this.#schedule();
    return this;
  }

  close(): void {
    this.task.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

const realSetImmediate = setImmediate;

/** Resolves when every promise that can go on has gone on. */
const untilSettled = (): Promise<void> => new Promise((resolve) => void realSetImmediate(resolve));

/** The wall clock at the start of every simulation: 2026-01-05, a Monday, 09:00 UTC. */
export const startAtMs = Date.UTC(2026, 0, 5, 9);

/** What a task takes. A process that goes round and round lets time pass. */
const taskMs = 0.02;

/** A simulation that has run more tasks goes round in circles; a long one has run some 10,000. */
const tasksMax = 60_000;

export class Machine {
  /** Runs on steadily, whatever the wall clock is set to. */
  #elapsedMs = 0;
  /** What the wall clock was set forward, or back if negative. */
  setByMs = 0;
  #order = 0;
  /** A heap: the earliest first, those of one moment in the order in which they were added. */
  readonly #timed: Task[] = [];
  /** What runs in this round of the loop, by process. */
  readonly #immediate = new Map<Process, Task[]>();
  readonly #random: Random;
  current: Process;
  tasksRun = 0;
  /** What happens after so many further tasks of a process. */
  #trigger: { readonly process: Process; left: number; readonly run: () => void } | null = null;
  /** Errors that a task has thrown to nobody. */
  readonly uncaught: unknown[] = [];
  /** How long the processor takes at most between two looks at the clock. */
  processorMs = 0;
  readonly #processor: Random;

  constructor(random: Random, first: Process) {
    this.#random = random;
    this.#processor = random.named("processor");
    this.current = first;
  }

  /** The program looks at the clock: what it has done since the last look has taken its time. */
  #look(): void {
    if (this.processorMs > 0) this.#elapsedMs += this.#processor.next() * this.processorMs;
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  get wallMs(): number {
    return startAtMs + Math.floor(this.#elapsedMs) + this.setByMs;
  }

  /** Runs in the process, after the time. @param process default: the one that runs. */
  after(ms: number, run: () => void, process = this.current): Task {
    const task: Task = {
      atMs: this.#elapsedMs + Math.max(0, ms),
      order: (this.#order += 1),
      process,
      run,
      isCancelled: false,
    };
    push(this.#timed, task);
    return task;
  }

  /** Runs something between two tasks of a process, after so many of them: whatever it waits for then. */
  afterTasks(process: Process, tasks: number, run: () => void): void {
    this.#trigger = { process, left: tasks, run };
  }

  #countDown(process: Process): void {
    const trigger = this.#trigger;
    if (trigger === null || trigger.process !== process) return;
    trigger.left -= 1;
    if (trigger.left > 0) return;
    this.#trigger = null;
    trigger.run();
  }

  /** Waits in the process that runs. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  #nextRound(run: () => void): Task {
    const process = this.current;
    const task: Task = { atMs: this.#elapsedMs, order: (this.#order += 1), process, run, isCancelled: false };
    const waiting = this.#immediate.get(process);
    if (waiting === undefined) this.#immediate.set(process, [task]);
    else waiting.push(task);
    return task;
  }

  /** The next task: of the processes with something to run in this round any, else the earliest timed one. */
  #take(): Task | null {
    const ready = [...this.#immediate].filter(([process]) => process.isAlive);
    const [earliest] = this.#timed;
    const isDue = earliest !== undefined && earliest.atMs <= this.#elapsedMs;
    const choices = ready.length + (isDue ? 1 : 0);
    if (choices === 0 || (isDue && choices === 1)) return pop(this.#timed);
    const choice = choices === 1 ? 0 : this.#random.int(0, choices - 1);
    const [process, waiting] = ready[choice] ?? [];
    if (process === undefined || waiting === undefined) return pop(this.#timed);
    const task = waiting.shift() ?? null;
    if (waiting.length === 0) this.#immediate.delete(process);
    return task;
  }

  /** Runs tasks until the condition holds. @returns false when nothing is left to run, or the time is over before. */
  async runUntil(condition: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const untilMs = this.#elapsedMs + withinMs;
    await untilSettled();
    while (!condition()) {
      const task = this.#take();
      if (task === null) return false;
      if (task.isCancelled || !task.process.isAlive) continue;
      this.#elapsedMs = Math.max(this.#elapsedMs, task.atMs) + taskMs;
      if (this.#elapsedMs > untilMs) {
        push(this.#timed, task);
        return false;
      }
      this.current = task.process;
      this.tasksRun += 1;
      if (this.tasksRun > tasksMax) throw new Error(`it has not come to rest after ${tasksMax} tasks`);
      try {
        task.run();
      } catch (error) {
        if (task.process.isAlive) this.uncaught.push(error);
      }
      await untilSettled();
      this.#countDown(task.process);
    }
    return true;
  }

  /** Runs `begin` in the process and everything else until its promise is settled. */
  async settle<T>(process: Process, begin: () => Promise<T>, withinMs = 3_600_000): Promise<T> {
    let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
    this.after(
      0,
      () => {
        begin().then(
          (value) => (outcome = { value }),
          (error: unknown) => (outcome = { error }),
        );
      },
      process,
    );
    const isSettled = (): boolean => outcome !== null || !process.isAlive;
    if (!(await this.runUntil(isSettled, withinMs))) throw new Error("a promise was not settled in time");
    if (!process.isAlive) throw new ProcessEnded();
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- it was assigned in a callback
    const settled = outcome as { readonly value: T } | { readonly error: unknown } | null;
    if (settled === null) throw new Error("unreachable");
    if ("error" in settled) throw settled.error;
    return settled.value;
  }

  /** Puts the simulation's time and random numbers in the place of the platform's. @returns what puts them back. */
  install(): () => void {
    const start =
      (everyMs: (ms: number) => number | null) =>
      (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer => {
        const afterMs = Number.isFinite(ms) && ms >= 1 && ms <= 2_147_483_647 ? ms : 1;
        return new Timer(this, () => run(...args), afterMs, everyMs(afterMs));
      };
    const stop = (timer: Timer | undefined | null): void => timer?.close();
    const replaced = {
      setTimeout: start(() => null),
      setInterval: start((ms) => ms),
      clearTimeout: stop,
      clearInterval: stop,
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => this.#nextRound(() => run(...args)),
      clearImmediate: (task: Task | undefined) => {
        if (task !== undefined) task.isCancelled = true;
      },
    };
    const undo = [
      replace(globalThis, replaced),
      replace(Date, {
        now: () => {
          this.#look();
          return this.wallMs;
        },
      }),
      replace(Math, { random: () => this.#random.next() }),
      replace(performance, {
        now: () => {
          this.#look();
          return this.#elapsedMs;
        },
      }),
      replaceBuiltin("node:crypto", {
        randomFillSync: (bytes: Uint8Array) => {
          this.#random.fill(bytes);
          return bytes;
        },
        randomBytes: (size: number) => {
          const bytes = Buffer.alloc(size);
          this.#random.fill(bytes);
          return bytes;
        },
      }),
    ];
    return () => {
      for (const each of undo) each();
    };
  }
}

/** Gives an object other members. @returns what gives it its own back. */
export function replace(target: object, members: Readonly<Record<string, unknown>>): () => void {
  const own = Object.keys(members).map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const);
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of own) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
  };
}

const require = createRequire(import.meta.url);

/** Replaces exports of a module of Node, also where they were imported by name. @returns what puts its own back. */
export function replaceBuiltin(name: string, members: Readonly<Record<string, unknown>>): () => void {
  const target: object = require(name);
  const undo = replace(target, members);
  syncBuiltinESMExports();
  return () => {
    undo();
    syncBuiltinESMExports();
  };
}

const isBefore = (a: Task, b: Task): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(heap: Task[], task: Task): void {
  let at = heap.length;
  heap.push(task);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(task, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = task;
}

function pop(heap: Task[]): Task | null {
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined) return null;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const child = left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
    const lower = heap[child];
    if (lower === undefined || !isBefore(lower, last)) break;
    heap[at] = lower;
    at = child;
  }
  heap[at] = last;
  return first;
}
