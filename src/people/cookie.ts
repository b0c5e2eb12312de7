/**
 * The cookies of the console: one of a session, one of the page's language. And the check that a request came from a
 * page of this service (C49).
 */
import { type Language, languages } from "../base/text/language.ts";
import { Fault } from "../base/fault.ts";
import { isByTls, type RequestContext } from "../http/surface.ts";
import { sessionIdleMs } from "../requests/sessions.ts";

/** The path below which a browser sends the cookie. */
export const consolePath = "/console";

/** Behind TLS, a page that was not reached by TLS can neither read nor set it. */
const cookieName = (isByTls: boolean): string => (isByTls ? "__Secure-openpo_console" : "openpo_console");

type CookieRequest = Pick<RequestContext, "request" | "headerValues">;

const languageCookie = "openpo_language";

/** A browser keeps the chosen language for a year. */
const languageSeconds = 31_536_000;

/** The session in the cookie; null without one. */
export const sessionIn = (context: CookieRequest): string | null => valueOf(context, cookieName(isByTls(context)));

/** The language that was chosen in this browser; null without one. */
export const languageIn = (context: CookieRequest): Language | null => {
  const value = valueOf(context, languageCookie);
  return languages.find((language) => language === value) ?? null;
};

function valueOf(context: CookieRequest, name: string): string | null {
  for (const part of context.headerValues("cookie").join(";").split(";")) {
    const [key, ...value] = part.split("=");
    if (key?.trim() === name) return value.join("=").trim();
  }
  return null;
}

/** `Set-Cookie` for the language of this browser. Whoever comes by a link in a mail has it, too. */
export const languageCookieWith = (context: CookieRequest, language: Language): string =>
  cookieLine(context, `${languageCookie}=${language}`, { ageSeconds: languageSeconds, sameSite: "Lax" });

/** `Set-Cookie` for this session; null takes the cookie away. */
export const cookieWith = (context: CookieRequest, session: string | null): string =>
  cookieLine(context, `${cookieName(isByTls(context))}=${session ?? ""}`, {
    ageSeconds: session === null ? 0 : sessionIdleMs / 1_000,
    sameSite: "Strict",
  });

interface CookieTerms {
  readonly ageSeconds: number;
  readonly sameSite: "Lax" | "Strict";
}

const cookieLine = (context: CookieRequest, pair: string, { ageSeconds, sameSite }: CookieTerms): string =>
  [
    pair,
    "HttpOnly",
    `SameSite=${sameSite}`,
    `Path=${consolePath}`,
    `Max-Age=${ageSeconds}`,
    ...(isByTls(context) ? ["Secure"] : []),
  ].join("; ");

/**
 * True if the calling page is one of this service; null when the client does not say, which no browser does for a POST.
 */
function isOwnPage({ request }: CookieRequest): boolean | null {
  const site = request.header("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = request.header("origin");
  if (origin === null) return null;
  return URL.parse(origin)?.host === (request.header("host") ?? "").toLowerCase();
}

/** @throws Fault FORBIDDEN_SCOPE when a page of another site asks. */
export function refuseOtherSites(context: CookieRequest): void {
  if (isOwnPage(context) === false) throw otherSite();
}

/** @throws Fault FORBIDDEN_SCOPE unless a page of this service asks. */
export function requireOwnPage(context: CookieRequest): void {
  if (isOwnPage(context) !== true) throw otherSite();
}

const otherSite = (): Fault =>
  new Fault("FORBIDDEN_SCOPE", "Only a page of this service may ask for this.", {
    action: `Open ${consolePath} in a browser. Programs use an API key.`,
  });
