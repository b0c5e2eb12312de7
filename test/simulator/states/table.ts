/**
 * The states that stories must come to: a run of 1,000 seeds in which no seed reaches one of them fails by its name (count.ts). What a story no longer
 * reaches, the simulator no longer tries.
 *
 * Each is decided from what the simulation sees anyway. `rule` is what it tries, of docs/contract.md, docs/decisions or an invariant of a module.
 */
import { outboxLimits } from "../../../src/jobs/outbox/limits.ts";
import { answerOf } from "../../world/deeds.ts";
import type { StorefrontCall } from "./watch.ts";
import { isBeside, isFollowed, type ShopFacts, type Told } from "./facts.ts";

export interface State {
  readonly name: string;
  /** What must have happened. */
  readonly tells: string;
  readonly rule: string;
  /** Fewer than one in twenty seeds come to it: runs of fewer than 1,000 may miss it. */
  readonly isRare?: boolean;
  readonly isReached: (shop: ShopFacts) => boolean;
}

const { attemptsMax, callTimeLimitMs, leaseMs } = outboxLimits;

const isLost = ({ status }: Told): boolean => status === 0;
const isGood = ({ status }: Told): boolean => status >= 200 && status < 300;
const isRun = (told: Told): boolean => told.isDone && isGood(told) && !told.isReplay;

/** About requests and their keys. */
const ofRequests: readonly State[] = [
  {
    name: "lost answer replayed",
    tells: "A write is done, its answer is lost, and the repetition under its key gets it",
    rule: "C18",
    isReached: (shop) =>
      shop.isRepeated(
        (first) => isLost(first) && first.isDone,
        ({ isReplay }) => isReplay,
      ),
  },
  {
    name: "lost request run later",
    tells: "A write is lost before it is done, and its repetition does it",
    rule: "C20",
    isReached: (shop) => shop.isRepeated((first) => isLost(first) && !first.isDone, isRun),
  },
  {
    name: "done and nobody told",
    tells: "A write without a key is done, and its answer is lost for good",
    rule: "S2",
    isReached: (shop) => shop.isTold((told) => isLost(told) && told.isDone && told.idempotencyKey === null),
  },
  {
    name: "key in use",
    tells: "A repetition comes while the first attempt runs",
    rule: "C19",
    isReached: (shop) => shop.isTold(({ reason }) => reason === "IDEMPOTENCY_IN_PROGRESS"),
  },
  {
    name: "key of another answer",
    tells: "A key is sent that another request was answered under",
    rule: "C17",
    isReached: (shop) =>
      shop.isTold(({ reason, message }) => reason === "IDEMPOTENCY_KEY_REUSED" && !message.includes("still running")),
  },
  {
    name: "key of a running write",
    tells: "A key is sent under which another request is running",
    rule: "C19",
    isReached: (shop) =>
      shop.isTold(({ reason, message }) => reason === "IDEMPOTENCY_KEY_REUSED" && message.includes("still running")),
  },
  {
    name: "refusal replayed",
    tells: "A refusal by the order's state is told again under its key",
    rule: "C19",
    isReached: (shop) => shop.isTold(({ isReplay, status }) => isReplay && status >= 400),
  },
  {
    name: "guard's refusal replayed",
    tells: "The guard's refusal is told again under its key",
    rule: "C44",
    isRare: true,
    isReached: (shop) => shop.isTold(({ isReplay, code }) => isReplay && code === "INVENTORY_GUARD_ISSUES"),
  },
  {
    name: "replay after a power cut",
    tells: "An answer was told, the power fails, and the next process tells it again",
    rule: "S4",
    isReached: (shop) =>
      shop.isRepeated(
        isRun,
        (again, first) =>
          again.isReplay &&
          shop.course.watch.crashes.some(
            ({ withPower, atMs }) => !withPower && atMs > first.answeredMs && atMs < again.sentMs,
          ),
      ),
  },
  {
    name: "replay without a token",
    tells: "A replay is told while other requests are refused for their rate",
    rule: "C18",
    isRare: true,
    isReached: (shop) => {
      const refused = shop.told.filter(({ status }) => status === 429);
      return (
        refused.length > 0 && shop.isTold((told) => told.isReplay && refused.some((other) => isBeside(other, told)))
      );
    },
  },
  {
    name: "rate waited out",
    tells: "A write is refused for its rate, waits as it is told, and is done",
    rule: "C6",
    isReached: (shop) => shop.isRepeated(({ status }) => status === 429, isRun),
  },
  {
    name: "no room for an answer",
    tells: "A write is refused since the stored answers have their quota",
    rule: "C21",
    isRare: true,
    isReached: (shop) => shop.isTold(({ message }) => message.includes("stored answers")),
  },
  {
    name: "unchanged read",
    tells: "A reader asks for a newer order than it has, and there is none",
    rule: "C37",
    isRare: true,
    isReached: (shop) => shop.isTold(({ status }) => status === 304),
  },
  {
    name: "write of an older version",
    tells: "A write that is to change a version comes after another one",
    rule: "C37",
    isRare: true,
    isReached: (shop) => shop.isTold(({ status }) => status === 412),
  },
  {
    name: "list beside changes",
    tells: "A list of several orders is read while one of them changes",
    rule: "S1",
    isReached: (shop) => {
      const done = shop.told.filter(({ isDone }) => isDone);
      return shop
        .of("list")
        .some(
          (list) =>
            isGood(list) &&
            list.reply !== null &&
            (answerOf(list.reply).data?.purchaseOrders?.length ?? 0) > 1 &&
            done.some((other) => isBeside(list, other)),
        );
    },
  },
  {
    name: "unlogged read",
    tells: "A read is answered, and a crash takes its row of the audit log",
    rule: "D5",
    isReached: (shop) => {
      const logged = new Set(shop.rows("audit_log").map((row) => row["request_id"]));
      return shop.course.kills > 0 && shop.of("read").some((read) => isGood(read) && !logged.has(read.requestId));
    },
  },
];

