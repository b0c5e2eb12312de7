/** Files of records, sent to the shop (contract §7): what the typed client has no call for. */
import { type Problem, unreachable, withBearer } from "./client.ts";
import { member, shopId, textOf } from "./session.ts";

/** How a file is read. */
export interface ImportOptions {
  readonly format: "ndjson" | "shopify-products" | "shopify-inventory" | "supplier-prices" | "sales";
  /** Of a price list that does not name its supplier. */
  readonly supplierId?: string;
}

export interface Imported {
  /** Records by type. */
  readonly counts: ReadonlyMap<string, number>;
}

const countsOf = (value: unknown): ReadonlyMap<string, number> =>
  new Map(
    typeof value === "object" && value !== null
      ? Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === "number")
      : [],
  );

/** A refused file: what is wrong, and each mistake with its line and column. */
export interface RefusedFile {
  readonly problem: Problem;
  readonly mistakes: readonly string[];
}

function refusalIn(body: unknown): RefusedFile {
  const error = member(body, "error");
  const details = member(error, "details");
  const mistakes = (Array.isArray(details) ? details : []).flatMap((each) => textOf(member(each, "message")) ?? []);
  const problem = {
    message: textOf(member(error, "message")) ?? unreachable.message,
    action: textOf(member(error, "action")),
    requestId: textOf(member(error, "requestId")),
    code: textOf(member(error, "code")) ?? unreachable.code,
    reason: textOf(member(error, "reason")),
    details: [],
  };
  return { problem, mistakes };
}

/** Sends a file. It is imported whole or not at all. */
export async function importFile(file: Blob, options: ImportOptions): Promise<Imported | RefusedFile> {
  const query = new URLSearchParams({ ...options }).toString();
  try {
    const response = await withBearer(`/admin/v1/shops/${encodeURIComponent(shopId())}/import?${query}`, {
      method: "POST",
      body: file,
    });
    const body: unknown = await response.json();
    if (!response.ok) return refusalIn(body);
    return { counts: countsOf(member(member(body, "data"), "imported")) };
  } catch {
    return { problem: unreachable, mistakes: [] };
  }
}
