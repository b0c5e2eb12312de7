/** Connections of assistants, as the page asks that shows a client's request to a person (C74). */
import { z } from "zod";
import { scopesSupported } from "../../core/access/grant.ts";
import { decide, questionOf } from "../../connect/consent.ts";
import { id, plain } from "../../operations/fields.ts";
import { limitsInput } from "./key-limits.ts";
import { type AdminCall, type AdminContext, data, inShop, operation } from "../operation.ts";

const parameterMax = 4_000;
const parameter = (description: string) =>
  z.string().max(parameterMax).check(plain("line")).optional().meta({ description });

/** The client's request, as it came to the page. Who asks is checked by the words of OAuth (connect/authorize.ts). */
const request = {
  response_type: parameter("`code`."),
  client_id: parameter("The client: the address of its document, or the id of its registration."),
  redirect_uri: parameter("Where the answer goes."),
  scope: parameter("What the client asks for, in words with blanks between."),
  state: parameter("A text of the client's, which its answer repeats."),
  code_challenge: parameter("The SHA-256 of the client's proof, in base64url (RFC 7636)."),
  code_challenge_method: parameter("`S256`."),
  resource: parameter("The address of `/mcp` here (RFC 8707)."),
};

const granted = z.enum(scopesSupported);

const consentOf = (
  { engine, clock, connecting }: AdminContext,
  shopId: string,
  sent: Readonly<Record<string, string | undefined>>,
  { person }: AdminCall,
) => ({
  engine,
  clock,
  connecting,
  shopId,
  person,
  parameters: Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
});

export const readConnectionRequest = operation({
  name: "connection_request_get",
  route: { method: "GET", path: "/shops/{shopId}/connection-request" },
  role: "viewer",
  describes: {
    summary: "What an assistant asks a person for.",
    description:
      "Takes the parameters of an authorization request (OAuth 2.1) and says who asks, where the answer goes, and the most that whoever asks here may give.",
    output: z.strictObject({
      request: z.strictObject({
        clientName: z.string(),
        clientHost: z.string(),
        hasDocument: z.boolean(),
        redirect: z.strictObject({ kind: z.enum(["web", "loopback", "app"]), host: z.string() }),
        scopesAsked: z.array(z.string()),
        scopeMax: granted,
      }),
    }),
  },
  input: z.strictObject({ ...inShop, ...request }),
  async run(context, { shopId, ...sent }, call) {
    return data({ request: await questionOf(consentOf(context, shopId, sent, call)) });
  },
});

export const decideConnection = operation({
  name: "connection_decide",
  route: { method: "POST", path: "/shops/{shopId}/connections" },
  role: "viewer",
  describes: {
    summary: "Allows or denies an assistant's request.",
    description:
      "Each request is answered once. `redirectTo` is where the browser goes: to the client, with a code or with `access_denied`. Whoever has signed in with an API key makes no connections.",
    output: z.strictObject({ redirectTo: z.string() }),
  },
  input: z.strictObject({
    ...inShop,
    request: z.strictObject(request),
    decision: z.enum(["allow", "deny"]),
    scope: granted.optional().meta({ description: "What is given. Default: read." }),
    limits: limitsInput.nullable().default(null).meta({ description: "Limits of the connection; null: none." }),
    personId: id.nullable().meta({ description: "Who was shown the request: another session is refused." }),
  }),
  async run(context, { shopId, request: sent, decision, scope = "read", limits, personId }, call) {
    const consent = consentOf(context, shopId, sent, call);
    return data({ redirectTo: await decide(consent, personId, decision === "allow" ? { scope, limits } : null) }, 201);
  },
});
