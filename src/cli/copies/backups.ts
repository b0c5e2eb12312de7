/**
 * The commands that write a backup and restore one.
 */
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { hourMs } from "../../base/time/calendar.ts";
import type { Config } from "../../service/config.ts";
import type { Arguments } from "../arguments.ts";
import { CommandError, exitCodes, usageError } from "../errors.ts";
import {
  type CommandContext,
  commonOptions,
  helpOption,
  progressOption,
  type RunnableCommand,
  wholeNumber,
  withOperator,
} from "../command.ts";
import { bytesShown } from "../output.ts";

/** @throws CommandError when the data is in a database. */
function refuseOnDatabase({ database }: Config): void {
  if (database !== null)
    throw new CommandError(exitCodes.failed, "the shops are in a database: back up the database instead.", {
      action:
        "Use pg_dump or your provider's backups (docs/operating.md). For one shop use openpo export, for a data directory --data-dir.",
    });
}

const followEverySeconds = 60;
const followKeptHours = 168;

export const backup: RunnableCommand = {
  name: "backup",
  parameters: ["DIR"],
  summary: "copy every shop into a new directory, while the server runs",
  details: `The backup contains everything that was acknowledged before it began. DIR becomes a data directory: restore it, or serve from it.
The admin token is not in it: a server on DIR makes one of its own.

With --follow DIR gets what has changed again and again, so that openpo restore can go back to a time (--at). What is lost at most is what was
changed since the last look began: the seconds of --every and the time that a look takes.`,
  options: {
    follow: { value: null, help: "go on copying what changes into DIR, beside the server, until SIGTERM" },
    every: { value: "SECONDS", help: `with --follow: seconds between two looks (${followEverySeconds})` },
    keep: { value: "HOURS", help: `with --follow: how far back a time can be restored (${followKeptHours})` },
    once: { value: null, help: "with --follow: end after one look" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, context) {
    if (args.flag("follow")) return await follow(args, context);
    for (const option of ["every", "keep"])
      if (args.text(option) !== null || args.flag("once"))
        throw usageError("--every, --keep and --once are for --follow.", "See openpo backup --help.");
    if (context.url === null) refuseOnDatabase(context.config);
    await withOperator(context, async (_ask, operator) => {
      const { writeBackup } = await import("./backup.ts");
      const written = await writeBackup(operator, args.parameter(0), context.output);
      const count = `${written.shops.length} ${written.shops.length === 1 ? "shop" : "shops"}`;
      context.output.result(written, `A backup of ${count}, ${bytesShown(written.bytes)}, is in ${written.directory}.`);
    });
  },
};

export const restore: RunnableCommand = {
  name: "restore",
  parameters: ["DIR"],
  summary: "restore a backup into the data directory, or one shop of it into a running server",
  details: `Without --shop the server must be stopped, and the data directory must be empty unless --force is given. The backup is checked first; if it
is damaged, nothing is changed.

With OPENPO_DATABASE_URL, DIR is the address of another database, into which a backup of the database was restored: --shop takes the shop from
there, while nodes serve.

With --shop the server goes on, and serves all other shops meanwhile. The shop's orders, catalogue and settings of documents become those of
the backup. Keys, people, webhooks, the audit log and what its storefront and suppliers have received stay as they are now. The command
says what is undone and where somebody has to look. Where the shop's file of before is kept is said too; it can be restored in the same way:

  openpo restore /backups/monday --shop tideline --confirm tideline`,
  options: {
    shop: { value: "SHOP_ID", help: "restore this shop alone; DIR may be its file" },
    at: {
      value: "TIME",
      help: "of a directory of backup --follow: as of the last look before, like 2026-11-23T09:30:00Z (its newest)",
    },
    confirm: { value: "SHOP_ID", help: "with --shop: the shop's id again, if the shop is there" },
    damaged: {
      value: null,
      help: "with --shop: what the shop holds now cannot be read; take keys and everything else from the backup too",
    },
    force: { value: null, help: "replace what is in the data directory; it is lost" },
    ...commonOptions,
    ...progressOption,
    ...helpOption,
  },
  async run(args, context) {
    const shopId = args.text("shop");
    await withBackup(args, context, async (directory) => {
      if (shopId === null) await restoreAll(args, context, directory);
      else await restoreOneShop(args, context, directory, shopId);
    });
  },
};

/** Uses the backup that is named, or puts one together from what was followed. */
async function withBackup(
  args: Arguments,
  { output }: CommandContext,
  use: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = args.parameter(0);
  const at = args.text("at");
  const { isFollowed, assemble, dropAssembled } = await import("./followed-backup.ts");
  if (!isFollowed(directory)) {
    if (at !== null) throw usageError(`--at is for a directory of openpo backup --follow.`, `${directory} is none.`);
    return await use(directory);
  }
  const atMs = at === null ? null : Date.parse(at);
  if (atMs !== null && Number.isNaN(atMs))
    throw usageError(`--at ${at}: must be a time like 2026-11-23T09:30:00Z.`, "See openpo restore --help.");
  const target = await mkdtemp(path.join(directory, "assembled-"));
  try {
    const { asOfMs, round, behind } = await assemble(directory, target, { atMs, shopId: args.text("shop") });
    output.message(`As of ${new Date(asOfMs).toISOString()}, look ${round}: what was acknowledged before is in it.`);
    for (const each of behind)
      output.message(
        `Shop ${each.shopId} could not be copied for longer: it is as of ${new Date(each.asOfMs).toISOString()}.`,
      );
    await use(target);
  } finally {
    await dropAssembled(target);
  }
}

async function restoreAll(args: Arguments, { config, output }: CommandContext, directory: string): Promise<void> {
  for (const option of ["confirm", "url", "token"])
    if (args.text(option) !== null)
      throw usageError(`--${option} is for the restore of one shop.`, "Add --shop, or see openpo restore --help.");
  refuseOnDatabase(config);
  const { restoreBackup } = await import("./backup.ts");
  const restored = await restoreBackup(directory, config.dataDir, args.flag("force"), output);
  const count = `${restored.shops.length} ${restored.shops.length === 1 ? "shop" : "shops"}`;
  const token = restored.adminToken ? "" : " It prints the admin token, unless OPENPO_ADMIN_TOKEN gives it.";
  output.result(restored, `${count} restored into ${restored.dataDir}. Start with openpo serve.${token}`);
}

/** One shop, into a server that runs, or into a data directory without one. */
async function restoreOneShop(
  args: Arguments,
  context: CommandContext,
  directory: string,
  shopId: string,
): Promise<void> {
  const { output, url, config } = context;
  if (args.flag("force"))
    throw usageError("--force is for a whole data directory.", "To replace the shop, repeat its id: --confirm.");
  if (url === null && config.database !== null) {
    const { restoreShopFromDatabase } = await import("./restore-shop.ts");
    const restoreInput = { shopId, confirm: args.text("confirm"), output };
    const restored = await restoreShopFromDatabase(config.database, directory, restoreInput);
    output.result(restored.data, restored.text);
    return;
  }
  await withOperator(
    context,
    async (_ask, operator) => {
      const { restoreShop } = await import("./restore-shop.ts");
      const restored = await restoreShop(operator, directory, shopId, {
        confirm: args.text("confirm"),
        isDamaged: args.flag("damaged"),
        output,
      });
      output.result(restored.data, restored.text);
    },
    true,
  );
}

/** Copies what changes, until the process is told to stop. */
async function follow(args: Arguments, context: CommandContext): Promise<void> {
  const { config, output } = context;
  refuseOnDatabase(config);
  if (context.url !== null)
    throw usageError("--follow needs the data directory, to see what has changed.", "Leave out --url.");
  const everyMs = (wholeNumber(args, "every", backup) ?? followEverySeconds) * 1_000;
  const keptMs = (wholeNumber(args, "keep", backup) ?? followKeptHours) * hourMs;
  const { followBackup } = await import("./follow-loop.ts");
  const options = { directory: args.parameter(0), everyMs, keptMs, isOnce: args.flag("once") };
  const { polls, rounds, bytes } = await followBackup(context, options);
  output.result(
    { directory: options.directory, looks: polls, rounds, bytes },
    `${polls} looks, ${bytesShown(bytes)} copied.`,
  );
}
