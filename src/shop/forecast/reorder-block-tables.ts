/**
 * The blocks of a shop's variants from which it is decided for all of them which need an order (reorder-block.ts).
 *
 * Owns: the table of blocks, making them, which variants have changed since. Does not own: what is in a block.
 *
 * Making blocks is a cache's work: without them the rows are read, and the answer is the same. A change of a variant
 * leaves its block as it is, since the change is noted (V8). Blocks are made again when many variants have changed.
 *
 * Invariants:
 * - V9. Blocks divide a shop's variants by product name and id, without gaps. A block holds what the rows of its
 *       variants were at its forecast version. So a variant that was not changed since the oldest version is in one
 *       block, as its rows are.
 */
import type { Tx } from "../../store/store.ts";
import { type StoredBlock, blockOf } from "./reorder-block.ts";
import { type PricedKey, loadDecidingRows } from "./forecast-facts.ts";
import { type ForecastVersion, loadForecastVersion, variantsChangedSince } from "./forecast-version.ts";
import { hasMoreRows } from "../size.ts";
import { type Change, replace } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Variants of a block, and of one turn that makes it: about 5 ms. */
const blockVariants = 128;

/** A shop with fewer variants has no blocks: its rows are read as quickly. */
const blockedVariantsMin = 1_000;

/** Variants changed since the oldest block, beyond which blocks are made anew. */
const changedSinceBlocksMax = 500;

/**
 * Format of a stored block, as a part of its epoch. A node of another version takes it for one of another epoch, and
 * does not read it.
 */
const format = "#3";

/** The forecast version as blocks have it. */
async function blockVersion(tx: Tx, shopId: string): Promise<ForecastVersion | null> {
  const version = await loadForecastVersion(tx, shopId);
  return version === null ? null : { ...version, epoch: `${version.epoch}${format}` };
}

/** Where a block begins. */
interface BlockKey {
  readonly name_from: string;
  readonly variant_from: string;
}

const first: BlockKey = { name_from: "", variant_from: "" };

/** The oldest version of the shop's blocks. Null: there are none, or they are of several epochs. */
async function oldestVersion(tx: Tx, shopId: string): Promise<ForecastVersion | null> {
  const [row] = await tx.all<{ epoch: string | null; last_epoch: string | null; changes: number | null }>(
    "select min(epoch) as epoch, max(epoch) as last_epoch, min(changes) as changes from forecast_block where shop_id = ?",
    [shopId],
  );
  const { epoch = null, last_epoch: lastEpoch = null, changes = null } = row ?? {};
  return epoch === null || changes === null || epoch !== lastEpoch ? null : { epoch, changes };
}

/** True if it takes long to decide for all variants of the shop because its blocks are too old, or missing. */
export async function areBlocksBehind(tx: Tx, shopId: string): Promise<boolean> {
  const [version, oldest] = await Promise.all([blockVersion(tx, shopId), oldestVersion(tx, shopId)]);
  if (version === null) return false;
  if (oldest?.epoch !== version.epoch) return await hasMoreRows(tx, "variant", shopId, blockedVariantsMin - 1);
  const changed = await tx.all(
    "select 1 as found from forecast_change where shop_id = ? and change > ? limit 1 offset ?",
    [shopId, oldest.changes, changedSinceBlocksMax],
  );
  return changed.length > 0;
}

const saveBlock = (
  shopId: string,
  { name_from, variant_from }: BlockKey,
  { epoch, changes }: ForecastVersion,
  { names, numbers }: StoredBlock,
): Change => replace(tables.forecast_block, shopId, { name_from, variant_from, epoch, changes, names, numbers });

/** A block that is not made yet: of no epoch. */
const unmade = [
  { epoch: "", changes: -1 },
  { names: "", numbers: "" },
] as const;

/**
 * Makes the block anew that is the oldest. What is more than a block holds becomes a further one, which is made next.
 *
 * @param variantsMax variants of a block.
 * @returns whether there is more to make.
 */
export async function makeBlock(tx: Tx, shopId: string, variantsMax = blockVariants): Promise<boolean> {
  const version = await blockVersion(tx, shopId);
  if (version === null) return false;
  const [from = first] = await tx.all<BlockKey>(
    `select name_from, variant_from from forecast_block where shop_id = ?
     order by case when epoch = ? then changes else -1 end, name_from, variant_from limit 1`,
    [shopId, version.epoch],
  );
  const [end] = await tx.all<BlockKey>(
    `select name_from, variant_from from forecast_block where shop_id = ? and (name_from, variant_from) > (?, ?)
     order by name_from, variant_from limit 1`,
    [shopId, from.name_from, from.variant_from],
  );
  const keys = await tx.all<PricedKey>(
    `select variant_id, product_name, status, price, unit_cost from variant
     where shop_id = ? and (product_name, variant_id) >= (?, ?)${end === undefined ? "" : " and (product_name, variant_id) < (?, ?)"}
     order by product_name, variant_id limit ?`,
    [
      shopId,
      from.name_from,
      from.variant_from,
      ...(end === undefined ? [] : [end.name_from, end.variant_from]),
      variantsMax + 1,
    ],
  );
  const [block, [rest]] = [keys.slice(0, variantsMax), keys.slice(variantsMax)];
  const rowsOf = await loadDecidingRows(
    tx,
    shopId,
    block.map((key) => key.variant_id),
  );
  await tx.batch([
    saveBlock(shopId, from, version, blockOf(block, rowsOf)),
    ...(rest === undefined
      ? []
      : [saveBlock(shopId, { name_from: rest.product_name, variant_from: rest.variant_id }, ...unmade)]),
  ]);
  return rest !== undefined || (await areBlocksBehind(tx, shopId));
}

interface Blocks {
  /** In the order of their variants. */
  readonly blocks: readonly StoredBlock[];
  /** Variants of which blocks may hold what is no longer so, or not all, or in two places. */
  readonly changed: ReadonlySet<string>;
}

/** The shop's blocks. Null: there are none, or too much was changed since. */
export async function loadBlocks(tx: Tx, shopId: string): Promise<Blocks | null> {
  const [version, oldest] = await Promise.all([blockVersion(tx, shopId), oldestVersion(tx, shopId)]);
  if (version === null || oldest?.epoch !== version.epoch) return null;
  const changed = await variantsChangedSince(tx, shopId, oldest);
  if (changed === null) return null;
  const blocks = await tx.all<StoredBlock>(
    "select names, numbers from forecast_block where shop_id = ? order by name_from, variant_from",
    [shopId],
  );
  return { blocks, changed: new Set(changed) };
}
