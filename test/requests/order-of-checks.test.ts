/** A request that is wrong in two ways is told of the one that is checked first (C1), for every two of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { bodyBytesMax } from "../../src/http/body.ts";
import { delegated } from "../../src/store/delegated.ts";
import type { Engine } from "../../src/store/store.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { assertFault, type TestResponse } from "../support/server.ts";

/** A write that sends an order, in its parts. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly key: "write" | "read" | "none";
  readonly headers: Readonly<Record<string, string>>;
  readonly members: object;
  /** In place of the members. */
  readonly text: string | null;
  readonly state: Readonly<Partial<Record<"noPlan" | "noTokens" | "queueFull", true>>>;
}

const right: Sent = {
  method: "POST",
  path: "/api/v1/purchase-orders/po_1/status",
  query: "",
  key: "write",
  headers: {},
  members: { status: "Sent" },
  text: null,
  state: {},
};

interface Mistake {
  readonly name: string;
  /** Place in the list of C1; mistakes with one number are found together. */
  readonly step: number;
  readonly status: number;
  readonly code: string;
  readonly reason?: string;
  readonly message?: RegExp;
  readonly make: (sent: Sent) => Sent;
  /** The part of a request that it takes: two mistakes in one part are no pair. */
  readonly part?: string;
}

const withHeader = (name: string, value: string) => (sent: Sent) => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
});
const withMembers = (members: object) => (sent: Sent) => ({ ...sent, members: { ...sent.members, ...members } });
const inState = (state: Sent["state"]) => (sent: Sent) => ({ ...sent, state: { ...sent.state, ...state } });

const invalid = { status: 400, code: "INVALID_INPUT" } as const;

const mistakes: readonly Mistake[] = [
  {
    name: "no key",
    step: 3,
    status: 401,
    code: "UNAUTHORIZED",
    part: "key",
    make: (sent) => ({ ...sent, key: "none" }),
  },
  { name: "plan", step: 4, status: 403, code: "PLAN_REQUIRED", make: inState({ noPlan: true }) },
  {
    name: "unknown path",
    step: 5,
    status: 404,
    code: "NOT_FOUND",
    message: /path|nowhere/,
    part: "path",
    make: (sent) => ({ ...sent, path: `${sent.path}/nowhere` }),
  },
  {
    name: "method",
    step: 5,
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    part: "path",
    make: (sent) => ({ ...sent, method: "DELETE" }),
  },
  {
    name: "scope",
    step: 6,
    status: 403,
    code: "FORBIDDEN_SCOPE",
    part: "key",
    make: (sent) => ({ ...sent, key: "read" }),
  },
  {
    name: "form of the key",
    step: 7,
    ...invalid,
    message: /Idempotency-Key/,
    part: "idempotency",
    make: withHeader("Idempotency-Key", "x".repeat(300)),
  },
  { name: "rate limit", step: 9, status: 429, code: "RATE_LIMITED", make: inState({ noTokens: true }) },
  {
    name: "encoded body",
    step: 10,
    ...invalid,
    message: /encoded/,
    make: withHeader("Content-Encoding", "gzip"),
  },
  {
    name: "large body",
    step: 10,
    ...invalid,
    message: /larger than/,
    part: "text",
    make: (sent) => ({ ...sent, text: " ".repeat(bodyBytesMax + 1) }),
  },
  {
    name: "key of another request",
    step: 11,
    ...invalid,
    reason: "IDEMPOTENCY_KEY_REUSED",
    part: "idempotency",
    make: withHeader("Idempotency-Key", "used"),
  },
  { name: "full queue", step: 12, status: 503, code: "DO_OVERLOADED", make: inState({ queueFull: true }) },
  {
    name: "no JSON",
    step: 13,
    ...invalid,
    message: /not valid JSON/,
    part: "text",
    make: (sent) => ({ ...sent, text: "{" }),
  },
  { name: "unknown member", step: 13, ...invalid, message: /\/colour/, make: withMembers({ colour: 1 }) },
  {
    name: "unknown parameter",
    step: 13,
    ...invalid,
    message: /\/page/,
    make: (sent) => ({ ...sent, query: "?page=2" }),
  },
  {
    name: "unknown id",
    step: 14,
    status: 404,
    code: "NOT_FOUND",
    message: /po_none/,
    part: "order",
    make: (sent) => ({ ...sent, path: sent.path.replace("po_1", "po_none") }),
  },
  { name: "version", step: 14.5, status: 412, code: "INVALID_INPUT", make: withHeader("If-Match", '"another"') },
  {
    name: "state",
    step: 15,
    ...invalid,
    message: /locationId/,
    part: "order",
    make: (sent) => ({ ...sent, path: sent.path.replace("po_1", "po_2") }),
  },
  { name: "guard", step: 16, status: 400, code: "INVENTORY_GUARD_ISSUES", make: (sent) => sent },
];

