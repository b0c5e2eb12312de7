/**
 * Result of one call, for a screen: read when the screen opens, and again on request. What was read stays until the
 * next answer.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Input, OperationName, Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "./client.ts";

export interface Reading<Data> {
  readonly data: Data | null;
  readonly problem: Problem | null;
  readonly again: () => Promise<void>;
}

/**
 * Runs calls one at a time: calls during one become one more after it. So no older answer comes last, and who asks gets
 * an answer that was asked for after they had asked.
 */
export function serially(ask: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= last = last
      .catch(() => {})
      .then(() => {
        next = null;
        return ask();
      });
    return next;
  };
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A call that is scheduled once at most. While it is scheduled, `in` changes nothing. */
interface Later {
  readonly in: (waitMs: number) => void;
  readonly cancel: () => void;
}

export function later(run: () => void): Later {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return {
    in: (waitMs) => {
      timer ??= setTimeout(() => {
        timer = null;
        run();
      }, waitMs);
    },
    cancel: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
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
  const latestInput = useRef(input);
  latestInput.current = input;
  const again = useMemo(
    () =>
      serially(async () => {
        const result = await openpo.call(name, latestInput.current);
        state.value = result.ok
          ? { data: result.data, problem: null }
          : { data: state.value.data, problem: problemOf(result) };
      }),
    [name, state],
  );
  useEffect(() => {
    if (isWanted) void again();
  }, []);
  return { ...state.value, again };
}
