/** Passkeys (C49): added, named and removed by their person, and what signs nobody in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  challengeExpiry,
  challengeRandomBytes,
  makeChallenge,
  passkeyChallengeMs,
  passkeyHandle,
  passkeyNameMax,
  passkeysOfPersonMax,
  relyingPartyOf,
  shopOfHandle,
} from "../../src/core/access/passkey.ts";
import { signInFailuresMax } from "../../src/http/attempts.ts";
import { signInBytesMax } from "../../src/people/sign-in.ts";
import { sessionIdleMs } from "../../src/requests/sessions.ts";
import { Authenticator } from "../support/peers/authenticator.ts";
import { askAdmin, cookieOf, fromPage, type SignedInPerson, signInAs, signInWith } from "../support/people.ts";
import { adminToken, assertFault, startServer, type TestResponse, type TestServer } from "../support/server.ts";

const publicUrl = "https://po.example.com";

const withPasskeys = () => startServer({ console: true, publicUrl });

const optionsFor = async (server: TestServer, person?: SignedInPerson): Promise<unknown> => {
  const asked =
    person === undefined
      ? await fromPage(server, "POST", "/sign-in-options", { body: {} })
      : await fromPage(server, "POST", "/passkeys/options", { cookie: person.cookie, body: {} });
  assert.equal(asked.status, 200, asked.text);
  return asked.at("data", "options");
};

const send = (server: TestServer, { cookie }: SignedInPerson, passkey: object, name = "Phone"): Promise<TestResponse> =>
  fromPage(server, "POST", "/passkeys", { cookie, body: { name, passkey } });

/** Adds a passkey and returns its id. */
async function add(server: TestServer, person: SignedInPerson, device: Authenticator, name = "Phone"): Promise<string> {
  const added = await send(server, person, device.make(await optionsFor(server, person)), name);
  assert.equal(added.status, 201, added.text);
  return added.textAt("data", "passkey", "passkeyId");
}

const enter = (server: TestServer, passkey: object): Promise<TestResponse> =>
  fromPage(server, "POST", "/session", { body: { passkey } });

/** Asks for a challenge, answers it and signs in. */
const signInBy = async (server: TestServer, device: Authenticator): Promise<TestResponse> =>
  await enter(server, device.answer(await optionsFor(server)));

const listOf = async (server: TestServer, { cookie }: SignedInPerson): Promise<TestResponse> =>
  await fromPage(server, "GET", "/passkeys", { cookie });

const refused = (answered: TestResponse): void => {
  assertFault(answered, 401, "UNAUTHORIZED");
  assert.match(answered.textAt("error", "action"), /another way/);
  assert.equal(answered.headers["set-cookie"], undefined);
};