/** About orders. */
const ofOrders: readonly State[] = [
  {
    name: "partial confirmation taken back",
    tells: "An order is partially confirmed, and is then Sent again",
    rule: "C24",
    isReached: (shop) =>
      shop.orders.some((events) =>
        isFollowed(
          events,
          ({ type }) => type === "purchase_order.partially_confirmed",
          ({ data }) => data.status.to === "Sent",
        ),
      ),
  },
  {
    name: "all goods taken back",
    tells: "Goods are received, and all of them are taken back",
    rule: "C26",
    isReached: (shop) =>
      shop.orders.some((events) =>
        isFollowed(
          events,
          ({ type }) => type.endsWith("received"),
          ({ type, data }) => type === "purchase_order.unreceived" && data.status.to === "In Progress",
        ),
      ),
  },
  {
    name: "more received than ordered",
    tells: "More is received than was expected, with leave",
    rule: "C25",
    isReached: (shop) =>
      shop
        .of("receive")
        .some(
          (told) =>
            isRun(told) &&
            told.reply !== null &&
            (answerOf(told.reply).data?.purchaseOrder?.lineItems ?? []).some(
              (line) => line.quantityReceived > Math.max(line.quantityOrdered, line.quantityConfirmed),
            ),
        ),
  },
  {
    name: "receipt lowered",
    tells: "A total of received goods is set to less than it was",
    rule: "C25",
    isReached: (shop) => {
      const receipts = new Set(shop.of("receive").map(({ requestId }) => requestId));
      return shop.events.some(
        ({ requestId, data }) =>
          requestId !== null &&
          receipts.has(requestId) &&
          (data.lines ?? []).some(({ quantityDelta }) => quantityDelta < 0),
      );
    },
  },
  {
    name: "receipt below what is synced",
    tells: "A total is refused that is below what the storefront has",
    rule: "C25",
    isReached: (shop) => shop.isTold(({ message }) => message.includes("below what is already synced")),
  },
  {
    name: "held and resumed",
    tells: "An order is put on hold or disputed, and goes on",
    rule: "C22",
    isReached: (shop) => shop.hasOrder("on_hold", "resumed") || shop.hasOrder("disputed", "resumed"),
  },
  {
    name: "cancelled and resumed",
    tells: "An order is cancelled, and goes on all the same",
    rule: "C22",
    isReached: (shop) => shop.hasOrder("cancelled", "resumed"),
  },
  {
    name: "completed twice",
    tells: "An order is completed, reopened and completed again",
    rule: "C27",
    isReached: (shop) => shop.hasOrder("completed", "reopened", "completed"),
  },
  {
    name: "draft deleted",
    tells: "A draft is deleted for good",
    rule: "C33",
    isReached: (shop) => {
      const stored = new Set(shop.rows("purchase_order").map((row) => row["purchase_order_id"]));
      return shop.of("delete").some((told) => isRun(told) && "orderId" in told.deed && !stored.has(told.deed.orderId));
    },
  },
  {
    name: "hidden order asked for",
    tells: "A cancelled order is deleted, and somebody asks something of it",
    rule: "C33",
    isReached: (shop) => {
      const hidden = new Set(
        shop
          .rows("purchase_order")
          .flatMap((row) => (row["deleted_at"] === null ? [] : String(row["purchase_order_id"]))),
      );
      return shop.isTold(({ deed, status }) => status === 404 && "orderId" in deed && hidden.has(deed.orderId));
    },
  },
  {
    name: "line added on the way",
    tells: "A line is added to an order that was sent",
    rule: "C30",
    isReached: (shop) => {
      const added = new Set(shop.of("add-line").map(({ requestId }) => requestId));
      return shop.orders.some((events) =>
        isFollowed(
          events,
          ({ type }) => type === "purchase_order.sent",
          ({ requestId }) => requestId !== null && added.has(requestId),
        ),
      );
    },
  },
  {
    name: "order without a location",
    tells: "An order without a location is refused to be sent",
    rule: "C23",
    isReached: (shop) =>
      shop.rows("purchase_order").some((row) => row["location_id"] === null) &&
      shop.isTold(({ message, deed }) => deed.op === "status" && deed.to === "Sent" && /location/i.test(message)),
  },
  {
    name: "quick completion in two changes",
    tells: "Goods are received and their order completed by one request",
    rule: "C28",
    isReached: (shop) =>
      shop.orders.some((events) =>
        isFollowed(
          events,
          ({ type }) => type === "purchase_order.received",
          ({ type, requestId }, received) => type === "purchase_order.completed" && requestId === received.requestId,
        ),
      ),
  },
  {
    name: "quick completion cut in two",
    tells: "A quick completion receives and gets no further, and its repetition completes",
    rule: "C28",
    isRare: true,
    isReached: (shop) =>
      shop.isRepeated(
        (first) => first.isDone && !isGood(first) && first.deed.op === "quick-complete",
        (again) => again.isDone,
      ),
  },
  {
    name: "write that changes nothing",
    tells: "A write finds all as it is to be",
    rule: "C25",
    isReached: (shop) =>
      shop.isTold(
        (told) =>
          isGood(told) && !told.isDone && !told.isReplay && ["rename", "confirm", "receive"].includes(told.deed.op),
      ),
  },
  {
    name: "edited while costs are written",
    tells: "A completion writes costs, and its order is changed meanwhile",
    rule: "C45",
    isRare: true,
    isReached: (shop) => shop.isTold(({ message }) => /while its costs were written|^Meanwhile/.test(message)),
  },
];

