/**
 * State that nodes share through the database: one token bucket per shop, one holder per idempotency key in flight.
 *
 * Owns: rows that are committed apart from the shops' transactions, and the leases of the keys that this node holds.
 * Does not own: the arithmetic of a bucket (core/access/rate-limit.ts; `takeToken` here is the same in SQL), when keys
 * are claimed (requests/perform.ts).
 *
 * Invariants:
 * - K1. A key has one holder as long as the holder renews its lease. A node that dies loses its keys when their leases
 *       end. One that was only slow finds that another attempt has stored its answer (requests/perform.ts, H2).
 * - K3. Another node can take over a key under which an answer is stored before its lease ends, to replay the answer.
 *       It can until the holder begins to replace that answer (`holdsKey`). So the answer that was replayed is the last
 *       one.
 * - K2. Leases use the database's clock, so nodes need not agree on the time. Buckets use the callers' clocks; the
 *       clock that is ahead refills.
 */
import {
  type BucketLimit,
  type BucketReading,
  type TokenBucket,
  bucketReading,
  clocksApartMsMax,
  giveToken,
  limitInMillionths,
  readBucket,
  takeToken,
  tokenInMillionths,
} from "../../core/access/rate-limit.ts";
import { checkParams, operatorSessionsMax } from "../engine-rules.ts";
import type { Coordination, KeyClaim, KeyRelease, SqlValue, Tx } from "../store.ts";
import {
  type PostgresPool,
  type Query,
  beginWrite,
  commit,
  faultOf,
  numbered,
  rowsOf,
  takesNothing,
  unsynced,
} from "./connection.ts";
import { beginPeek } from "./engine.ts";
import { unpaced } from "./paced-tx.ts";
import { migratePostgres, ownLine } from "./schema.ts";
import { runBefore } from "./transaction.ts";
import { sleep } from "../../base/time/waiting.ts";

/** Lease of a claim that is not renewed: the key of a node that died is free within 6 s (C20). */
const leaseMs = 5_000;

/** Interval at which claims are renewed: several times within a lease, so that a call of any length keeps its key. */
const renewMs = 1_500;

/**
 * A lease that ends more than so many leases from now is from before the database's clock was set back. Who has it
 * renews it.
 */
const leasesAheadMax = 4;

/** Between two tries to give a claim back while the database cannot be reached. */
const releasePauseMs = 500;

interface PostgresCoordinationOptions {
  readonly pool: PostgresPool;
  /** The PostgreSQL schema that holds the rows; made if it is absent. */
  readonly schemaName: string;
  /** Names this process; different for each start of each node. */
  readonly owner: string;
  /** The program as people know it. */
  readonly program?: string | undefined;
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
  program,
}: PostgresCoordinationOptions): Promise<PostgresCoordination> {
  await migratePostgres(pool, schemaName, [ownLine("nodes", schemaName)], { program });
  const run = unsyncedRunner(pool, schemaName);
  const schema = `"${schemaName}"`;
  return {
    ...whileFull(tokenBuckets(run, schema)),
    ...keysInFlight(run, schema, owner),
    ...operatorSessions(run, schema),
    async sharedSecret() {
      const text = `select secret from ${schema}.shared_secret where one = 1`;
      const [row] = await run<{ secret: string }>({ name: "shared_secret", text, values: [] });
      if (row === undefined) throw new Error("shared_secret has no row");
      return row.secret;
    },
  };
}

function operatorSessions(
  run: Run,
  schema: string,
): Pick<Coordination, "seeOperatorSession" | "hasOperatorSession" | "endOperatorSession" | "endOperatorSessions"> {
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
      await run({ name: "see_operator_session", text: seeSql, values: [session, nowMs] });
    },
    async hasOperatorSession(session, sinceMs) {
      return (await run({ name: "has_operator_session", text: hasSql, values: [session, sinceMs] })).length > 0;
    },
    async endOperatorSession(session) {
      await run({ name: "end_operator_session", text: endSql, values: [session] });
    },
    async endOperatorSessions() {
      await run({ name: "end_operator_sessions", text: `delete from ${table}`, values: [] });
    },
  };
}

