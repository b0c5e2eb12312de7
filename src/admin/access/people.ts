/** The people of a shop, their invitations and their sessions (C48, C49, C55). */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { dayMs } from "../../base/time/calendar.ts";
import { Fault } from "../../base/fault.ts";
import { roles } from "../../core/access/role.ts";
import { makeSecret, secretRandomBytes } from "../../base/secret.ts";
import { instant, instantOrNull, mailAddress, pageShape, pathId, shownId, text } from "../../operations/fields.ts";
import type { SignedIn } from "../../requests/caller.ts";
import { isOperator, sessionIdleMs } from "../../requests/sessions.ts";
import {
  deletePersonStatements,
  endSession,
  findPerson,
  type Invitation,
  inviteStatements,
  listInvitations,
  listPeople,
  listSessions,
  type Person,
  personStatement,
  revokeInvitation,
  type Session,
} from "../../shop/access/people.ts";
import { endLinksStatements } from "../../shop/access/sign-in-links.ts";
import { revokeApiKey } from "../../shop/access/accounts.ts";
import { connectionsOfPerson } from "../../shop/access/connections.ts";
import { eventStatements } from "../../shop/events/events.ts";
import type { Tx } from "../../store/store.ts";
import { data, inShop, operation, shopOf, stampOf } from "../operation.ts";
import { pageOfWhole, wholeList } from "../whole-lists.ts";
import { nameMax } from "../shops.ts";
import { keyEvent } from "./keys.ts";

/** Invitations of a shop that are kept: open, used and expired ones. */
export const invitationsMax = 1_000;

/** Time for which an invitation can be used. */
const invitationMs = dayMs;

/** Time for which an invitation is listed after its end. */
const invitationKeptMs = 30 * dayMs;

const personName = text(nameMax).meta({ description: "How the activity log names the person." });
const role = z.enum(roles);

const noSuch = (what: string, id: string, shopId: string, where: string): Fault =>
  new Fault("NOT_FOUND", `Shop ${shopId} has no ${what} ${shownId(id)}.`, {
    action: `See GET /admin/v1/shops/${shopId}/${where}.`,
  });

const nullable = z.string().nullable();

const personSchema = z.strictObject({
  personId: z.string(),
  name: z.string(),
  email: nullable,
  role,
  keyId: nullable,
  createdAt: z.string(),
  lastSeenAt: nullable,
});

const personJson = (person: Person): z.output<typeof personSchema> => ({
  personId: person.personId,
  name: person.name,
  email: person.email,
  role: person.role,
  keyId: person.keyId,
  createdAt: instant(person.createdAtMs),
  lastSeenAt: instantOrNull(person.lastSeenAtMs),
});

const invitationStatus = z.enum(["open", "used", "revoked", "expired"]);

const newInvitationSchema = z.strictObject({
  invitationId: z.string(),
  url: z.string(),
  name: z.string(),
  role,
  email: nullable,
  expiresAt: z.string(),
});

const invitationSchema = z.strictObject({
  invitationId: z.string(),
  name: z.string(),
  email: nullable,
  role,
  status: invitationStatus,
  createdAt: z.string(),
  expiresAt: z.string(),
  usedAt: nullable,
  revokedAt: nullable,
  personId: nullable,
});

const sessionSchema = z.strictObject({
  sessionId: z.string(),
  personId: z.string(),
  name: z.string(),
  signedInWith: z.enum(["invitation", "api-key", "link", "passkey"]),
  keyId: nullable,
  userAgent: nullable,
  createdAt: z.string(),
  lastSeenAt: z.string(),
  expiresAt: z.string(),
});

/** Returns the status of an invitation. */
function statusOf(
  { usedAtMs, revokedAtMs, expiresAtMs }: Invitation,
  nowMs: number,
): z.output<typeof invitationStatus> {
  if (usedAtMs !== null) return "used";
  if (revokedAtMs !== null) return "revoked";
  return expiresAtMs <= nowMs ? "expired" : "open";
}

const invitationJson = (invitation: Invitation, nowMs: number): z.output<typeof invitationSchema> => ({
  invitationId: invitation.invitationId,
  name: invitation.name,
  email: invitation.email,
  role: invitation.role,
  status: statusOf(invitation, nowMs),
  createdAt: instant(invitation.createdAtMs),
  expiresAt: instant(invitation.expiresAtMs),
  usedAt: instantOrNull(invitation.usedAtMs),
  revokedAt: instantOrNull(invitation.revokedAtMs),
  personId: invitation.personId,
});

const sessionJson = (session: Session & { readonly name: string }): z.output<typeof sessionSchema> => ({
  sessionId: session.sessionId,
  personId: session.personId,
  name: session.name,
  signedInWith: session.signedInWith ?? (session.keyId === null ? "invitation" : "api-key"),
  keyId: session.keyId,
  userAgent: session.userAgent,
  createdAt: instant(session.createdAtMs),
  lastSeenAt: instant(session.lastSeenAtMs),
  expiresAt: instant(session.lastSeenAtMs + sessionIdleMs),
});