test("a person adds a passkey, names it, comes back by it after the session has ended, and removes it", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  device.isBackedUp = true;
  const ana = await signInAs(server, "purchaser", "Ana");
  assert.deepEqual((await listOf(server, ana)).at("data", "passkeys"), []);
  const passkeyId = await add(server, ana, device);
  const renamed = await fromPage(server, "PATCH", `/passkeys/${passkeyId}`, {
    cookie: ana.cookie,
    body: { name: "Ana's phone" },
  });
  assert.equal(renamed.status, 200, renamed.text);
  const listed = await listOf(server, ana);
  const { createdAt, ...first } = listed.at("data", "passkeys", 0) as Record<string, unknown>;
  assert.equal(typeof createdAt, "string");
  assert.deepEqual(first, { passkeyId, name: "Ana's phone", isBackedUp: true, lastUsedAt: null });

  server.clock.advance(sessionIdleMs + 1);
  assertFault(await fromPage(server, "POST", "/token", { cookie: ana.cookie }), 401, "UNAUTHORIZED");
  const begun = await signInBy(server, device);
  assert.equal(begun.status, 201, begun.text);
  assert.equal(begun.at("data", "session", "personId"), ana.personId);
  const again: SignedInPerson = { ...ana, cookie: cookieOf(begun) };
  const token = await fromPage(server, "POST", "/token", { cookie: again.cookie });
  assert.equal(token.at("data", "person", "role"), "purchaser");
  const sessions = await askAdmin(server, "GET", `/shops/${server.shopId}/sessions`);
  assert.equal(sessions.at("data", "sessions", 0, "signedInWith"), "passkey");
  assert.equal(typeof (await listOf(server, again)).at("data", "passkeys", 0, "lastUsedAt"), "string");

  // A role that was changed meanwhile holds.
  await askAdmin(server, "PATCH", `/shops/${server.shopId}/people/${ana.personId}`, { role: "viewer" });
  const viewer = await fromPage(server, "POST", "/token", { cookie: cookieOf(await signInBy(server, device)) });
  assert.equal(viewer.at("data", "person", "role"), "viewer");

  const removed = await fromPage(server, "DELETE", `/passkeys/${passkeyId}`, { cookie: again.cookie });
  assert.equal(removed.status, 200, removed.text);
  refused(await signInBy(server, device));
  assertFault(await fromPage(server, "DELETE", `/passkeys/${passkeyId}`, { cookie: again.cookie }), 404, "NOT_FOUND");
  const rows = (await server.audit()).filter(({ personId }) => personId === ana.personId).map(({ tag }) => tag);
  for (const tag of ["passkey_add", "passkey_rename", "passkey_remove"])
    assert.equal(rows.filter((each) => each === `console:${tag}`).length, 1, tag);
  assert.equal(rows.filter((each) => each === "console:session_begin").length, 3);
});

test("what was signed for another page, host, challenge or purpose signs nobody in", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  const ana = await signInAs(server, "owner", "Ana");
  await add(server, ana, device);
  const options = await optionsFor(server);
  const forged = Buffer.alloc(54, 7).toString("base64url");
  const own = await optionsFor(server, ana);
  const ownChallenge = (own as { challenge: string }).challenge;
  for (const otherwise of [
    { origin: "https://po.example.net" },
    { origin: "http://po.example.com" },
    { origin: "https://po.example.com:8443" },
    { origin: "https://www.po.example.com" },
    { rpId: "example.com" },
    { rpId: "po.example.net" },
    { challenge: forged },
    { challenge: "" },
    { challenge: ownChallenge },
    { type: "webauthn.create" },
    { isVerified: false },
  ])
    refused(await enter(server, device.answer(options, otherwise)));
  const good = device.answer(options);
  for (const tampered of [
    { ...good.response, signature: Buffer.alloc(70, 1).toString("base64url") },
    { ...good.response, authenticatorData: device.answer(options, { rpId: "x.example" }).response.authenticatorData },
    { ...good.response, clientDataJSON: device.answer(await optionsFor(server)).response.clientDataJSON },
    { ...good.response, clientDataJSON: "bm90LWpzb24" },
    { ...good.response, userHandle: undefined },
  ])
    refused(await enter(server, { ...good, response: tampered }));
  server.clock.advance(passkeyChallengeMs - 1_000);
  const last = await enter(server, good);
  assert.equal(last.status, 201, last.text);
  refused(await enter(server, good));
  const late = await optionsFor(server);
  server.clock.advance(passkeyChallengeMs);
  refused(await enter(server, device.answer(late)));
  // Another way to write the same bytes would be a second challenge.
  const { challenge } = (await optionsFor(server)) as { challenge: string };
  refused(await enter(server, device.answer(options, { challenge: `${challenge}=` })));
  assert.equal((await enter(server, device.answer(options, { challenge }))).status, 201);
});

