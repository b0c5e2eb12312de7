/** Which request runs under an idempotency key, and what is told of the others (C17–C21, H2). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { idempotencyLifetimeMs } from "../../src/core/access/idempotency.ts";
import { brotli } from "../../src/service/compression.ts";
import { type Attempt, type KeyedRequest, createIdempotency } from "../../src/requests/idempotency.ts";
import type { Reply } from "../../src/requests/envelope.ts";
import type { KeyClaim } from "../../src/store/store.ts";
import { inPlace, openStore } from "../support/store.ts";

const request: KeyedRequest = {
  shopId: "a",
  holderId: "key_1",
  idempotencyKey: "x",
  fingerprint: "mine",
  requestId: "req_1",
  operation: "purchase_order_create",
  wasAnswered: false,
};
const scope = "key_1 x";
const answer: Reply = { status: 201, headers: { "X-Request-Id": "req_0" }, body: "{}", errorCode: null };

/** What an attempt is told: `run`, `replay`, or the reason of its refusal. */
const told = (attempt: Attempt): string =>
  attempt.kind === "refused" ? (attempt.fault.reason ?? attempt.fault.code) : attempt.kind;

interface Situation {
  readonly holder: KeyClaim | null;
  /** The fingerprint of the request whose answer is stored. */
  readonly stored: string | null;
  readonly expected: string;
  /** Whether the key is in flight afterwards. */
  readonly inFlight: boolean;
}

const run = (fingerprint: string): KeyClaim => ({ kind: "run", fingerprint });
const replay = (fingerprint: string): KeyClaim => ({ kind: "replay", fingerprint });
const situations: Readonly<Record<string, Situation>> = {
  "nobody has used it": { holder: null, stored: null, expected: "run", inFlight: true },
  "its answer is stored": { holder: null, stored: "mine", expected: "replay", inFlight: false },
  "another request's answer is stored": {
    holder: null,
    stored: "other",
    expected: "IDEMPOTENCY_KEY_REUSED",
    inFlight: false,
  },
  "its first attempt runs": { holder: run("mine"), stored: null, expected: "IDEMPOTENCY_IN_PROGRESS", inFlight: true },
  "its first attempt runs and has stored what may still change": {
    holder: run("mine"),
    stored: "mine",
    expected: "IDEMPOTENCY_IN_PROGRESS",
    inFlight: true,
  },
  "another request runs": { holder: run("other"), stored: null, expected: "IDEMPOTENCY_KEY_REUSED", inFlight: true },
  "another repetition reads its answer": { holder: replay("mine"), stored: "mine", expected: "replay", inFlight: true },
  "another repetition finds that the answer has expired": {
    holder: replay("mine"),
    stored: null,
    expected: "IDEMPOTENCY_IN_PROGRESS",
    inFlight: true,
  },
};

for (const [what, { holder, stored, expected, inFlight }] of Object.entries(situations))
  test(`a key of which ${what}: ${expected}`, () =>
    inPlace(async (directory) => {
      const store = await openStore(directory);
      const { engine, coordination } = store;
      const idempotency = createIdempotency({
        engine,
        coordination,
        clock: { now: () => 1_000_000 },
        compression: brotli,
      });
      try {
        await engine.create("a");
        if (stored !== null)
          await engine.write("a", async (tx) => {
            const first = { ...request, fingerprint: stored, requestId: "req_0" };
            await tx.batch(
              await idempotency.storeStatements(tx, first, { reply: answer, purchaseOrderId: null }, null),
            );
          });
        if (holder !== null) await coordination.claimKey("a", scope, holder);
        const attempt = await idempotency.claim(request, null);
        assert.equal(told(attempt), expected);
        if (attempt.kind === "replay")
          assert.deepEqual(await idempotency.replayOf(request, attempt), {
            ...answer,
            headers: { ...answer.headers, "Idempotent-Replayed": "true" },
            answeredAtMs: 1_000_000,
          });
        if (attempt.kind === "run") assert.equal(await idempotency.holds(request), true);
        assert.equal((await coordination.claimKey("a", scope, run("next"))) !== null, inFlight);
      } finally {
        await store.close();
      }
    }));

test("a change finds the answer that another attempt has stored, and not its own or an expired one", () =>
  inPlace(async (directory) => {
    let nowMs = 1_000_000;
    const store = await openStore(directory);
    const { engine, coordination } = store;
    const idempotency = createIdempotency({ engine, coordination, clock: { now: () => nowMs }, compression: brotli });
    const check = (requestId: string) =>
      engine.write("a", (tx) => idempotency.refuseIfAnswered(tx, { ...request, requestId }));
    try {
      await engine.create("a");
      await check("req_1");
      await engine.write("a", async (tx) =>
        tx.batch(await idempotency.storeStatements(tx, request, { reply: answer, purchaseOrderId: null }, null)),
      );
      await check("req_0");
      await assert.rejects(check("req_1"), { reason: "IDEMPOTENCY_IN_PROGRESS" });
      nowMs += idempotencyLifetimeMs;
      await check("req_1");
    } finally {
      await store.close();
    }
  }));
