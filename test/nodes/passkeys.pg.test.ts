/**
 * Passkeys among several nodes (C49): begun at one, ended at another, each challenge once.
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Authenticator } from "../support/peers/authenticator.ts";
import { fromPage, signInAs } from "../support/people.ts";
import { startServer } from "../support/server.ts";

const publicUrl = "https://po.example.com";

test("a challenge of one node is answered at another, once among all", async () => {
  await using server = await startServer({ console: true, publicUrl });
  await using other = await startServer({ console: true, publicUrl, beside: server });
  const device = new Authenticator(publicUrl);
  const { cookie, personId } = await signInAs(server, "purchaser", "Ana");
  const options = await fromPage(server, "POST", "/passkeys/options", { cookie, body: {} });
  const body = { name: "Phone", passkey: device.make(options.at("data", "options")) };
  const adds = await Promise.all(
    [server, other, other, server].map((node) => fromPage(node, "POST", "/passkeys", { cookie, body })),
  );
  const inOrder = (answers: readonly { readonly status: number }[]): readonly number[] =>
    answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(inOrder(adds), [201, 400, 400, 400]);
  const asked = await fromPage(other, "POST", "/sign-in-options", { body: {} });
  const passkey = device.answer(asked.at("data", "options"));
  const uses = await Promise.all(
    [server, other, server, other].map((node) => fromPage(node, "POST", "/session", { body: { passkey } })),
  );
  assert.deepEqual(inOrder(uses), [201, 401, 401, 401]);
  assert.equal(uses.find(({ status }) => status === 201)?.at("data", "session", "personId"), personId);
});
