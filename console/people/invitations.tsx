/** Invitations: a link, shown once, for each who is to come in. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import type { Output } from "../../client/index.ts";
import { openpo, openpoOnce, type Problem, problemOf } from "../data/client.ts";
import { field } from "../data/form.ts";
import { useReading } from "../data/reading.ts";
import { roles, shopId } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { ShownOnce } from "../parts/dialogs/shown-once.tsx";
import { Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";
import { peopleTexts } from "../texts/en/shop/people.ts";
import { RoleOptions } from "./role-options.tsx";

type NewInvitation = Output<"invitation_create">;

export const Invitations: FunctionComponent = () => {
  const { data, problem, again } = useReading("invitation_list", { shopId: shopId() });
  const made = useSignal<NewInvitation | null>(null);
  const failed = useSignal<Problem | null>(null);
  const { wrong, notice, came } = useSending(([name = ""]) => name);
  const open = data?.invitations.filter(({ status }) => status === "open") ?? [];
  const invite = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const email = field(form, "email");
    const result = await openpoOnce.call("invitation_create", {
      shopId: shopId(),
      name: field(form, "name"),
      role: roles.find((role) => role === field(form, "role")) ?? "viewer",
      ...(email === "" ? {} : { email }),
    });
    came(result.ok ? null : problemOf(result));
    if (!result.ok) return;
    made.value = result.data;
    form.reset();
    await again();
  };
  const revoke = async (invitationId: string): Promise<void> => {
    const result = await openpo.call("invitation_revoke", { shopId: shopId(), invitationId });
    failed.value = result.ok ? null : problemOf(result);
    await again();
  };
  return (
    <section aria-labelledby="invite">
      <h2 id="invite">{peopleTexts.invite}</h2>
      <form class="inline-form" data-asks aria-labelledby="invite" onSubmit={(event) => void invite(event)}>
        <Field name="name" label={peopleTexts.name} wrong={wrong}>
          {(common) => <input {...common} required maxLength={200} autocomplete="off" />}
        </Field>
        <label>
          {peopleTexts.role}
          <select name="role">
            <RoleOptions />
          </select>
        </label>
        <Field name="email" label={peopleTexts.email} wrong={wrong}>
          {(common) => <input {...common} type="email" maxLength={320} autocomplete="off" />}
        </Field>
        <button class="primary">{peopleTexts.makeLink}</button>
      </form>
      {notice}
      {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      <h2>{peopleTexts.invitations}</h2>
      {data !== null && open.length === 0 ? <p class="quiet">{peopleTexts.noInvitations}</p> : null}
      <ul class="plain-list">
        {open.map(({ invitationId, name, role, expiresAt }) => (
          <li key={invitationId}>
            <span>
              <bdi>{name}</bdi>{" "}
              <span class="quiet">
                {texts.role.names[role]} · <Moment at={expiresAt} says={peopleTexts.until} />
              </span>
            </span>
            <button type="button" aria-label={peopleTexts.revokeOf(name)} onClick={() => void revoke(invitationId)}>
              {peopleTexts.revoke}
            </button>
          </li>
        ))}
      </ul>
      {made.value === null ? null : <InvitationShown made={made.value} onClose={() => (made.value = null)} />}
    </section>
  );
};

const InvitationShown: FunctionComponent<{ readonly made: NewInvitation; readonly onClose: () => void }> = ({
  made: { name, url, expiresAt },
  onClose,
}) => (
  <ShownOnce title={peopleTexts.linkFor(name)} label={peopleTexts.link} secret={url} onClose={onClose}>
    {() => (
      <p class="quiet">
        <Moment at={expiresAt} says={peopleTexts.linkHint} />
      </p>
    )}
  </ShownOnce>
);
