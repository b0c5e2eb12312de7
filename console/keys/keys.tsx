/** The keys of agents and programs: who has access, since when, and how it ends. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { followEvents, pastEvents } from "../data/events.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { ConnectHere } from "./connect-here.tsx";
import { EditLimits, type Key, limitsSaid } from "./limits.tsx";
import { NewKeyForm } from "./new-key.tsx";
import { PauseKey } from "./pause-key.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const KeysScreen: FunctionComponent = () => (
  <OwnerOnly why={texts.keys.why}>
    <Keys />
  </OwnerOnly>
);

/** Who made which key, by the events, which are kept for 30 days. */
async function makers(): Promise<ReadonlyMap<string, string>> {
  const events = await pastEvents(["api_key.created"]);
  return new Map(events.flatMap(({ keyId, actorName }) => (keyId && actorName ? [[keyId, actorName] as const] : [])));
}

const Keys: FunctionComponent = () => {
  const { data, problem, again } = useReading("key_list", { shopId: shopId() });
  const madeBy = useSignal<ReadonlyMap<string, string>>(new Map());
  const revoking = useSignal<Key | null>(null);
  const readMakers = async (): Promise<void> => {
    madeBy.value = await makers();
  };
  useEffect(() => {
    void readMakers();
    return followEvents(({ type }) => {
      if (!type.startsWith("api_key.")) return;
      void again();
      void readMakers();
    });
  }, []);
  const keys = data?.keys ?? [];
  const active = keys.filter((key) => key.revokedAt === null);
  const revoked = keys.filter((key) => key.revokedAt !== null);
  const limiting = useSignal<Key | null>(null);
  const revoke = (key: Key): void => void (revoking.value = key);
  const limit = (key: Key): void => void (limiting.value = key);
  return (
    <>
      <div class="heading">
        <h1>{texts.navigation.places.keys}</h1>
      </div>
      <ConnectHere />
      <section aria-labelledby="new-key">
        <h2 id="new-key">{texts.keys.giveKey}</h2>
        <p class="quiet lead">{texts.keys.lead}</p>
        <NewKeyForm onMade={() => void again()} />
      </section>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {active.length > 0 ? (
        <KeyTable keys={active} madeBy={madeBy.value} revoke={revoke} limit={limit} again={again} />
      ) : null}
      {data !== null && active.length === 0 ? (
        <div class="empty">
          <p>{texts.keys.empty}</p>
          <p class="quiet">{texts.keys.emptyHint}</p>
        </div>
      ) : null}
      {revoked.length > 0 ? (
        <details class="more-rows">
          <summary>{texts.keys.revokedCount(revoked.length)}</summary>
          <KeyTable keys={revoked} madeBy={madeBy.value} revoke={revoke} limit={limit} again={again} />
        </details>
      ) : null}
      {limiting.value === null ? null : (
        <EditLimits shopKey={limiting.value} again={again} onClose={() => (limiting.value = null)} />
      )}
      {revoking.value === null ? null : (
        <RevokeKey shopKey={revoking.value} again={again} onClose={() => (revoking.value = null)} />
      )}
    </>
  );
};

interface Table {
  readonly keys: readonly Key[];
  readonly madeBy: ReadonlyMap<string, string>;
  readonly revoke: (key: Key) => void;
  readonly limit: (key: Key) => void;
  readonly again: () => Promise<void>;
}

const KeyTable: FunctionComponent<Table> = ({ keys, madeBy, revoke, limit, again }) => {
  const { columns } = texts.keys;
  return (
    <table class="rows keys">
      <TableHead
        titles={[columns.name, columns.scope, columns.lastFour, columns.madeBy, columns.created, columns.lastUsed]}
        does={columns.does}
      />
      <tbody>
        {keys.map((key) => (
          <tr key={key.keyId}>
            <th scope="row">{key.name}</th>
            <td class="limits">
              <span class={key.scope === "write" ? "chip waiting" : "chip"}>{texts.keys.scopeNames[key.scope]}</span>{" "}
              {key.kind === "connection" ? <span class="chip">{texts.keys.connection}</span> : null}{" "}
              {key.signIn ? <span class="chip">{texts.keys.signsIn}</span> : null}{" "}
              {key.pausedAt === null ? null : <span class="chip bad">{texts.keys.paused}</span>}
              {limitsSaid(key.limits, key.limitsUsed).map((sentence) => (
                <div key={sentence} class="quiet">
                  {sentence}
                </div>
              ))}
              {key.revokedAt === null ? (
                <button
                  type="button"
                  class="plain"
                  aria-label={texts.keys.limits.of(key.name)}
                  onClick={() => limit(key)}
                >
                  {texts.keys.limits.title}
                </button>
              ) : null}
            </td>
            <td class="maker" data-name={columns.lastFour}>
              {key.kind === "key" ? <code>…{key.lastFour}</code> : key.clientHost}
            </td>
            <td class="maker" data-name={columns.madeBy}>
              {madeBy.get(key.keyId) ?? texts.orders.none}
            </td>
            <td data-name={columns.created}>
              <Moment at={key.createdAt} />
            </td>
            <td data-name={columns.lastUsed}>
              {key.lastUsedAt === null ? texts.keys.neverUsed : <Moment at={key.lastUsedAt} />}
            </td>
            <td class="does">
              <a href={`${hrefOf("activity")}?keyId=${key.keyId}`} aria-label={texts.keys.activityOf(key.name)}>
                {texts.keys.activity}
              </a>
              {key.revokedAt === null ? <PauseKey shopKey={key} again={again} /> : null}
              {key.revokedAt === null ? (
                <button type="button" aria-label={texts.keys.revokeOf(key.name)} onClick={() => revoke(key)}>
                  {texts.keys.revoke}
                </button>
              ) : (
                <span class="quiet">
                  {texts.keys.revoked} <Moment at={key.revokedAt} />
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
