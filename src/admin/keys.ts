/** API keys of a shop. A key is shown once, when it is made. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { apiKeyRandomBytes, makeApiKey } from "../core/api-key.ts";
import { Fault } from "../core/fault.ts";
import { instant, instantOrNull, pathId, shownId, text } from "../operations/fields.ts";
import { type ApiKey, insertApiKey, listApiKeys, revokeApiKey } from "../shop/accounts.ts";
import { data, inShop, operation, shopOf } from "./operation.ts";
import { nameMax } from "./shops.ts";

const keyJson = (key: ApiKey & { readonly lastUsedAtMs: number | null }) => ({
  keyId: key.keyId,
  name: key.name,
  scope: key.scope,
  lastFour: key.lastFour,
  createdAt: instant(key.createdAtMs),
  revokedAt: instantOrNull(key.revokedAtMs),
  lastUsedAt: instantOrNull(key.lastUsedAtMs),
});

export const createKey = operation({
  name: "key_create",
  route: { method: "POST", path: "/shops/{shopId}/keys" },
  input: z.strictObject({ ...inShop, name: text(nameMax), scope: z.enum(["read", "write"]) }),
  /** Makes an API key. This answer is the only place where it is ever shown. */
  async run({ engine, clock, ids }, { shopId: id, name, scope }) {
    const { apiKey, secretHash, lastFour } = makeApiKey(id, randomBytes(apiKeyRandomBytes));
    const key: ApiKey = {
      keyId: ids.next("key"),
      name,
      scope,
      lastFour,
      createdAtMs: clock.now(),
      revokedAtMs: null,
    };
    await engine.write(id, async (tx) => {
      await shopOf(tx, id);
      await insertApiKey(tx, id, key, secretHash);
    });
    return data({ keyId: key.keyId, apiKey, name, scope, createdAt: instant(key.createdAtMs) }, 201);
  },
});

export const listKeys = operation({
  name: "key_list",
  route: { method: "GET", path: "/shops/{shopId}/keys" },
  input: z.strictObject(inShop),
  async run({ engine }, { shopId: id }) {
    const keys = await engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await listApiKeys(tx, id);
    });
    return data({ keys: keys.map(keyJson), totalCount: keys.length });
  },
});

export const revokeKey = operation({
  name: "key_revoke",
  route: { method: "DELETE", path: "/shops/{shopId}/keys/{keyId}" },
  input: z.strictObject({ ...inShop, keyId: pathId }),
  /** Revokes the key: the next request with it is refused. Repeating changes nothing. */
  async run({ engine, clock }, { shopId: id, keyId }) {
    return await engine.write(id, async (tx) => {
      const revoked = await revokeApiKey(tx, id, keyId, clock.now());
      const key = (await listApiKeys(tx, id)).find((each) => each.keyId === keyId);
      if (!revoked || key === undefined)
        throw new Fault("NOT_FOUND", `Shop ${id} has no key ${shownId(keyId)}.`, {
          action: `See GET /admin/v1/shops/${id}/keys.`,
        });
      return data({ key: keyJson(key) });
    });
  },
});
