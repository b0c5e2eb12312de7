/** The message of what a person has done: one at a time, which stays while they go from place to place. */
import { signal } from "@preact/signals";

export interface Told {
  readonly text: string;
  /** Words of the service after it, which are English. */
  readonly says?: string;
  /** Left out: it is done. What failed or waits for somebody's decision stays until it is closed. */
  readonly state?: "failed" | "waiting";
  readonly link?: { readonly href: string; readonly title: string };
  /** Takes back what was done. @returns what is told then. */
  readonly undo?: () => Promise<Told>;
}

export const told = signal<Told | null>(null);
