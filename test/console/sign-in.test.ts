/** What the page for signing in says when the sign-in is good and the bearer is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signIn } from "../../console/data/session.ts";

test("a good sign-in whose bearer is refused says why, and the next one goes on", async (context) => {
  const answers = [
    { status: 201, body: { data: {} } },
    { status: 429, body: { error: { message: "Too many requests.", action: "Wait 1 s." } } },
    { status: 201, body: { data: {} } },
    { status: 200, body: { data: { token: null, person: { name: "operator" }, shop: null, shops: [] } } },
  ];
  context.mock.method(globalThis, "fetch", () => {
    const { status, body } = answers.shift() ?? assert.fail("nothing more is asked");
    return Promise.resolve(Response.json(body, { status }));
  });
  assert.deepEqual(await signIn({ adminToken: "t" }), { message: "Too many requests.", action: "Wait 1 s." });
  assert.equal(await signIn({ adminToken: "t" }), null);
  assert.deepEqual(answers, []);
});
