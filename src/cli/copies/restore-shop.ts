/**
 * The restore of one shop as the operator sees it: which file is sent, and what has to be looked at afterwards.
 */
import { memberOf } from "../../base/json.ts";
import { createReadStream, existsSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseConfig } from "../../service/option-values.ts";
import { shopIdPattern } from "../../base/secret.ts";
import { holdsData, isClaimed } from "../../service/data-directory.ts";
import { CommandError, exitCodes, failedError } from "../errors.ts";
import { dataOf, given } from "../command.ts";
import type { Operator } from "../operator.ts";
import { bytesShown, listIn, type Output, shown } from "../output.ts";
import { findShop } from "../shops/shops.ts";

const notConfirmed = (shopId: string, confirm: string | null): CommandError =>
  new CommandError(
    exitCodes.usage,
    confirm === null ? `shop ${shopId} is there.` : `--confirm says ${confirm}, not ${shopId}.`,
    { action: `To replace what it holds by the backup add --confirm ${shopId}.` },
  );

/** The shop's files in the backup. @throws CommandError when it has none, or is no backup. */
function filesOf(backup: string, shopId: string): { readonly shop: string; readonly sandbox: string | null } {
  if (!shopIdPattern.test(shopId)) throw failedError(`${shopId} is no shop id.`, "See openpo shop list.");
  if (statSync(backup, { throwIfNoEntry: false })?.isFile() === true)
    return { shop: requireWhole(backup), sandbox: null };
  if (!holdsData(backup))
    throw failedError(
      `${backup} is no backup, or an unfinished one.`,
      "Name a directory that openpo backup wrote, or the file of the shop in one.",
    );
  if (isClaimed(backup))
    throw failedError(
      `${backup} is a data directory that a server is using, not a backup.`,
      "Make one: openpo backup DIR.",
    );
  const shop = path.join(backup, "shops", `${shopId}.db`);
  if (!existsSync(shop))
    throw failedError(`${backup} has no shop ${shopId}.`, `Its shops are the files in ${path.dirname(shop)}.`);
  const sandbox = path.join(backup, "sandbox", `${shopId}.db`);
  return { shop: requireWhole(shop), sandbox: existsSync(sandbox) ? requireWhole(sandbox) : null };
}

/** @throws CommandError when changes are still in a file beside it. */
function requireWhole(file: string): string {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw failedError(
      `${file} is not whole: its latest changes are in ${file}-wal.`,
      "Make a backup of that directory, and restore the shop from it: openpo backup DIR --data-dir …",
    );
  return file;
}

async function* piecesOf(file: string, shopId: string, output: Output): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const piece of createReadStream(file, { highWaterMark: 1_048_576 })) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no encoding was set
    const bytes = piece as Uint8Array;
    sent += bytes.length;
    output.progress(`Shop ${shopId}: ${bytesShown(sent)} sent`);
    yield bytes;
  }
}

interface RestoreOptions {
  readonly confirm: string | null;
  readonly isDamaged: boolean;
  readonly output: Output;
}

/**
 * Restores the shop. One that is not there gets its built-in storefront too, before the shop.
 *
 * @returns what the server says of it, and the same for people.
 */
export async function restoreShop(
  { ask }: Operator,
  backup: string,
  shopId: string,
  { confirm, isDamaged, output }: RestoreOptions,
): Promise<{ readonly data: unknown; readonly text: string }> {
  const { shop, sandbox } = filesOf(backup, shopId);
  const isThere = (await findShop(ask, shopId)) !== null;
  if (isThere && confirm !== shopId) throw notConfirmed(shopId, confirm);
  if (!isThere && sandbox !== null)
    await ask("shop_restore", { shopId, part: "sandbox" }, piecesOf(sandbox, shopId, output));
  const input = given({ shopId, confirm, isDamaged: isDamaged ? true : null });
  const data = dataOf(await ask("shop_restore", input, piecesOf(shop, shopId, output)));
  return { data, text: reportText(shopId, data) };
}

