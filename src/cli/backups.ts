/**
 * The commands that write a backup and restore one.
 */
import type { Config } from "../config.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { commonOptions, helpOption, progressOption, type RunnableCommand, withOperator } from "./command.ts";
import { bytesShown } from "./output.ts";

/** @throws CommandError when the data is in a database. */
function refuseOnDatabase({ database }: Config): void {
  if (database !== null)
    throw new CommandError(exitCodes.failed, "the shops are in a database: back up the database instead.", {
      action:
        "Use pg_dump or your provider's backups (docs/operating.md). For one shop use openpo export, for a data directory --data-dir.",
    });
}

export const backup: RunnableCommand = {
  name: "backup",
  parameters: ["DIR"],
  summary: "copy every shop into a new directory, while the server runs",
  details: `The backup contains everything that was acknowledged before it began. DIR becomes a data directory: restore it, or serve from it.
If the data directory keeps the admin token, it is copied too, so keep DIR as safe as the data.`,
  options: { ...progressOption, ...commonOptions },
  async run(args, context) {
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
  summary: "restore a backup into the data directory; the server must be stopped",
  details:
    "The data directory must be empty unless --force is given. The backup is checked first; if it is damaged, nothing is changed.",
  options: {
    force: { value: null, help: "replace what is in the data directory; it is lost" },
    "data-dir": commonOptions["data-dir"],
    json: commonOptions.json,
    ...progressOption,
    ...helpOption,
  },
  async run(args, { config, output }) {
    refuseOnDatabase(config);
    const { restoreBackup } = await import("./backup.ts");
    const restored = await restoreBackup(args.parameter(0), config.dataDir, args.flag("force"), output);
    const count = `${restored.shops.length} ${restored.shops.length === 1 ? "shop" : "shops"}`;
    output.result(restored, `${count} restored into ${restored.dataDir}. Start with openpo serve.`);
  },
};
