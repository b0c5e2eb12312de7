/** Refusals in the words of OAuth (RFC 6749, 7591, 8707), and the answers of its endpoints. */

/** Codes of the standards that this server uses. */
type OAuthErrorCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_target"
  | "temporarily_unavailable"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/** A refusal that a client is told. The message is written for whoever develops it, and names nothing that was sent. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly retryAfterMs: number | null;

  constructor(
    code: OAuthErrorCode,
    message: string,
    { status = 400, retryAfterMs = null }: { readonly status?: number; readonly retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** On answers for programs of any site: they carry no cookie, and what they say depends on what was sent alone. */
export const anyOrigin = { "Access-Control-Allow-Origin": "*" } as const;

/** An answer of an endpoint, kept by nobody. */
export const oauthAnswer = (status: number, body: object | null, headers: Readonly<Record<string, string>> = {}) =>
  new Response(body === null ? null : JSON.stringify(body), {
    status,
    headers: {
      "Cache-Control": "no-store",
      Pragma: "no-cache",
      ...anyOrigin,
      ...(body === null ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
  });

/** The refusal as an answer. */
export const oauthRefusal = ({ code, message, status, retryAfterMs }: OAuthError): Response =>
  oauthAnswer(
    status,
    { error: code, error_description: message },
    retryAfterMs === null ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) },
  );