/** The causes for which a write waited, by their kinds. */
const hasCause = (shop: ShopFacts, cause: string): boolean =>
  shop.rows("approval_request").some(({ content }) => {
    const { causes }: { readonly causes: readonly { readonly cause: string }[] } = JSON.parse(String(content));
    return causes.some((each) => each.cause === cause);
  });

const hasRequest = (shop: ShopFacts, status: string): boolean =>
  shop.rows("approval_request").some((row) => row["status"] === status);

const isEnded = ({ message }: Told): boolean => /^This request is (?!expired)/.test(message);

/** About writes that need a decision. */
const ofApprovals: readonly State[] = [
  {
    name: "proposed by a key",
    tells: "A write waits since its key may only propose",
    rule: "C77",
    isReached: (shop) => hasCause(shop, "scope"),
  },
  {
    name: "beyond a limit, asked",
    tells: "A write waits since it is beyond a limit of its key",
    rule: "C78",
    isReached: (shop) => hasCause(shop, "limit"),
  },
  {
    name: "beyond a limit, refused",
    tells: "A write is refused since it is beyond a limit of its key",
    rule: "C78",
    isRare: true,
    isReached: (shop) => shop.isTold(({ reason }) => reason === "LIMIT_EXCEEDED"),
  },
  {
    name: "limit raised in time",
    tells: "A write is refused for a limit, the limit is raised, and the same key does it",
    rule: "C78",
    isRare: true,
    isReached: (shop) => shop.isRepeated(({ reason }) => reason === "LIMIT_EXCEEDED", isRun),
  },
  {
    name: "limits changed beside a write",
    tells: "The limits of a key change while a write of it runs",
    rule: "C78",
    isReached: (shop) =>
      (shop.course.limits.get(shop.shopId) ?? []).some(({ sentAt, answeredAt }) =>
        shop.isTold(
          (told) => told.by === "limited" && told.isDone && told.sentAt < answeredAt && sentAt < told.answeredAt,
        ),
      ),
  },
  {
    name: "meets a rule",
    tells: "A write waits since the shop's rule asks for a decision",
    rule: "C79",
    isReached: (shop) => hasCause(shop, "rule"),
  },
  {
    name: "asked twice, kept once",
    tells: "A write that waits is asked for again without a key, and stays one request",
    rule: "C80",
    isReached: (shop) =>
      shop.isTold(
        ({ status, isDone, isReplay, deed }) => status === 202 && !isDone && !isReplay && deed.op !== "approve",
      ),
  },
  {
    name: "approved",
    tells: "A write that waited is approved and done",
    rule: "C80",
    isReached: (shop) => hasRequest(shop, "approved"),
  },
  {
    name: "overtaken",
    tells: "A write is approved that would now do something else",
    rule: "C80",
    isRare: true,
    isReached: (shop) => hasRequest(shop, "overtaken"),
  },
  {
    name: "approved and refused",
    tells: "A write is approved that is refused by now",
    rule: "C80",
    isRare: true,
    isReached: (shop) => hasRequest(shop, "failed"),
  },
  {
    name: "rejected",
    tells: "A write that waited is rejected",
    rule: "C80",
    isRare: true,
    isReached: (shop) => hasRequest(shop, "rejected"),
  },
  {
    name: "withdrawn",
    tells: "The asker takes a write back",
    rule: "C80",
    isReached: (shop) => hasRequest(shop, "withdrawn"),
  },
  {
    name: "decided too late",
    tells: "A write is decided after its request has ended by itself",
    rule: "C80",
    isRare: true,
    isReached: (shop) => shop.isTold(({ message }) => message.startsWith("This request is expired")),
  },
  {
    name: "two decide at once",
    tells: "Two decide about a write at the same time, and one of them is told that it is decided",
    rule: "C80",
    isReached: (shop) => {
      const late = shop.told.filter((told) => isEnded(told));
      return late.some((told) =>
        shop.isTold(
          (other) =>
            isRun(other) &&
            "approvalRequestId" in other.deed &&
            "approvalRequestId" in told.deed &&
            other.deed.approvalRequestId === told.deed.approvalRequestId &&
            isBeside(other, told),
        ),
      );
    },
  },
  {
    name: "approval cut short",
    tells: "An approval gets no answer, and another one of the same write follows",
    rule: "C80",
    isReached: (shop) =>
      isFollowed(
        shop.of("approve"),
        isLost,
        (again, first) =>
          !isLost(again) &&
          again.chain !== first.chain &&
          "approvalRequestId" in again.deed &&
          "approvalRequestId" in first.deed &&
          again.deed.approvalRequestId === first.deed.approvalRequestId,
      ),
  },
  {
    name: "own write approved",
    tells: "An asker tries to approve the own write",
    rule: "C80",
    isReached: (shop) => shop.of("approve").some(({ code }) => code === "FORBIDDEN_SCOPE"),
  },
];

