/**
 * Sign-in of the console over HTTP: `/console/session`, `/console/sessions`, `/console/sign-in-link`,
 * `/console/language` and `/console/token` (C49, C55). They and requests about passkeys (passkey-requests.ts) alone
 * read the cookie of a session; everything else of this service reads `Authorization`.
 *
 * Owns: the requests' form, and what is refused before anything is looked up. Does not own: sessions (sign-in.ts),
 * links by mail (link-mails.ts), cookies (cookie.ts), the console's pages (http/console-pages.ts).
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { loggedRequest } from "../base/trace-context.ts";
import { minuteMs } from "../base/time/calendar.ts";
import { Fault } from "../base/fault.ts";
import { type Language, languages } from "../base/text/language.ts";
import { signInLinkMs } from "../core/access/sign-in-link.ts";
import { parseJson } from "../base/json.ts";
import { onOneLine } from "../base/text/plain-text.ts";
import { pictureOrigins, platformName } from "../core/storefront/storefront-config.ts";
import { Attempts, signInsOfAddress, signInsWithSecret } from "../http/attempts.ts";
import { unauthenticated } from "../http/body.ts";
import type { ConsolePages } from "../http/console-pages.ts";
import { methodNotAllowed, type RequestContext, type Surface } from "../http/surface.ts";
import { auditRowOf } from "../requests/audit/audit.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import type { PersonCaller } from "../requests/caller.ts";
import type { StoreCounts } from "../requests/store-counts.ts";
import { respond, success } from "../requests/envelope.ts";
import { id, instant, mailAddress, shortTextMax, text } from "../operations/fields.ts";
import { checkInput } from "../requests/input.ts";
import { bucketOf, requestTokens } from "../requests/rate-limit.ts";
import { Refusals } from "../requests/audit/refusals.ts";
import { loadShop } from "../shop/access/accounts.ts";
import type { Log } from "../store/store.ts";
import { languageStatement } from "../shop/access/people.ts";
import {
  consolePath,
  cookieWith,
  languageCookieWith,
  languageIn,
  refuseOtherSites,
  requireOwnPage,
  sessionIn,
} from "./cookie.ts";
import { type LinkMailing, LinkMails } from "./link-mails.ts";
import { passkeyRequests } from "./passkey-requests.ts";
import { Passkeys, signedChallenge } from "./passkeys.ts";
import {
  bearerOfOperator,
  bearerOfPerson,
  type Credential,
  type NewBearer,
  openSession,
  sessionIfOpen,
  signInBytesMax,
  signIn,
  type SignInDependencies,
  type SignInTrail,
  signOut,
} from "./sign-in.ts";

interface ConsoleDependencies extends Omit<SignInDependencies, "passkeys">, LinkMailing {
  readonly log: Log;
  readonly counts: StoreCounts;
  /** The page and its files. */
  readonly pages: ConsolePages;
}

type Needs = ConsoleDependencies & SignInDependencies;

const secretMax = 1_000;

/** Credential of a sign-in: one of the five. */
const credential = z
  .strictObject({
    invitation: z.string().min(1).max(secretMax).optional(),
    link: z.string().min(1).max(secretMax).optional(),
    passkey: signedChallenge.optional(),
    adminToken: z.string().min(1).max(secretMax).optional(),
    apiKey: z.string().min(1).max(secretMax).optional(),
    name: text(shortTextMax).optional(),
  })
  .transform(({ invitation, link, passkey, adminToken, apiKey, name }, context): Credential => {
    const sent = [invitation, link, passkey, adminToken, apiKey].filter((secret) => secret !== undefined);
    if (sent.length === 1) {
      if (invitation !== undefined && name === undefined) return { invitation };
      if (link !== undefined && name === undefined) return { link };
      if (passkey !== undefined && name === undefined) return { passkey };
      if (adminToken !== undefined && name === undefined) return { adminToken };
      if (apiKey !== undefined && name !== undefined) return { apiKey, name };
    }
    context.addIssue("must have one of invitation, link, passkey, adminToken, or apiKey with name");
    return z.NEVER;
  });

const linkInput = z.strictObject({ email: mailAddress });

const languageInput = z.strictObject({ language: z.enum(languages) });

const tokenInput = z.strictObject({ shopId: id.optional() });

/** Stores by which a sign-in is counted and recorded. */
interface SignInRecords extends Omit<SignInTrail, "row"> {
  readonly ofAddresses: Attempts;
  readonly ofSecrets: Attempts;
}

