/**
 * The latest pull of the storefront: how far it is, what it brought or why it failed, and a button that begins the next
 * one.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { number, sentence } from "../data/format.ts";
import { shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Moment } from "../parts/when.tsx";
import { storefrontTexts } from "../texts/en/shop/storefront.ts";
import type { Status } from "./storefront.tsx";

type PullStatus = NonNullable<Status["pull"]>;

const words = storefrontTexts.pull;

interface PullProps {
  readonly status: Status;
  readonly again: () => Promise<void>;
}

export const Pull: FunctionComponent<PullProps> = ({ status: { pull, canPull }, again }) => {
  const problem = useSignal<Problem | null>(null);
  const isAsking = useSignal(false);
  const begin = async (everything: boolean): Promise<void> => {
    isAsking.value = true;
    const result = await openpo.call("storefront_pull", { shopId: shopId(), everything });
    isAsking.value = false;
    problem.value = result.ok ? null : problemOf(result);
    await again();
  };
  const isRunning = pull?.state === "running";
  const hasPulled = pull !== null && pull.pulledUntil !== null;
  const next = pull?.state === "failed" ? words.again : hasPulled ? words.changes : words.first;
  return (
    <section aria-labelledby="pull">
      <h2 id="pull">{words.title}</h2>
      <p class="quiet">{canPull ? words.lead : words.noPull}</p>
      {pull === null ? canPull ? <p>{words.none}</p> : null : <Latest pull={pull} />}
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {canPull && !isRunning ? (
        <p class="buttons">
          <button type="button" class="primary" disabled={isAsking.value} onClick={() => void begin(false)}>
            {next}
          </button>
          {hasPulled ? (
            <button type="button" disabled={isAsking.value} onClick={() => void begin(true)}>
              {words.everything}
            </button>
          ) : null}
        </p>
      ) : null}
    </section>
  );
};

const Latest: FunctionComponent<{ readonly pull: PullStatus }> = ({ pull }) => {
  const { state, error, notes, startedAt, endedAt, progress } = pull;
  const found = [
    { count: progress.deleted, names: progress.deletedNames, say: words.deleted },
    { count: progress.inactive, names: progress.inactiveNames, say: words.inactive },
  ];
  return (
    <>
      {state === "failed" ? (
        <div class="problem" role="alert">
          <p>
            <strong>
              <Moment at={startedAt} says={words.failed} />
            </strong>{" "}
            {error === null ? null : sentence(error.message)} {words.kept}
          </p>
        </div>
      ) : state === "running" ? (
        <Running pull={pull} />
      ) : (
        <p role="status">
          <Moment at={endedAt ?? startedAt} says={words.done} />
        </p>
      )}
      {state === "running" && error !== null ? (
        <p class="notice" role="status">
          {words.retried} {sentence(error.message)}
        </p>
      ) : null}
      <Counts pull={pull} />
      {found.map(({ count, names, say }) =>
        count === 0 ? null : (
          <p key={say(count)}>
            {say(count)} {names.join(", ")}
            {count > names.length ? ", …" : null}
          </p>
        ),
      )}
      {notes.length === 0 ? null : (
        <ul class="notice">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
};

const steps = ["locations", "variants", "sweep", "levels", "sales", "settle"] as const;

const counted = ["locations", "variants", "levels", "sales"] as const;

const isCounted = (step: string): step is (typeof counted)[number] => counted.some((each) => each === step);

const Running: FunctionComponent<{ readonly pull: PullStatus }> = ({ pull: { progress } }) => {
  const { step, total } = progress;
  const title = words.running(words.steps[step], steps.indexOf(step) + 1, steps.length);
  const bar =
    total === null || total === 0 || !isCounted(step)
      ? {}
      : { max: Math.max(total, 1), value: Math.min(progress[step], total) };
  return (
    <div class="pulling">
      <p role="status">{title}</p>
      <progress aria-label={title} {...bar} />
      <p class="quiet">{words.goesOn}</p>
    </div>
  );
};

const Counts: FunctionComponent<{ readonly pull: PullStatus }> = ({ pull: { state, progress } }) => (
  <dl class="facts">
    {counted.map((name) => (
      <div key={name}>
        <dt>{words.counts[name]}</dt>
        <dd>
          {state === "running" && progress.step === name && progress.total !== null && progress.total > 0
            ? words.of(progress[name], progress.total)
            : number(progress[name])}
        </dd>
      </div>
    ))}
  </dl>
);