/** A statement of the coordination. */
interface Own {
  /** Name of the prepared statement. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A read of the shop in front of which a statement runs. */
interface Before {
  readonly tx: Tx;
  readonly shopId: string;
  /** It may be one transaction with others of the same read. */
  readonly isJoined: boolean;
}

/**
 * Runs one statement in a transaction of its own, in one round trip, and does not wait for the disk.
 *
 * @param before a read of this shop: the transaction is sent in the round trip in which the read begins, before it.
 * @throws Fault for a database that cannot be used, and NOT_FOUND when there is no such shop.
 */
type Run = <R>(own: Own, before?: Before) => Promise<R[]>;

const unsyncedRunner =
  (pool: PostgresPool, schemaName: string): Run =>
  async <R>({ name, text, values }: Own, before?: Before): Promise<R[]> => {
    const query: Query = { text, values, name: `${schemaName}.${name}`, writes: true };
    try {
      const rows =
        before === undefined
          ? (await pool.using((connection) => connection.rowsOf([beginWrite, unsynced, query, commit])))[2]
          : rowsOf(
              await runBefore(unpaced(before.tx), {
                opening: [beginWrite, unsynced, beginPeek(schemaName, before.shopId)],
                query,
                closing: [commit],
                isJoined: before.isJoined,
              }),
            )[3];
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
      return rows as R[];
    } catch (error) {
      throw faultOf(error) ?? error;
    }
  };

type Buckets = Pick<Coordination, "takeToken" | "takeTokensWhen" | "giveToken" | "peekTokens">;

/** Shops whose tokens are counted here while the database takes nothing. */
export const bucketsHereMax = 10_000;

/**
 * The buckets; while the database can be read and takes nothing (D104), those of this node alone, so that reads go on
 * within a limit.
 */
export function whileFull(shared: Buckets): Buckets {
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
    takeTokensWhen: (shopId, limit, nowMs, batch, tx) =>
      instead(
        () => shared.takeTokensWhen(shopId, limit, nowMs, batch, tx),
        () => Array.from({ length: batch.count }, () => null),
      ),
    giveToken: change("giveToken", giveToken),
    peekTokens: (shopId, limit, nowMs) => shared.peekTokens(shopId, limit, nowMs),
  };
}

/** The take of so many millionths, or of nothing when there are fewer, provided that `when` has a row. */
const takeSql = (schema: string, when: string): string => `
    insert into ${schema}.token_bucket as bucket (shop_id, level, at_ms, refused)
    select $1::text, case when $2::bigint < $5::bigint then $2::bigint else $2::bigint - $5::bigint end, $4::bigint,
           $2::bigint < $5::bigint${when}
    on conflict (shop_id) do update set
      (level, at_ms, refused) = (
        select case when now.level < $5::bigint then now.level else now.level - $5::bigint end,
               case when bucket.at_ms > $4::bigint + ${clocksApartMsMax} then $4::bigint else greatest($4::bigint, bucket.at_ms) end,
               now.level < $5::bigint
        from (select least($2::bigint, bucket.level + greatest(0, $4::bigint - bucket.at_ms) * $3::bigint) as level) as now)
    returning level, at_ms, refused`;