/** The surface of the console. */
export function createConsole(given: ConsoleDependencies): Surface {
  const passkeys = new Passkeys(given);
  const deps: Needs = { ...given, passkeys };
  const auditTrail = new AuditTrail(deps);
  const records: SignInRecords = {
    auditTrail,
    refusals: new Refusals({ ...deps, auditTrail }),
    ofAddresses: new Attempts(deps.clock, signInsOfAddress),
    ofSecrets: new Attempts(deps.clock, signInsWithSecret),
  };
  const links = new LinkMails(deps, auditTrail);
  const ofPasskeys = passkeyRequests({ ...deps, passkeys, auditTrail });
  const page = (context: RequestContext): Promise<Response | null> => {
    context.operation = "console";
    return deps.pages(context, {
      picturesOf: () => picturesOf(deps, context),
      offers: {
        ...(links.areMailed ? { "sign-in": "link" } : {}),
        ...(passkeys.party === null ? {} : { passkeys: passkeys.party.origin }),
      },
      language: languageIn(context),
    });
  };
  return {
    path: consolePath,
    async handle(context) {
      const { method } = context.request;
      switch (context.path) {
        case `${consolePath}/session`:
          if (method === "POST") return await beginSession(deps, records, context);
          if (method === "DELETE") return await leaveSession(deps, context, false);
          throw methodNotAllowed(method, ["DELETE", "POST"]);
        case `${consolePath}/sessions`:
          if (method === "DELETE") return await leaveSession(deps, context, true);
          throw methodNotAllowed(method, ["DELETE"]);
        case `${consolePath}/sign-in-link`:
          if (method === "POST") return await mailLinks(deps, links, context);
          throw methodNotAllowed(method, ["POST"]);
        case `${consolePath}/token`:
          if (method === "POST") return await giveToken(deps, context);
          throw methodNotAllowed(method, ["POST"]);
        case `${consolePath}/language`:
          if (method === "PUT") return await chooseLanguage(deps, context);
          throw methodNotAllowed(method, ["PUT"]);
        default:
          return (await ofPasskeys(context)) ?? (await page(context));
      }
    },
  };
}

/**
 * Signs somebody in. A secret that was refused too often is not looked up again. An address with too many failed
 * sign-ins is refused each further one that fails. A right secret from there is still taken, so that nobody else behind
 * a proxy is locked out (C49).
 */
async function beginSession(
  deps: Needs,
  { ofAddresses, ofSecrets, ...trail }: SignInRecords,
  context: RequestContext,
): Promise<Response> {
  const { requestId, remoteAddress, request } = context;
  context.operation = "console:session_begin";
  refuseOtherSites(context);
  const startedAtMs = deps.clock.now();
  const input = checkInput(
    credential,
    parseJson(await context.body.whole(unauthenticated, { bytesMax: signInBytesMax })),
  );
  const secret = hash("sha256", secretOf(input));
  ofSecrets.admit(secret);
  const userAgent = onOneLine(request.header("user-agent") ?? "").slice(0, shortTextMax) || null;
  const named = { auditId: deps.ids.next("aud"), startedAtMs, operation: "session_begin" };
  const row: SignInTrail["row"] = (person, outcome) =>
    auditRowOf(context, { ...named, person }, { ...outcome, nowMs: deps.clock.now() });
  try {
    const { secret: cookie, ...session } = await signIn(deps, input, userAgent, { ...trail, row });
    const headers = { "Set-Cookie": cookieWith(context, cookie), "Cache-Control": "no-store" };
    return respond(success(requestId, { session }, { status: 201, headers }));
  } catch (error) {
    if (error instanceof Fault && error.code === "UNAUTHORIZED") {
      deps.log.warn({ ...loggedRequest(context), remoteAddress }, "sign-in refused");
      ofSecrets.count(secret);
      ofAddresses.admit(remoteAddress);
      ofAddresses.count(remoteAddress);
    }
    throw error;
  }
}

function secretOf(input: Credential): string {
  if ("apiKey" in input) return input.apiKey;
  if ("invitation" in input) return input.invitation;
  // Each try with a passkey has a signature of its own: nobody's passkey is locked by others.
  if ("passkey" in input) return input.passkey.response.signature;
  return "link" in input ? input.link : input.adminToken;
}

/**
 * Mails links to the people with an e-mail, if there are any. The answer is the same either way, and comes before
 * anybody is looked up: neither it nor its time tells who is a person here.
 */
async function mailLinks(deps: ConsoleDependencies, mails: LinkMails, context: RequestContext): Promise<Response> {
  context.operation = "console:sign_in_link";
  const startedAtMs = deps.clock.now();
  refuseOtherSites(context);
  const body = parseJson(await context.body.whole(unauthenticated, { bytesMax: signInBytesMax }));
  const { email } = checkInput(linkInput, body);
  mails.send(email, context.remoteAddress, (personId) => {
    const named = { auditId: deps.ids.next("aud"), startedAtMs, operation: "sign_in_link" };
    const outcome = { status: 202, errorCode: null, nowMs: deps.clock.now() };
    return auditRowOf(context, { ...named, person: { personId, keyId: null } }, outcome);
  });
  const headers = { "Cache-Control": "no-store" };
  return respond(success(context.requestId, { linkMinutes: signInLinkMs / minuteMs }, { status: 202, headers }));
}

