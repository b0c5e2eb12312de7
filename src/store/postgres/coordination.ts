/**
 * What nodes agree on through the database: one token bucket a shop, one holder an idempotency key.
 *
 * Owns: rows that lead a life of their own beside the shops' transactions, and the leases of this node's claims. Does not own: the
 * arithmetic of a bucket (core/rate-limit.ts), of which the statement here is the same in SQL.
 *
 * Invariants:
 * - K1. A key has one holder at a time, as long as the holder renews its lease. A node that dies loses its keys when their leases end;
 *       one that was only slow finds its request's record written by the other (operations/perform.ts, H2).
 * - K2. Leases are by the database's clock, so nodes need not agree on the time. Buckets are by the callers': the clock that is
 *       ahead refills.
 */
import { bucketReading, limitInMillionths, readBucket } from "../../core/rate-limit.ts";
import type { Coordination, SqlValue } from "../store.ts";
import { type PostgresConnection, type PostgresPool, type Query, command, faultOf } from "./connection.ts";
import { migratePostgres, ownLine } from "./schema.ts";

/** How long a claim holds without being renewed, and how often it is. */
const leaseMs = 30_000;

const renewMs = 10_000;

/** Between two tries of giving a claim back, while the database is away. */
const releasePauseMs = 500;

export interface PostgresCoordinationOptions {
  readonly pool: PostgresPool;
  /** The PostgreSQL schema of what nodes agree on; made if it is absent. */
  readonly schemaName: string;
  /** This node, told from every other and from its earlier selves. */
  readonly owner: string;
}

/** Memory's port, and an end to the renewing. */
export interface PostgresCoordination extends Coordination {
  close(): Promise<void>;
}

/** A key that this node has. */
interface Claim {
  readonly shopId: string;
  readonly scope: string;
  readonly claimant: string;
}

