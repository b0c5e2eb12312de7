/**
 * Which nodes live, so that the claims of one that has died need not wait for the end of their leases (C38, D473).
 *
 * Each node shows itself in a row, and reads there which others have not done so for `goneMs`, by the database's clock.
 * Those are gone: their claims are given back, shop by shop.
 *
 * Owns: the rows of `node`, when a node is gone. Does not own: claims (store/claims.ts).
 *
 * Invariants:
 * - G1. A node that lives keeps its claims, however long its work takes.
 * - G2. A node that could not show itself judges no other until it has gone on for `goneMs`. The database was away, or
 *       its clock was set, or the node stood still: the others may have had the same trouble.
 * - G3. A node is forgotten when all its claims have been given back. Until then any other goes on with that.
 * - G4. A node of an earlier version has no row. Its claims end with their leases.
 */
import { type Claims, claimedByProcess, whereClaimed } from "../claims.ts";
import { isNotFound } from "../engine-rules.ts";
import type { Log } from "../store.ts";
import {
  type PostgresPool,
  type Query,
  beginRead,
  beginWrite,
  command,
  commit,
  numbered,
  unsynced,
} from "./connection.ts";
import { searchAllShops } from "./schema.ts";

/** Time without a sign after which a node is gone. With a beat and a search of the others it is below 10 s (C38). */
const goneMs = 5_000;

/** Interval at which a node shows itself. */
const beatMs = 1_000;

/** Time between two signs of a node from which on there is a gap (G2). */
const gapMs = 3_000;

interface PresenceOptions {
  readonly pool: PostgresPool;
  /** Has one connection, which is for signs alone: they wait for no other work (G1). */
  readonly signs: PostgresPool;
  /** The PostgreSQL schema of the shops. */
  readonly schemaName: string;
  readonly processName: string;
  /** Kinds of rows that nodes claim in the shops' tables. */
  readonly claims: readonly Claims[];
  /** Gives back the claims of a process in a shop. */
  readonly giveBack: (shopId: string, processName: string) => Promise<void>;
  readonly log: Log;
}

interface Presence {
  /** Shows this node no more. The others find it gone after a while, with claims that it could not give back. */
  close(): Promise<void>;
}

/** Shows this node from now on. The schema must have its tables. */
export async function showPresence(options: PresenceOptions): Promise<Presence> {
  const node = new ShownNode(options);
  await node.beat();
  return node;
}

const statementsFor = (schemaName: string, claims: readonly Claims[]) => {
  const table = `"${schemaName}".node`;
  const ms = (count: number): string => `interval '${count} milliseconds'`;
  // One that is seen in the future was seen before the database's clock was set back.
  const isGone = `(node.seen_at < now() - ${ms(goneMs)} or node.seen_at > now() + ${ms(goneMs)})`;
  const claimed = claims.map(
    (each) =>
      `select shop_id from "${schemaName}".${each.table} where ${numbered(whereClaimed(each, claimedByProcess("")), 0)}`,
  );
  return {
    show: `
      with shown as (
        insert into ${table} as node (process_name, seen_at, since) values ($1, now(), now())
        on conflict (process_name) do update set
          seen_at = excluded.seen_at,
          since = case when node.seen_at between now() - ${ms(gapMs)} and now() then node.since else now() end
        returning since)
      select node.process_name from ${table}, shown
      where node.process_name <> $1 and shown.since <= now() - ${ms(goneMs)} and ${isGone}`,
    find: `select shop_id from (${claimed.join(" union ")}) as claimed order by shop_id`,
    forget: `delete from ${table} where process_name = $1 and ${isGone}`,
  };
};

class ShownNode implements Presence {
  readonly #options: PresenceOptions;
  readonly #statements: ReturnType<typeof statementsFor>;
  readonly #timer: NodeJS.Timeout;
  #beating: Promise<void> | null = null;
  #givingBack: Promise<void> | null = null;
  /** Nodes that are gone, as of the latest beat. */
  #gone: readonly string[] = [];
  #isClosed = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#statements = statementsFor(options.schemaName, options.claims);
    this.#timer = setInterval(() => {
      this.#beating ??= this.beat()
        // The next beat comes before the others find this node gone.
        .catch(() => {})
        .finally(() => (this.#beating = null));
    }, beatMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#beating;
    await this.#givingBack;
  }

  async beat(): Promise<void> {
    const { processName } = this.#options;
    const rows = await this.#run<{ process_name: string }>("show", processName, [beginWrite, unsynced]);
    this.#gone = rows.map((row) => row.process_name);
    if (this.#gone.length > 0 && !this.#isClosed)
      this.#givingBack ??= this.#giveBackAll().finally(() => (this.#givingBack = null));
  }

  /** Gives back the claims of all nodes that are gone. */
  async #giveBackAll(): Promise<void> {
    const { giveBack, log } = this.#options;
    for (const gone of this.#gone) {
      try {
        const shops = await this.#run<{ shop_id: string }>("find", claimedByProcess(gone).name, [
          beginRead,
          command(searchAllShops),
        ]);
        for (const { shop_id: shopId } of shops) {
          // It may have shown itself again.
          if (this.#isClosed || !this.#gone.includes(gone)) break;
          await giveBack(shopId, gone).catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
        }
        if (this.#isClosed) return;
        await this.#run("forget", gone, [beginWrite, unsynced]);
      } catch (error) {
        log.warn(
          { err: error, node: gone },
          "the claims of a node that is gone could not be given back; it is tried again",
        );
      }
    }
  }

  async #run<R>(name: keyof ReturnType<typeof statementsFor>, value: string, opening: readonly Query[]): Promise<R[]> {
    const { pool, signs, schemaName } = this.#options;
    const query: Query = {
      text: this.#statements[name],
      values: [value],
      name: `${schemaName}.node_${name}`,
      writes: name !== "find",
    };
    const answers = await (name === "show" ? signs : pool).using((connection) =>
      connection.rowsOf([...opening, query, commit]),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statements above
    return answers[opening.length] as R[];
  }
}
