/** The people of the shop: who they are, what they may do, who is invited, and who is signed in. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedSubmitEvent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { useReading } from "../data/reading.ts";
import { renewBearer, type Role, roles, shopId, signedIn } from "../data/session.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { Moment } from "../parts/when.tsx";
import { peopleTexts } from "../texts/en/shop/people.ts";
import { Invitations } from "./invitations.tsx";
import { RoleOptions } from "./role-options.tsx";
import { Sessions } from "./sessions.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

// They come in the script of this screen: one of their own took 600 bytes more.
export { PasskeyButton, Passkeys } from "./passkeys.tsx";

type Person = Output<"person_list">["people"][number];

export const PeopleScreen: FunctionComponent = () => (
  <OwnerOnly why={peopleTexts.why}>
    <People />
  </OwnerOnly>
);

const People: FunctionComponent = () => {
  const people = useReading("person_list", { shopId: shopId() });
  const sessions = useReading("session_list", { shopId: shopId() });
  const again = async (): Promise<void> => {
    await Promise.all([people.again(), sessions.again()]);
  };
  return (
    <>
      <div class="heading">
        <h1>{peopleTexts.title}</h1>
      </div>
      {people.problem === null ? null : <ProblemNotice problem={people.problem} again={() => void people.again()} />}
      {people.data === null && people.problem === null ? <Skeleton /> : null}
      {people.data !== null && people.data.people.length === 0 ? <p class="empty">{peopleTexts.empty}</p> : null}
      {people.data !== null && people.data.people.length > 0 ? (
        <PeopleTable people={people.data.people} again={again} />
      ) : null}
      <Invitations />
      <Sessions sessions={sessions} />
    </>
  );
};

interface Table {
  readonly people: readonly Person[];
  readonly again: () => Promise<void>;
}

const PeopleTable: FunctionComponent<Table> = ({ people, again }) => {
  const { columns } = peopleTexts;
  return (
    <table class="rows">
      <TableHead titles={[columns.name, columns.role, columns.lastSeen]} does={columns.does} />
      <tbody>
        {people.map((person) => (
          <PersonRow key={person.personId} person={person} again={again} />
        ))}
      </tbody>
    </table>
  );
};

const isMe = ({ personId }: Person): boolean => signedIn()?.person.personId === personId;

const PersonRow: FunctionComponent<{ readonly person: Person; readonly again: Table["again"] }> = ({
  person,
  again,
}) => {
  const { personId, name, email, keyId, role, lastSeenAt } = person;
  const chosen = useSignal<Role>(role);
  const asking = useSignal<"delete" | "email" | "own-role" | null>(null);
  const save = async (changes: { readonly role?: Role; readonly email?: string | null } = { role: chosen.value }) => {
    const result = await openpo.call("person_patch", { shopId: shopId(), personId, ...changes });
    if (!result.ok) return problemOf(result);
    // Another role holds at once: what is shown follows it.
    await (isMe(person) && changes.role !== undefined ? renewBearer() : again());
    return null;
  };
  const remove = async () => {
    const result = await openpo.call("person_delete", { shopId: shopId(), personId });
    if (!result.ok) return problemOf(result);
    await again();
    return null;
  };
  const failed = useSignal<Awaited<ReturnType<typeof save>>>(null);
  const { wrong, notice, came } = useSending(([name = ""]) => name);
  const saveOrAsk = async (): Promise<void> => {
    if (isMe(person)) asking.value = "own-role";
    else failed.value = await save();
  };
  const saveEmail = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const refused = await save({ email: field(event.currentTarget, "email") || null });
    came(refused);
    if (refused === null) asking.value = null;
  };
  return (
    <tr>
      <th scope="row">
        {name} {isMe(person) ? <span class="chip active">{peopleTexts.you}</span> : null}
        {asking.value === "email" ? (
          <form class="inline-form" data-asks onSubmit={(event) => void saveEmail(event)}>
            <Field name="email" label={peopleTexts.email} wrong={wrong}>
              {(common) => <input {...common} type="email" defaultValue={email ?? ""} />}
            </Field>
            <button class="primary">{peopleTexts.save}</button>
            {notice}
          </form>
        ) : email === null ? null : (
          <span class="quiet">{email}</span>
        )}
        {keyId === null ? null : <span class="quiet">{peopleTexts.withKey}</span>}
      </th>
      <td class="role">
        <select
          aria-label={peopleTexts.roleOf(name)}
          value={chosen.value}
          onChange={(event) => (chosen.value = roles.find((each) => each === event.currentTarget.value) ?? role)}
        >
          <RoleOptions />
        </select>
        {chosen.value === role ? null : (
          <button type="button" class="primary" aria-label={peopleTexts.saveOf(name)} onClick={() => void saveOrAsk()}>
            {peopleTexts.save}
          </button>
        )}
        {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      </td>
      <td data-name={peopleTexts.columns.lastSeen}>
        {lastSeenAt === null ? peopleTexts.never : <Moment at={lastSeenAt} />}
      </td>
      <td class="does">
        {keyId === null ? (
          <button type="button" aria-label={peopleTexts.emailOf(name)} onClick={() => (asking.value = "email")}>
            {peopleTexts.email}
          </button>
        ) : null}
        <button type="button" aria-label={peopleTexts.removeOf(name)} onClick={() => (asking.value = "delete")}>
          {peopleTexts.remove}
        </button>
        {asking.value === "delete" ? (
          <AskFirst
            title={peopleTexts.removeTitle(name)}
            text={peopleTexts.removeText}
            action={peopleTexts.remove}
            run={remove}
            onClose={() => (asking.value = null)}
          />
        ) : null}
        {asking.value === "own-role" ? (
          <AskFirst
            title={peopleTexts.ownRoleTitle}
            text={peopleTexts.ownRoleText}
            action={peopleTexts.ownRole}
            run={() => save()}
            onClose={() => (asking.value = null)}
          />
        ) : null}
      </td>
    </tr>
  );
};