async function leaveSession(deps: Needs, context: RequestContext, everywhere: boolean): Promise<Response> {
  context.operation = everywhere ? "console:sessions_end" : "console:session_end";
  refuseOtherSites(context);
  await signOut(deps, sessionIn(context), everywhere);
  const headers = { "Set-Cookie": cookieWith(context, null), "Cache-Control": "no-store" };
  return respond(success(context.requestId, { signedOut: true }, { headers }));
}

/**
 * Keeps the language of the console with the person who is signed in, and in this browser. Its page for signing in has
 * it, too.
 */
async function chooseLanguage(deps: Needs, context: RequestContext): Promise<Response> {
  context.operation = "console:language";
  requireOwnPage(context);
  const { language } = checkInput(
    languageInput,
    parseJson(await context.body.whole(unauthenticated, { bytesMax: signInBytesMax })),
  );
  const open = await sessionIfOpen(deps, sessionIn(context));
  if (open !== null && !("operatorSession" in open)) {
    const { shopId } = open.caller.shop;
    await deps.engine.write(shopId, async (tx) => {
      await tx.batch([languageStatement(shopId, open.session.personId, language)]);
    });
  }
  const headers = { "Set-Cookie": languageCookieWith(context, language), "Cache-Control": "no-store" };
  return respond(success(context.requestId, { language }, { headers }));
}

/** The bearer of a page, with who it is for. The operator names a shop; without one, the answer lists the shops. */
async function giveToken(deps: Needs, context: RequestContext): Promise<Response> {
  context.operation = "console:token";
  requireOwnPage(context);
  const secret = sessionIn(context);
  const open = await openSession(deps, secret);
  const { shopId } = checkInput(
    tokenInput,
    parseJson(await context.body.whole(unauthenticated, { bytesMax: signInBytesMax })),
  );
  const answer = (data: object, language: Language | null = null): Response => {
    const headers = { "Set-Cookie": cookieWith(context, secret), "Cache-Control": "no-store" };
    const response = respond(success(context.requestId, data, { headers }));
    if (language !== null) response.headers.append("Set-Cookie", languageCookieWith(context, language));
    return response;
  };
  if ("operatorSession" in open) {
    if (shopId === undefined) return answer({ ...noBearer, shops: await shopsOf(deps) });
    const { bearer, caller } = await bearerOfOperator(deps, open.operatorSession, shopId);
    return answer(bearerJson(bearer, caller));
  }
  if (shopId !== undefined && shopId !== open.caller.shop.shopId)
    throw new Fault("FORBIDDEN_SCOPE", "A session may not ask for this.", { action: "Leave shopId out." });
  await requestTokens(deps.coordination, deps.clock, open.caller.shop, bucketOf(open.caller)).take();
  const { language } = open.session;
  return answer(bearerJson(await bearerOfPerson(deps, open), open.caller, language), language);
}

/**
 * Origins of the pictures of the shop whose session the cookie names; none for the operator, who is in no shop. A shop
 * that cannot be read has none: the page says what is wrong.
 */
async function picturesOf(deps: Needs, context: RequestContext): Promise<readonly string[]> {
  const secret = sessionIn(context);
  const open = secret === null ? null : await openSession(deps, secret).catch(() => null);
  return open === null || "operatorSession" in open ? [] : pictureOrigins(open.caller.shop.storefront);
}

const noBearer = {
  token: null,
  expiresAt: null,
  person: { personId: null, name: "operator", role: "owner", language: null },
  shop: null,
};

const bearerJson = (
  { token, expiresAtMs, lastSequence }: NewBearer,
  { shop, person }: PersonCaller,
  language: Language | null = null,
) => ({
  token,
  expiresAt: instant(expiresAtMs),
  person: { personId: person.personId, name: person.name, role: person.role, language },
  shop: {
    shopId: shop.shopId,
    name: shop.name,
    currencyCode: shop.currencyCode,
    timezone: shop.timezone,
    unconfirmedDays: shop.unconfirmedDays,
    storefront: platformName(shop.storefront),
    hasStorefront: shop.storefront.kind !== "none",
    hasApprovalRules: shop.approvalRules.length > 0,
    lastSequence,
  },
});

/** Ids and names of all shops. One that cannot be read has no name. */
async function shopsOf({ engine }: ConsoleDependencies): Promise<readonly object[]> {
  const shops: object[] = [];
  for (const shopId of await engine.list()) {
    const shop = await engine.read(shopId, (tx) => loadShop(tx, shopId)).catch(() => null);
    shops.push({ shopId, name: shop?.name ?? null });
  }
  return shops;
}