export const createInvitation = operation({
  name: "invitation_create",
  route: { method: "POST", path: "/shops/{shopId}/invitations" },
  role: "owner",
  describes: {
    summary: "Invites somebody, by a link that is shown here only.",
    description:
      "The link in the answer works once, within 24 hours, and is shown nowhere else. Whoever opens it is a person of the shop with this role.",
    output: newInvitationSchema,
  },
  input: z.strictObject({ ...inShop, name: personName, role, email: mailAddress.nullable().default(null) }),
  /**
   * Invites somebody to the shop's console. The link works once, within 24 hours; this answer is the only place where
   * it is shown.
   *
   * @throws Fault INVALID_INPUT when the shop keeps too many invitations.
   */
  async run({ engine, clock, ids }, { shopId: id, name, role, email }, { baseUrl }) {
    const { text: secret, hash } = makeSecret("opi", id, randomBytes(secretRandomBytes));
    const createdAtMs = clock.now();
    const invitation: Invitation = {
      invitationId: ids.next("inv"),
      name,
      email,
      role,
      createdAtMs,
      expiresAtMs: createdAtMs + invitationMs,
      usedAtMs: null,
      revokedAtMs: null,
      personId: null,
    };
    await engine.write(id, async (tx) => {
      await shopOf(tx, id);
      if ((await listInvitations(tx, id)).length >= invitationsMax)
        throw new Fault("INVALID_INPUT", `The shop keeps ${invitationsMax} invitations, as many as it may.`, {
          action: "Try again when the oldest have expired.",
        });
      await tx.batch(inviteStatements(id, invitation, hash, createdAtMs - invitationKeptMs));
    });
    const { invitationId, expiresAtMs } = invitation;
    // A browser keeps what follows # to itself: no log and no other page gets to see it.
    const url = `${baseUrl}/console#${secret}`;
    return data({ invitationId, url, name, role, email, expiresAt: instant(expiresAtMs) }, 201);
  },
});

