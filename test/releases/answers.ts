/** All answers of a kept release's reads: which requests there are, and how an answer of today is compared with the kept one. */
import assert from "node:assert/strict";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { Answered, Asked } from "../support/clients.ts";
import { adminToken, connectedShop, type MadeShops, wideShop } from "./shops.ts";
import { idsIn } from "../support/openapi/ids-in.ts";

/** A read and its answer. */
export interface KeptAnswer {
  readonly target: string;
  readonly as: "admin" | "read" | "nobody";
  readonly status: number;
  readonly text: string;
}

/** Requests whose answers tell more than the shops' data, or tell it as a picture. */
const leftOut = /openapi\.json$|\.pdf$|\/events\/stream$|\/audit-log\/export$|\/snapshot$/;

/** Values of one path parameter that are asked for. */
const valuesAsked = 24;

const filters = ["status=Draft", "variantId=red", "supplierId=mill", "search=e", "limit=3"];

const objectIn = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});

export const tokenOf = (as: KeptAnswer["as"], { keys }: Pick<MadeShops, "keys">): string | null =>
  as === "admin" ? adminToken : as === "read" ? keys.read : null;

/** Reads everything that the documents of the program list. The audit log comes first: reads are in it. */
export async function readAll(
  ask: (asked: Asked) => Promise<Answered>,
  made: MadeShops,
  documents: readonly JsonObject[],
): Promise<readonly KeptAnswer[]> {
  const kept: KeptAnswer[] = [];
  const ids = new Map<string, Set<string>>([["shopId", new Set([wideShop])]]);
  const read = async (as: KeptAnswer["as"], target: string): Promise<void> => {
    const { status, text } = await ask({ method: "GET", target, token: tokenOf(as, made) });
    if (status === 404) return;
    kept.push({ target, as, status, text });
    if (!text.startsWith("{")) return;
    const found: Json = JSON.parse(text.split("\n", 1)[0] ?? "null");
    idsIn(found, ids);
  };
  const shop = `/admin/v1/shops/${wideShop}`;
  for (const below of ["/audit-log?limit=500", "", "/export", "/sandbox", "/open-lines?code=4006381333931"])
    await read("admin", shop + below);
  await read("admin", `/admin/v1/shops/${connectedShop}`);
  const gets = documents.flatMap((document) =>
    Object.entries(objectIn(document["paths"])).flatMap(([path, methods]) => {
      const get = objectIn(methods)["get"];
      return get === undefined || leftOut.test(path)
        ? []
        : [{ path, isPaged: JSON.stringify(get).includes('"limit"') }];
    }),
  );
  const of = (path: string): KeptAnswer["as"] => (path.startsWith("/admin/") ? "admin" : "read");
  const paramOf = (path: string): string | undefined =>
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).findLast((name) => name !== "shopId");
  const inWide = (path: string): string => path.replace("{shopId}", wideShop);
  const direct = gets.filter(({ path }) => paramOf(path) === undefined && !path.includes("/audit-log"));
  for (const { path, isPaged } of direct) {
    await read(of(path), inWide(path));
    if (isPaged && of(path) === "read") for (const filter of filters) await read("read", `${inWide(path)}?${filter}`);
  }
  for (const { path } of gets) {
    const param = paramOf(path);
    if (param === undefined) continue;
    // The newest ids are those of orders that were worked on.
    for (const id of [...(ids.get(param) ?? [])].slice(0, valuesAsked))
      await read(of(path), inWide(path).replace(`{${param}}`, encodeURIComponent(id)));
  }
  if (made.supplierLink !== null) await read("nobody", made.supplierLink);
  return kept;
}

/** Members that each request makes anew. A key is used by the reads themselves. */
const everNew: ReadonlySet<string> = new Set(["requestId", "lastUsedAt"]);

/** True if a refusal names what is known, which it did not (C11). */
const isNamed = (before: Json, now: Json | undefined): boolean =>
  typeof before === "string" && typeof now === "string" && now.startsWith(`${before}; known here: `);

/** The places at which `now` is not what it was; members that were added may be there. */
function differences(before: Json, now: Json | undefined, place = ""): readonly string[] {
  if (isJsonArray(before)) {
    if (now === undefined || !isJsonArray(now)) return [`${place} is no list any more`];
    if (before.length !== now.length) return [`${place} has ${now.length} entries and had ${before.length}`];
    return before.flatMap((each, index) => differences(each, now[index], `${place}[${index}]`));
  }
  if (isJsonObject(before)) {
    if (now === undefined || now === null || !isJsonObject(now)) return [`${place} is no object any more`];
    return Object.entries(before).flatMap(([name, member]) =>
      everNew.has(name) ? [] : differences(member ?? null, now[name], `${place}.${name}`),
    );
  }
  return before === now || isNamed(before, now)
    ? []
    : [`${place} is ${JSON.stringify(now)} and was ${JSON.stringify(before)}`];
}

/** Lines of a page are text, whatever they begin with. */
const linesOf = (text: string): Json => {
  const lines = text.split("\n").filter((line) => line !== "");
  return text.startsWith("<") ? lines : lines.map((line): Json => (/^[[{]/.test(line) ? JSON.parse(line) : line));
};

/** What differs between a kept answer and the one of today. */
export function changesSince(kept: KeptAnswer, { status, text }: Pick<Answered, "status" | "text">): readonly string[] {
  if (status !== kept.status) return [`${kept.target}: ${status} and was ${kept.status}: ${text.slice(0, 300)}`];
  assert.ok(kept.text !== "" || kept.status === 204, kept.target);
  return differences(linesOf(kept.text), linesOf(text), kept.target);
}
