/**
 * A connection over two nodes: each step of it at another one, and what ends it at one ends it at both (C73–C75).
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rotationGraceMs } from "../../src/core/access/grant.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import {
  ask,
  authorize,
  callTool,
  codeIn,
  connect,
  decide,
  exchange,
  oauth,
  refresh,
  registerClient,
} from "../support/peers/connect.ts";
import { startServer, type TestServer } from "../support/server.ts";

/** Two nodes of one service, which is reached at the first one's address. */
async function withTwo(use: (one: TestServer, other: TestServer) => Promise<void>): Promise<void> {
  await using one = await startServer({ console: true });
  await using other = await startServer({ console: true, beside: one, publicUrl: one.url });
  // Tokens are for the service, whichever node is asked.
  const asService = { ...other, url: one.url };
  await use(one, asService);
}

const assertEnded = async (nodes: readonly TestServer[], access: string): Promise<void> => {
  for (const node of nodes)
    assert.equal((await callTool(node, access)).status, 401, node === nodes[0] ? "one" : "other");
};

test("each step may go to another node: registration, page, answer, code, call, refresh", () =>
  withTwo(async (one, other) => {
    const person = await signInAs(one, "owner", "Ana");
    const clientId = await registerClient(one);
    const asked = ask(one, clientId);
    assert.ok((await authorize(other, asked.parameters)).status < 400);
    const code = codeIn(await decide(other, person, asked.parameters));
    const given = await exchange(one, code, asked);
    assert.equal(given.status, 200, given.text);
    for (const node of [other, one]) assert.equal((await callTool(node, given.textAt("access_token"))).status, 200);
    const next = await refresh(other, given.textAt("refresh_token"), clientId);
    assert.equal(next.status, 200, next.text);
    const again = await refresh(one, given.textAt("refresh_token"), clientId);
    assert.equal(again.textAt("refresh_token"), next.textAt("refresh_token"), "the same successor is told again");
    for (const node of [one, other]) assert.equal((await callTool(node, next.textAt("access_token"))).status, 200);
  }));

test("what ends a connection at one node ends it at both with the next call", () =>
  withTwo(async (one, other) => {
    const both = [one, other];
    const shop = `/shops/${one.shopId}`;
    const person = await signInAs(one, "owner", "Ana");
    const keyId = async (): Promise<string> => {
      const keys = (await askAdmin(one, "GET", `${shop}/keys`)).at("data", "keys");
      const open = Array.isArray(keys) ? keys.find(({ kind, revokedAt }) => kind === "connection" && !revokedAt) : null;
      return String(open?.keyId);
    };
    const opened = async () => {
      const made = await connect(one, person);
      for (const node of both) assert.equal((await callTool(node, made.access)).status, 200);
      return made;
    };

    const paused = await opened();
    await askAdmin(other, "PATCH", `${shop}/keys/${await keyId()}`, { paused: true });
    await assertEnded(both, paused.access);
    await askAdmin(one, "PATCH", `${shop}/keys/${await keyId()}`, { paused: false });
    for (const node of both) assert.equal((await callTool(node, paused.access)).status, 200, "and goes on at both");
    await askAdmin(other, "DELETE", `${shop}/keys/${await keyId()}`);
    await assertEnded(both, paused.access);
    assert.equal((await refresh(one, paused.refresh, paused.clientId)).at("error"), "invalid_grant");

    const givenUp = await opened();
    const { refresh: token, clientId } = givenUp;
    assert.equal((await oauth(other, "/oauth/revoke", { token, client_id: clientId })).status, 200);
    await assertEnded(both, givenUp.access);

    const twice = await opened();
    assert.equal((await exchange(other, twice.code, twice.asked)).at("error"), "invalid_grant");
    await assertEnded(both, twice.access);

    const reused = await opened();
    const next = await refresh(one, reused.refresh, reused.clientId);
    for (const node of both) node.clock.advance(rotationGraceMs + 1_000);
    assert.equal((await refresh(other, reused.refresh, reused.clientId)).at("error"), "invalid_grant");
    await assertEnded(both, next.textAt("access_token"));

    const left = await opened();
    await askAdmin(other, "DELETE", `${shop}/people/${person.personId}`);
    await assertEnded(both, left.access);
  }));

test("a code that both nodes are sent at the same time gives tokens once, and they are ended", () =>
  withTwo(async (one, other) => {
    const asked = ask(one, await registerClient(other));
    const code = codeIn(await decide(one, await signInAs(one, "owner"), asked.parameters));
    const answers = await Promise.all([one, other, one, other].map((node) => exchange(node, code, asked)));
    const given = answers.filter(({ status }) => status === 200);
    assert.equal(given.length, 1);
    await assertEnded([one, other], given[0]?.textAt("access_token") ?? "");
  }));
