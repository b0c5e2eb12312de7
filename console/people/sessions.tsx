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
import { peopleTexts } from "../texts/en/shop/people.ts";

type Session = Output<"session_list">["sessions"][number];

/** "Firefox, Linux" of what a browser says of itself. */
function browserOf(userAgent: string | null): string {
  const said = userAgent ?? "";
  // Browsers name those that they are like, too: the first of these that is named is meant.
  const name = ["Edg", "OPR", "Firefox", "Chrome", "Safari"].find((each) => said.includes(`${each}/`));
  const system = ["Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux"].find((each) => said.includes(each));
  const found = [name === "Edg" ? "Edge" : name, system].filter((each) => each !== undefined);
  return found.length === 0 ? peopleTexts.unknownBrowser : found.join(", ");
}

export const Sessions: FunctionComponent<{ readonly sessions: Reading<Output<"session_list">> }> = ({ sessions }) => {
  const ending = useSignal<Session | null>(null);
  const { columns } = peopleTexts;
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
      <h2 id="sessions">{peopleTexts.sessions}</h2>
      {sessions.problem === null ? null : (
        <ProblemNotice problem={sessions.problem} again={() => void sessions.again()} />
      )}
      {sessions.data !== null && rows.length === 0 ? <p class="quiet">{peopleTexts.noSessions}</p> : null}
      {rows.length === 0 ? null : (
        <table class="rows">
          <TableHead
            titles={[columns.name, peopleTexts.browser, peopleTexts.signedIn, columns.lastSeen]}
            does={columns.does}
          />
          <tbody>
            {rows.map((session) => (
              <tr key={session.sessionId}>
                <th scope="row">{session.name}</th>
                <td data-name={peopleTexts.browser}>{browserOf(session.userAgent)}</td>
                <td data-name={peopleTexts.signedIn}>
                  <Moment at={session.createdAt} />
                </td>
                <td data-name={columns.lastSeen}>
                  <Moment at={session.lastSeenAt} />
                </td>
                <td class="does">
                  <button
                    type="button"
                    aria-label={peopleTexts.endOf(session.name)}
                    onClick={() => (ending.value = session)}
                  >
                    {peopleTexts.end}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {chosen === null ? null : (
        <AskFirst
          title={peopleTexts.endTitle(chosen.name)}
          text={peopleTexts.endText}
          action={peopleTexts.end}
          run={() => end(chosen)}
          onClose={() => (ending.value = null)}
        />
      )}
    </section>
  );
};
