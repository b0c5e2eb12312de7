/**
 * Which secrets a process knows that shops have, so that a forged key, session or invitation is refused without opening
 * a shop's file (S7). People's e-mails are among them: by one a person's shops are found.
 *
 * Owns: what is remembered, and its bound. Does not own: the rows (accounts.ts, people.ts), who asks
 * (requests/caller.ts, people).
 *
 * A shop's secrets are remembered all together or not at all. Those that were revoked or have expired are among them: a
 * request with a revoked key leaves an audit row. What is remembered only refuses; a secret that it lets through is
 * looked up in its shop as before. A write that adds one, whoever makes it, has the shop's secrets forgotten within the
 * shop's turn, where no read can run. So on a store that one process has alone, no secret is refused wrongly.
 */
import { delegated, NoticingTx } from "../../store/delegated.ts";
import { notFound } from "../../store/engine-rules.ts";
import { isChange } from "../../store/change.ts";
import type { Engine, Tx } from "../../store/store.ts";

/**
 * API keys, sessions and invitations that the process remembers of shops, so that a forged one opens no file. A shop
 * itself counts as one.
 */
export const credentialsKnownMax = 200_000;

/** A shop with more of them than this is not remembered. */
export const credentialsKnownPerShopMax = 1_000;

/** The tables with a `secret_hash`. */
const credentialTables = [
  "api_key",
  "console_session",
  "console_bearer",
  "invitation",
  "supplier_link",
  "connection_code",
  "connection_token",
  "sign_in_link",
  "passkey",
] as const;

/**
 * Characters of a hash that are remembered. A forged secret whose hash begins with the same 16 costs the opening of a
 * file.
 */
const prefixLength = 16;

const selectHashes = `${credentialTables
  .map((table) => `select substr(secret_hash, 1, ${prefixLength}) as prefix from ${table} where shop_id = ?`)
  .join(" union all ")}
  union all select substr(lower(email), 1, ${prefixLength}) as prefix from person where shop_id = ? and email is not null
  limit ?`;

interface Limits {
  readonly knownMax: number;
  readonly perShopMax: number;
}

export class KnownCredentials {
  readonly #limits: Limits;
  /** Prefixes of the hashes by shop, in the order in which they were learned. */
  readonly #shops = new Map<string, ReadonlySet<string>>();
  #count = 0;

  constructor(limits: Limits = { knownMax: credentialsKnownMax, perShopMax: credentialsKnownPerShopMax }) {
    this.#limits = limits;
  }

  /** True if the shop's secrets are known. */
  has(shopId: string): boolean {
    return this.#shops.has(shopId);
  }

  /** True if the shop may have a secret with this hash: it has, or its secrets are not known. */
  mayHave(shopId: string, secretHash: string): boolean {
    return this.#shops.get(shopId)?.has(secretHash.slice(0, prefixLength)) ?? true;
  }

  /** Reads and remembers the shop's secrets, unless there are too many. */
  async learn(tx: Tx, shopId: string): Promise<void> {
    const { knownMax, perShopMax } = this.#limits;
    const params = [...credentialTables.map(() => shopId), shopId, perShopMax + 1];
    const rows = await tx.all<{ prefix: string }>(selectHashes, params);
    this.forget(shopId);
    if (rows.length > perShopMax) return;
    this.#shops.set(shopId, new Set(rows.map(({ prefix }) => prefix)));
    this.#count += rows.length + 1;
    for (const oldest of this.#shops.keys()) {
      if (this.#count <= knownMax) return;
      this.forget(oldest);
    }
  }

  /** The shop's secrets have changed, or are about to. */
  forget(shopId: string): void {
    const known = this.#shops.get(shopId);
    if (known === undefined) return;
    this.#shops.delete(shopId);
    this.#count -= known.size + 1;
  }
}

const isCredentialTable: ReadonlySet<string> = new Set([...credentialTables, "person"]);

/**
 * The engine, which refuses a credential that the shop is known not to have as if there were no such shop, without
 * opening its file.
 */
export const keepingCredentials = (engine: Engine, known: KnownCredentials): Engine => ({
  ...delegated(engine),
  async peek(shopId, work, credential) {
    if (credential === undefined) return await engine.peek(shopId, work);
    if (!known.mayHave(shopId, credential)) {
      // What a shop that does not exist costs too: nobody can tell the two apart by time.
      await engine.exists(shopId);
      throw notFound(shopId);
    }
    return await engine.peek(shopId, async (tx) => {
      if (!known.has(shopId)) await known.learn(tx, shopId);
      return await work(tx);
    });
  },
  write: (shopId, work, options) =>
    engine.write(
      shopId,
      (tx) =>
        work(
          new NoticingTx(tx, (statement) => {
            if (!isChange(statement)) return;
            const { kind, table } = statement.form;
            if (kind === "insert" && isCredentialTable.has(table)) known.forget(shopId);
          }),
        ),
      options,
    ),
});
