/**
 * A person's passkeys over HTTP (C49). `/console/sign-in-options` is for whoever is to sign in. At `/console/passkeys`
 * a person who is signed in lists, adds, names and removes their own.
 *
 * Owns: the requests' form, and who may ask. Does not own: what a passkey is checked for (passkeys.ts), signing in with
 * one (sign-in.ts).
 */
import { z } from "zod";
import { Fault } from "../base/fault.ts";
import { parseJson } from "../base/json.ts";
import { passkeyNameMax } from "../core/access/passkey.ts";
import { unauthenticated } from "../http/body.ts";
import { consolePath } from "../http/console-pages.ts";
import { methodNotAllowed, type RequestContext } from "../http/surface.ts";
import { instant, instantOrNull, shownId, text } from "../operations/fields.ts";
import { auditRowOf } from "../requests/audit/audit.ts";
import type { AuditTrail } from "../requests/audit/audit-trail.ts";
import type { PersonCaller } from "../requests/caller.ts";
import { respond, success } from "../requests/envelope.ts";
import { checkInput } from "../requests/input.ts";
import { bucketOf, requestTokens } from "../requests/rate-limit.ts";
import {
  type Passkey,
  passkeysOfPerson,
  removePasskeyStatement,
  renamePasskeyStatement,
} from "../shop/access/passkeys.ts";
import { hasSession } from "../shop/access/people.ts";
import type { Statement, Tx } from "../store/store.ts";
import { refuseOtherSites, requireOwnPage, sessionIn } from "./cookie.ts";
import { madeCredential, type Passkeys } from "./passkeys.ts";
import { openSession, signInBytesMax, type SignInDependencies, signedOut } from "./sign-in.ts";

interface PasskeyRequestDependencies extends SignInDependencies {
  readonly passkeys: Passkeys;
  readonly auditTrail: AuditTrail;
}

const nothing = z.strictObject({});

const name = text(passkeyNameMax);

const newPasskey = z.strictObject({ name, passkey: madeCredential });

const renaming = z.strictObject({ name });

const path = `${consolePath}/passkeys`;

const passkeyJson = ({ passkeyId, name, isBackedUp, createdAtMs, lastUsedAtMs }: Passkey) => ({
  passkeyId,
  name,
  isBackedUp,
  createdAt: instant(createdAtMs),
  lastUsedAt: instantOrNull(lastUsedAtMs),
});

/** Who asks about their own passkeys. */
interface Owner {
  readonly caller: PersonCaller;
  readonly shopId: string;
  readonly personId: string;
  readonly sessionId: string;
}

/** Answers requests about passkeys; null for any other path. */
export function passkeyRequests(
  deps: PasskeyRequestDependencies,
): (context: RequestContext) => Promise<Response | null> {
  return async (context) => {
    const { method } = context.request;
    if (context.path === `${consolePath}/sign-in-options`) {
      if (method !== "POST") throw methodNotAllowed(method, ["POST"]);
      context.operation = "console:sign_in_options";
      refuseOtherSites(context);
      await read(context, nothing);
      return answer(context, { options: await deps.passkeys.signInOptions() });
    }
    if (context.path === path) {
      if (method === "GET") return await list(deps, context);
      if (method === "POST") return await add(deps, context);
      throw methodNotAllowed(method, ["GET", "POST"]);
    }
    if (context.path === `${path}/options`) {
      if (method === "POST") return await beginAdding(deps, context);
      throw methodNotAllowed(method, ["POST"]);
    }
    if (!context.path.startsWith(`${path}/`)) return null;
    const passkeyId = context.path.slice(path.length + 1);
    if (method === "PATCH") return await rename(deps, context, passkeyId);
    if (method === "DELETE") return await removeOne(deps, context, passkeyId);
    throw methodNotAllowed(method, ["DELETE", "PATCH"]);
  };
}

async function read<T>(context: RequestContext, schema: z.ZodType<T>): Promise<T> {
  return checkInput(schema, parseJson(await context.body.whole(unauthenticated, { bytesMax: signInBytesMax })));
}

const answer = ({ requestId }: RequestContext, data: object, status?: 201): Response =>
  respond(success(requestId, data, { headers: { "Cache-Control": "no-store" }, ...(status && { status }) }));

/**
 * The person whose session the cookie names.
 *
 * @throws Fault FORBIDDEN_SCOPE when another site asks, the operator, or who has signed in with an API key.
 */
