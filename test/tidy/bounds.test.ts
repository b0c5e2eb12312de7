/**
 * Holds the tables of bounds in docs/limits.md: every constant of the source whose name says that it is a size, a count
 * or a time stands there with its value and is named by a test, or stands below with the reason why it need not.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const textOf = (file: string): string => readFileSync(file, "utf8");

const page = textOf("docs/limits.md");
const namesTold = new Set([...page.matchAll(/`([a-z]\w+[A-Z]\w*)`/g)].map(([, name = ""]) => name));

/** The rows that tell a bound with its value, by name. */
const units: Readonly<Record<string, number>> = { "": 1, bytes: 1, ms: 1, s: 1_000, min: 60_000, days: 86_400_000 };
const told = new Map(
  [...page.matchAll(/^\|[^|]+\| `(\w+)` *\| ([\d,]+) ?(\w*) *\|/gm)].map(([, name = "", value = "", unit = ""]) => [
    name,
    Number(value.replaceAll(",", "")) * (units[unit] ?? Number.NaN),
  ]),
);

/** A constant of a module, outside functions. */
interface Constant {
  readonly file: string;
  readonly name: string;
  /** As the source has it. */
  readonly value: string;
}

const named = /^(?:export )?const (\w+(?:Max|Ms|Bytes|Min))(?:: \w+)? = ([^;]+);/gm;

/** The constants of a source that are named like a bound; functions and lists are none. */
const constantsIn = (file: string, source: string): readonly Constant[] =>
  [...source.matchAll(named)]
    .map(([, name = "", value = ""]) => ({ file, name, value }))
    .filter(({ value }) => !/=>|^\[/.test(value));

const constants = globSync("src/**/*.ts")
  .toSorted()
  .flatMap((file) => constantsIn(file.slice("src/".length), textOf(file)));

test("docs/limits.md tells each bound with the value of the one constant of the source that has its name", () => {
  assert.ok(told.size > 150, String(told.size));
  const source = globSync("src/**/*.ts", { exclude: ["src/main.ts"] })
    .map(textOf)
    .join("\n");
  const values = Map.groupBy(
    source.matchAll(/^(?:export )?const (\w+)(?:: \w+)? = ([\d_]+);$/gm),
    ([, name = ""]) => name,
  );
  const inSource = [...told.keys()].map((name) => {
    const found = (values.get(name) ?? []).map(([, , value = ""]) => Number(value.replaceAll("_", "")));
    return [name, found.length === 1 ? found[0] : found];
  });
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(inSource));
});

test("every bound in docs/limits.md is named by a test, which drives it", () => {
  assert.ok(namesTold.size > 100, String(namesTold.size));
  const tests = globSync("test/**/*.test.ts", { exclude: ["test/node_modules/**", "test/tidy/**"] })
    .map(textOf)
    .join("\n");
  const tested = new Set(tests.match(/\b[a-z]\w+\b/g));
  const untested = [...namesTold].filter((name) => !tested.has(name));
  const faults = untested.map((name) => `${name} has no test: name it in one that fails when the bound is taken out.`);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
});

