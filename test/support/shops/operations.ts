/** A few operations on crates, for tests of the request pipeline alone. Crates are stored in the table of locations. */
import { z } from "zod";
import { Fault } from "../../../src/base/fault.ts";
import { type Operation, operation } from "../../../src/requests/operation.ts";

interface CrateHooks {
  /** Awaited by `crate_seal` before it changes anything. */
  readonly beforeSeal?: () => Promise<void>;
}

const crateId = z.string().min(1);
const crateSchema = z.strictObject({ crateId: z.string(), label: z.string() });
const name = z.string().min(1).max(40);

const shape = {
  title: "Crates",
  summary: "Does something with a crate.",
  description: "For tests.",
  tag: "Crates",
  toolSets: ["stock"],
  repeat: "safe",
  destructive: false,
  versioned: true,
} as const;

const selectCrate = "select location_id, name from location where shop_id = ? and location_id = ?";

export function crateOperations(hooks: CrateHooks = {}): readonly Operation[] {
  const list = operation({
    ...shape,
    name: "crate_list",
    scope: "read",
    route: { method: "GET", path: "/crates" },
    success: 200,
    faults: [],
    input: z.strictObject({
      limit: z.int().min(1).max(50).default(50).meta({ query: "integer" }),
      sealed: z.boolean().optional().meta({ query: "boolean" }),
      kind: z
        .array(z.enum(["wood", "steel"]))
        .optional()
        .meta({ query: "list" }),
      place: z.array(z.string()).optional().meta({ query: "repeatable-list" }),
      search: z.string().max(20).optional(),
    }),
    output: z.strictObject({
      asked: z.strictObject({
        limit: z.int(),
        sealed: z.boolean().nullable(),
        kind: z.array(z.string()),
        place: z.array(z.string()),
        search: z.string().nullable(),
      }),
      crates: z.array(crateSchema),
    }),
    run: async (call, input) => ({
      data: {
        asked: {
          limit: input.limit,
          sealed: input.sealed ?? null,
          kind: input.kind ?? [],
          place: input.place ?? [],
          search: input.search ?? null,
        },
        crates: await call.read(async (tx) => {
          const rows = await tx.all<{ location_id: string; name: string }>(
            "select location_id, name from location where shop_id = ? order by location_id",
            [call.shop.shopId],
          );
          return rows.map((row) => ({ crateId: row.location_id, label: row.name }));
        }),
      },
    }),
  });

  const get = operation({
    ...shape,
    name: "crate_get",
    scope: "read",
    route: { method: "GET", path: "/crates/{crateId}" },
    success: 200,
    faults: [],
    input: z.strictObject({ crateId }),
    output: z.strictObject({ crate: crateSchema }),
    run: async (call, input) => {
      const [row] = await call.read((tx) => tx.all<{ name: string }>(selectCrate, [call.shop.shopId, input.crateId]));
      if (row === undefined) throw new Fault("NOT_FOUND", `There is no crate ${input.crateId}.`);
      return { data: { crate: { crateId: input.crateId, label: row.name } }, etag: row.name };
    },
  });

  const create = operation({
    ...shape,
    name: "crate_create",
    scope: "write",
    route: { method: "POST", path: "/crates" },
    success: 201,
    faults: [],
    input: z
      .strictObject({
        label: name,
        parts: z.array(z.strictObject({ partName: name, count: z.number().optional() })).optional(),
      })
      .meta({ example: { label: "a crate" } }),
    output: z.strictObject({ crate: crateSchema }),
    run: (call, input) =>
      call.commit(async (tx) => {
        const id = call.ids.next("crt");
        await tx.batch([
          {
            sql: "insert into location (shop_id, location_id, name, address) values (?, ?, ?, null)",
            params: [call.shop.shopId, id, input.label],
          },
        ]);
        return {
          effects: [],
          answer: () => ({
            data: { crate: { crateId: id, label: input.label } },
            location: `/api/v1/crates/${id}`,
            etag: input.label,
          }),
        };
      }),
  });

  const seal = operation({
    ...shape,
    name: "crate_seal",
    scope: "write",
    route: { method: "POST", path: "/crates/{crateId}/seal" },
    success: 200,
    faults: ["VERSION_MISMATCH", "UPSTREAM_STOREFRONT"],
    input: z.strictObject({ crateId, label: name.optional(), fail: z.enum(["upstream", "bug", "late"]).optional() }),
    output: z.strictObject({ crate: crateSchema }),
    run: async (call, input) => {
      await hooks.beforeSeal?.();
      const answer = await call.commit(async (tx) => {
        const [row] = await tx.all<{ name: string }>(selectCrate, [call.shop.shopId, input.crateId]);
        if (row === undefined) throw new Fault("NOT_FOUND", `There is no crate ${input.crateId}.`);
        if (call.ifMatch !== null && !call.ifMatch.includes("*") && !call.ifMatch.includes(row.name))
          throw new Fault("INVALID_INPUT", "The crate has changed.", { reason: "VERSION_MISMATCH" });
        const label = input.label ?? `${row.name}!`;
        await tx.batch([
          {
            sql: "update location set name = ? where shop_id = ? and location_id = ?",
            params: [label, call.shop.shopId, input.crateId],
          },
        ]);
        if (input.fail === "upstream") throw new Fault("UPSTREAM_STOREFRONT", "The seal maker did not answer.");
        if (input.fail === "bug") throw new TypeError("a bug");
        return { effects: [], answer: () => ({ data: { crate: { crateId: input.crateId, label } }, etag: label }) };
      });
      if (input.fail === "late") throw new TypeError("a bug after the change");
      return answer;
    },
  });

  const remove = operation({
    ...shape,
    name: "crate_delete",
    scope: "write",
    route: { method: "DELETE", path: "/crates/{crateId}" },
    success: 200,
    faults: [],
    input: z.strictObject({ crateId, parts: z.array(z.string()).optional().meta({ query: "list" }) }),
    output: z.strictObject({ crateId: z.string() }),
    run: (call, input) =>
      call.commit(async (tx) => {
        const rows = await tx.all("delete from location where shop_id = ? and location_id = ? returning location_id", [
          call.shop.shopId,
          input.crateId,
        ]);
        if (rows.length === 0) throw new Fault("NOT_FOUND", `There is no crate ${input.crateId}.`);
        return { effects: [], answer: () => ({ data: { crateId: input.crateId } }) };
      }),
  });

  const ship = operation({
    ...shape,
    name: "crate_ship",
    scope: "write",
    route: { method: "POST", path: "/crates/{crateId}/ship" },
    success: 200,
    faults: [],
    input: z.strictObject({ crateId }),
    output: z.strictObject({ shipped: z.enum(["pending", "applied", "skipped", "failed"]) }),
    run: (call, input) =>
      call.commit(async (tx) => {
        await tx.batch([
          {
            sql: "update location set name = name || '>' where shop_id = ? and location_id = ?",
            params: [call.shop.shopId, input.crateId],
          },
        ]);
        return {
          effects: [{ effectId: "eff_1", kind: "sync-tags", lane: "sync-tags" }],
          answer: (outcomes) => ({ data: { shipped: outcomes.get("eff_1")?.state ?? "skipped" } }),
        };
      }),
  });

  return [list, get, create, seal, ship, remove];
}
