/**
 * The commands on the chain of hashes over the audit log: verify it, show its head, export it (docs/audit.md).
 */
import type { Ask } from "../../admin/ask.ts";
import { memberOf, type JsonObject } from "../../base/json.ts";
import { CommandError, exitCodes, usageError } from "../errors.ts";
import {
  commonOptions,
  dataOf,
  given,
  progressOption,
  type RunnableCommand,
  shopOption,
  withOperator,
} from "../command.ts";
import { listIn, shown, table } from "../output.ts";
import { exporting } from "./records.ts";

/** Findings that are kept of a shop; more are counted. */
const findingsShownMax = 20;

const oneShop = { shop: { ...shopOption.shop, help: "only this shop (all)" } };

/** The shop that was named, or all. */
async function shopsOf(ask: Ask, shopId: string | null): Promise<readonly string[]> {
  if (shopId !== null) return [shopId];
  return listIn(dataOf(await ask("shop_list", {})), "shops").map((shop) => String(memberOf(shop, "shopId")));
}

const pointShown = (point: unknown): string =>
  `${shown(memberOf(point, "position"))}:${shown(memberOf(point, "hash"))}`;

/** Findings of a shop's verification. */
interface Verified {
  readonly shopId: string;
  readonly findings: readonly unknown[];
  readonly found: number;
  readonly links: number;
  readonly rows: number;
  readonly unchainedRows: number;
  readonly chain: unknown;
  readonly notedHead: unknown;
}

/** Verifies a shop's log slice by slice. */
async function verified(
  ask: Ask,
  input: JsonObject & { readonly shopId: string },
  progress: (text: string) => void,
): Promise<Verified> {
  const findings: unknown[] = [];
  const sums = { found: 0, links: 0, rows: 0, unchainedRows: 0 };
  let notedHead: unknown = null;
  let chain: unknown = null;
  let cursor: string | null = null;
  do {
    const data = dataOf(await ask("audit_log_verify", { ...input, ...given({ cursor }) }));
    // A row that was changed may be in no link any more, which is told of it once more.
    const slice = listIn(data, "findings").filter((finding) => {
      const auditId = memberOf(finding, "auditId");
      return auditId === null || !findings.some((found) => memberOf(found, "auditId") === auditId);
    });
    findings.push(...slice.slice(0, findingsShownMax));
    sums.found += slice.length;
    for (const count of ["links", "rows", "unchainedRows"] as const) sums[count] += Number(memberOf(data, count));
    chain = memberOf(data, "chain");
    notedHead ??= memberOf(data, "notedHead");
    const next = memberOf(data, "cursor");
    cursor = typeof next === "string" ? next : null;
    progress(`${input.shopId}: ${sums.rows} rows verified`);
  } while (cursor !== null);
  return { shopId: input.shopId, findings: inOrder(findings).slice(0, findingsShownMax), ...sums, chain, notedHead };
}

/**
 * The first row first. Rows' ids are in the order of time; what is known by its place alone stays before those of its
 * place.
 */
const inOrder = (findings: readonly unknown[]): readonly unknown[] => {
  const isNamed = (finding: unknown): boolean => typeof memberOf(finding, "auditId") === "string";
  const idOf = (finding: unknown): string => String(memberOf(finding, "auditId"));
  const named = findings
    .filter(isNamed)
    .sort((one, other) => (idOf(one) < idOf(other) ? -1 : Number(idOf(one) > idOf(other))));
  return [...named, ...findings.filter((finding) => !isNamed(finding))];
};

const kinds: Readonly<Record<string, string>> = {
  changed: "was changed",
  "put-in": "was put in",
  "taken-out": "was taken out",
};

function findingShown(finding: unknown): string {
  const [auditId, at, position] = ["auditId", "at", "position"].map((name) => memberOf(finding, name));
  const kind = kinds[String(memberOf(finding, "kind"))] ?? "";
  const what = typeof auditId === "string" ? `row ${auditId}` : "a part of the chain";
  const where = [
    ...(typeof at === "string" ? [`of ${at}`] : []),
    ...(typeof position === "number" ? [`link ${position}`] : []),
  ];
  return `${what} ${kind}${where.length === 0 ? "" : ` (${where.join(", ")})`}: ${String(memberOf(finding, "message"))}`;
}