export const listInvitationsOperation = operation({
  name: "invitation_list",
  route: { method: "GET", path: "/shops/{shopId}/invitations" },
  role: "owner",
  describes: {
    summary: "Invitations without their links, newest first.",
    description: "Used and expired invitations are listed for 30 days more.",
    output: z.strictObject({ invitations: z.array(invitationSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  /** Invitations newest first, without their links; used and expired ones for 30 days more. */
  async run({ engine, clock }, { shopId: id, ...page }) {
    const invitations = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listInvitations(tx, id);
    });
    const scope = { list: "invitations", shopId: id, filters: {} };
    return pageOfWhole(
      {
        scope,
        name: "invitations",
        rows: invitations.map((invitation) => invitationJson(invitation, clock.now())),
        idOf: ({ invitationId }) => invitationId,
      },
      page,
    );
  },
});

export const revokeInvitationOperation = operation({
  name: "invitation_revoke",
  route: { method: "DELETE", path: "/shops/{shopId}/invitations/{invitationId}" },
  role: "owner",
  describes: {
    summary: "Revokes an invitation.",
    description: "The link no longer works. Whoever came in by it stays. Repeating changes nothing.",
    output: z.strictObject({ invitation: invitationSchema }),
  },
  input: z.strictObject({ ...inShop, invitationId: pathId }),
  /** Revokes the invitation: nobody can use its link any more. Who came in by it stays. Repeating changes nothing. */
  async run({ engine, clock }, { shopId: id, invitationId }) {
    const nowMs = clock.now();
    return await engine.write(id, async (tx) => {
      const revoked = await revokeInvitation(tx, id, invitationId, nowMs);
      const invitation = (await listInvitations(tx, id)).find((each) => each.invitationId === invitationId);
      if (!revoked || invitation === undefined) throw noSuch("invitation", invitationId, id, "invitations");
      return data({ invitation: invitationJson(invitation, nowMs) });
    });
  },
});

export const listPeopleOperation = operation({
  name: "person_list",
  route: { method: "GET", path: "/shops/{shopId}/people" },
  role: "owner",
  describes: {
    summary: "People by name.",
    description: "Everybody who may sign in to the shop's console, with role and when they were last there.",
    output: z.strictObject({ people: z.array(personSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  /** People by name. */
  async run({ engine }, { shopId: id, ...page }) {
    const people = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listPeople(tx, id);
    });
    const scope = { list: "people", shopId: id, filters: {} };
    return pageOfWhole({ scope, name: "people", rows: people.map(personJson), idOf: ({ personId }) => personId }, page);
  },
});

export const getPerson = operation({
  name: "person_get",
  route: { method: "GET", path: "/shops/{shopId}/people/{personId}" },
  role: "owner",
  describes: {
    summary: "One person.",
    description: "A person with role, email and when they were last there.",
    output: z.strictObject({ person: personSchema }),
  },
  input: z.strictObject({ ...inShop, personId: pathId }),
  async run({ engine }, { shopId: id, personId }) {
    const person = await engine.read(id, (tx) => findPerson(tx, id, personId));
    if (person === null) throw noSuch("person", personId, id, "people");
    return data({ person: personJson(person) });
  },
});

/** @throws Fault INVALID_INPUT when the shop would be without an owner. The operator makes another one (C48). */
async function requireAnotherOwner(tx: Tx, shopId: string, person: Person, asking: SignedIn | null): Promise<void> {
  if (isOperator(asking) || !isOwner(person)) return;
  const owners = (await listPeople(tx, shopId)).filter(isOwner);
  if (owners.length <= 1)
    throw new Fault("INVALID_INPUT", `${person.name} is the shop's only owner.`, {
      reason: "LAST_OWNER",
      action: "Make somebody else an owner first.",
    });
}

/** Whoever signs in with a key is no owner, whatever role is stored. */
const isOwner = ({ role, keyId }: Person): boolean => role === "owner" && keyId === null;

export const patchPerson = operation({
  name: "person_patch",
  route: { method: "PATCH", path: "/shops/{shopId}/people/{personId}" },
  role: "owner",
  describes: {
    summary: "Changes name, email or role of a person.",
    description:
      "Members that are left out keep their value. A new role holds from the person's next request on. A new email ends links to sign in that were mailed to the old one.",
    output: z.strictObject({ person: personSchema }),
  },
  input: z.strictObject({
    ...inShop,
    personId: pathId,
    name: personName.optional(),
    role: role.optional(),
    email: mailAddress.nullable().optional(),
  }),
  /** Changes name, email or role. A role holds at once, in sessions that are open too. */
  async run({ engine }, { shopId: id, personId, ...changes }, call) {
    return await engine.write(id, async (tx) => {
      const person = await findPerson(tx, id, personId);
      if (person === null) throw noSuch("person", personId, id, "people");
      if ((changes.role ?? person.role) !== person.role) await requireAnotherOwner(tx, id, person, call.person);
      const next: Person = {
        ...person,
        name: changes.name ?? person.name,
        role: changes.role ?? person.role,
        email: changes.email === undefined ? person.email : changes.email,
      };
      const isMoved = next.email !== person.email;
      await tx.batch([personStatement(id, next), ...(isMoved ? endLinksStatements(id, personId) : [])]);
      return data({ person: personJson(next) });
    });
  },
});

export const deletePerson = operation({
  name: "person_delete",
  route: { method: "DELETE", path: "/shops/{shopId}/people/{personId}" },
  role: "owner",
  describes: {
    summary: "Deletes a person and ends their sessions and connections.",
    description:
      "The person is out with the next request, and so are assistants in their name. The name stays in the activity log.",
    output: z.strictObject({ personId: z.string(), deleted: z.literal(true) }),
  },
  input: z.strictObject({ ...inShop, personId: pathId }),
  /** Deletes the person and ends their sessions and connections at once. Their name stays in the activity log. */
  async run(context, { shopId: id, personId }, call) {
    return await context.engine.write(id, async (tx) => {
      const person = await findPerson(tx, id, personId);
      if (person === null) throw noSuch("person", personId, id, "people");
      await requireAnotherOwner(tx, id, person, call.person);
      for (const key of await connectionsOfPerson(tx, id, personId)) {
        await revokeApiKey(tx, id, key.keyId, context.clock.now());
        await tx.batch(eventStatements(id, keyEvent("api_key.revoked", key), stampOf(context, call)));
      }
      await tx.batch(deletePersonStatements(id, personId));
      return data({ personId, deleted: true });
    });
  },
});

export const listSessionsOperation = operation({
  name: "session_list",
  route: { method: "GET", path: "/shops/{shopId}/sessions" },
  role: "owner",
  describes: {
    summary: "Sessions that have not ended, newest first.",
    description: "Where people of the shop are signed in. Secrets are not shown.",
    output: z.strictObject({ sessions: z.array(sessionSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  /** Sessions that have not ended, newest first. */
  async run({ engine, clock }, { shopId: id, ...page }) {
    const sessions = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listSessions(tx, id, clock.now() - sessionIdleMs);
    });
    const scope = { list: "sessions", shopId: id, filters: {} };
    return pageOfWhole(
      { scope, name: "sessions", rows: sessions.map(sessionJson), idOf: ({ sessionId }) => sessionId },
      page,
    );
  },
});

export const revokeSession = operation({
  name: "session_revoke",
  route: { method: "DELETE", path: "/shops/{shopId}/sessions/{sessionId}" },
  role: "owner",
  describes: {
    summary: "Ends a session.",
    description: "The session's next request is refused. The person may sign in again.",
    output: z.strictObject({ sessionId: z.string(), revoked: z.literal(true) }),
  },
  input: z.strictObject({ ...inShop, sessionId: pathId }),
  /** Ends the session: its next request is refused. */
  async run({ engine }, { shopId: id, sessionId }) {
    return await engine.write(id, async (tx) => {
      if (!(await endSession(tx, id, sessionId))) throw noSuch("session", sessionId, id, "sessions");
      return data({ sessionId, revoked: true });
    });
  },
});
