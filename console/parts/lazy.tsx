/** A screen, or a part of one, whose script is loaded when it is first shown, or before. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { unreachable } from "../data/client.ts";
import { ProblemNotice } from "./problem.tsx";
import { Skeleton } from "./skeleton.tsx";

export type LazyComponent<Props> = FunctionComponent<Props> & {
  /** Asks for the script, so that it comes beside what the part waits for. */
  readonly begin: () => void;
};

/** @param isQuiet  nothing stands in the place of a part that is loading: what is below it would be moved twice. */
export function lazy<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
  { isQuiet = false } = {},
): LazyComponent<Props> {
  let Loaded: FunctionComponent<Props> | null = null;
  let loading: Promise<boolean> | null = null;
  const begin = (): Promise<boolean> =>
    (loading ??= load().then(
      (loaded) => {
        Loaded = loaded;
        return true;
      },
      () => false,
    ));
  const Lazy = (props: Props) => {
    const state = useSignal<"loading" | "loaded" | "failed">(Loaded === null ? "loading" : "loaded");
    // Not after the first frame: the script is on its way while that is drawn.
    useMemo(() => {
      if (Loaded === null) void begin().then((isLoaded) => (state.value = isLoaded ? "loaded" : "failed"));
    }, []);
    if (state.value === "failed") {
      // A browser keeps a script that failed to load: only a reload asks for it again.
      return <ProblemNotice problem={unreachable} again={() => location.reload()} />;
    }
    if (state.value === "loaded" && Loaded !== null) return <Loaded {...props} />;
    return isQuiet ? null : <Skeleton />;
  };
  return Object.assign(Lazy, { begin: () => void begin() });
}
