/** People of a test server's shop: invited, signed in, and asking with the bearer of a page. */
import assert from "node:assert/strict";
import { adminOperations } from "../../src/admin/registry.ts";
import { z } from "zod";
import { approvalRequestSchema } from "../../src/requests/approvals/request-json.ts";
import { Fault } from "../../src/base/fault.ts";
import type { Role } from "../../src/core/access/role.ts";
import { bindingFor, createRoutes } from "../../src/http/routes.ts";
import { adminToken, type RequestOptions, type TestResponse, type TestServer } from "./server.ts";

const match = createRoutes("", adminOperations);

/** Asks the admin API; as the operator unless `key` is given. What the operation describes of its answer must hold. */
export async function askAdmin(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<TestResponse> {
  const answered = await server.request(method, `/admin/v1${path}`, {
    key: adminToken,
    body,
    undocumented: true,
    ...options,
  });
  const found = match(path.split("?")[0] ?? "");
  const binding = found === null ? null : bindingFor(found, method);
  if (answered.status < 300 && method !== "HEAD" && binding !== null && !(binding instanceof Fault)) {
    const { describes, performs } = binding.operation;
    const output =
      performs !== undefined && answered.status === 202
        ? z.strictObject({ approvalRequest: approvalRequestSchema })
        : describes?.output;
    if (output !== undefined && !("file" in output)) output.parse(answered.at("data"));
  }
  return answered;
}

/** A request as a page of the console sends it. */
export const fromPage = (
  server: TestServer,
  method: string,
  path: string,
  {
    cookie,
    body,
    headers = {},
  }: { readonly cookie?: string; readonly body?: unknown; readonly headers?: RequestOptions["headers"] },
): Promise<TestResponse> =>
  server.request(method, `/console${path}`, {
    key: null,
    body,
    undocumented: true,
    headers: { "Sec-Fetch-Site": "same-origin", ...(cookie === undefined ? {} : { Cookie: cookie }), ...headers },
  });

/** The cookie that an answer sets, as it is sent back. */
export function cookieOf(answered: TestResponse): string {
  const [cookie = ""] = answered.headers["set-cookie"] ?? [];
  return cookie.split(";")[0] ?? "";
}

/** Invites somebody and returns the secret of the link. */
export async function invite(server: TestServer, role: Role, name = `A ${role}`): Promise<string> {
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/invitations`, { name, role });
  assert.equal(made.status, 201, made.text);
  return new URL(made.textAt("data", "url")).hash.slice(1);
}

export interface SignedInPerson {
  readonly cookie: string;
  readonly personId: string;
  /** A new bearer of the session. */
  bearer(): Promise<string>;
}

export async function signInWith(server: TestServer, credential: object): Promise<SignedInPerson> {
  const begun = await fromPage(server, "POST", "/session", { body: credential });
  assert.equal(begun.status, 201, begun.text);
  const cookie = cookieOf(begun);
  const bearer = async (): Promise<string> => {
    const given = await fromPage(server, "POST", "/token", { cookie });
    assert.equal(given.status, 200, given.text);
    return given.textAt("data", "token");
  };
  const personId = begun.at("data", "session", "personId");
  return { cookie, personId: typeof personId === "string" ? personId : "", bearer };
}

/** Invites a person of this role and signs them in. */
export const signInAs = async (server: TestServer, role: Role, name?: string): Promise<SignedInPerson> =>
  await signInWith(server, { invitation: await invite(server, role, name) });