/** How long a call that writes had taken when it was given up. A wait until something is shown is no such call. */
const givenUpAfterMs = ({ name, reference, begunMs, givenUpMs }: StorefrontCall): number =>
  reference === null || name === "readOnHand" || givenUpMs === null ? Infinity : givenUpMs - begunMs;

/** About the storefront and the work after a commit. */
const ofStorefront: readonly State[] = [
  {
    name: "guard refuses",
    tells: "The storefront does not keep a variant's stock, and the guard refuses the write",
    rule: "C44",
    isRare: true,
    isReached: (shop) => shop.isTold(({ code }) => code === "INVENTORY_GUARD_ISSUES"),
  },
  {
    name: "guard gets no answer",
    tells: "The storefront fails when the guard asks it",
    rule: "C44",
    isReached: (shop) =>
      shop.calls.some(({ name, error }) => name === "checkVariants" && error !== null) &&
      shop.isTold(({ code }) => code === "UPSTREAM_STOREFRONT" || code === "TIMEOUT"),
  },
  {
    name: "push refused",
    tells: "The storefront refuses an item of a stock push",
    rule: "C40",
    isRare: true,
    isReached: (shop) =>
      shop.calls.some(({ name, outcomes }) => name === "changeOnHand" && outcomes.includes("rejected")),
  },
  {
    name: "push found landed",
    tells: "A push's answer is lost, and the repetition finds that it has landed",
    rule: "C40",
    isReached: (shop) =>
      shop.isCalledAgain(
        ({ name, error }) => name === "changeOnHand" && error?.landed === "maybe",
        ({ outcomes }) => outcomes.includes("unchanged") || outcomes.includes("applied"),
      ),
  },
  {
    name: "claim taken over",
    tells: "A process ends while it calls the storefront, and the next one makes the call again",
    rule: "O1",
    isReached: (shop) =>
      shop.isCalledAgain(
        ({ endedMs }) => endedMs === Infinity,
        (again, first) => again.process !== first.process,
      ),
  },
  {
    name: "push taken back",
    tells: "Goods are taken back that the storefront has",
    rule: "C40",
    isReached: (shop) =>
      shop
        .rows("stock_push")
        .some(({ items }) =>
          (JSON.parse(String(items)) as readonly { readonly delta: number }[]).some(({ delta }) => delta < 0),
        ),
  },
  {
    name: "last attempt succeeds",
    tells: "An effect succeeds at its last attempt",
    rule: "D11",
    isRare: true,
    isReached: (shop) =>
      shop.rows("effect").some((row) => row["state"] === "applied" && Number(row["attempts"]) === attemptsMax),
  },
  {
    name: "last attempt fails",
    tells: "A stock push is given up after its last attempt",
    rule: "D11",
    isReached: (shop) =>
      shop.hasEffect("push-stock", (row) => row["state"] === "failed" && Number(row["attempts"]) === attemptsMax),
  },
  {
    name: "given up, then landed",
    tells: "A push that was given up without an outcome is sent again under its reference",
    rule: "C43",
    isRare: true,
    isReached: (shop) => {
      const references = Map.groupBy(
        shop.calls.filter(({ name }) => name === "changeOnHand"),
        ({ reference }) => reference,
      );
      return [...references.values()].some((calls) => calls.length > attemptsMax && calls.at(-1)?.error === null);
    },
  },
  {
    name: "nothing left to do",
    tells: "An effect finds that its work is done, and is skipped",
    rule: "C38",
    isReached: (shop) => shop.rows("effect").some((row) => row["state"] === "skipped"),
  },
  {
    name: "effects done together",
    tells: "Several effects of a lane are claimed and settled together",
    rule: "O1",
    isReached: (shop) => {
      const settled = shop.rows("effect").filter((row) => row["state"] === "applied");
      return [...Map.groupBy(settled, (row) => `${row["lane"]} ${row["settled_at"]}`).values()].some(
        (rows) => rows.length > 1,
      );
    },
  },
  {
    name: "sync in flight",
    tells: "A push is asked for while another one of its order is under way",
    rule: "C43",
    isReached: (shop) => shop.isTold(({ code }) => code === "ON_HAND_SYNC_IN_FLIGHT"),
  },
  {
    name: "sync verified",
    tells: "The storefront shows what was pushed, and the order says so",
    rule: "C43",
    isReached: (shop) => shop.events.some(({ type }) => type === "storefront_sync.verified"),
  },
  {
    name: "sync failed",
    tells: "A push has failed, and the order says so",
    rule: "C43",
    isReached: (shop) => shop.events.some(({ type }) => type === "storefront_sync.failed"),
  },
  {
    name: "not shown in time",
    tells: "A caller waits for the storefront to show a push, in vain",
    rule: "C43",
    isRare: true,
    isReached: (shop) =>
      shop
        .of("sync")
        .some(
          ({ reply }) =>
            reply !== null && reply.status < 300 && answerOf(reply).data?.confirmation?.status === "timed-out",
        ),
  },
  {
    name: "incoming repeated",
    tells: "Incoming quantities fail to reach the storefront, and reach it later",
    rule: "C41",
    isReached: (shop) =>
      shop.hasEffect("mirror-incoming", (row) => row["state"] === "applied" && Number(row["attempts"]) > 1),
  },
  {
    name: "tags repeated",
    tells: "Tags fail to reach the storefront, and reach it later",
    rule: "C42",
    isReached: (shop) =>
      shop.hasEffect("sync-tags", (row) => row["state"] === "applied" && Number(row["attempts"]) > 1),
  },
  {
    name: "cost replaced",
    tells: "A cost was written, and another order's has replaced it when it is read back",
    rule: "C45",
    isReached: (shop) => shop.rows("cost_sync").some(({ reason }) => String(reason).startsWith("replaced since by")),
  },
  {
    name: "cost of others",
    tells: "Somebody else has set the cost at the storefront",
    rule: "D346",
    isReached: (shop) => shop.rows("cost_sync").some(({ reason }) => String(reason).startsWith("the storefront shows")),
  },
  {
    name: "cost without an answer",
    tells: "The answer about a cost is lost, and it is found at the storefront",
    rule: "D346",
    isRare: true,
    isReached: (shop) => {
      const lost = new Set(
        shop.calls.flatMap(({ name, error, reference }) =>
          name === "writeCosts" && error?.landed === "maybe" ? (reference ?? []) : [],
        ),
      );
      return shop
        .rows("cost_sync")
        .some(
          (row) =>
            row["outcome"] === "applied" &&
            lost.has(`costs:${row["purchase_order_id"]}:${row["completion"]}:${row["attempt"]}`),
        );
    },
  },
  {
    name: "cost refused",
    tells: "The storefront refuses a cost",
    rule: "C45",
    isRare: true,
    isReached: (shop) =>
      shop.calls.some(({ name, outcomes }) => name === "writeCosts" && outcomes.includes("rejected")),
  },
  {
    name: "average taken back",
    tells: "Goods that are in the moving average are taken back, and leave it",
    rule: "C45",
    isReached: (shop) => shop.hasEffect("take-back-costs", (row) => row["state"] === "applied"),
  },
  {
    name: "throttled",
    tells: "The storefront takes no more calls for now, and an effect waits for it",
    rule: "D11",
    isReached: (shop) => shop.calls.some(({ error, reference }) => error?.kind === "throttled" && reference !== null),
  },
  {
    name: "lease renewed",
    tells: "A call of the storefront outlasts the lease of its effects, which is renewed, and succeeds",
    rule: "O1",
    isRare: true,
    isReached: (shop) =>
      shop.calls.some(
        ({ begunMs, endedMs, error, reference }) =>
          reference !== null && error === null && endedMs < Infinity && endedMs - begunMs > leaseMs,
      ),
  },
  {
    name: "lease stolen",
    tells: "A clock goes forward during a call, the lease has ended, and the call is given up",
    rule: "O2",
    isReached: (shop) => shop.calls.some((call) => givenUpAfterMs(call) < callTimeLimitMs - 1_000),
  },
  {
    name: "call given up",
    tells: "The storefront takes longer for a call than is waited for",
    rule: "O2",
    isRare: true,
    isReached: (shop) =>
      shop.calls.some((call) => givenUpAfterMs(call) >= callTimeLimitMs && givenUpAfterMs(call) < Infinity),
  },
];

