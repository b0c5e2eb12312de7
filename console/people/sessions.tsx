/** Who is signed in, and where. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import type { Reading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { texts } from "../texts/texts.ts";

type Session = Output<"session_list">["sessions"][number];

/** "Firefox, Linux" of what a browser says of itself. */
function browserOf(userAgent: string | null): string {
  const said = userAgent ?? "";
  // Browsers name those that they are like, too: the first of these that is named is meant.
  const name = ["Edg", "OPR", "Firefox", "Chrome", "Safari"].find((each) => said.includes(`${each}/`));
  const system = ["Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux"].find((each) => said.includes(each));
  const found = [name === "Edg" ? "Edge" : name, system].filter((each) => each !== undefined);
  return found.length === 0 ? texts.people.unknownBrowser : found.join(", ");
}

export const Sessions: FunctionComponent<{ readonly sessions: Reading<Output<"session_list">> }> = ({ sessions }) => {
  const ending = useSignal<Session | null>(null);
  const { columns } = texts.people;
  const rows = sessions.data?.sessions ?? [];
  const end = async ({ sessionId }: Session) => {
    const result = await openpo.call("session_revoke", { shopId: shopId(), sessionId });
    if (!result.ok) return problemOf(result);
    await sessions.again();
    return null;
  };
  const chosen = ending.value;
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">{texts.people.sessions}</h2>
      {sessions.problem === null ? null : (
        <ProblemNotice problem={sessions.problem} again={() => void sessions.again()} />
      )}
      {sessions.data !== null && rows.length === 0 ? <p class="quiet">{texts.people.noSessions}</p> : null}
      {rows.length === 0 ? null : (
        <table class="rows">
          <TableHead
            titles={[columns.name, texts.people.browser, texts.people.signedIn, columns.lastSeen]}
            does={columns.does}
          />
          <tbody>
            {rows.map((session) => (
              <tr key={session.sessionId}>
                <th scope="row">{session.name}</th>
                <td data-name={texts.people.browser}>{browserOf(session.userAgent)}</td>
                <td data-name={texts.people.signedIn}>
                  <Moment at={session.createdAt} />
                </td>
                <td data-name={columns.lastSeen}>
                  <Moment at={session.lastSeenAt} />
                </td>
                <td class="does">
                  <button
                    type="button"
                    aria-label={texts.people.endOf(session.name)}
                    onClick={() => (ending.value = session)}
                  >
                    {texts.people.end}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {chosen === null ? null : (
        <AskFirst
          title={texts.people.endTitle(chosen.name)}
          text={texts.people.endText}
          action={texts.people.end}
          run={() => end(chosen)}
          onClose={() => (ending.value = null)}
        />
      )}
    </section>
  );
};
