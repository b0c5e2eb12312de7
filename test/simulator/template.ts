/** The data directory that every simulation begins with: three shops with keys, a small catalogue, and stock at their storefronts. */
import { openDataDirectory } from "../../src/service/data-directory.ts";
import { importRecords } from "../../src/exchange/import.ts";
import { insertApiKey, saveShop, type Shop } from "../../src/shop/access/accounts.ts";
import type { Log } from "../../src/store/store.ts";
import { personStatement } from "../../src/shop/access/people.ts";
import { catalogueRecords } from "../world/deeds.ts";
import { keysOf } from "./callers.ts";
import { shopIds } from "./story.ts";
import { plainShop } from "../support/shops/plain-shop.ts";

/** On hand of each variant at the start, in thousandths. */
export const openingOnHand = 100_000;

export const baseShop = (shopId: string, nowMs: number): Shop =>
  plainShop(shopId, { name: `Shop ${shopId}`, createdAtMs: nowMs, updatedAtMs: nowMs });

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

export async function makeTemplate(directory: string): Promise<void> {
  const store = await openDataDirectory(directory, silent);
  const { engine, clock, ids, loop } = store;
  for (const shopId of shopIds) {
    const shop = baseShop(shopId, clock.now());
    await engine.create(shopId);
    await engine.write(shopId, (tx) => saveShop(tx, shop));
    for (const { keyId, kind, secretHash, lastFour } of keysOf(shopId)) {
      if (kind === "operator") continue;
      const person = {
        personId: keyId,
        name: "Anna",
        role: "owner",
        keyId: null,
        email: null,
        language: null,
        lastSeenAtMs: null,
      } as const;
      await engine.write(shopId, (tx) =>
        kind === "person"
          ? tx.batch([personStatement(shopId, { ...person, createdAtMs: clock.now() })])
          : insertApiKey(
              tx,
              shopId,
              {
                keyId,
                name: keyId,
                scope: kind === "propose" ? "propose" : "write",
                lastFour,
                createdAtMs: clock.now(),
                revokedAtMs: null,
                pausedAtMs: null,
                signIn: true,
                limits: null,
              },
              secretHash,
            ),
      );
    }
    const sandbox = store.sandboxOf(shopId);
    const seedStorefront = async (
      _shopId: string,
      variants: Parameters<typeof sandbox.seedVariants>[0],
      levels: Parameters<typeof sandbox.seedLevels>[0],
    ): Promise<void> => {
      await sandbox.seedVariants(variants);
      await sandbox.seedLevels(levels);
    };
    const file = Buffer.from(
      catalogueRecords(openingOnHand / 1_000)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
    await importRecords(
      { engine, clock, ids, loop, seedStorefront },
      shop,
      (async function* () {
        yield file;
      })(),
      "req_import",
    );
  }
  await store.completeFirstStart();
  await store.close();
}
