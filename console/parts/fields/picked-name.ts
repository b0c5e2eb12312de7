/** Names of what lists are filtered by. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LookUp } from "../../data/look-ups.ts";
import { texts } from "../../texts/en/texts.ts";

/** Names that were looked up or chosen, by id. */
const names = new Map<string, string>();

/** Names that are being looked up. Several places may show one. */
const asked = new Map<string, Promise<void>>();

async function ask(id: string, lookUp: LookUp): Promise<void> {
  const found = await lookUp({ ids: [id] });
  asked.delete(id);
  if (!("message" in found)) names.set(id, found[0]?.title ?? id);
}

/** Returns the name of what a filter is on; null when it is not. */
export function usePickedName(value: string | null, lookUp: LookUp): string | null {
  const version = useSignal(0);
  useEffect(() => {
    const name = async (id: string): Promise<void> => {
      const answer = asked.get(id) ?? ask(id, lookUp);
      asked.set(id, answer);
      await answer;
      version.value += 1;
    };
    if (value !== null && !names.has(value)) void name(value);
  }, [value]);
  if (value === null) return null;
  return names.get(value) ?? (version.value === 0 ? texts.loading : value);
}

/** Keeps the name of what was chosen. */
export const notePicked = (id: string, name: string): Map<string, string> => names.set(id, name);
