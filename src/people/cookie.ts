/**
 * The one cookie of the console, and the check that a request came from a page of this service (C49).
 */
import { Fault } from "../base/fault.ts";
import { isByTls, type RequestContext } from "../http/surface.ts";
import { sessionIdleMs } from "../requests/sessions.ts";

/** The path below which a browser sends the cookie. */
export const consolePath = "/console";

/** Behind TLS, a page that was not reached by TLS can neither read nor set it. */
const cookieName = (isByTls: boolean): string => (isByTls ? "__Secure-openpo_console" : "openpo_console");

type CookieRequest = Pick<RequestContext, "request" | "headerValues">;

/** The session in the cookie; null without one. */
export function sessionIn(context: CookieRequest): string | null {
  const name = cookieName(isByTls(context));
  for (const part of context.headerValues("cookie").join(";").split(";")) {
    const [key, ...value] = part.split("=");
    if (key?.trim() === name) return value.join("=").trim();
  }
  return null;
}

/** `Set-Cookie` for this session; null takes the cookie away. */
export function cookieWith(context: CookieRequest, session: string | null): string {
  const secure = isByTls(context);
  const ageSeconds = session === null ? 0 : sessionIdleMs / 1_000;
  const parts = [
    `${cookieName(secure)}=${session ?? ""}`,
    "HttpOnly",
    "SameSite=Strict",
    `Path=${consolePath}`,
    `Max-Age=${ageSeconds}`,
    ...(secure ? ["Secure"] : []),
  ];
  return parts.join("; ");
}

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