test("a user handle names the person of the passkey, and nobody else; an unknown credential signs nobody in", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  const ana = await signInAs(server, "purchaser", "Ana");
  const ben = await signInAs(server, "owner", "Ben");
  await add(server, ana, device);
  const options = await optionsFor(server);
  for (const userHandle of [
    passkeyHandle(server.shopId, ben.personId),
    passkeyHandle("another-shop", ana.personId),
    passkeyHandle(server.shopId, "per_nobody"),
    `${server.shopId}:${ana.personId}`,
    server.shopId,
    "x".repeat(5_000),
  ])
    refused(await enter(server, device.answer(options, { userHandle })));
  const stranger = new Authenticator(publicUrl);
  const made = stranger.make(await optionsFor(server, ana));
  refused(await enter(server, stranger.answer(options)));
  const known = device.answer(options);
  refused(await enter(server, { ...stranger.answer(options), id: known.id, rawId: known.id }));
  refused(await enter(server, { ...known, id: made.id, rawId: made.id }));
  refused(await enter(server, { ...known, rawId: made.id }));
  assert.equal((await enter(server, known)).status, 201);
});

test("a passkey is added to who has asked, once, and only if the page and a finger were there", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  const ana = await signInAs(server, "purchaser", "Ana");
  const ben = await signInAs(server, "owner", "Ben");
  const options = await optionsFor(server, ana);
  const signIn = (await optionsFor(server)) as { challenge: string };
  for (const otherwise of [
    { origin: "https://evil.example" },
    { rpId: "evil.example" },
    { isVerified: false },
    { type: "webauthn.get" },
    { challenge: "AAAA" },
    { challenge: signIn.challenge },
  ]) {
    const answered = await send(server, ana, device.make(options, otherwise));
    assertFault(answered, 400, "INVALID_INPUT");
    assert.equal(answered.at("error", "details", 0, "path"), "/passkey");
    assert.match(answered.textAt("error", "action"), /Begin again/);
  }
  const made = device.make(options);
  assertFault(await send(server, ben, made), 400, "INVALID_INPUT");
  assert.equal((await send(server, ana, made)).status, 201);
  assertFault(await send(server, ana, made), 400, "INVALID_INPUT");
  // The same challenge, for a second credential.
  assertFault(await send(server, ana, device.make(options)), 400, "INVALID_INPUT");
  // Somebody else's credential is nobody's to take.
  const taking = new Authenticator(publicUrl);
  const taken = await send(server, ben, taking.make(await optionsFor(server, ben), { credentialId: made.id }));
  assertFault(taken, 400, "INVALID_INPUT");
  assert.match(taken.textAt("error", "message"), /somebody's already/);
  const late = await optionsFor(server, ana);
  server.clock.advance(passkeyChallengeMs);
  assertFault(await send(server, ana, device.make(late)), 400, "INVALID_INPUT");
});

test("passkeys are their person's: no key, operator, other person or other site sees or changes them", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  const ana = await signInAs(server, "purchaser", "Ana");
  const owner = await signInAs(server, "owner", "Olga");
  const passkeyId = await add(server, ana, device);
  const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Kim" });
  const operator = await signInWith(server, { adminToken });
  const calls = [
    ["GET", "/passkeys", undefined],
    ["POST", "/passkeys/options", {}],
    ["POST", "/passkeys", { name: "Mine", passkey: device.make(await optionsFor(server, ana)) }],
    ["PATCH", `/passkeys/${passkeyId}`, { name: "Mine" }],
    ["DELETE", `/passkeys/${passkeyId}`, undefined],
  ] as const;
  for (const [method, path, body] of calls) {
    for (const { cookie } of [byKey, operator])
      assertFault(await fromPage(server, method, path, { cookie, body }), 403, "FORBIDDEN_SCOPE");
    assertFault(await fromPage(server, method, path, { body }), 401, "UNAUTHORIZED");
    for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }])
      assertFault(await fromPage(server, method, path, { cookie: ana.cookie, body, headers }), 403, "FORBIDDEN_SCOPE");
    const bearer = { Authorization: `Bearer ${await ana.bearer()}` };
    assertFault(await fromPage(server, method, path, { body, headers: bearer }), 401, "UNAUTHORIZED");
    assertFault(await fromPage(server, "PUT", path, { cookie: ana.cookie, body: {} }), 405, "METHOD_NOT_ALLOWED");
  }
  for (const method of ["PATCH", "DELETE"]) {
    const body = method === "PATCH" ? { name: "Mine" } : undefined;
    const answered = await fromPage(server, method, `/passkeys/${passkeyId}`, { cookie: owner.cookie, body });
    assertFault(answered, 404, "NOT_FOUND");
  }
  assertFault(
    await fromPage(server, "POST", "/sign-in-options", { body: {}, headers: { "Sec-Fetch-Site": "cross-site" } }),
    403,
    "FORBIDDEN_SCOPE",
  );
  assertFault(await fromPage(server, "GET", "/sign-in-options", {}), 405, "METHOD_NOT_ALLOWED");
  assert.deepEqual((await listOf(server, owner)).at("data", "passkeys"), []);
  assert.equal((await listOf(server, ana)).at("data", "passkeys", 0, "name"), "Phone");
});

