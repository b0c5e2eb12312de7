/**
 * What nodes agree on through the database: one token bucket per shop, one holder per idempotency key in flight.
 *
 * Owns: rows that are committed apart from the shops' transactions, and the leases of the keys that this node holds. Does not own: the
 * arithmetic of a bucket (core/rate-limit.ts; `takeToken` here is the same in SQL), when keys are claimed (operations/perform.ts).
 *
 * Invariants:
 * - K1. A key has one holder as long as the holder renews its lease. A node that dies loses its keys when their leases end. One that was
 *       only slow finds that another attempt has stored its answer (operations/perform.ts, H2).
 * - K3. A key under which an answer is stored can be taken over by another node before its lease ends, to replay the answer, until the
 *       holder begins to replace that answer (`holdsKey`). So the answer that was replayed is the last one.
 * - K2. Leases use the database's clock, so nodes need not agree on the time. Buckets use the callers' clocks; the clock that is ahead
 *       refills.
 */
import { operatorSessionsMax } from "../../core/limits.ts";
import {
  type TokenBucket,
  bucketReading,
  clocksApartMsMax,
  giveToken,
  limitInMillionths,
  readBucket,
  takeToken,
} from "../../core/rate-limit.ts";
import type { Coordination, KeyClaim, SqlValue } from "../store.ts";
import { type PostgresPool, command, faultOf, takesNothing } from "./connection.ts";
import { migratePostgres, ownLine } from "./schema.ts";

/** How long a claim holds without being renewed: the key of a node that died is free within 6 s (C20). */
const leaseMs = 5_000;

/** How often claims are renewed: several times within a lease, so that a call of any length keeps its key. */
const renewMs = 1_500;

/** Between two tries to give a claim back while the database cannot be reached. */
const releasePauseMs = 500;

interface PostgresCoordinationOptions {
  readonly pool: PostgresPool;
  /** The PostgreSQL schema that holds the rows; made if it is absent. */
  readonly schemaName: string;
  /** Names this process; different for each start of each node. */
  readonly owner: string;
}

/** A Coordination that renews leases until it is closed. */
interface PostgresCoordination extends Coordination {
  close(): Promise<void>;
}

/** Opens the coordination, bringing its tables to the program's version. */
export async function postgresCoordination({
  pool,
  schemaName,
  owner,
}: PostgresCoordinationOptions): Promise<PostgresCoordination> {
  await migratePostgres(pool, schemaName, [ownLine("nodes", schemaName)]);
  const run = unsyncedRunner(pool, schemaName);
  const schema = `"${schemaName}"`;
  return {
    ...whileFull(tokenBuckets(run, schema)),
    ...keysInFlight(run, schema, owner),
    ...operatorSessions(run, schema),
  };
}

function operatorSessions(
  run: Run,
  schema: string,
): Pick<Coordination, "seeOperatorSession" | "hasOperatorSession" | "endOperatorSession"> {
  const table = `${schema}.operator_session`;
  const seeSql = `
    with seen as (
      insert into ${table} (session, seen_at_ms) values ($1, $2)
      on conflict (session) do update set seen_at_ms = excluded.seen_at_ms)
    delete from ${table} where session <> $1 and session not in
      (select session from ${table} where session <> $1 order by seen_at_ms desc limit ${operatorSessionsMax - 1})`;
  const hasSql = `select session from ${table} where session = $1 and seen_at_ms > $2`;
  const endSql = `delete from ${table} where session = $1`;
  return {
    async seeOperatorSession(session, nowMs) {
      await run("see_operator_session", seeSql, [session, nowMs]);
    },
    async hasOperatorSession(session, sinceMs) {
      return (await run("has_operator_session", hasSql, [session, sinceMs])).length > 0;
    },
    async endOperatorSession(session) {
      await run("end_operator_session", endSql, [session]);
    },
  };
}

/**
 * Runs one statement in a transaction of its own, in one round trip, and does not wait for the disk. `name` is that of its prepared
 * form.
 *
 * @throws Fault for a database that cannot be used.
 */
type Run = <R>(name: string, text: string, values: readonly SqlValue[]) => Promise<R[]>;

