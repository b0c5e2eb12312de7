/**
 * Two attempts of one keyed request run at the same time, as on two nodes when a lease ends too early or the answer to a commit is lost.
 * The request has one effect and one answer (H2, C20).
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import type { Json } from "../../src/base/json.ts";
import type { PerformDependencies } from "../../src/requests/perform.ts";
import { delegated } from "../../src/store/delegated.ts";
import type { Coordination, Engine } from "../../src/store/store.ts";
import { losingAnswers } from "../support/engine/engine-doubles.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

const crates = "/api/v1/crates";
const headers = { "Idempotency-Key": "k" };

const labels = async (server: TestServer): Promise<Json[]> => {
  const list = (await server.get(crates)).at("data", "crates");
  return Array.isArray(list) ? list.map((crate) => crate.label) : assert.fail();
};
const reason = (response: TestResponse): Json | undefined => response.at("error", "reason");

/** A coordination that grants every claim. */
const forgetful = (coordination: Coordination): Coordination => ({
  takeToken: (...args) => coordination.takeToken(...args),
  takeTokensWhen: (...args) => coordination.takeTokensWhen(...args),
  giveToken: (...args) => coordination.giveToken(...args),
  peekTokens: (...args) => coordination.peekTokens(...args),
  claimKey: () => Promise.resolve(null),
  takeOverKey: () => Promise.resolve(false),
  holdsKey: () => Promise.resolve(true),
  releaseKey: () => Promise.resolve(),
  releaseKeyWith: () => ({ statements: [], done: () => {} }),
  seeOperatorSession: (...args) => coordination.seeOperatorSession(...args),
  hasOperatorSession: (...args) => coordination.hasOperatorSession(...args),
  endOperatorSession: (...args) => coordination.endOperatorSession(...args),
  endOperatorSessions: () => coordination.endOperatorSessions(),
  sharedSecret: () => coordination.sharedSecret(),
});

/** An engine whose changes wait, once a number is set, until that many have come: so all attempts have begun before one has an answer. */
function gathering(engine: Engine): Engine & { gather(count: number): void } {
  let missing = 0;
  let gate = Promise.withResolvers<void>();
  return {
    ...delegated(engine),
    async write(shopId, work, options) {
      // Not audit rows and sweeps, which go with other requests.
      if (options?.durable !== false) {
        missing -= 1;
        if (missing === 0) gate.resolve();
        if (missing >= 0) await gate.promise;
      }
      return await engine.write(shopId, work, options);
    },
    gather(count) {
      missing = count;
      gate = Promise.withResolvers();
    },
  };
}

async function startForgetful(): Promise<{
  readonly server: TestServer & AsyncDisposable;
  readonly together: (count: number, ask: () => Promise<TestResponse>) => Promise<TestResponse[]>;
}> {
  let made: ReturnType<typeof gathering> | null = null;
  const perform = (deps: PerformDependencies): Partial<PerformDependencies> => ({
    coordination: forgetful(deps.coordination),
    engine: (made = gathering(deps.engine)),
  });
  const server = await startServer({ operations: crateOperations(), perform });
  return {
    server,
    together(count, ask) {
      made?.gather(count);
      return Promise.all(Array.from({ length: count }, ask));
    },
  };
}

suite("one key, two attempts that both run", () => {
  test("one attempt is kept; the other changes nothing, gets a retryable error, and its retry gets the answer of the first", async () => {
    const { server, together } = await startForgetful();
    await using _ = server;
    const ask = () => server.post(crates, { label: "x" }, { headers });
    const answers = await together(4, ask);
    const [done, ...more] = answers.filter((answer) => answer.status === 201);
    assert.deepEqual(more, []);
    for (const answer of answers.filter((each) => each !== done)) {
      assert.equal(answer.status, 400);
      assert.equal(reason(answer), "IDEMPOTENCY_IN_PROGRESS");
      assert.equal(answer.at("error", "retryable"), true);
    }
    assert.deepEqual(await labels(server), ["x"]);
    assert.equal((await ask()).text, done?.text);
    assert.equal((await server.audit()).filter((row) => row.tag === "rest:crate_create").length, 5);
  });

  test("a refusal caused by the other attempt's change is neither answered nor stored", async () => {
    const { server, together } = await startForgetful();
    await using _ = server;
    const id = (await server.post(crates, { label: "x" })).textAt("data", "crate", "crateId");
    // The second attempt finds no crate, which would be a 404.
    const ask = () => server.delete(`${crates}/${id}`, { headers });
    const answers = await together(2, ask);
    assert.deepEqual(
      answers.map((answer) => answer.status).sort((a, b) => a - b),
      [200, 400],
    );
    const done = answers.find((answer) => answer.status === 200);
    assert.equal((await ask()).text, done?.text);
  });

  test("of two refusals one is stored, and both attempts get it", async () => {
    const { server, together } = await startForgetful();
    await using _ = server;
    const ask = () => server.delete(`${crates}/none`, { headers });
    const answers = await together(2, ask);
    assert.deepEqual(
      answers.map((answer) => answer.status).sort((a, b) => a - b),
      [400, 404],
    );
    const kept = answers.find((answer) => answer.status === 404);
    assert.equal((await ask()).text, kept?.text);
  });
});

suite("a commit whose answer was lost", () => {
  test("a repeated request gets the stored answer, and nothing is done twice", async () => {
    let lost = 0;
    await using server = await startServer({
      operations: crateOperations(),
      perform: (deps) => ({ engine: losingAnswers(deps.engine, () => lost-- > 0) }),
    });
    lost = 1;
    const refused = await server.post(crates, { label: "x" }, { headers });
    assert.equal(refused.status, 503);
    assert.equal(refused.at("error", "code"), "DO_UNAVAILABLE");
    const again = await server.post(crates, { label: "x" }, { headers });
    assert.equal(again.status, 201);
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.deepEqual(await labels(server), ["x"]);
    assert.equal((await server.get(String(again.headers["location"]))).status, 200);
  });

  test("a refusal under a key is stored once and replayed", async () => {
    let lost = 0;
    await using server = await startServer({
      operations: crateOperations(),
      perform: (deps) => ({ engine: losingAnswers(deps.engine, () => lost-- > 0) }),
    });
    lost = 1;
    assert.equal((await server.delete(`${crates}/none`, { headers })).status, 503);
    const again = await server.delete(`${crates}/none`, { headers });
    assert.equal(again.status, 404);
    assert.equal(again.headers["idempotent-replayed"], "true");
  });
});

test("an unavailable coordination is answered like any other error", async () => {
  const away = () => Promise.reject(new Fault("DO_UNAVAILABLE", "The database is away.", { retryAfterMs: 1_000 }));
  await using server = await startServer({
    operations: crateOperations(),
    perform: (deps) => ({
      coordination: { ...deps.coordination, takeToken: away, giveToken: away, peekTokens: away, claimKey: away },
    }),
  });
  const answers = [
    await server.get(crates),
    await server.post(crates, { label: "x" }, { headers }),
    await server.delete(`${crates}/none`, { key: server.readKey }),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["access-control-allow-origin"], "*");
  }
});