/** Opens it, bringing the schema to the program's version. */
export async function postgresCoordination({
  pool,
  schemaName,
  owner,
}: PostgresCoordinationOptions): Promise<PostgresCoordination> {
  await migratePostgres(pool, schemaName, [ownLine("nodes", schemaName)]);
  const schema = `"${schemaName}"`;
  const held = new Map<string, Claim>();
  let claims = 0;
  const closing = new AbortController();
  // A shop id holds no line feed, so the pair cannot be read in two ways.
  const heldKey = (shopId: string, scope: string): string => `${shopId}\n${scope}`;

  const takeSql = `
    insert into ${schema}.token_bucket as bucket (shop_id, level, at_ms, refused) values ($1, $2::bigint - 1000000, $4, false)
    on conflict (shop_id) do update set
      (level, at_ms, refused) = (
        select case when now.level < 1000000 then now.level else now.level - 1000000 end,
               greatest($4::bigint, bucket.at_ms), now.level < 1000000
        from (select least($2::bigint, bucket.level + greatest(0, $4::bigint - bucket.at_ms) * $3::bigint) as level) as now)
    returning level, at_ms, refused`;
  const lookSql = `select level, at_ms from ${schema}.token_bucket where shop_id = $1`;
  const claimSql = `
    insert into ${schema}.key_in_flight as claim (shop_id, scope, fingerprint, owner, leased_until)
    values ($1, $2, $3, $4, now() + $5::bigint * interval '1 millisecond')
    on conflict (shop_id, scope) do update set
      fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until
      where claim.leased_until <= now()
    returning 1`;
  const holderSql = `select fingerprint from ${schema}.key_in_flight where shop_id = $1 and scope = $2`;
  const releaseSql = `delete from ${schema}.key_in_flight where shop_id = $1 and scope = $2 and owner = $3`;
  // A lease that has ended is good as long as nobody else has made use of it.
  const holdSql = `
    update ${schema}.key_in_flight set leased_until = now() + $4::bigint * interval '1 millisecond'
    where shop_id = $1 and scope = $2 and owner = $3
    returning 1`;
  const renewSql = `
    update ${schema}.key_in_flight set leased_until = now() + $4::bigint * interval '1 millisecond'
    where (shop_id, scope, owner) in (select * from unnest($1::text[], $2::text[], $3::text[]))`;

  const query = (name: string, text: string, values: readonly SqlValue[]): Query => ({
    text,
    values,
    name: `${schemaName}.${name}`,
    writes: true,
  });

  /** One statement, committed without waiting for the disk. @throws Fault for a database that cannot be used. */
  async function ask<R>(asked: Query): Promise<R[]> {
    try {
      return await pool.using((connection) => askOn<R>(connection, asked));
    } catch (error) {
      throw faultOf(error) ?? error;
    }
  }

  async function askOn<R>(connection: PostgresConnection, asked: Query): Promise<R[]> {
    const [, , rows] = await connection.rowsOf([
      command("begin"),
      command("set local synchronous_commit = off"),
      asked,
      command("commit"),
    ]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
    return rows as R[];
  }

  const release = ({ shopId, scope, claimant }: Claim): Promise<unknown> =>
    ask(query("release_key", releaseSql, [shopId, scope, claimant]));

  /** Goes on trying, until the lease has ended by itself. */
  async function releaseLater(claim: Claim): Promise<void> {
    for (let waitedMs = 0; waitedMs < leaseMs && !closing.signal.aborted; waitedMs += releasePauseMs) {
      await new Promise((resolve) => void setTimeout(resolve, releasePauseMs).unref());
      const released = await release(claim).catch(() => null);
      if (released !== null) return;
    }
  }

  const renewing = setInterval(() => {
    if (held.size === 0) return;
    const list = (textOf: (claim: Claim) => string): string =>
      `{${[...held.values()].map((claim) => `"${textOf(claim).replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
    const lists = [list((claim) => claim.shopId), list((claim) => claim.scope), list((claim) => claim.claimant)];
    // One that fails is followed by another before the leases end.
    ask(query("renew", renewSql, [...lists, leaseMs])).catch(() => {});
  }, renewMs);
  renewing.unref();

  return {
    async takeToken(shopId, limit, nowMs) {
      const { levelMax, refillPerMs } = limitInMillionths(limit);
      const [row] = await ask<{ level: number; at_ms: number; refused: boolean }>(
        query("take_token", takeSql, [shopId, levelMax, refillPerMs, nowMs]),
      );
      if (row === undefined) throw new Error("a token bucket has no row");
      return bucketReading({ level: row.level, atMs: row.at_ms }, limit, row.refused);
    },
    async peekTokens(shopId, limit, nowMs) {
      const [row] = await ask<{ level: number; at_ms: number }>(query("look_at_tokens", lookSql, [shopId]));
      return readBucket(row === undefined ? null : { level: row.level, atMs: row.at_ms }, limit, nowMs);
    },
    async claimKey(shopId, scope, fingerprint) {
      for (;;) {
        // No two claims are alike, so that one given back late takes no later one with it.
        const claim = { shopId, scope, claimant: `${owner} ${(claims += 1)}` };
        const asked = query("claim_key", claimSql, [shopId, scope, fingerprint, claim.claimant, leaseMs]);
        const claimed = await ask(asked).catch((error: unknown) => {
          // It may have been kept all the same.
          void releaseLater(claim);
          throw error;
        });
        if (claimed.length > 0) {
          held.set(heldKey(shopId, scope), claim);
          return null;
        }
        const [holder] = await ask<{ fingerprint: string }>(query("key_holder", holderSql, [shopId, scope]));
        // Given back in between: it is free now.
        if (holder !== undefined) return holder.fingerprint;
      }
    },
    async holdsKey(shopId, scope) {
      const claim = held.get(heldKey(shopId, scope));
      if (claim === undefined) return false;
      return (await ask(query("hold_key", holdSql, [shopId, scope, claim.claimant, leaseMs]))).length > 0;
    },
    async releaseKey(shopId, scope) {
      const claim = held.get(heldKey(shopId, scope));
      if (claim === undefined) return;
      held.delete(heldKey(shopId, scope));
      // What was to be answered is committed, so the answer does not wait for a database that is away.
      await release(claim).catch(() => void releaseLater(claim));
    },
    async close() {
      closing.abort();
      clearInterval(renewing);
    },
  };
}