function tokenBuckets(run: Run, schema: string): Buckets {
  const giveSql = `
    update ${schema}.token_bucket set
      level = least($2::bigint, level + greatest(0, $4::bigint - at_ms) * $3::bigint + 1000000),
      at_ms = greatest($4::bigint, at_ms), refused = false
    where shop_id = $1 returning level, at_ms`;
  const peekSql = `select level, at_ms from ${schema}.token_bucket where shop_id = $1`;
  type Row = { readonly level: number; readonly at_ms: number; readonly refused: boolean };
  const valuesOf = (shopId: string, limit: BucketLimit, nowMs: number): readonly SqlValue[] => {
    const { levelMax, refillPerMs } = limitInMillionths(limit);
    return [shopId, levelMax, refillPerMs, nowMs];
  };
  const taken = (row: Row, limit: BucketLimit): BucketReading =>
    bucketReading({ level: row.level, atMs: row.at_ms }, limit, row.refused);
  /** The bucket before the last so many tokens were taken. */
  const before = (row: Row | null, tokens: number): Row | null =>
    row === null ? null : { ...row, level: row.level + tokens * tokenInMillionths };
  const read = (row: Omit<Row, "refused"> | undefined, limit: BucketLimit, nowMs: number): BucketReading =>
    readBucket(row === undefined ? null : { level: row.level, atMs: row.at_ms }, limit, nowMs);
  /** By the statement that must have a row. There are few of them. */
  const conditional = new Map<string, { readonly name: string; readonly text: string }>();
  const conditionalTake = (when: string): { readonly name: string; readonly text: string } => {
    const made = conditional.get(when) ?? {
      name: `take_token_when_${conditional.size}`,
      text: takeSql(schema, ` where exists (${numbered(when, 5)})`),
    };
    conditional.set(when, made);
    return made;
  };
  return {
    async takeToken(shopId, limit, nowMs) {
      const values = [...valuesOf(shopId, limit, nowMs), tokenInMillionths];
      const [row] = await run<Row>({ name: "take_token", text: takeSql(schema, ""), values });
      if (row === undefined) throw new Error("a token bucket has no row");
      return taken(row, limit);
    },
    async takeTokensWhen(shopId, limit, nowMs, { when, count }, tx) {
      checkParams(when.params);
      const take = async (tokens: number): Promise<Row | null> => {
        const values = [...valuesOf(shopId, limit, nowMs), tokens * tokenInMillionths, ...when.params];
        const [row] = await run<Row>({ ...conditionalTake(when.sql), values }, { tx, shopId, isJoined: true });
        return row ?? null;
      };
      const row = await take(count);
      // Some of them may get one.
      const isShort = row?.refused === true && count > 1;
      const rows = isShort
        ? await Promise.all(Array.from({ length: count }, () => take(1)))
        : Array.from({ length: count }, (_, index) => before(row, count - 1 - index));
      return rows.map((each) => (each === null ? null : taken(each, limit)));
    },
    async giveToken(shopId, limit, nowMs) {
      const [row] = await run<Row>({ name: "give_token", text: giveSql, values: valuesOf(shopId, limit, nowMs) });
      return read(row, limit, nowMs);
    },
    async peekTokens(shopId, limit, nowMs) {
      const [row] = await run<Row>({ name: "peek_tokens", text: peekSql, values: [shopId] });
      return read(row, limit, nowMs);
    },
  };
}

/**
 * Kinds of a claim in its row. Nodes of several versions share the rows during an upgrade: these texts never change.
 * `replace`: a claim of the kind `run` whose holder is about to replace the stored answer.
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

/** `release` and `hold` are in the shared SQL, since they can be part of a shop's write. */
const keyStatements = (schema: string) => ({
  // Answers null for a claim that was made, else the text of the one that was there before. No row: that one was made
  // at the same moment.
  claim: `
    with claimed as (
      insert into ${schema}.key_in_flight as claim (shop_id, scope, fingerprint, owner, leased_until)
      values ($1, $2, $3, $4, now() + $5::bigint * interval '1 millisecond')
      on conflict (shop_id, scope) do update set
        fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until
        where claim.leased_until <= now() or claim.leased_until > now() + $5::bigint * interval '${leasesAheadMax} millisecond'
      returning 1)
    select null as holder from claimed
    union all select fingerprint from ${schema}.key_in_flight
      where shop_id = $1 and scope = $2 and not exists (select 1 from claimed)`,
  takeOver: `
    update ${schema}.key_in_flight set
      fingerprint = $3, owner = $4, leased_until = now() + $5::bigint * interval '1 millisecond'
    where shop_id = $1 and scope = $2 and fingerprint = $6
    returning 1`,
  release: `delete from ${schema}.key_in_flight where shop_id = ? and scope = ? and owner = ?`,
  // A lease that has ended can still be renewed as long as no other request has taken the key.
  hold: `
    update ${schema}.key_in_flight set fingerprint = ?, leased_until = now() + ?::bigint * interval '1 millisecond'
    where shop_id = ? and scope = ? and owner = ?
    returning 1`,
  // A key that is being given back with a write is locked until that commits. Waiting for it with other keys locked
  // would be a deadlock.
  renew: `
    update ${schema}.key_in_flight set leased_until = now() + $4::bigint * interval '1 millisecond'
    where (shop_id, scope) in (
      select shop_id, scope from ${schema}.key_in_flight
      where (shop_id, scope, owner) in (select * from unnest($1::text[], $2::text[], $3::text[]))
      for update skip locked)`,
});

/** The keys that this process holds. */
class HeldKeys {
  readonly #held = new Map<string, HeldKey>();
  readonly #owner: string;
  #claims = 0;

  constructor(owner: string) {
    this.#owner = owner;
  }

  /** A key that is to be claimed. */
  make(shopId: string, scope: string, fingerprint: string): HeldKey {
    this.#claims += 1;
    return { shopId, scope, fingerprint, claimant: `${this.#owner} ${this.#claims}` };
  }

  find(shopId: string, scope: string): HeldKey | null {
    return this.#held.get(pairOf({ shopId, scope })) ?? null;
  }

