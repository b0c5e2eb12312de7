/** What one call reads, for a screen: read when the screen opens, and again when asked. What was read stays until the next answer. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Input, OperationName, Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "./client.ts";

export interface Reading<Data> {
  readonly data: Data | null;
  readonly problem: Problem | null;
  readonly again: () => Promise<void>;
}

/** @param isWanted  false: nothing is read, for what the person may not ask. */
export function useReading<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  isWanted = true,
): Reading<Output<Name>> {
  const state = useSignal<{ readonly data: Output<Name> | null; readonly problem: Problem | null }>({
    data: null,
    problem: null,
  });
  const again = async (): Promise<void> => {
    const result = await openpo.call(name, input);
    state.value = result.ok
      ? { data: result.data, problem: null }
      : { data: state.value.data, problem: problemOf(result) };
  };
  useEffect(() => {
    if (isWanted) void again();
  }, []);
  return { ...state.value, again };
}