/** Restores the shop of a database from another one, into which a backup was restored. */
export async function restoreShopFromDatabase(
  database: DatabaseConfig,
  from: string,
  { shopId, confirm, output }: Pick<RestoreOptions, "confirm" | "output"> & { readonly shopId: string },
): Promise<{ readonly data: unknown; readonly text: string }> {
  if (!/^postgres(?:ql)?:\/\//.test(from))
    throw failedError(
      "the shops are in a database: name the address of the database into which its backup was restored.",
      "Restore the backup into a database of its own first (docs/operating.md): openpo restore postgres://… --shop … --confirm …",
    );
  if (!shopIdPattern.test(shopId)) throw failedError(`${shopId} is no shop id.`, "See openpo shop list.");
  if (confirm !== null && confirm !== shopId) throw notConfirmed(shopId, confirm);
  const { restoreShopRows } = await import("./shop-restore-rows.ts");
  const log = { info: () => {}, warn: () => {}, error: (_details: object, message: string) => output.message(message) };
  const rowsInput = { shopId, isConfirmed: confirm === shopId };
  const restored = await restoreShopRows(database, { ...database, url: from }, rowsInput, log);
  if (restored === null) throw notConfirmed(shopId, confirm);
  const { restoredJson } = await import("../../admin/exchange.ts");
  const data = { shopId, part: "shop", keptAs: null, restored: restoredJson(restored) };
  return { data, text: reportText(shopId, data) };
}

/** Entries of a list that are shown; all are in the answer to --json. */
const shownMax = 10;

const named = (list: readonly unknown[]): string =>
  `${list
    .slice(0, shownMax)
    .map((each) => shown(memberOf(each, "poNumber") ?? memberOf(each, "purchaseOrderId")))
    .join(", ")}${list.length > shownMax ? ", …" : ""}`;

/** Returns the report of what was restored, what is undone, and where somebody has to check. */
function reportText(shopId: string, data: unknown): string {
  const restored = memberOf(data, "restored");
  const keptAs = memberOf(data, "keptAs");
  const changedUntil = memberOf(restored, "changedUntil");
  const gone = memberOf(restored, "goneOrders");
  const unsynced = memberOf(restored, "unsyncedOrders");
  const pushes = memberOf(restored, "pushesOfNoOrder");
  const countIn = (of: unknown): number => Number(memberOf(of, "count") ?? 0);
  const lines = [
    `Shop ${shopId} is restored${changedUntil === null ? "" : `: it is as it was after its change of ${shown(changedUntil)}`}.`,
  ];
  if (memberOf(restored, "hadPresent") !== true)
    lines.push(
      "Everything is as in the backup, keys and people too: revoke again what was revoked since. Pushes and mails that the backup had still to send are not sent.",
    );
  else
    lines.push(
      `${shown(memberOf(restored, "undoneEvents"))} later changes are undone. Keys, people, webhooks and the audit log are as they were just now.`,
    );
  if (countIn(gone) > 0) lines.push(`Gone, since made later (${countIn(gone)}): ${named(listIn(gone, "orders"))}`);
  if (countIn(unsynced) > 0)
    lines.push(
      `Look at these (${countIn(unsynced)}), of which the storefront has another quantity than they have received: ${named(listIn(unsynced, "orders"))}. Record again what has arrived, which pushes nothing twice; what is then left, a storefront sync brings into line.`,
    );
  if (countIn(pushes) > 0)
    lines.push(
      `The storefront has received goods of orders that are gone (${countIn(pushes)}): ${named(listIn(pushes, "pushes"))}. Correct its stock by hand, or record the goods without pushing them.`,
    );
  if (typeof keptAs === "string")
    lines.push(`What the shop held before is kept in ${keptAs}; openpo restore takes it back.`);
  return lines.join("\n");
}