const unsyncedRunner =
  (pool: PostgresPool, schemaName: string): Run =>
  async <R>(name: string, text: string, values: readonly SqlValue[]): Promise<R[]> => {
    try {
      const [, , rows] = await pool.using((connection) =>
        connection.rowsOf([
          command("begin"),
          command("set local synchronous_commit = off"),
          { text, values, name: `${schemaName}.${name}`, writes: true },
          command("commit"),
        ]),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
      return rows as R[];
    } catch (error) {
      throw faultOf(error) ?? error;
    }
  };

type Buckets = Pick<Coordination, "takeToken" | "giveToken" | "peekTokens">;

/** Shops whose tokens are counted here while the database takes nothing. */
const bucketsHereMax = 10_000;

/** The buckets; while the database can be read and takes nothing (D104), those of this node alone, so that reads go on within a limit. */
function whileFull(shared: Buckets): Buckets {
  const here = new Map<string, TokenBucket>();
  const instead = async <T>(ask: () => Promise<T>, askHere: () => T): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (!takesNothing(error)) throw error;
      return askHere();
    }
  };
  const keep = (shopId: string, bucket: TokenBucket): void => {
    if (here.size >= bucketsHereMax) here.clear();
    here.set(shopId, bucket);
  };
  const change =
    (name: "takeToken" | "giveToken", changed: typeof takeToken): Buckets["takeToken"] =>
    (shopId, limit, nowMs) =>
      instead(
        () => shared[name](shopId, limit, nowMs),
        () => {
          const { bucket, reading } = changed(here.get(shopId) ?? null, limit, nowMs);
          keep(shopId, bucket);
          return reading;
        },
      );
  return {
    takeToken: change("takeToken", takeToken),
    giveToken: change("giveToken", giveToken),
    peekTokens: (shopId, limit, nowMs) => shared.peekTokens(shopId, limit, nowMs),
  };
}

function tokenBuckets(run: Run, schema: string): Buckets {
  const takeSql = `
    insert into ${schema}.token_bucket as bucket (shop_id, level, at_ms, refused) values ($1, $2::bigint - 1000000, $4, false)
    on conflict (shop_id) do update set
      (level, at_ms, refused) = (
        select case when now.level < 1000000 then now.level else now.level - 1000000 end,
               case when bucket.at_ms > $4::bigint + ${clocksApartMsMax} then $4::bigint else greatest($4::bigint, bucket.at_ms) end,
               now.level < 1000000
        from (select least($2::bigint, bucket.level + greatest(0, $4::bigint - bucket.at_ms) * $3::bigint) as level) as now)
    returning level, at_ms, refused`;
  const giveSql = `
    update ${schema}.token_bucket set
      level = least($2::bigint, level + greatest(0, $4::bigint - at_ms) * $3::bigint + 1000000),
      at_ms = greatest($4::bigint, at_ms), refused = false
    where shop_id = $1 returning level, at_ms`;
  const peekSql = `select level, at_ms from ${schema}.token_bucket where shop_id = $1`;
  return {
    async takeToken(shopId, limit, nowMs) {
      const { levelMax, refillPerMs } = limitInMillionths(limit);
      const [row] = await run<{ level: number; at_ms: number; refused: boolean }>("take_token", takeSql, [
        shopId,
        levelMax,
        refillPerMs,
        nowMs,
      ]);
      if (row === undefined) throw new Error("a token bucket has no row");
      return bucketReading({ level: row.level, atMs: row.at_ms }, limit, row.refused);
    },
    async giveToken(shopId, limit, nowMs) {
      const { levelMax, refillPerMs } = limitInMillionths(limit);
      const [row] = await run<{ level: number; at_ms: number }>("give_token", giveSql, [
        shopId,
        levelMax,
        refillPerMs,
        nowMs,
      ]);
      return readBucket(row === undefined ? null : { level: row.level, atMs: row.at_ms }, limit, nowMs);
    },
    async peekTokens(shopId, limit, nowMs) {
      const [row] = await run<{ level: number; at_ms: number }>("peek_tokens", peekSql, [shopId]);
      return readBucket(row === undefined ? null : { level: row.level, atMs: row.at_ms }, limit, nowMs);
    },
  };
}

/**
 * How a claim stands in its row. Nodes of several versions share the rows during an upgrade: these texts never change. `replace`: a
 * claim of the kind `run` whose holder is about to replace the stored answer.
 */
const storedKinds = { run: "run", replay: "look", replace: "replace" } as const;

const claimText = (kind: keyof typeof storedKinds, fingerprint: string): string =>
  `${storedKinds[kind]} ${fingerprint}`;

function claimFrom(text: string): KeyClaim {
  const end = text.indexOf(" ");
  return {
    kind: text.slice(0, end) === storedKinds.replay ? "replay" : "run",
    fingerprint: text.slice(end + 1),
  };
}

/** A key that this node holds. */
interface HeldKey {
  readonly shopId: string;
  readonly scope: string;
  readonly fingerprint: string;
  /** Different for every claim, so that a claim given back late does not end a later one. */
  readonly claimant: string;
}

