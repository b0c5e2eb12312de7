/** Activity of agents, programs and people: requests for owners, changes for everybody. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { followEvents } from "../data/events.ts";
import { hasRole } from "../data/session.ts";
import { PauseKey } from "../keys/pause-key.tsx";
import { RevokeKey } from "../keys/revoke-key.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { Changes } from "./changes.tsx";
import {
  actors,
  addressWith,
  chosen,
  dayIn,
  operationName,
  operationsWith,
  outcomes,
  parameter,
  surfaces,
} from "./filters.ts";
import { type Names, useNames } from "./names.ts";
import { Requests } from "./requests.tsx";

const views = ["requests", "changes"] as const;

export const ActivityScreen: FunctionComponent = () => {
  const isOwner = hasRole("owner");
  const view = isOwner ? chosen("view", views) : "changes";
  const names = useNames();
  const version = useSignal(0);
  const hasNews = useSignal(false);
  useEffect(() => followEvents(() => (hasNews.value = true)), []);
  const showNews = (): void => {
    hasNews.value = false;
    version.value += 1;
  };
  return (
    <>
      <div class="heading">
        <h1>{texts.activity.title}</h1>
        {isOwner ? (
          <div class="tabs">
            {views.map((each) => (
              <a
                key={each}
                href={addressWith("view", each === "requests" ? "" : each)}
                aria-current={each === view ? "true" : undefined}
              >
                {texts.activity[each]}
              </a>
            ))}
          </div>
        ) : null}
        <span role="status">
          {hasNews.value ? (
            <button type="button" onClick={showNews}>
              {texts.activity.news}
            </button>
          ) : null}
        </span>
      </div>
      {isOwner ? null : <p class="quiet">{texts.activity.ownersOnly}</p>}
      {names.problem === null ? null : <ProblemNotice problem={names.problem} again={() => void names.again()} />}
      <Filters view={view} names={names} />
      {view === "requests" ? <Requests names={names} version={version.value} /> : <Changes version={version.value} />}
    </>
  );
};

interface Choice<Value extends string> {
  readonly name: string;
  readonly label: string;
  readonly values: readonly [Value, ...(readonly Value[])];
  readonly words: Readonly<Record<Value, string>>;
}

function ChoiceField<Value extends string>({ name, label, values, words }: Choice<Value>) {
  const [first] = values;
  const change = (value: string): void => go(addressWith(name, value === first ? "" : value));
  return (
    <label>
      {label}
      <select value={chosen(name, values)} onChange={(event) => change(event.currentTarget.value)}>
        {values.map((value) => (
          <option key={value} value={value}>
            {words[value]}
          </option>
        ))}
      </select>
    </label>
  );
}

const DayField: FunctionComponent<{ readonly name: "from" | "to"; readonly label: string }> = ({ name, label }) => (
  <label>
    {label}
    <input
      type="date"
      value={dayIn(name) ?? ""}
      onChange={(event) => go(addressWith(name, event.currentTarget.value))}
    />
  </label>
);

const Filters: FunctionComponent<{ readonly view: (typeof views)[number]; readonly names: Names }> = ({
  view,
  names,
}) => {
  const { activity } = texts;
  const keyId = parameter("keyId") ?? "";
  const key = names.keys.find((each) => each.keyId === keyId);
  const isRevoking = useSignal(false);
  return (
    <div class="inline-form">
      {names.keys.length === 0 ? null : (
        <label>
          {activity.key}
          <select value={keyId} onChange={(event) => go(addressWith("keyId", event.currentTarget.value))}>
            <option value="">{activity.everyKey}</option>
            {names.keys.map((each) => (
              <option key={each.keyId} value={each.keyId}>
                {each.name} …{each.lastFour}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {activity.operation}
        <select
          value={parameter("operation") ?? ""}
          onChange={(event) => go(addressWith("operation", event.currentTarget.value))}
        >
          <option value="">{activity.everyOperation}</option>
          {operationsWith(parameter("operation")).map((name) => (
            <option key={name} value={name}>
              {operationName(name)}
            </option>
          ))}
        </select>
      </label>
      {view === "requests" ? (
        <>
          <ChoiceField name="surface" label={activity.surface} values={surfaces} words={activity.surfaces} />
          <ChoiceField name="outcome" label={activity.outcome} values={outcomes} words={activity.outcomes} />
        </>
      ) : (
        <>
          <ChoiceField name="actor" label={activity.actor} values={actors} words={activity.actors} />
          <DayField name="from" label={activity.from} />
          <DayField name="to" label={activity.until} />
        </>
      )}
      {key !== undefined && key.revokedAt === null ? (
        <>
          <PauseKey shopKey={key} isNamed again={names.again} />
          <button type="button" class="danger" onClick={() => (isRevoking.value = true)}>
            {texts.keys.revokeOf(key.name)}
          </button>
        </>
      ) : null}
      {key !== undefined && isRevoking.value ? (
        <RevokeKey shopKey={key} again={names.again} onClose={() => (isRevoking.value = false)} />
      ) : null}
    </div>
  );
};
