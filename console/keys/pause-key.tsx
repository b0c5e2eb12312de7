/** Pauses a key, or resumes it: nothing is lost by it, so nothing is asked first. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { texts } from "../texts/en/texts.ts";

interface Pausable {
  readonly keyId: string;
  readonly name: string;
  readonly pausedAt: string | null;
}

/** @param again  reads what shows the key. */
export const PauseKey: FunctionComponent<{
  readonly shopKey: Pausable;
  /** Says the key's name on the button. */
  readonly isNamed?: boolean;
  readonly again: () => Promise<void>;
}> = ({ shopKey: { keyId, name, pausedAt }, isNamed = false, again }) => {
  const problem = useSignal<Problem | null>(null);
  const [word, sentence] =
    pausedAt === null ? [texts.keys.pause, texts.keys.pauseOf(name)] : [texts.keys.resume, texts.keys.resumeOf(name)];
  const change = async (): Promise<void> => {
    const result = await openpo.call("key_patch", { shopId: shopId(), keyId, paused: pausedAt === null });
    problem.value = result.ok ? null : problemOf(result);
    if (result.ok) await again();
  };
  return (
    <>
      <button type="button" aria-label={sentence} onClick={() => void change()}>
        {isNamed ? sentence : word}
      </button>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
    </>
  );
};