test("a deleted person's passkeys are gone, and sign nobody in", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  const ana = await signInAs(server, "purchaser", "Ana");
  await add(server, ana, device);
  const answered = device.answer(await optionsFor(server));
  assert.equal((await askAdmin(server, "DELETE", `/shops/${server.shopId}/people/${ana.personId}`)).status, 200);
  refused(await enter(server, answered));
  const rows = await server.engine.read(server.shopId, (tx) => tx.all("select 1 from passkey", []));
  assert.deepEqual(rows, []);
});

test("a counter that goes back, and a passkey that can suddenly be copied, sign nobody in", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  device.counter = 5;
  await add(server, await signInAs(server, "viewer", "Ana"), device);
  device.counter = 6;
  assert.equal((await signInBy(server, device)).status, 201);
  refused(await signInBy(server, device));
  device.counter = 2;
  refused(await signInBy(server, device));
  device.counter = 8;
  device.isBackedUp = true;
  refused(await signInBy(server, device));
  device.isBackedUp = false;
  assert.equal((await signInBy(server, device)).status, 201);
});

test("a person has so many passkeys, of names that fit, and bodies are bounded", async () => {
  await using server = await withPasskeys();
  const ana = await signInAs(server, "viewer", "Ana");
  const device = new Authenticator(publicUrl);
  for (let count = 0; count < passkeysOfPersonMax; count += 1)
    await add(server, ana, device, "n".repeat(passkeyNameMax));
  const options = await fromPage(server, "POST", "/passkeys/options", { cookie: ana.cookie, body: {} });
  assertFault(options, 400, "INVALID_INPUT");
  assert.match(options.textAt("error", "action"), /Remove one/);
  const first = (await listOf(server, ana)).textAt("data", "passkeys", 0, "passkeyId");
  for (const name of ["", "n".repeat(passkeyNameMax + 1), "two\nlines", null]) {
    const answered = await fromPage(server, "PATCH", `/passkeys/${first}`, { cookie: ana.cookie, body: { name } });
    assertFault(answered, 400, "INVALID_INPUT");
    assert.equal(answered.at("error", "details", 0, "path"), "/name");
  }
  const large = "A".repeat(signInBytesMax);
  assertFault(await send(server, ana, { id: large }), 400, "INVALID_INPUT");
  assertFault(await enter(server, { id: "A".repeat(signInBytesMax) }), 400, "INVALID_INPUT");
  for (const passkey of [{}, { id: "!" }, "text", [], null, 7])
    assertFault(await fromPage(server, "POST", "/session", { body: { passkey } }), 400, "INVALID_INPUT");
});

test("guessing from an address is limited; a good passkey still comes in, and no passkey is locked by others", async () => {
  await using server = await withPasskeys();
  const device = new Authenticator(publicUrl);
  await add(server, await signInAs(server, "viewer", "Ana"), device);
  const options = await optionsFor(server);
  for (let count = 0; count < signInFailuresMax; count += 1)
    refused(await enter(server, device.answer(options, { origin: "https://evil.example" })));
  assertFault(await enter(server, device.answer(options, { isVerified: false })), 429, "RATE_LIMITED");
  assert.equal((await signInBy(server, device)).status, 201);
});

