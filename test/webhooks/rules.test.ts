import assert from "node:assert/strict";
import { createHmac, createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { afterAttempt, type AttemptResult, subscriptionsTo } from "../../src/core/events/webhooks.ts";
import { judge, onlyGlobal, parseAllowed, urlFault } from "../../src/webhooks/addresses.ts";
import { makeSecret, signedHeaders } from "../../src/webhooks/signature.ts";

const nowMs = Date.parse("2026-11-22T10:00:00Z");
const dayMs = 86_400_000;
const healthy = { lastDeliveredAtMs: null, failures: 0, failingSinceMs: null };

const answered = (status: number, retryAfter: string | null = null): AttemptResult => ({
  kind: "answered",
  status,
  ms: 5,
  retryAfter,
  excerpt: "no",
});

const delayAfter = (attempts: number, result: AttemptResult, random = 0.5): number | null => {
  const { dueAtMs } = afterAttempt(healthy, attempts, result, nowMs, random).delivery;
  return dueAtMs === null ? null : dueAtMs - nowMs;
};

test("ten attempts after the schedule of Standard Webhooks, a fifth shorter or longer at random", () => {
  const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, delay] of seconds.entries()) {
    assert.equal(delayAfter(index + 1, answered(500)), delay * 1_000);
    assert.equal(delayAfter(index + 1, answered(500), 0), delay * 800);
    assert.equal(delayAfter(index + 1, answered(500), 1), delay * 1_200);
  }
  const last = afterAttempt(healthy, 10, answered(500), nowMs, 0.5);
  assert.deepEqual([last.delivery.state, last.delivery.dueAtMs], ["failed", null]);
  assert.equal(afterAttempt(healthy, 11, answered(500), nowMs, 0.5).delivery.state, "failed");
});

test("any 2xx is success; anything else, redirects too, is a failure that says why", () => {
  for (const status of [200, 204, 299]) {
    const { delivery, health } = afterAttempt(
      { ...healthy, failures: 9, failingSinceMs: 1 },
      3,
      answered(status),
      nowMs,
      0,
    );
    assert.deepEqual([delivery.state, delivery.dueAtMs, delivery.lastError], ["delivered", null, null]);
    assert.deepEqual(health, { lastDeliveredAtMs: nowMs, failures: 0, failingSinceMs: null });
  }
  const errors = [199, 301, 400, 500].map(
    (status) => afterAttempt(healthy, 1, answered(status), nowMs, 0).delivery.lastError,
  );
  assert.deepEqual(errors, [
    "HTTP 199: no",
    "HTTP 301: redirects are not followed: no",
    "HTTP 400: no",
    "HTTP 500: no",
  ]);
  const lost = afterAttempt(healthy, 1, { kind: "failed", ms: 15_000, reason: "no answer within 15 s" }, nowMs, 0);
  assert.deepEqual([lost.delivery.lastStatus, lost.delivery.lastError], [null, "no answer within 15 s"]);
});

test("Retry-After takes the place of the next delay; what makes no sense is ignored", () => {
  const date = (ms: number) => new Date(nowMs + ms).toUTCString();
  assert.equal(delayAfter(1, answered(429, "120")), 120_000);
  assert.equal(delayAfter(2, answered(503, "1")), 1_000);
  assert.equal(delayAfter(1, answered(429, date(90_000))), 90_000);
  for (const nonsense of ["0", "-5", "soon", "", "1e3", "86401", "99999999999", date(-1_000), date(2 * dayMs)])
    assert.equal(delayAfter(1, answered(429, nonsense)), 5_000, nonsense);
  assert.equal(delayAfter(10, answered(429, "120")), null, "it gives no further attempt");
});

test("410 disables at once; so do ten failures once the first of them is five days old", () => {
  const disabled = (failures: number, sinceMs: number | null, status = 500) =>
    afterAttempt({ ...healthy, failures, failingSinceMs: sinceMs }, 1, answered(status), nowMs, 0).disabled;
  assert.equal(disabled(0, null, 410), "gone");
  assert.equal(disabled(9, nowMs - 5 * dayMs), "failing");
  assert.equal(disabled(8, nowMs - 5 * dayMs), null);
  assert.equal(disabled(500, nowMs - 5 * dayMs + 1), null);
  assert.equal(disabled(0, null), null);
});

test("subscriptions never name a type twice", () => {
  assert.deepEqual(subscriptionsTo(["purchase_order.sent", "*"]), ["*"]);
  assert.deepEqual(subscriptionsTo(["purchase_order.sent", "purchase_order.*", "test.ping", "test.ping"]), [
    "purchase_order.*",
    "test.ping",
  ]);
});