  keep(key: HeldKey): void {
    this.#held.set(pairOf(key), key);
  }

  forget(key: HeldKey): void {
    if (this.#held.get(pairOf(key)) === key) this.#held.delete(pairOf(key));
  }

  get all(): readonly HeldKey[] {
    return [...this.#held.values()];
  }
}

/** A shop id holds no line feed, so different pairs make different texts. */
const pairOf = ({ shopId, scope }: Pick<HeldKey, "shopId" | "scope">): string => `${shopId}\n${scope}`;

const nothingToRelease: KeyRelease = { statements: [], done: () => {} };

function keysInFlight(
  run: Run,
  schema: string,
  owner: string,
): Pick<PostgresCoordination, "claimKey" | "takeOverKey" | "holdsKey" | "releaseKey" | "releaseKeyWith" | "close"> {
  const statements = keyStatements(schema);
  const held = new HeldKeys(owner);
  const closing = new AbortController();
  const release = ({ shopId, scope, claimant }: HeldKey): Promise<unknown> =>
    run({ name: "release_key", text: numbered(statements.release, 0), values: [shopId, scope, claimant] });
  const releaseLater = (key: HeldKey): void => void retryUntilLeaseEnds(() => release(key), closing.signal);
  /** Runs a statement that takes the key. It may have been committed although its answer was lost. */
  const take = <R>(key: HeldKey, own: Own, before?: Before): Promise<R[]> =>
    run<R>(own, before).catch((error: unknown) => {
      releaseLater(key);
      throw error;
    });
  const renewing = setInterval(() => void renewAll(run, statements.renew, held.all), renewMs);
  renewing.unref();

  return {
    async claimKey(shopId, scope, { kind, fingerprint }, tx) {
      for (;;) {
        const key = held.make(shopId, scope, fingerprint);
        const values = [shopId, scope, claimText(kind, fingerprint), key.claimant, leaseMs];
        const own = { name: "claim_key", text: statements.claim, values };
        // Not joined: one that waits for a key would keep the others from those who may hold that key, who might want
        // them.
        const before = tx === undefined ? undefined : { tx, shopId, isJoined: false };
        const rows = await take<{ holder: string | null }>(key, own, before);
        const [first] = rows;
        if (first?.holder === null) {
          held.keep(key);
          return null;
        }
        if (first !== undefined) return claimFrom(first.holder);
        if (tx !== undefined) return "again";
      }
    },
    async takeOverKey(shopId, scope, fingerprint) {
      // A holder in this process runs.
      if (held.find(shopId, scope) !== null) return false;
      const key = held.make(shopId, scope, fingerprint);
      const texts = [claimText("replay", fingerprint), key.claimant, leaseMs, claimText("run", fingerprint)];
      const own = { name: "take_over_key", text: statements.takeOver, values: [shopId, scope, ...texts] };
      const taken = await take(key, own);
      if (taken.length > 0) held.keep(key);
      return taken.length > 0;
    },
    async holdsKey(shopId, scope, tx) {
      const key = held.find(shopId, scope);
      if (key === null) return false;
      const values = [claimText("replace", key.fingerprint), leaseMs, shopId, scope, key.claimant];
      const alone = (): Promise<unknown[]> => run({ name: "hold_key", text: numbered(statements.hold, 0), values });
      return (await (tx?.all(statements.hold, values) ?? alone())).length > 0;
    },
    async releaseKey(shopId, scope) {
      const key = held.find(shopId, scope);
      if (key === null) return;
      held.forget(key);
      // The request's answer is committed, so it does not wait for a database that cannot be reached.
      await release(key).catch(() => releaseLater(key));
    },
    releaseKeyWith(shopId, scope) {
      const key = held.find(shopId, scope);
      if (key === null) return nothingToRelease;
      const statement = { sql: statements.release, params: [shopId, scope, key.claimant] };
      return { statements: [statement], done: () => held.forget(key) };
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
  await run({ name: "renew", text, values: [...lists.map(textArray), leaseMs] }).catch(() => {});
}

/** Retries a release until the lease would have ended anyway. */
async function retryUntilLeaseEnds(release: () => Promise<unknown>, closing: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < leaseMs; waitedMs += releasePauseMs) {
    await sleep(releasePauseMs, closing);
    if (closing.aborted) return;
    const released = await release().catch(() => null);
    if (released !== null) return;
  }
}

/** A `text[]` as PostgreSQL reads it. */
const textArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