test("where browsers know no passkeys, the page offers none and requests say why; the machine itself is localhost", async () => {
  await using plain = await startServer({ console: true, publicUrl: "http://po.example.com" });
  const answered = await fromPage(plain, "POST", "/sign-in-options", { body: {} });
  assertFault(answered, 400, "INVALID_INPUT");
  assert.match(answered.textAt("error", "action"), /OPENPO_PUBLIC_URL/);
  const page = (server: TestServer): Promise<TestResponse> =>
    server.request("GET", "/console", { key: null, undocumented: true });
  assert.doesNotMatch((await page(plain)).text, /data-passkeys/);
  await using here = await startServer({ console: true });
  const { port } = new URL(here.url);
  assert.match((await page(here)).text, new RegExp(`<html data-passkeys="http://localhost:${port}"`));
  const device = new Authenticator(`http://localhost:${port}`);
  await add(here, await signInAs(here, "viewer", "Ana"), device);
  assert.equal((await signInBy(here, device)).status, 201);
  // A header of the request moves nothing.
  const elsewhere = new Authenticator("https://evil.example");
  const headers = { Origin: "https://evil.example", "X-Forwarded-Host": "evil.example" };
  const options = await fromPage(here, "POST", "/sign-in-options", { body: {}, headers });
  assert.equal(options.at("data", "options", "rpId"), "localhost");
  elsewhere.make(await optionsFor(here, await signInAs(here, "viewer", "Ben")));
  refused(await enter(here, elsewhere.answer(options.at("data", "options"))));
});

test("passkeys hold at names under TLS, and at localhost for the machine itself", () => {
  const held = new Map([
    ["https://po.example.com", { id: "po.example.com", origin: "https://po.example.com" }],
    ["https://po.example.com:8443", { id: "po.example.com", origin: "https://po.example.com:8443" }],
    ["http://localhost:8080", { id: "localhost", origin: "http://localhost:8080" }],
    ["http://127.0.0.1:8080", { id: "localhost", origin: "http://localhost:8080" }],
    ["http://[::1]:8080", { id: "localhost", origin: "http://localhost:8080" }],
    ["https://127.0.0.1", { id: "localhost", origin: "https://localhost" }],
  ]);
  for (const [url, party] of held) assert.deepEqual(relyingPartyOf(url), party, url);
  for (const url of [null, "http://po.example.com", "https://192.0.2.7", "https://[2001:db8::1]", "http://10.0.0.1"])
    assert.equal(relyingPartyOf(url), null, String(url));
});

test("a handle has at most 64 bytes, tells the shop, and differs for each person", () => {
  const longest = "s".repeat(40);
  const handle = passkeyHandle(longest, `per_${"0".repeat(26)}`);
  assert.ok(Buffer.byteLength(handle) <= 64, handle);
  assert.equal(shopOfHandle(handle), longest);
  assert.notEqual(passkeyHandle("a", "per_1"), passkeyHandle("a", "per_2"));
  for (const text of [
    "",
    ":",
    "a",
    "a:b",
    `-:${"x".repeat(22)}`,
    `../a:${"x".repeat(22)}`,
    `${handle}x`,
    `a:b:${handle}`,
  ])
    assert.equal(shopOfHandle(text), null, text);
});

test("a challenge holds for its purpose and its secret, until it expires", () => {
  const random = new Uint8Array(challengeRandomBytes).fill(9);
  const ana = { shopId: "a", personId: "per_1" };
  const bytes = makeChallenge("secret", ana, 1_000, random);
  const text = Buffer.from(bytes).toString("base64url");
  assert.equal(challengeExpiry("secret", ana, text), 1_000 + passkeyChallengeMs);
  for (const purpose of ["sign in", { ...ana, personId: "per_2" }, { ...ana, shopId: "b" }] as const)
    assert.equal(challengeExpiry("secret", purpose, text), null);
  assert.equal(challengeExpiry("another", ana, text), null);
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(challengeExpiry("secret", ana, Buffer.from(changed).toString("base64url")), null, String(at));
  }
  for (const spelled of ["", `${text}=`, ` ${text}`, text.slice(0, -1), `${text}AA`])
    assert.equal(challengeExpiry("secret", ana, spelled), null, spelled);
});
