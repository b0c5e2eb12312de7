/**
 * Sign-in of the console over HTTP: `/console/session`, `/console/sessions` and `/console/token` (C49, C55). They alone read the cookie; everything else of
 * this service reads `Authorization`.
 *
 * Owns: the requests' form, and what is refused before anything is looked up. Does not own: sessions (sign-in.ts), cookies (cookie.ts),
 * the console's pages (http/console-pages.ts).
 */
import { z } from "zod";
import { loggedRequest } from "../base/trace-context.ts";
import { Fault } from "../base/fault.ts";
import { parseJson } from "../base/json.ts";
import { signInBytesMax } from "../base/limits.ts";
import { onOneLine } from "../base/plain-text.ts";
import { Attempts, signInAttempts } from "../http/attempts.ts";
import { strangers } from "../http/body.ts";
import type { ConsolePages } from "../http/console-pages.ts";
import { methodNotAllowed, type RequestContext, type Surface } from "../http/surface.ts";
import type { PersonCaller } from "../requests/caller.ts";
import { respond, success } from "../requests/envelope.ts";
import { id, instant, shortTextMax, text } from "../operations/fields.ts";
import { checkInput } from "../requests/input.ts";
import { requestTokens } from "../requests/rate-limit.ts";
import { loadShop } from "../shop/access/accounts.ts";
import type { Log } from "../store/store.ts";
import { consolePath, cookieWith, refuseOtherSites, requireOwnPage, sessionIn } from "./cookie.ts";
import {
  bearerOfOperator,
  bearerOfPerson,
  type Credential,
  type NewBearer,
  openSession,
  signIn,
  type SignInDependencies,
  signOut,
} from "./sign-in.ts";

interface ConsoleDependencies extends SignInDependencies {
  readonly log: Log;
  /** The page and its files. */
  readonly pages: ConsolePages;
}

const secretMax = 1_000;

/** What somebody signs in with: one of the three. */
const credential = z
  .strictObject({
    invitation: z.string().min(1).max(secretMax).optional(),
    adminToken: z.string().min(1).max(secretMax).optional(),
    apiKey: z.string().min(1).max(secretMax).optional(),
    name: text(shortTextMax).optional(),
  })
  .transform(({ invitation, adminToken, apiKey, name }, context): Credential => {
    const sent = [invitation, adminToken, apiKey].filter((secret) => secret !== undefined);
    if (sent.length === 1) {
      if (invitation !== undefined && name === undefined) return { invitation };
      if (adminToken !== undefined && name === undefined) return { adminToken };
      if (apiKey !== undefined && name !== undefined) return { apiKey, name };
    }
    context.addIssue("must have one of invitation, adminToken, or apiKey with name");
    return z.NEVER;
  });

const tokenInput = z.strictObject({ shopId: id.optional() });

/** The surface of the console. */
export function createConsole(deps: ConsoleDependencies): Surface {
  const attempts = new Attempts(deps.clock, signInAttempts);
  return {
    path: consolePath,
    async handle(context) {
      const { method } = context.request;
      switch (context.path) {
        case `${consolePath}/session`:
          if (method === "POST") return await beginSession(deps, attempts, context);
          if (method === "DELETE") return await leaveSession(deps, context, false);
          throw methodNotAllowed(method, ["DELETE", "POST"]);
        case `${consolePath}/sessions`:
          if (method === "DELETE") return await leaveSession(deps, context, true);
          throw methodNotAllowed(method, ["DELETE"]);
        case `${consolePath}/token`:
          if (method === "POST") return await giveToken(deps, context);
          throw methodNotAllowed(method, ["POST"]);
        default:
          context.operation = "console";
          return await deps.pages(context);
      }
    },
  };
}

async function beginSession(deps: ConsoleDependencies, attempts: Attempts, context: RequestContext): Promise<Response> {
  const { requestId, remoteAddress, request } = context;
  context.operation = "console:session_begin";
  refuseOtherSites(context);
  attempts.admit(remoteAddress);
  const input = checkInput(credential, parseJson(await context.body.whole(strangers, { bytesMax: signInBytesMax })));
  const userAgent = onOneLine(request.header("user-agent") ?? "").slice(0, shortTextMax) || null;
  try {
    const { secret, ...session } = await signIn(deps, input, userAgent);
    const headers = { "Set-Cookie": cookieWith(context, secret), "Cache-Control": "no-store" };
    return respond(success(requestId, { session }, { status: 201, headers }));
  } catch (error) {
    if (error instanceof Fault && error.code === "UNAUTHORIZED") {
      attempts.count(remoteAddress);
      deps.log.warn({ ...loggedRequest(context), remoteAddress }, "sign-in refused");
    }
    throw error;
  }
}

async function leaveSession(
  deps: ConsoleDependencies,
  context: RequestContext,
  everywhere: boolean,
): Promise<Response> {
  context.operation = everywhere ? "console:sessions_end" : "console:session_end";
  refuseOtherSites(context);
  await signOut(deps, sessionIn(context), everywhere);
  const headers = { "Set-Cookie": cookieWith(context, null), "Cache-Control": "no-store" };
  return respond(success(context.requestId, { signedOut: true }, { headers }));
}

/** The bearer of a page, with who it is for. The operator names a shop; without one, the answer lists the shops. */
async function giveToken(deps: ConsoleDependencies, context: RequestContext): Promise<Response> {
  context.operation = "console:token";
  requireOwnPage(context);
  const secret = sessionIn(context);
  const open = await openSession(deps, secret);
  const { shopId } = checkInput(
    tokenInput,
    parseJson(await context.body.whole(strangers, { bytesMax: signInBytesMax })),
  );
  const answer = (data: object): Response => {
    const headers = { "Set-Cookie": cookieWith(context, secret), "Cache-Control": "no-store" };
    return respond(success(context.requestId, data, { headers }));
  };
  if ("operatorSession" in open) {
    if (shopId === undefined) return answer({ ...noBearer, shops: await shopsOf(deps) });
    const { bearer, caller } = await bearerOfOperator(deps, open.operatorSession, shopId);
    return answer(bearerJson(bearer, caller));
  }
  if (shopId !== undefined && shopId !== open.caller.shop.shopId)
    throw new Fault("FORBIDDEN_SCOPE", "A session may not ask for this.", { action: "Leave shopId out." });
  await requestTokens(deps.coordination, deps.clock, open.caller.shop, "people").take();
  return answer(bearerJson(await bearerOfPerson(deps, open), open.caller));
}

const noBearer = {
  token: null,
  expiresAt: null,
  person: { personId: null, name: "operator", role: "owner" },
  shop: null,
};

const bearerJson = ({ token, expiresAtMs, lastSequence }: NewBearer, { shop, person }: PersonCaller) => ({
  token,
  expiresAt: instant(expiresAtMs),
  person: { personId: person.personId, name: person.name, role: person.role },
  shop: {
    shopId: shop.shopId,
    name: shop.name,
    currencyCode: shop.currencyCode,
    timezone: shop.timezone,
    unconfirmedDays: shop.unconfirmedDays,
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
