/** Which peeks at a shop are one (requests/remembered/shared-peeks.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../src/base/fault.ts";
import { peekedTogetherMax, SharedPeeks } from "../../../src/requests/remembered/shared-peeks.ts";
import type { Engine, Tx } from "../../../src/store/store.ts";
import { part } from "../../support/part.ts";

/** A peek of the engine. */
interface Peek {
  readonly shopId: string;
  /** Runs what was asked for. */
  begin(): void;
  fail(error: Error): void;
}

/** Peeks that begin, or fail, when the test says so. Of each the transaction is a number. */
function peeks() {
  const all: Peek[] = [];
  const engine: Pick<Engine, "peek"> = {
    peek: async (shopId, work) => {
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      const number = all.push({ shopId, begin: () => resolve(undefined), fail: reject });
      await promise;
      return await work(part<Tx>({ number })).catch((error: unknown) => {
        throw new Error("told by the engine", { cause: error });
      });
    },
  };
  return { all, shared: new SharedPeeks(engine) };
}

const soon = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const numberOf = async (tx: Tx): Promise<number> => Number(Reflect.get(tx, "number"));

test("peeks that are asked for together are one, later ones the next, and other shops wait for nobody", async () => {
  const { all, shared } = peeks();
  const first = ["a", "a", "b"].map((shopId) => shared.peek(shopId, numberOf));
  await soon();
  const later = [shared.peek("a", numberOf), shared.peek("a", numberOf)];
  await soon();
  assert.deepEqual(
    all.map(({ shopId }) => shopId),
    ["a", "b"],
  );
  all[1]?.begin();
  assert.equal(await first[2], 2);
  all[0]?.begin();
  assert.deepEqual(await Promise.all(first), [1, 1, 2]);
  await soon();
  all[2]?.begin();
  assert.deepEqual(await Promise.all(later), [3, 3], "what came later is read later");
  const last = shared.peek("a", numberOf);
  await soon();
  all[3]?.begin();
  assert.equal(await last, 4);
});

test("each is told its own result or fault as soon as it has it; an error of the peek is told to those it has reached, and to nobody after them", async () => {
  const { all, shared } = peeks();
  const goOn = Promise.withResolvers<undefined>();
  const slow = shared.peek("a", () => goOn.promise);
  const failing = shared.peek("a", () => Promise.reject(new Fault("NOT_FOUND", "own")));
  const quick = shared.peek("a", numberOf);
  await soon();
  all[0]?.begin();
  assert.equal(await quick, 1);
  await assert.rejects(failing, { code: "NOT_FOUND", message: "own" });
  const next = [shared.peek("a", numberOf), shared.peek("a", numberOf)];
  goOn.resolve(undefined);
  await slow;
  await soon();
  all[1]?.fail(new Error("lost"));
  const afterwards = shared.peek("a", numberOf);
  for (const each of next) await assert.rejects(each, /lost/);
  await soon();
  all[2]?.begin();
  assert.equal(await afterwards, 3);
});

test("an error that is no fault is told as the engine tells it, to all that have no result", async () => {
  const { all, shared } = peeks();
  const lost = new Error("the connection is lost");
  const without = [1, 2].map(() => shared.peek("a", () => Promise.reject(lost)));
  const goOn = Promise.withResolvers<undefined>();
  const slow = shared.peek("a", () => goOn.promise);
  await soon();
  all[0]?.begin();
  goOn.resolve(undefined);
  for (const each of without) await assert.rejects(each, { message: "told by the engine", cause: lost });
  assert.equal(await slow, undefined);
});

test("peekedTogetherMax peeks are one, one more is the next", async () => {
  const { all, shared } = peeks();
  const asked = Array.from({ length: peekedTogetherMax + 1 }, () => shared.peek("a", numberOf));
  await soon();
  assert.equal(all.length, 1);
  all[0]?.begin();
  await asked[0];
  await soon();
  all[1]?.begin();
  const numbers = await Promise.all(asked);
  assert.deepEqual([numbers.at(-2), numbers.at(-1)], [1, 2]);
});
