/** API keys of a shop. A key is shown once, when it is made. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { apiKeyRandomBytes, makeApiKey } from "../../core/access/api-key.ts";
import { scopesSupported } from "../../core/access/grant.ts";
import { Fault } from "../../base/fault.ts";
import { dayIn } from "../../base/time/calendar.ts";
import type { Clock } from "../../base/time/clock.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import { instant, instantOrNull, pageShape, pathId, shownId, text } from "../../operations/fields.ts";
import {
  type ApiKey,
  insertApiKey,
  limitStatement,
  listApiKeys,
  type ListedKey,
  pauseApiKey,
  revokeApiKey,
  type Shop,
} from "../../shop/access/accounts.ts";
import { eventStatements } from "../../shop/events/events.ts";
import { presentLimits } from "../../shop/catalogue/supplier-merges.ts";
import type { Tx } from "../../store/store.ts";
import { deletePersonStatements, findPersonOfKey } from "../../shop/access/people.ts";
import { data, inShop, operation, stampOf, shopOf } from "../operation.ts";
import { pageOfWhole, wholeList } from "../whole-lists.ts";
import { limitsInput, limitsJson, limitsSchema } from "./key-limits.ts";
import { nameMax } from "../shops.ts";

const scope = z.enum(scopesSupported).meta({
  description: "`propose`: it reads, and what it writes waits for a person's decision.",
});

const keySchema = z.strictObject({
  keyId: z.string(),
  kind: z.enum(["key", "connection"]).meta({ description: "`connection`: an assistant has it by its address." }),
  name: z.string(),
  scope,
  lastFour: z.string(),
  createdAt: z.string(),
  revokedAt: z.string().nullable(),
  pausedAt: z.string().nullable(),
  signIn: z.boolean(),
  lastUsedAt: z.string().nullable(),
  clientName: z.string().nullable(),
  clientHost: z.string().nullable(),
  personId: z.string().nullable().meta({ description: "In whose name a connection works; null: the operator's." }),
  expiresAt: z.string().nullable().meta({ description: "When a connection ends unless it is used." }),
  limits: limitsSchema.nullable(),
  limitsUsed: z
    .strictObject({ dayValue: z.number(), monthValue: z.number() })
    .nullable()
    .meta({ description: "Of its limits, today and this month where the shop is; null: it has none." }),
});

const keyJson = ({ connection, ...key }: ListedKey): z.output<typeof keySchema> => ({
  keyId: key.keyId,
  kind: connection === null ? "key" : "connection",
  name: key.name,
  scope: key.scope,
  lastFour: key.lastFour,
  createdAt: instant(key.createdAtMs),
  revokedAt: instantOrNull(key.revokedAtMs),
  pausedAt: instantOrNull(key.pausedAtMs),
  signIn: key.signIn,
  lastUsedAt: instantOrNull(key.lastUsedAtMs),
  clientName: connection?.clientName ?? null,
  clientHost: connection?.clientHost ?? null,
  personId: connection?.personId ?? null,
  expiresAt: instantOrNull(connection?.expiresAtMs ?? null),
  limits: limitsJson(key.limits),
  limitsUsed:
    key.limits === null
      ? null
      : { dayValue: moneyToNumber(key.spent.dayValue), monthValue: moneyToNumber(key.spent.monthValue) },
});

/** The keys of a shop, with what they have spent by now. */
async function keysOf(tx: Tx, shop: Shop, clock: Clock): Promise<readonly ListedKey[]> {
  return await listApiKeys(tx, shop.shopId, dayIn(shop.timezone, clock.now()));
}

export const keyEvent = (
  type: "api_key.created" | "api_key.revoked",
  { keyId, name, scope }: Pick<ApiKey, "keyId" | "name" | "scope">,
) => ({ type, data: { keyId, name, scope } });

