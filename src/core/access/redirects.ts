/**
 * Where a client may be answered, and by which addresses the service is found (C72, C73).
 */

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** True if the host of a URL is the machine of whoever opens it. */
export const isLoopbackHost = (hostname: string): boolean => loopbackHosts.has(hostname);

/** Schemes that a browser, a mail program or the system opens itself: none of them is an installed app. */
const barredSchemes: ReadonlySet<string> = new Set([
  "about:",
  "blob:",
  "chrome:",
  "data:",
  "file:",
  "filesystem:",
  "ftp:",
  "intent:",
  "javascript:",
  "mailto:",
  "ms-settings:",
  "sms:",
  "tel:",
  "urn:",
  "vbscript:",
  "view-source:",
  "ws:",
  "wss:",
]);

/** Longest address that a client may be answered at. */
const redirectLengthMax = 500;

/** Returns the fault of an address that a client is to be answered at; null when it has none. */
export function redirectFault(text: string): string | null {
  if (text.length > redirectLengthMax) return `has more than ${redirectLengthMax} characters`;
  // A URL parser drops some of these and reads a backslash as a slash: what is compared would not be what is opened.
  if (/[\p{Cc}\s\\"<>]/u.test(text)) return "has a character that must be encoded";
  const url = URL.parse(text);
  if (url === null) return "is not an absolute URL";
  if (text.includes("#")) return "has a fragment";
  if (url.username !== "" || url.password !== "") return "has a user name or password";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:") return isLoopbackHost(url.hostname) ? null : "is http, which only loopback may be";
  return barredSchemes.has(url.protocol) ? "has a scheme that no app has" : null;
}

/** True if an address is one of a client's: the same text, or on loopback the same but for the port (RFC 8252). */
export function isRedirectOf(registered: readonly string[], sent: string): boolean {
  if (redirectFault(sent) !== null) return false;
  return registered.some((each) => each === sent || (portless(each) ?? each) === portless(sent));
}

/** An address on loopback without its port; null for any other. */
function portless(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "http:" || !isLoopbackHost(url.hostname)) return null;
  // The rest is compared as it is written.
  const rest = /^http:\/\/[^/?]*(.*)$/i.exec(text)?.[1] ?? "";
  return `${url.hostname} ${rest}`;
}

/** Where an answer goes, as a person is told: the host, or the scheme of an app. */
export type RedirectPlace =
  | { readonly kind: "web"; readonly host: string }
  | { readonly kind: "loopback"; readonly host: string }
  | { readonly kind: "app"; readonly host: string };

/** Where an answer to this address goes. @param text  one without a `redirectFault`. */
export function placeOf(text: string): RedirectPlace {
  const { protocol, host, hostname } = new URL(text);
  if (protocol === "https:") return { kind: "web", host };
  return protocol === "http:" && isLoopbackHost(hostname)
    ? { kind: "loopback", host: hostname }
    : { kind: "app", host: protocol };
}

/** The address with these parameters added to its query. @param text  one without a `redirectFault`. */
export function withParameters(text: string, parameters: Readonly<Record<string, string | null>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) added.append(name, value);
  return `${text}${text.includes("?") ? (/[?&]$/.test(text) ? "" : "&") : "?"}${added.toString()}`;
}

/**
 * The origin under which assistants find the service; null: they cannot, since it is told no address that is safe to
 * give a token to.
 *
 * @param publicUrl  what the operator says; null: the service is reached where it listens, on this machine.
 */
export function connectOrigin(
  publicUrl: string | null,
  { host, port }: { readonly host: string; readonly port: number },
): string | null {
  const hostname = host.includes(":") ? `[${host}]` : host;
  if (publicUrl === null) return isLoopbackHost(hostname) ? `http://${hostname}:${port}` : null;
  const url = new URL(publicUrl);
  return url.protocol === "https:" || isLoopbackHost(url.hostname) ? url.origin : null;
}