const isPair = (first: Mistake, second: Mistake): boolean =>
  first.step < second.step && (first.part === undefined || first.part !== second.part);

test("of two mistakes the one that C1 names first is answered, whichever two they are", async () => {
  let full = false;
  const refusing = (engine: Engine): Engine => ({
    ...delegated(engine),
    admit: (shopId) => {
      if (full) throw new Fault("DO_OVERLOADED", "The shop is busy.", { retryAfterMs: 1_500 });
      engine.admit(shopId);
    },
  });
  await using server = await startGoodsServer({ perform: (deps) => ({ engine: refusing(deps.engine) }) });
  // Every request is wrong in this way too: it is checked last.
  await server.bringOrder("Draft", [lineA]);
  await server.bringOrder("Draft", [lineA], { purchaseOrderId: "po_2", locationId: null });
  await server.sandbox.patchVariant("red", { status: "inactive" });
  const used = await server.post("/api/v1/purchase-orders", {}, { headers: { "Idempotency-Key": "used" } });
  assert.equal(used.status, 201);
  const rateLimit = { capacity: 100_000, refillPerSecond: 100_000 };
  const { writeKey, readKey } = server;

  const answerTo = async (sent: Sent): Promise<TestResponse> => {
    full = sent.state.queueFull === true;
    return await server.request(sent.method, sent.path + sent.query, {
      key: { write: writeKey, read: readKey, none: null }[sent.key],
      headers: sent.headers,
      body: sent.text ?? sent.members,
      undocumented: true,
    });
  };
  const pairs = mistakes.flatMap((first) =>
    mistakes.filter((second) => isPair(first, second)).map((second) => ({ first, second })),
  );
  const sentOf = ({ first, second }: (typeof pairs)[number]): Sent => first.make(second.make(right));
  const wrong: string[] = [];
  const tryAll = async (chosen: typeof pairs): Promise<void> => {
    for (const pair of chosen) {
      const { first, second } = pair;
      const answered = await answerTo(sentOf(pair));
      try {
        assertFault(answered, first.status, first.code, first.reason);
        assert.match(answered.textAt("error", "message"), first.message ?? /./);
      } catch {
        wrong.push(`${first.name} before ${second.name}: ${answered.status} ${answered.text.slice(0, 200)}`);
      }
    }
  };
  const grouped = Map.groupBy(pairs, (pair) => {
    const { noPlan = false, noTokens = false } = sentOf(pair).state;
    return `${noPlan} ${noTokens}`;
  });
  for (const [, group] of grouped) {
    const [pair] = group;
    if (pair === undefined) continue;
    const { noPlan, noTokens } = sentOf(pair).state;
    server.clock.advance(10_000);
    await server.changeShop({
      planRestApi: true,
      rateLimit: noTokens === true ? { capacity: 1, refillPerSecond: 0.001 } : rateLimit,
    });
    if (noTokens === true) while ((await server.get(server.order())).status !== 429);
    if (noPlan === true) await server.changeShop({ planRestApi: false });
    await tryAll(group);
  }
  assert.deepEqual(wrong, []);
  assert.ok(pairs.length > 100, `only ${pairs.length} pairs`);
});