/** About crashes, the disk, clocks and turns. */
const ofMachines: readonly State[] = [
  {
    name: "done, then killed",
    tells: "A write is committed, and its process ends before the answer leaves",
    rule: "S3",
    isReached: (shop) => shop.course.kills > 0 && shop.isTold((told) => isLost(told) && told.isDone),
  },
  {
    name: "killed during a sync",
    tells: "The power fails while a sync is under way",
    rule: "S4",
    isReached: ({ course }) => course.watch.crashes.some(({ withPower, syncs }) => !withPower && syncs > 0),
  },
  {
    name: "killed at its start",
    tells: "A process ends as soon as it has opened its directory",
    rule: "W8",
    isReached: ({ course }) => course.watch.crashes.some(({ ranMs }) => ranMs < 1),
  },
  {
    name: "killed twice in a second",
    tells: "The next process ends within a second",
    rule: "W8",
    isReached: ({ course: { watch } }) =>
      isFollowed(
        watch.crashes,
        () => true,
        (next, first) => next.atMs - first.atMs < 1_500,
      ),
  },
  {
    name: "commits lost",
    tells: "A power cut takes commits that were not synced",
    rule: "W1",
    isReached: ({ course }) => course.lost.has("frames"),
  },
  {
    name: "file's name lost",
    tells: "A power cut takes the name of a `-wal` file",
    rule: "W1",
    isReached: ({ course }) => course.lost.has("name"),
  },
  {
    name: "moved pages torn",
    tells: "A power cut comes while a `-wal` file is moved into its database file",
    rule: "W3",
    isRare: true,
    isReached: ({ course }) => course.lost.has("pages"),
  },
  {
    name: "sync fails",
    tells: "A sync fails, and the process ends",
    rule: "W4",
    isReached: ({ course }) => course.errors.some((error) => error.includes("A sync to disk has failed")),
  },
  {
    name: "full disk waited out",
    tells: "A write is refused since the disk is full, and its repetition is done",
    rule: "S6",
    isRare: true,
    isReached: (shop) => shop.isRepeated(({ code }) => code === "DO_UNAVAILABLE", isRun),
  },
  {
    name: "clock set back",
    tells: "The clock is set back while requests are under way",
    rule: "D98",
    isRare: true,
    isReached: ({ course }) => course.watch.clocksSet.some(({ byMs, requests }) => byMs < 0 && requests > 0),
  },
  {
    name: "clock set back by days",
    tells: "The clock is set back by more than a day while effects wait for their next attempt",
    rule: "D98",
    isRare: true,
    isReached: ({ course }) =>
      [...course.watch.warnings].some((each) => each.includes("only after the clock was set back")),
  },
  {
    name: "clock set forward",
    tells: "The clock goes forward by more than a write may wait while several wait",
    rule: "Q2",
    isRare: true,
    isReached: ({ course }) => course.watch.clocksSet.some(({ byMs, requests }) => byMs > 10_000 && requests > 2),
  },
  {
    name: "group of 16",
    tells: "16 writes of a shop are made in one turn",
    rule: "S1",
    isRare: true,
    isReached: ({ course, shopId }) => (course.watch.writesTogether.get(shopId) ?? 0) >= 16,
  },
];

export const states: readonly State[] = [...ofRequests, ...ofOrders, ...ofApprovals, ...ofStorefront, ...ofMachines];