async function ownerOf(deps: PasskeyRequestDependencies, context: RequestContext, operation: string): Promise<Owner> {
  context.operation = `console:${operation}`;
  requireOwnPage(context);
  const open = await openSession(deps, sessionIn(context));
  if ("operatorSession" in open || open.session.keyId !== null)
    throw new Fault("FORBIDDEN_SCOPE", "Only a person of the shop has passkeys, not the operator or an API key.", {
      action: "Sign in as a person of the shop, by an invitation.",
    });
  const { caller, session } = open;
  await requestTokens(deps.coordination, deps.clock, caller.shop, bucketOf(caller)).take();
  return { caller, shopId: caller.shop.shopId, personId: session.personId, sessionId: session.sessionId };
}

async function list(deps: PasskeyRequestDependencies, context: RequestContext): Promise<Response> {
  const { shopId, personId } = await ownerOf(deps, context, "passkey_list");
  const passkeys = await deps.engine.read(shopId, (tx) => passkeysOfPerson(tx, shopId, personId));
  return answer(context, { passkeys: passkeys.map(passkeyJson) });
}

async function beginAdding(deps: PasskeyRequestDependencies, context: RequestContext): Promise<Response> {
  const { caller, personId } = await ownerOf(deps, context, "passkey_options");
  await read(context, nothing);
  return answer(context, { options: await deps.passkeys.addOptions(caller, personId) });
}

/** Changes the person's passkeys, with a row in the audit log. The session may have ended meanwhile. */
async function write<T>(
  deps: PasskeyRequestDependencies,
  context: RequestContext,
  { owner, operation, status }: { readonly owner: Owner; readonly operation: string; readonly status: number },
  decide: (tx: Tx) => Promise<{ readonly statements: readonly Statement[]; readonly result: T }>,
): Promise<T> {
  const { engine, clock, ids, auditTrail } = deps;
  const { shopId, personId, sessionId } = owner;
  const named = { auditId: ids.next("aud"), startedAtMs: clock.now(), operation, person: { personId, keyId: null } };
  return await engine.write(shopId, async (tx) => {
    if (!(await hasSession(tx, shopId, sessionId))) throw signedOut();
    const { statements, result } = await decide(tx);
    const row = auditRowOf(context, named, { status, errorCode: null, nowMs: clock.now() });
    await tx.batch([...statements, ...(await auditTrail.statements(tx, shopId, [row]))]);
    return result;
  });
}

async function add(deps: PasskeyRequestDependencies, context: RequestContext): Promise<Response> {
  const operation = "passkey_add";
  const owner = await ownerOf(deps, context, operation);
  const input = await read(context, newPasskey);
  const { passkey, addStatements } = await deps.passkeys.made(owner, input.name, input.passkey);
  await write(deps, context, { owner, operation, status: 201 }, async (tx) => ({
    statements: await addStatements(tx),
    result: null,
  }));
  return answer(context, { passkey: passkeyJson(passkey) }, 201);
}

async function rename(deps: PasskeyRequestDependencies, context: RequestContext, passkeyId: string): Promise<Response> {
  const operation = "passkey_rename";
  const owner = await ownerOf(deps, context, operation);
  const input = await read(context, renaming);
  const passkey = await write(deps, context, { owner, operation, status: 200 }, async (tx) => {
    const before = await ownPasskey(tx, owner, passkeyId);
    return {
      statements: [renamePasskeyStatement(owner.shopId, before.secretHash, input.name)],
      result: { ...before, name: input.name },
    };
  });
  return answer(context, { passkey: passkeyJson(passkey) });
}

async function removeOne(
  deps: PasskeyRequestDependencies,
  context: RequestContext,
  passkeyId: string,
): Promise<Response> {
  const operation = "passkey_remove";
  const owner = await ownerOf(deps, context, operation);
  await write(deps, context, { owner, operation, status: 200 }, async (tx) => {
    const { secretHash } = await ownPasskey(tx, owner, passkeyId);
    return { statements: [removePasskeyStatement(owner.shopId, secretHash)], result: null };
  });
  return answer(context, { passkeyId, deleted: true });
}

/** @throws Fault NOT_FOUND when it is not one of this person. */
async function ownPasskey(tx: Tx, { shopId, personId }: Owner, passkeyId: string): Promise<Passkey> {
  const found = (await passkeysOfPerson(tx, shopId, personId)).find((each) => each.passkeyId === passkeyId);
  if (found === undefined)
    throw new Fault("NOT_FOUND", `You have no passkey ${shownId(passkeyId)}.`, { action: "Load the list again." });
  return found;
}