test("golden signatures: those of the standard's text, and a key pair that verifies", () => {
  // The example of the specification's reference implementations.
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const body = '{"test": 2432232314}';
  const secrets = { signature: "hmac", secret, previousSecret: null, previousUntilMs: null } as const;
  const headers = signedHeaders(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", body, 1_614_265_330_999);
  assert.deepEqual(headers, {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
  const other = makeSecret("hmac").stored;
  const rotated = { ...secrets, previousSecret: other, previousUntilMs: nowMs };
  const both = signedHeaders(rotated, "msg", body, nowMs - 1)["webhook-signature"]?.split(" ") ?? [];
  const expected = createHmac("sha256", Buffer.from(other.slice(6), "base64")).update(
    `msg.${(nowMs - 1_000) / 1_000}.${body}`,
  );
  assert.deepEqual([both.length, both[1]], [2, `v1,${expected.digest("base64")}`]);
  assert.equal(signedHeaders(rotated, "msg", body, nowMs)["webhook-signature"]?.split(" ").length, 1);

  const { stored, shown } = makeSecret("ed25519");
  const signed =
    signedHeaders({ ...secrets, signature: "ed25519", secret: stored }, "msg", body, nowMs)["webhook-signature"] ?? "";
  const head = Buffer.from("302a300506032b6570032100", "hex");
  const key = createPublicKey({
    key: Buffer.concat([head, Buffer.from(shown.slice(5), "base64")]),
    format: "der",
    type: "spki",
  });
  assert.ok(signed.startsWith("v1a,"));
  const content = Buffer.from(`msg.${nowMs / 1_000}.${body}`);
  assert.ok(verify(null, content, key, Buffer.from(signed.slice(4), "base64")));
});

const allowing = (text: string) => ({ http: false, ...(parseAllowed(text) ?? assert.fail(text)) });

test("only global addresses are open, in whatever form an address comes", () => {
  const judged = (address: string) => judge(onlyGlobal, "host.example", address);
  for (const address of [
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "192.0.3.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
  ])
    assert.equal(judged(address), "global", address);
  const refused = (
    "0.0.0.0, 0.1.2.3, 10.1.2.3, 100.64.0.1, 127.0.0.1, 169.254.169.254, 172.16.0.1, 172.31.255.255, " +
    "192.0.0.1, 192.0.2.1, 192.168.1.1, 198.18.0.1, 198.51.100.1, 203.0.113.1, 224.0.0.1, 240.0.0.1, " +
    "255.255.255.255, ::, ::1, ::ffff:127.0.0.1, ::ffff:7f00:1, ::127.0.0.1, 64:ff9b::7f00:1, 64:ff9b::169.254.169.254, " +
    "64:ff9b:1::1, fe80::1, fe80::1%eth0, fc00::1, fd00:ec2::254, ff02::1, 2001::1, 2001:db8::1, " +
    "168.63.129.16, ::ffff:168.63.129.16, 64:ff9b::a83f:8110, 100.100.100.200, 192.0.0.192, fd20:ce::254, " +
    "::ffff:0:8.8.8.8, ::8.8.8.8, 2002:a9fe:a9fe::, " +
    "2002:7f00:1::, 3fff::1, 5f00::1, 100::1, not an address, 1.2.3, 1.2.3.256"
  ).split(", ");
  for (const address of refused) assert.equal(judged(address), "refused", address);
});

test("an entry opens what is within it; a wider one, and what is always shut, stays closed", () => {
  const verdict = (allowed: string, address: string, host = "host.example") => judge(allowing(allowed), host, address);
  assert.equal(verdict("10.0.0.0/8", "10.1.2.3"), "opened");
  assert.equal(verdict("10.1.0.0/16, 192.168.7.9", "192.168.7.9"), "opened");
  assert.equal(verdict("10.1.0.0/16", "10.2.0.1"), "refused");
  assert.equal(verdict("0.0.0.0/0,::/0", "10.1.2.3"), "refused");
  assert.equal(verdict("8.0.0.0/5", "10.1.2.3"), "refused");
  assert.equal(verdict("0.0.0.0/0", "8.8.8.8"), "global");
  assert.equal(verdict("fd00::/8", "fd12::1"), "opened");
  assert.equal(verdict("127.0.0.0/8", "::ffff:127.0.0.1"), "opened");
  assert.equal(verdict("ERP.internal", "10.1.2.3", "erp.internal"), "opened");
  assert.equal(verdict("erp.internal", "10.1.2.3", "other.internal"), "refused");
  for (const shut of [
    "0.0.0.0",
    "169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "224.0.0.1",
    "255.255.255.255",
    "::ffff:169.254.1.1",
    "64:ff9b::a9fe:a9fe",
    "100.100.100.200",
    "::ffff:6464:64c8",
    "64:ff9b::100.100.100.200",
    "192.0.0.192",
    "::ffff:192.0.0.192",
    "168.63.129.16",
    "64:ff9b::a83f:8110",
    "fd00:c1::a9fe:a9fe",
    "fd20:ce::254",
    "fd00:42::42",
  ])
    for (const allowed of [
      "host.example",
      "0.0.0.0/0,::/0,0.0.0.0/8,169.254.0.0/16,fe80::/10,fd00:ec2::254,224.0.0.0/4,255.255.255.255",
      "100.64.0.0/10,100.100.100.200,192.0.0.0/24,192.0.0.192,168.63.129.16,fd00::/8,fd00:42::42",
    ])
      assert.equal(verdict(allowed, shut), "refused", `${shut} with ${allowed}`);
  assert.equal(verdict("100.64.0.0/10", "100.100.100.201"), "opened");
  for (const wrong of ["10.0.0.0/33", "300.1.1.1", "::/129", "a b", "https://x", "10.0.0.0/8/9"])
    assert.equal(parseAllowed(wrong), null, wrong);
});

test("a URL says what is wrong with it before anything is connected", () => {
  assert.equal(urlFault(onlyGlobal, "https://example.com:8443/hook?a=b"), null);
  assert.equal(urlFault({ ...onlyGlobal, http: true }, "http://example.com"), null);
  for (const url of [
    "http://example.com",
    "https://127.1",
    "https://0x7f.1",
    "https://017700000001",
    "https://2130706433",
    "https://[::ffff:7f00:1]",
  ])
    assert.notEqual(urlFault(onlyGlobal, url), null, url);
  for (const typed of [
    "https://example.com/a b",
    "https://example.com/\r\nhook",
    " https://example.com/",
    "https://example.com/\thook",
  ])
    assert.match(urlFault(onlyGlobal, typed) ?? "", /must not contain blanks/, JSON.stringify(typed));
});
