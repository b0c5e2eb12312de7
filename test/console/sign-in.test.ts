/** What the page for signing in makes of what was typed, and says when the sign-in is good and the bearer is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signIn } from "../../console/data/session.ts";
import { credentialOf, placeIn, placeKeptMs, secretIn } from "../../console/people/typed.ts";
import { signInLinkMs } from "../../src/core/access/sign-in-link.ts";

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
  assert.deepEqual(await signIn({ adminToken: "t" }), {
    message: "Too many requests.",
    action: "Try again in a moment.",
    details: [],
  });
  assert.equal(await signIn({ adminToken: "t" }), null);
  assert.deepEqual(answers, []);
});

test("the one field knows an e-mail, a key, an admin token, and the link of an invitation or a mail", () => {
  const kinds: readonly (readonly [string, string, string?])[] = [
    [" ana@shop.example ", "email", "ana@shop.example"],
    ["opo_demo_secret", "apiKey"],
    ["opa_secret", "adminToken"],
    ["a-token-of-the-operator", "adminToken"],
    ["https://po.example/console#opi_demo_secret", "invitation", "opi_demo_secret"],
    ["opm_demo_secret", "link"],
    ["", "unknown"],
    ["Ana", "unknown"],
    ["Ana Maria Fernandes Lima", "unknown"],
    ["ana @shop.example", "unknown"],
  ];
  for (const [typed, kind, credential = typed] of kinds)
    assert.deepEqual(credentialOf(typed), { kind, credential: credential.trim() }, typed);
  assert.deepEqual(secretIn("#opi_a_b"), { kind: "invitation", credential: "opi_a_b" });
  assert.deepEqual(secretIn("#opm_a_b"), { kind: "link", credential: "opm_a_b" });
  for (const hash of ["", "#", "#opo_a_b", "#x-opm_a_b", "#opm_a b"]) assert.equal(secretIn(hash), null, hash);
});

test("a page goes back to a place of the console alone, and for as long as a link can be used", () => {
  const kept = (href: string, at = "0"): string => `${at} ${href}`;
  for (const href of ["/console", "/console/connect?client_id=a", "/console?x=1"])
    assert.equal(placeIn(kept(href), placeKeptMs - 1), href);
  assert.equal(placeIn(kept("/console"), placeKeptMs), null);
  assert.equal(placeKeptMs, signInLinkMs);
  for (const wrong of [
    "https://evil.example/console",
    "//evil.example/console",
    "/consoles",
    "/",
    "/oauth/authorize",
    "",
  ])
    assert.equal(placeIn(kept(wrong), 0), null, wrong);
  for (const text of [null, "", "/console", kept("/console", "now"), kept("/console", "-1")])
    assert.equal(placeIn(text, 0), null);
});
