/** A screen, or a part of one, whose script is loaded when it is first shown. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { unreachable } from "../data/client.ts";
import { ProblemNotice } from "./problem.tsx";
import { Skeleton } from "./skeleton.tsx";

/** @param isQuiet  nothing stands in the place of a part that is loading: what is below it would be moved twice. */
export function lazy<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
  { isQuiet = false } = {},
): FunctionComponent<Props> {
  let Loaded: FunctionComponent<Props> | null = null;
  return (props: Props) => {
    const state = useSignal<"loading" | "loaded" | "failed">(Loaded === null ? "loading" : "loaded");
    const read = async (): Promise<void> => {
      try {
        Loaded ??= await load();
        state.value = "loaded";
      } catch {
        state.value = "failed";
      }
    };
    useEffect(() => void read(), []);
    if (state.value === "failed") {
      // A browser keeps a script that failed to load: only a reload asks for it again.
      return <ProblemNotice problem={unreachable} again={() => location.reload()} />;
    }
    if (state.value === "loaded" && Loaded !== null) return <Loaded {...props} />;
    return isQuiet ? null : <Skeleton />;
  };
}
