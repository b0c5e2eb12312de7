/** Files of records, sent to the shop (contract §7): what the typed client has no call for. */
import type { Failure, OperationName } from "../../client/index.ts";
import { type Problem, problemOf, unreachable } from "./client.ts";
import { currentBearer, member, renewBearer, shopId } from "./session.ts";

/** Options of reading a file. */
interface ImportOptions {
  readonly format: "ndjson" | "shopify-products" | "shopify-inventory" | "supplier-prices" | "suppliers" | "sales";
  /** Of a price list that does not name its supplier. */
  readonly supplierId?: string;
  /** Nothing is imported: the answer tells what would be. */
  readonly dryRun?: "true";
}

type Counts = ReadonlyMap<string, number>;

/** Effects of a checked file on the records of a type. */
export interface PreviewedType {
  readonly type: string;
  /** Records in which the field had another value, had none, will have none. */
  readonly fields: readonly {
    readonly field: string;
    readonly changed: number;
    readonly added: number;
    readonly cleared: number;
  }[];
  /** The first ones that change. */
  readonly rows: readonly {
    readonly recordId: string;
    readonly lineNumber: number;
    readonly changes: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
  }[];
}

// The service's tests hold what it answers; a page does not validate it again.
const isPreview = (value: unknown): value is readonly PreviewedType[] => Array.isArray(value);

export interface Imported {
  /** Records by type: what was imported, or would be. */
  readonly counts: Counts;
  /** Of these, how many replace a record, where that is known. */
  readonly replaced: Counts;
  readonly preview: readonly PreviewedType[];
  /** True if the file has more records than the preview looked at. */
  readonly isTruncated: boolean;
}

const countsOf = (value: unknown): Counts =>
  new Map(
    typeof value === "object" && value !== null
      ? Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === "number")
      : [],
  );

/** A refused file: what is wrong, and each mistake with its line and column, as the service says it. */
export interface RefusedFile {
  readonly problem: Problem;
  readonly mistakes: readonly { readonly path: string; readonly message: string }[];
}

const isFailure = (value: unknown): value is Failure<OperationName> => member(value, "error") !== undefined;

function refusalIn(body: unknown): RefusedFile {
  if (!isFailure(body)) return { problem: unreachable, mistakes: [] };
  const details = "details" in body.error ? (body.error.details ?? []) : [];
  return { problem: problemOf(body), mistakes: details.flatMap((each) => ("path" in each ? each : [])) };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends with the progress that `fetch` does not tell. Null: nothing answered. */
function send(address: string, file: Blob, bearer: string, onSent: (share: number) => void): Promise<Answer | null> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Authorization", `Bearer ${bearer}`);
    request.upload.addEventListener("progress", ({ loaded, total }) => onSent(total === 0 ? 1 : loaded / total));
    request.addEventListener("loadend", () => {
      try {
        const body: unknown = JSON.parse(request.responseText);
        resolve({ status: request.status, body });
      } catch {
        resolve(null);
      }
    });
    request.send(file);
  });
}

/** Sends a file. It is imported whole or not at all. `onSent` hears which share of it has been sent. */
export async function importFile(
  file: Blob,
  options: ImportOptions,
  onSent: (share: number) => void = () => undefined,
): Promise<Imported | RefusedFile> {
  const query = new URLSearchParams({ ...options }).toString();
  const address = `/admin/v1/shops/${encodeURIComponent(shopId())}/import?${query}`;
  let answer = await send(address, file, (await currentBearer()) ?? "", onSent);
  if (answer?.status === 401) answer = await send(address, file, (await renewBearer()) ?? "", onSent);
  if (answer === null) return { problem: unreachable, mistakes: [] };
  if (answer.status !== 200) return refusalIn(answer.body);
  const data = member(answer.body, "data");
  const preview = member(data, "preview");
  const types = member(preview, "types");
  return {
    counts: countsOf(member(data, options.dryRun === undefined ? "imported" : "wouldImport")),
    replaced: countsOf(member(data, "replaced")),
    preview: isPreview(types) ? types : [],
    isTruncated: member(preview, "isTruncated") === true,
  };
}
