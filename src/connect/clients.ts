/**
 * Clients that may ask for a connection (C73): those that describe themselves in a document at their id, and those that
 * have registered.
 *
 * Owns: reading both, how long a document is kept, how often one is fetched. Does not own: where it may be fetched from
 * (webhooks/addresses.ts), where a client may be answered (core/access/redirects.ts).
 *
 * A registration is stored nowhere: its id is what was registered, written out. So a flood of registrations costs
 * nothing, every node knows each of them, and a restart forgets none. Nobody gains by writing such an id without
 * registering: whatever it says is checked each time, and registering is open to everybody.
 */
import { z } from "zod";
import type { Clock } from "../base/time/clock.ts";
import { onOneLine } from "../base/text/plain-text.ts";
import { RecentMap } from "../base/recent-map.ts";
import { placeOf, redirectFault } from "../core/access/redirects.ts";
import type { ConnectPolicy } from "../webhooks/addresses.ts";
import { fetchText } from "../webhooks/fetch-text.ts";
import type { Resolve } from "../webhooks/names.ts";
import { OAuthError } from "./oauth-error.ts";

/** A client as a person is told of it, and where it may be answered. */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  /** Of the address of its document; null: it has registered. */
  readonly host: string | null;
  readonly redirectUris: readonly string[];
  /** When it has registered; null: it has a document. */
  readonly registeredAtMs: number | null;
}

/** Time that fetching a client's document may take. */
export const clientDocumentMs = 5_000;

/** A client's document. */
export const clientDocumentBytesMax = 10_240;

/** Time for which a client's document is kept. */
export const clientDocumentKeptMs = 3_600_000;

/** Time after a failure in which a client's document is not fetched again. */
export const clientDocumentFailedMs = 60_000;

/** Documents of clients that a process fetches at a time. */
export const clientDocumentsFetchedMax = 20;

const clientNameMax = 100;
const redirectUrisMax = 10;
const clientIdLengthMax = 4_000;
const documentsKeptMax = 1_000;

const redirectUris = z.array(z.string()).min(1).max(redirectUrisMax);

/** A document. It may have members that are nothing to this server. */
const documentShape = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: redirectUris,
  token_endpoint_auth_method: z.string().optional(),
});

/** The name as it is shown. */
const nameOf = (text: string | undefined, host: string): string =>
  onOneLine(text ?? "")
    .slice(0, clientNameMax)
    .trim() || host;

/** @throws OAuthError when one of them is no address that a client may be answered at. */
function checkRedirects(uris: readonly string[]): void {
  for (const uri of uris) {
    const fault = redirectFault(uri);
    if (fault !== null) throw new OAuthError("invalid_redirect_uri", `A redirect URI ${fault}.`);
  }
}

// Registered clients.

const registeredBegin = "ocr_";

const registeredShape = z.tuple([z.int().min(0), z.string().max(clientNameMax), redirectUris]);

/** Body of a registration. */
const registrationShape = z.object({ client_name: z.string().optional(), redirect_uris: redirectUris });

/** Registers a client. @throws OAuthError for what cannot be registered. */
export function registered(sent: unknown, nowMs: number): Client {
  const parsed = registrationShape.safeParse(sent);
  if (!parsed.success)
    throw new OAuthError(
      parsed.error.issues.some(({ path }) => path[0] === "redirect_uris")
        ? "invalid_redirect_uri"
        : "invalid_client_metadata",
      `Send an object with redirect_uris, 1 to ${redirectUrisMax} of them, and client_name.`,
    );
  const { client_name: clientName, redirect_uris: uris } = parsed.data;
  checkRedirects(uris);
  const [first = ""] = uris;
  const name = nameOf(clientName, placeOf(first).host);
  const clientId = registeredBegin + Buffer.from(JSON.stringify([nowMs, name, uris])).toString("base64url");
  if (clientId.length > clientIdLengthMax) throw new OAuthError("invalid_client_metadata", "This is too long.");
  return { clientId, name, host: null, redirectUris: uris, registeredAtMs: nowMs };
}

