/** How many seeds of a run have come to each state of the table (table.ts), and which of them none has. */
import type { Course } from "../world.ts";
import { ShopFacts } from "./facts.ts";
import { type State, states } from "./table.ts";

/** Runs of so many seeds and more must come to every state. */
export const seedsForAll = 1_000;

/** Runs of so many must come to those that are not rare. Shorter ones need not come to any. */
export const seedsForFrequent = 200;

/** The names of the states that this course has come to. */
export function reachedBy(course: Course): readonly string[] {
  const shops = course.ends.map((end) => new ShopFacts(course, end));
  return states.flatMap(({ name, isReached }) => (shops.some(isReached) ? name : []));
}

/** By state, how many seeds have come to it. */
export class StateCounts {
  readonly #counts: Map<string, number>;

  /** @param counts of seeds that were played before. */
  constructor(counts: Readonly<Record<string, number>> = {}) {
    this.#counts = new Map(Object.entries(counts));
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  add(reached: readonly string[]): void {
    for (const name of reached) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** The states that a run of so many seeds must have come to and has not. */
  missed(seeds: number): readonly State[] {
    const mustReach = ({ isRare = false }: State): boolean => seeds >= (isRare ? seedsForAll : seedsForFrequent);
    return states.filter((state) => mustReach(state) && !this.#counts.has(state.name));
  }

  /** The table of a run, as lines. */
  table(seeds: number): readonly string[] {
    return [
      `| seeds of ${seeds} | state | rule | what has happened |`,
      "| ---: | --- | --- | --- |",
      ...states.map(({ name, rule, tells }) => `| ${this.#counts.get(name) ?? 0} | ${name} | ${rule} | ${tells} |`),
    ];
  }
}
