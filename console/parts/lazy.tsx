/** A screen, or a part of one, whose script is loaded when it is first shown. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { unreachable } from "../data/client.ts";
import { texts } from "../texts.ts";
import { ProblemNotice } from "./problem.tsx";

export function lazy<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
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
    return state.value === "loading" || Loaded === null ? <p role="status">{texts.loading}</p> : <Loaded {...props} />;
  };
}