export const createKey = operation({
  name: "key_create",
  route: { method: "POST", path: "/shops/{shopId}/keys" },
  role: "owner",
  describes: {
    summary: "Makes an API key, which is shown here only.",
    description:
      "`apiKey` in the answer is the key itself and is shown nowhere else. The shop stores a hash of it. With `signIn: false` nobody signs in at the console with it, as is right for an agent's.",
    output: z.strictObject({
      keyId: z.string(),
      apiKey: z.string(),
      name: z.string(),
      scope,
      signIn: z.boolean(),
      limits: limitsSchema.nullable(),
      createdAt: z.string(),
    }),
  },
  input: z.strictObject({
    ...inShop,
    name: text(nameMax),
    scope,
    signIn: z.boolean().default(true),
    limits: limitsInput.nullable().default(null),
  }),
  /** Makes an API key. This answer is the only place where it is ever shown. */
  async run(context, { shopId: id, name, scope, signIn, limits }, call) {
    const { engine, clock, ids } = context;
    const { apiKey, secretHash, lastFour } = makeApiKey(id, randomBytes(apiKeyRandomBytes));
    const made: ApiKey = {
      keyId: ids.next("key"),
      name,
      scope,
      lastFour,
      createdAtMs: clock.now(),
      revokedAtMs: null,
      pausedAtMs: null,
      signIn,
      limits,
    };
    const key = await engine.write(id, async (tx) => {
      await shopOf(tx, id);
      const stored = { ...made, limits: await presentLimits(tx, id, limits) };
      await insertApiKey(tx, id, stored, secretHash, call.person?.personId ?? null);
      await tx.batch(eventStatements(id, keyEvent("api_key.created", stored), stampOf(context, call)));
      return stored;
    });
    return data(
      {
        keyId: key.keyId,
        apiKey,
        name,
        scope,
        signIn,
        limits: limitsJson(key.limits),
        createdAt: instant(key.createdAtMs),
      },
      201,
    );
  },
});

export const listKeys = operation({
  name: "key_list",
  route: { method: "GET", path: "/shops/{shopId}/keys" },
  role: "owner",
  describes: {
    summary: "API keys without their secrets.",
    description:
      "Keys and connections of assistants with scope, last four characters, when they were used last, whether they are paused or revoked, and their limits with what is used of them.",
    output: z.strictObject({ keys: z.array(keySchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  async run({ engine, clock }, { shopId: id, ...page }) {
    const keys = await engine.read(id, async (tx) => await keysOf(tx, await shopOf(tx, id), clock));
    const scope = { list: "keys", shopId: id, filters: {} };
    return pageOfWhole({ scope, name: "keys", rows: keys.map(keyJson), idOf: ({ keyId }) => keyId }, page);
  },
});

const noKey = (shopId: string, keyId: string): Fault =>
  new Fault("NOT_FOUND", `Shop ${shopId} has no key ${shownId(keyId)}.`, {
    action: `See GET /admin/v1/shops/${shopId}/keys.`,
  });

export const patchKey = operation({
  name: "key_patch",
  route: { method: "PATCH", path: "/shops/{shopId}/keys/{keyId}" },
  role: "owner",
  describes: {
    summary: "Pauses an API key or resumes it, or changes its limits.",
    description:
      "A paused key is refused from the next request on and works again when it is resumed. `limits` replaces all limits, from the next commit on; null: it has none.",
    output: z.strictObject({ key: keySchema }),
  },
  input: z.strictObject({
    ...inShop,
    keyId: pathId,
    paused: z.boolean().optional(),
    limits: limitsInput.nullable().optional(),
  }),
  /**
   * Pauses the key: from the next request on it is refused until the key is resumed. Gives it other limits. Repeating
   * changes nothing.
   */
  async run({ engine, clock }, { shopId: id, keyId, paused, limits }) {
    return await engine.write(id, async (tx) => {
      if (paused !== undefined) await pauseApiKey(tx, id, keyId, paused ? clock.now() : null);
      if (limits !== undefined) await tx.batch([limitStatement(id, keyId, await presentLimits(tx, id, limits))]);
      const key = (await keysOf(tx, await shopOf(tx, id), clock)).find((each) => each.keyId === keyId);
      if (key === undefined) throw noKey(id, keyId);
      return data({ key: keyJson(key) });
    });
  },
});

export const revokeKey = operation({
  name: "key_revoke",
  route: { method: "DELETE", path: "/shops/{shopId}/keys/{keyId}" },
  role: "owner",
  describes: {
    summary: "Revokes an API key.",
    description:
      "The key is refused from the next request on, for good, and who signed in with it is gone. Names stay in the logs.",
    output: z.strictObject({ key: keySchema }),
  },
  input: z.strictObject({ ...inShop, keyId: pathId }),
  /**
   * Revokes the key: the next request with it is refused, and the person whom it has made is gone. Repeating changes
   * nothing.
   */
  async run(context, { shopId: id, keyId }, call) {
    return await context.engine.write(id, async (tx) => {
      const revoked = await revokeApiKey(tx, id, keyId, context.clock.now());
      const key = (await keysOf(tx, await shopOf(tx, id), context.clock)).find((each) => each.keyId === keyId);
      if (revoked === "unknown" || key === undefined) throw noKey(id, keyId);
      if (revoked === "now") {
        const person = await findPersonOfKey(tx, id, keyId);
        await tx.batch([
          ...(person === null ? [] : deletePersonStatements(id, person.personId)),
          ...eventStatements(id, keyEvent("api_key.revoked", key), stampOf(context, call)),
        ]);
      }
      return data({ key: keyJson(key) });
    });
  },
});