/** @throws OAuthError unless it is an id that `registered` makes. */
function registeredClient(clientId: string, nowMs: number): Client {
  const parsed = registeredShape.safeParse(jsonIn(Buffer.from(clientId.slice(registeredBegin.length), "base64url")));
  if (!parsed.success) throw unknownClient();
  const [atMs, name, uris] = parsed.data;
  const client = registered({ client_name: name, redirect_uris: uris }, atMs);
  if (client.clientId !== clientId || atMs > nowMs + clockAheadMs) throw unknownClient();
  return client;
}

/** By how much the clock of the node that has registered a client may be ahead. */
const clockAheadMs = 60_000;

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

const unknownClient = (): OAuthError =>
  new OAuthError("invalid_client", "There is no such client. Register at /oauth/register, or use a client document.");

// Clients with a document.

interface ClientDependencies {
  readonly clock: Clock;
  readonly policy: ConnectPolicy;
  readonly resolve: Resolve;
}

type Kept = { readonly untilMs: number } & ({ readonly client: Client } | { readonly refusal: OAuthError });

/** Every client of a process. */
export class Clients {
  readonly #deps: ClientDependencies;
  readonly #kept = new RecentMap<Kept>(documentsKeptMax);
  readonly #fetching = new Map<string, Promise<Client>>();

  constructor(deps: ClientDependencies) {
    this.#deps = deps;
  }

  /**
   * The client with this id.
   *
   * @param admit  asked before a document is fetched. It may refuse.
   * @throws OAuthError when there is none.
   */
  async find(clientId: string, admit: () => void = () => {}): Promise<Client> {
    const nowMs = this.#deps.clock.now();
    if (clientId.length > clientIdLengthMax) throw unknownClient();
    if (clientId.startsWith(registeredBegin)) return registeredClient(clientId, nowMs);
    if (!isDocumentUrl(clientId)) throw unknownClient();
    const kept = this.#kept.get(clientId);
    if (kept !== undefined && nowMs < kept.untilMs) {
      if ("refusal" in kept) throw kept.refusal;
      return kept.client;
    }
    const fetching = this.#fetching.get(clientId);
    if (fetching !== undefined) return await fetching;
    admit();
    if (this.#fetching.size >= clientDocumentsFetchedMax)
      throw new OAuthError("temporarily_unavailable", "Too many client documents are being fetched.", {
        status: 503,
        retryAfterMs: 1_000,
      });
    const begun = this.#fetch(clientId).finally(() => this.#fetching.delete(clientId));
    this.#fetching.set(clientId, begun);
    return await begun;
  }

  async #fetch(clientId: string): Promise<Client> {
    try {
      const client = await this.#read(clientId);
      this.#kept.set(clientId, { client, untilMs: this.#deps.clock.now() + clientDocumentKeptMs });
      return client;
    } catch (error) {
      // What the address answered, or that it is one inside, is nobody's business.
      const refusal =
        error instanceof OAuthError
          ? error
          : new OAuthError("invalid_client", "The client's document cannot be fetched from its address.");
      this.#kept.set(clientId, { refusal, untilMs: this.#deps.clock.now() + clientDocumentFailedMs });
      throw refusal;
    }
  }

  async #read(clientId: string): Promise<Client> {
    const limits = { timeoutMs: clientDocumentMs, bytesMax: clientDocumentBytesMax };
    const text = await fetchText(clientId, { ...this.#deps, ...limits });
    const parsed = documentShape.safeParse(jsonIn(Buffer.from(text)));
    if (!parsed.success || parsed.data.client_id !== clientId)
      throw new OAuthError("invalid_client", "The client's document is not one, or is that of another client.");
    const { client_name: name, redirect_uris: uris, token_endpoint_auth_method: method = "none" } = parsed.data;
    // Whoever can read the document would know the secret.
    if (method.startsWith("client_secret"))
      throw new OAuthError("invalid_client", "A client with a document has no secret: its method is none.");
    checkRedirects(uris);
    const { host } = new URL(clientId);
    return { clientId, name: nameOf(name, host), host, redirectUris: uris, registeredAtMs: null };
  }
}

/** True if a client's id is the address of a document: https, with a path, in the one form that a URL has. */
function isDocumentUrl(clientId: string): boolean {
  const url = URL.parse(clientId);
  if (url === null || url.protocol !== "https:" || url.href !== clientId) return false;
  return url.pathname !== "/" && !clientId.includes("#") && url.username === "" && url.password === "";
}