const notedShown: Readonly<Record<string, string>> = {
  confirmed: "The chain leads through the head that was given.",
  pruned: "The head that was given is older than what is kept; there is nothing to compare it with.",
  changed: "THE HEAD THAT WAS GIVEN IS NOT IN THIS CHAIN: what was written until then was changed, with its hashes.",
  "taken-out": "THE CHAIN DOES NOT REACH THE HEAD THAT WAS GIVEN: its end was taken out, or an older backup restored.",
};

const isSound = ({ found, notedHead }: Verified): boolean =>
  found === 0 && notedHead !== "changed" && notedHead !== "taken-out";

function verifiedShown(verification: Verified): string {
  const { shopId, findings, found, links, rows, unchainedRows, chain, notedHead } = verification;
  const anchor = memberOf(chain, "anchor");
  const [first] = findings;
  const prunedAt = memberOf(anchor, "prunedAt");
  return [
    first === undefined
      ? `${shopId}: ${rows} rows in ${links} links are as they were written.`
      : `${shopId}: FIRST ${findingShown(first)}`,
    ...findings.slice(1).map((finding) => `  Then ${findingShown(finding)}`),
    ...(found > findings.length ? [`  And ${found - findings.length} more.`] : []),
    ...(typeof prunedAt === "string"
      ? [
          `  Verified from link ${Number(memberOf(anchor, "position")) + 1} on; what is before it was deleted by ${prunedAt}, as too old.`,
        ]
      : []),
    ...(unchainedRows > 0
      ? [`  ${unchainedRows} rows are from before the chain began; nothing is known of them.`]
      : []),
    ...(typeof notedHead === "string" ? [`  ${notedShown[notedHead] ?? notedHead}`] : []),
    `  Head: ${pointShown(memberOf(chain, "head"))}`,
  ].join("\n");
}

export const auditVerify: RunnableCommand = {
  name: "audit verify",
  parameters: [],
  summary: "check that nobody has changed the audit log, put rows in or taken rows out",
  details: `Names the first row that is not as it was written, and ends with status 1. The server may run meanwhile.
Somebody who can write to the database can rewrite rows together with all hashes after them. Note the head now and then where they cannot
write (openpo audit head; the log tells it once a day), and give it with --head: then nothing from before it can have been rewritten.`,
  options: {
    ...oneShop,
    head: { value: "POSITION:HASH", help: "a head that was noted earlier; needs --shop" },
    ...progressOption,
    ...commonOptions,
  },
  async run(args, context) {
    const { output } = context;
    const [shop, head] = [args.text("shop"), args.text("head")];
    if (head !== null && shop === null) throw usageError("--head needs --shop.", "See openpo audit verify --help.");
    await withOperator(context, async (ask) => {
      const results: Verified[] = [];
      for (const shopId of await shopsOf(ask, shop))
        results.push(await verified(ask, { shopId, ...given({ head }) }, (text) => output.progress(text)));
      const unsound = results.filter((each) => !isSound(each));
      output.result(
        { shops: results.map((each) => ({ ...each, isSound: isSound(each) })) },
        results.map(verifiedShown).join("\n") || "There are no shops.",
      );
      if (unsound.length > 0)
        throw new CommandError(
          exitCodes.failed,
          `the audit log of ${unsound.map(({ shopId }) => shopId).join(", ")} is not as it was written.`,
          { action: "Compare it with a backup, and find out who can write to the data (docs/audit.md)." },
        );
    });
  },
};

export const auditHead: RunnableCommand = {
  name: "audit head",
  parameters: [],
  summary: "show the newest hash of each shop's audit log, to be noted elsewhere",
  options: { ...oneShop, ...commonOptions },
  async run(args, context) {
    await withOperator(context, async (ask) => {
      const heads: { readonly shopId: string; readonly chain: unknown }[] = [];
      for (const shopId of await shopsOf(ask, args.text("shop")))
        heads.push({ shopId, chain: memberOf(dataOf(await ask("audit_log_chain", { shopId })), "chain") });
      const rows = heads.map(({ shopId, chain }) => {
        const head = memberOf(chain, "head");
        return [shopId, pointShown(head), memberOf(head, "at")];
      });
      context.output.result(
        { shops: heads },
        rows.length === 0 ? "There are no shops." : table(["SHOP", "HEAD", "AT"], rows),
      );
    });
  },
};

export const auditExport = exporting({
  name: "audit export",
  summary: "export a shop's audit log with its hashes, for anybody to verify",
  details: "docs/audit.md describes the file and has a program that verifies it.",
  operation: "audit_log_export",
  what: "lines",
});