/** What is named like a bound and has no row, by the reason; each entry is a module of src and its constants. */
const withoutRow: Readonly<Record<string, readonly string[]>> = {
  "a limit of a field, a parameter or a page, which openapi.json and admin-openapi.json tell": [
    "admin/access/audit-log.ts auditPageMax",
    "operations/agent/variants.ts suppliersShownMax",
    "admin/events.ts eventPageMax",
    "admin/storefront/sandbox.ts faultDelayMsMax faultsMax variantIdsMax levelsMax",
    "admin/shops.ts waitMsMax confirmationWaitMsMax rateCapacityMax retentionDaysMax nameMax",
    "admin/storefront/storefront.ts secretMax",
    "admin/webhooks.ts urlLengthMax descriptionMax overlapHoursMax deliveryPageMax",
    "service/option-values.ts adminTokenMin adminTokenCharactersMin fromNameMax",
    "core/order/advice/attention.ts unconfirmedDaysMax",
    "core/forecast/forecast.ts horizonPeriodsMax",
    "admin/access/connections.ts parameterMax",
    "connect/app.ts oauthBodyBytesMax",
    "connect/authorize.ts stateLengthMax",
    "connect/clients.ts clientNameMax redirectUrisMax clientIdLengthMax documentsKeptMax clockAheadMs",
    "core/access/redirects.ts redirectLengthMax",
    "core/access/idempotency.ts idempotencyKeyLengthMax",
    "core/supplier/mail.ts addressLengthMax mailRecipientsMax mailSubjectMax mailMessageMax mailAttachedBytesMax mailsPerHourMax",
    "core/money/money.ts quantityDecimalsMax moneyDecimalsMax fxRateDecimalsMax quantityMax unitCostMax totalValueMax fxRateMax",
    "core/order/purchase-order.ts bulkLinesMax",
    "documents/logo.ts pathsMax",
    "documents/pdf.ts footerLinesMax",
    "exchange/records/console-views.ts viewQueryMax",
    "exchange/records/document-settings.ts footerMax base64Max",
    "exchange/records/forecast-views.ts viewFilterMax",
    "exchange/records/manufacturing-orders.ts linkedOrdersMax",
    "http/routes.ts pathValueLengthMax",
    "operations/agent/reorder.ts reorderVariantsMax",
    "admin/access/approval-rules.ts ruleNameMax",
    "core/access/approvals.ts approvalDaysMax",
    "operations/fields.ts idMax shortTextMax productNameMax urlMax noteMax searchMax supplierVariantDetailsMax leadTimeDaysMax listParameterMax pageSizeMax pathValueMax instantLengthMax",
    "operations/forecast-views.ts rowsPageMax",
    "operations/manufacturing-orders.ts productionLocationsMax",
    "operations/purchase-orders/json.ts poNameMax tagMax tagsMax",
    "people/app.ts secretMax",
    "shop/supplier/mails.ts listedMax",
  ],
  "what a text or a list shows: the rest is counted, or stands elsewhere": [
    "admin/supplier/mails.ts failedListedMax",
    "admin/supplier/supplier-proposals.ts waitingListedMax",
    "cli/shops/audit-chain.ts findingsShownMax",
    "cli/copies/restore-shop.ts shownMax",
    "core/events/events.ts eventLinesMax",
    "core/goods/goods.ts namedLinesMax",
    "core/supplier/mail.ts wordsMax",
    "core/order/status-move.ts idsInMessageMax",
    "core/supplier/supplier-proposals.ts namedLinesMax",
    "core/order/replaced.ts replacedChangesMax",
    "exchange/file-format.ts shownLengthMax",
    "exchange/import-run.ts recordsNamedMax",
    "exchange/staging.ts namedLengthMax",
    "mcp/answers.ts changedLinesMax warningsApartMax",
    "mcp/cut-lists.ts textLengthMax cutLengthMax",
    "mcp/resources/order-view.ts shownLinesMax",
    "mcp/schemas.ts maximumShownMax",
    "requests/input.ts spelledOutMax",
    "base/json.ts searchedForPlaceMax",
    "operations/purchase-orders/goods/cost-sync.ts namedVariantsMax",
    "core/order/advice/warnings.ts codeVariantsMax namedLinesMax",
    "operations/purchase-orders/goods/guard.ts namedIssuesMax",
    "jobs/outbox/step.ts namedProblemsMax",
    "shop/order/changes.ts changesCountedMax",
    "shop/restore.ts listedMax",
    "webhooks/sender.ts countedMax",
  ],
  "a unit, a format or a figure of a rule: no bound": [
    "cli/copies/follow.ts stampMs",
    "core/access/api-key.ts apiKeyRandomBytes",
    "base/time/calendar.ts minuteMs hourMs dayMs zoneMsMax",
    "core/forecast/demand.ts intermittentShareMax silentWeeksMax",
    "core/events/events.ts headBytesMax",
    "core/forecast/forecast.ts stockoutDaysMax",
    "base/json.ts cheapLengthMax integerMax",
    "core/access/rate-limit.ts clocksApartMsMax",
    "base/secret.ts secretRandomBytes",
    "core/access/passkey.ts challengeRandomBytes",
    "connect/tokens.ts saltBytes",
    "base/text/shown-path.ts readLengthMax",
    "core/events/webhooks.ts secondMs",
    "service/data-directory.ts adminTokenBytes",
    "documents/logo.ts filterMax",
    "exchange/csv-values.ts exactDigitsMax",
    "cli/copies/followed-backup.ts extentBytes",
    "mcp/message.ts keysReadMax",
    "requests/audit/audit-trail.ts ordersPerMs",
    "shop/audit/audit-retention.ts retentionRowsMax underWayMs",
    "requests/remembered/remembered-answers.ts besideBytes",
    "shop/order/purchase-orders.ts rememberedHeaderBytes rememberedLineBytes",
    "base/time/steady-clock.ts caughtUpMsMax reportedBackMsMin",
    "store/background-thread.ts nicenessMax",
    "store/in-lists.ts inListMax",
    "store/cache.ts entryBytes",
    "store/postgres/connection.ts serverVersionMin",
    "base/secret-box.ts keyBytes nonceBytes tagBytes",
    "base/text/language.ts acceptedMax",
    "base/time/system.ts halfBytes",
    "webhooks/signature.ts secretBytes",
  ],
  "a bound of an option, which docs/operating.md tells under Environment": [
    "service/memory-limits.ts followingConnectionsMax",
    "service/option-values.ts memoryMegabytesMin usualMegabytesMax",
  ],
  "a document's look": [
    "documents/code-128.ts code128Max",
    "documents/pdf.ts logoWidthMax logoHeightMax moduleMin moduleMax barcodeWidthMax descriptionMin",
  ],
  "a pause between two looks or tries, and how long an answer asks to wait": [
    "admin/app.ts signedInCheckMs",
    "admin/storefront/storefront.ts retryAfterMs",
    "admin/webhooks.ts testWaitMs testPollMs",
    "cli/output.ts terminalEveryMs lineEveryMs",
    "cli/shops/storefronts.ts pullPollMs",
    "core/supplier/mail.ts retryDelayMs retryDelayMsMax mailDueAheadMsMax",
    "core/events/webhooks.ts dueAheadMsMax",
    "service/data-directory.ts timeKeptEveryMs",
    "documents/drawing-threads.ts retryAfterMs",
    "exchange/import-run.ts renewMs pollMs",
    "http/node/admission.ts windowMs",
    "mcp/progress.ts progressEveryMs",
    "mail/sender.ts answerPollMs otherNodePollMs sweepEveryMs",
    "operations/purchase-orders/goods/cost-sync.ts overtakenMax",
    "operations/purchase-orders/goods/guard.ts linesAddedRetryAfterMs",
    "operations/purchase-orders/goods/in-flight.ts inFlightRetryAfterMs",
    "operations/purchase-orders/goods/order-claim.ts claimRenewMs",
    "operations/approvals/approve.ts changedRetryAfterMs",
    "operations/purchase-orders/send.ts changedRetryAfterMs",
    "operations/purchase-orders/goods/stock-sync.ts pollMinMs pollMaxMs",
    "requests/write/dry-run.ts lookUpRoundsMax changedRetryAfterMs",
    "jobs/outbox/lane.ts sweepEveryMs",
    "jobs/outbox/limits.ts dueAheadMsMax otherNodeCheckMs",
    "jobs/due-search.ts dueSearchMs",
    "jobs/outbox/shop-loop.ts laterPollMs",
    "jobs/runner.ts storePauseMs rememberedMsMax",
    "service/sizes.ts measuredEveryMs",
    "store/engine-rules.ts unavailableRetryMs",
    "store/fair-queue.ts suggestedWaitMsMin",
    "store/queue.ts suggestedWaitMsMin",
    "store/postgres/connection.ts unavailableRetryMs overloadedRetryMs",
    "store/postgres/coordination.ts renewMs releasePauseMs",
    "store/postgres/database-clock.ts measuredEveryMs",
    "store/postgres/engine.ts outcomePauseMs unknownRetryMs",
    "store/postgres/presence.ts beatMs gapMs",
    "store/postgres/schema.ts pauseMs quietPauseMs",
    "store/sqlite/engine.ts replacedRetryMs",
    "store/sqlite/schema.ts newerVersionRetryMs",
    "storefront/calls.ts storedEveryMs",
    "storefront/http.ts throttledMs",
    "storefront/pause.ts throttledPauseMsMin throttledPauseMsMax",
    "webhooks/sender.ts countedEveryMs",
  ],
  "how long something holds or is kept": [
    "admin/access/people.ts invitationMs invitationKeptMs",
    "core/supplier/mail.ts mailWindowMs mailTriedForMs failedMailKeptMs",
    "core/supplier/supplier-links.ts supplierLinkMs supplierLinkKeptMs",
    "exchange/import-run.ts leaseAheadMsMax",
    "mcp/protocol.ts listLifetimeMs",
    "operations/purchase-orders/goods/order-claim.ts claimLeaseMs",
    "requests/audit/refusals.ts countedForMs",
    "requests/sessions.ts sessionIdleMs bearerMs",
    "shop/storefront/cost-sync.ts costWriteMsMax",
    "shop/storefront/effects.ts leaseAheadMsMax",
    "shop/storefront/storefront-pulls.ts leaseAheadMsMax",
    "store/postgres/coordination.ts leasesAheadMax",
    "store/postgres/engine.ts fullForMs",
    "store/sqlite/engine.ts fullForMs readyBytes",
    "webhooks/sender.ts quickMs",
  ],
  "a share of longer work that one turn, one step or one thread takes: the rest follows or goes elsewhere": [
    "admin/events.ts pollEventsMax",
    "admin/webhooks.ts sliceMax",
    "cli/copies/follow.ts readBytes",
    "service/data-directory.ts openFilesMax",
    "exchange/csv.ts batchBytes",
    "exchange/import-chunks.ts plannedRowsMax",
    "exchange/records/read-only.ts pagePartsMax",
    "exchange/staging.ts discardMax",
    "http/node/reply.ts textMax",
    "http/rest.ts compressedBytesMin",
    "mcp/large-answers.ts answerOnLoopMax",
    "operations/agent/attention.ts ordersOnLoopMax",
    "operations/agent/report.ts ordersOnLoopMax",
    "operations/catalogue/figures.ts summedOnLoopMax",
    "requests/audit/audit.ts rowsTogetherMax",
    "requests/envelope.ts bytesMin",
    "operations/forecast-views.ts cellsOnLoopMax",
    "requests/idempotency.ts compressedAsideBytesMin oldestMax",
    "requests/remembered/remembered-answers.ts dictionaryLengthMax",
    "requests/loop-limits.ts linesOnLoopMax rowsOnLoopMax entriesOnLoopMax variantsOnLoopMax",
    "operations/purchase-orders/goods/stock-sync.ts pushesPerPollMax",
    "jobs/outbox/joined-steps.ts stepsMax callAwaitedMsMax",
    "threads/reader-pool.ts youngMegabytesMax",
    "threads/thread-pool.ts idleMsMax threadMegabytesMax",
    "shop/audit/audit-journal.ts rowsTogetherMax",
    "shop/events/deliveries.ts claimMax",
    "shop/forecast/demand.ts settledVariantsMax",
    "shop/storefront/effects.ts dueMax runMax retriedMax",
    "shop/catalogue/pulled-records.ts sweptMax sweptSalesMax",
    "shop/order/purchase-orders.ts pageLinesMax",
    "store/postgres/joined-rows.ts joinedMin joinedMax sharedMin",
    "store/loop-share.ts lateStepsMax",
    "store/sqlite/door.ts readsPerRoundMax",
    "store/sqlite/file.ts defaultWalPagesMax",
    "webhooks/sender.ts parkedMax shopsAtOnceMax",
    "jobs/outbox/runner.ts recoveriesMax",
  ],
  "a wait of the program for itself or for other nodes, after which it goes on in another way": [
    "cli/admin-client.ts healthMsMax",
    "documents/content.ts readingsMax",
    "http/node/connections.ts lingerMs",
    "http/node/reply.ts unwantedBodyMs",
    "operations/purchase-orders/goods/guard.ts guardAttemptsMax",
    "operations/approvals/approve.ts approvedTriesMax",
    "operations/purchase-orders/send.ts documentAttemptsMax",
    "requests/perform.ts decidedTriesMax",
    "store/postgres/connection.ts maintenanceMsMax sharingTriesMax",
    "store/postgres/engine.ts outcomeMsMax",
    "store/postgres/first-start.ts firstStartMsMax",
    "store/postgres/schema.ts triesMax quietMsMax quietTriesMsMax",
    "store/sqlite/reader.ts readerLockMsMax",
    "storefront/pause.ts throttledSendsMax checkMsMax",
    "webhooks/names.ts tryMs",
  ],
  "how a storefront is asked: what it takes in one call, and how often it is asked again": [
    "jobs/outbox/steps/stock-push.ts showMsMax",
    "shop/storefront/storefront-pulls.ts overlapMs salesReachMs",
    "storefront/medusa/client.ts requestsAtOnceMax",
    "storefront/medusa/costs-and-tags.ts productsPerCallMax",
    "storefront/medusa/levels.ts levelsPerCallMax",
    "storefront/medusa/on-hand.ts lockMs lockLeftMsMin lockWaitMsMax lockPollMs replansMax",
    "storefront/medusa/pull.ts locationsPerCallMax",
    "storefront/medusa/variants.ts idsPerCallMax",
    "storefront/sandbox/calls.ts sandboxTimeoutMs sandboxThrottleMs",
    "storefront/shopify/adjust.ts changesPerCallMax keyHoldsMs concurrentMs",
    "storefront/shopify/bulk.ts pieceBytes pieceMsMax pollMs pollMsMax busyMs",
    "storefront/shopify/on-hand.ts levelSlackMs",
    "storefront/shopify/token.ts renewAheadMs renewalMs renewalPauseMs pollMs unsaidMs",
    "storefront/shopify/variants.ts idsPerQueryMax",
  ],
  "a memory that makes work cheaper: what does not fit is looked up again": [
    "shop/forecast/reorder-block-tables.ts blockedVariantsMin changedSinceBlocksMax",
    "shop/order-list/order-search.ts togetherMax",
    "shop/order-list/sealing.ts recentMax recentMin sealOrdersMax",
    "shop/order-list/segment.ts segmentOrdersMax",
    "shop/order-list/segment-upkeep.ts fillWaitMs retryAfterMs",
    "shop/forecast/forecast-version.ts notedMax changedDecidedMax",
    "store/change.ts formsMax",
    "store/postgres/late-rows.ts wordsMax",
    "storefront/shopify/costs-and-tags.ts costKeptMs currencyKeptMs",
    "storefront/shopify/variants.ts activeKeptMs",
    "webhooks/sender.ts withoutMs",
  ],
};

const excused = new Set(
  Object.values(withoutRow)
    .flat()
    .flatMap((entry) => {
      const [file = "", ...names] = entry.split(" ");
      return names.map((name) => `${file} ${name}`);
    }),
);

const lacking = (found: readonly Constant[]): readonly string[] =>
  found.filter(({ file, name }) => !namesTold.has(name) && !excused.has(`${file} ${name}`)).map(({ name }) => name);

test("a constant that is named like a bound has a row in docs/limits.md, or a reason here", () => {
  const faults = lacking(constants).map((name) => `${name} has no row in docs/limits.md, and no reason in this test.`);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
  const there = new Set(constants.map(({ file, name }) => `${file} ${name}`));
  assert.deepEqual(
    [...excused].filter((entry) => !there.has(entry) || namesTold.has(entry.split(" ")[1] ?? "")),
    [],
    "these are gone, or have a row",
  );
});

test("a private bound without a row is found", () => {
  const found = constantsIn(
    "http/x.ts",
    "const heldMax = 3;\n\nexport const waitMs: number = 60 * 1_000;\nconst aMax = (): 1 => 1;\n",
  );
  assert.deepEqual(lacking(found), ["heldMax", "waitMs"]);
});