const keyStatements = (schema: string) => ({
  claim: `
    insert into ${schema}.key_in_flight as claim (shop_id, scope, fingerprint, owner, leased_until)
    values ($1, $2, $3, $4, now() + $5::bigint * interval '1 millisecond')
    on conflict (shop_id, scope) do update set
      fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until
      where claim.leased_until <= now()
    returning 1`,
  takeOver: `
    update ${schema}.key_in_flight set
      fingerprint = $3, owner = $4, leased_until = now() + $5::bigint * interval '1 millisecond'
    where shop_id = $1 and scope = $2 and fingerprint = $6
    returning 1`,
  holder: `select fingerprint from ${schema}.key_in_flight where shop_id = $1 and scope = $2`,
  release: `delete from ${schema}.key_in_flight where shop_id = $1 and scope = $2 and owner = $3`,
  // A lease that has ended can still be renewed as long as no other request has taken the key.
  hold: `
    update ${schema}.key_in_flight set fingerprint = $4, leased_until = now() + $5::bigint * interval '1 millisecond'
    where shop_id = $1 and scope = $2 and owner = $3
    returning 1`,
  renew: `
    update ${schema}.key_in_flight set leased_until = now() + $4::bigint * interval '1 millisecond'
    where (shop_id, scope, owner) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
});

function keysInFlight(
  run: Run,
  schema: string,
  owner: string,
): Pick<PostgresCoordination, "claimKey" | "takeOverKey" | "holdsKey" | "releaseKey" | "close"> {
  const statements = keyStatements(schema);
  const held = new Map<string, HeldKey>();
  let claims = 0;
  const closing = new AbortController();
  // A shop id holds no line feed, so different pairs make different texts.
  const pairOf = (shopId: string, scope: string): string => `${shopId}\n${scope}`;
  const newKey = (shopId: string, scope: string, fingerprint: string): HeldKey => ({
    shopId,
    scope,
    fingerprint,
    claimant: `${owner} ${(claims += 1)}`,
  });

  const release = ({ shopId, scope, claimant }: HeldKey): Promise<unknown> =>
    run("release_key", statements.release, [shopId, scope, claimant]);
  const releaseLater = (key: HeldKey): void => void retryUntilLeaseEnds(() => release(key), closing.signal);

  /** Runs a statement that takes the key. Returns whether it did. */
  async function take(key: HeldKey, name: string, text: string, values: readonly SqlValue[]): Promise<boolean> {
    const taken = await run(name, text, values).catch((error: unknown) => {
      // It may have been committed although its answer was lost.
      releaseLater(key);
      throw error;
    });
    if (taken.length > 0) held.set(pairOf(key.shopId, key.scope), key);
    return taken.length > 0;
  }

  const renewing = setInterval(() => void renewAll(run, statements.renew, [...held.values()]), renewMs);
  renewing.unref();

  return {
    async claimKey(shopId, scope, { kind, fingerprint }) {
      for (;;) {
        const key = newKey(shopId, scope, fingerprint);
        const values = [shopId, scope, claimText(kind, fingerprint), key.claimant, leaseMs];
        if (await take(key, "claim_key", statements.claim, values)) return null;
        const [holder] = await run<{ fingerprint: string }>("key_holder", statements.holder, [shopId, scope]);
        // Without a row the key was released between the two statements: claim it again.
        if (holder !== undefined) return claimFrom(holder.fingerprint);
      }
    },
    async takeOverKey(shopId, scope, fingerprint) {
      // A holder in this process runs.
      if (held.has(pairOf(shopId, scope))) return false;
      const key = newKey(shopId, scope, fingerprint);
      const texts = [claimText("replay", fingerprint), key.claimant, leaseMs, claimText("run", fingerprint)];
      return await take(key, "take_over_key", statements.takeOver, [shopId, scope, ...texts]);
    },
    async holdsKey(shopId, scope) {
      const key = held.get(pairOf(shopId, scope));
      if (key === undefined) return false;
      const values = [shopId, scope, key.claimant, claimText("replace", key.fingerprint), leaseMs];
      return (await run("hold_key", statements.hold, values)).length > 0;
    },
    async releaseKey(shopId, scope) {
      const key = held.get(pairOf(shopId, scope));
      if (key === undefined) return;
      held.delete(pairOf(shopId, scope));
      // The request's answer is committed, so it does not wait for a database that cannot be reached.
      await release(key).catch(() => releaseLater(key));
    },
    async close() {
      closing.abort();
      clearInterval(renewing);
    },
  };
}

/** Renews the leases of these keys. If that fails, the next renewal comes before the leases end. */
async function renewAll(run: Run, text: string, keys: readonly HeldKey[]): Promise<void> {
  if (keys.length === 0) return;
  const lists = [keys.map((key) => key.shopId), keys.map((key) => key.scope), keys.map((key) => key.claimant)];
  await run("renew", text, [...lists.map(textArray), leaseMs]).catch(() => {});
}

/** Retries a release until the lease would have ended anyway. */
async function retryUntilLeaseEnds(release: () => Promise<unknown>, closing: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < leaseMs && !closing.aborted; waitedMs += releasePauseMs) {
    await new Promise((resolve) => void setTimeout(resolve, releasePauseMs).unref());
    const released = await release().catch(() => null);
    if (released !== null) return;
  }
}

/** A `text[]` as PostgreSQL reads it. */
const textArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
