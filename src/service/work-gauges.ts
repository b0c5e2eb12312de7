/**
 * Metrics of work that waits: writes in the shops' queues, effects in the outbox, webhooks, mails, pulls. They are what
 * the process remembers of shops that have such work now, so a scrape reads no shop.
 */
import type { Gauge } from "../http/metrics.ts";
import type { MailSender } from "../mail/sender.ts";
import type { Outbox } from "../jobs/outbox/runner.ts";
import type { Puller } from "../jobs/puller.ts";
import type { QueueDepth } from "../store/queue.ts";
import type { Sender } from "../webhooks/sender.ts";

/** Returns the seconds since then; 0 when there is no such time. */
const secondsSince = (atMs: number | null, nowMs: number): number =>
  atMs === null ? 0 : Math.max(0, (nowMs - atMs) / 1_000);

export const writesWaiting = (depth: QueueDepth): Gauge => ({
  name: "writes_waiting",
  help: "Writes that wait in the queues of all shops.",
  type: "gauge",
  value: () => depth.waiting,
});

export function workGauges(
  outbox: Pick<Outbox, "backlog">,
  sender: Pick<Sender, "backlog">,
  mails: Pick<MailSender, "backlog"> | null,
  puller: Pick<Puller, "work">,
  now: () => number,
): readonly Gauge[] {
  return [
    {
      name: "outbox_oldest_pending_seconds",
      help: "Age of the oldest effect that is not settled.",
      type: "gauge",
      value: () => secondsSince(outbox.backlog().oldestAtMs, now()),
    },
    {
      name: "outbox_shops_pending",
      help: "Shops with effects that are not settled.",
      type: "gauge",
      value: () => outbox.backlog().shops,
    },
    {
      name: "outbox_effects_failed_total",
      help: "Effects given up after their last attempt.",
      type: "counter",
      value: () => outbox.backlog().failedTotal,
    },
    {
      name: "webhook_backlog",
      help: "Webhooks that wait to be sent or are being sent; of one endpoint at most 1,000 are counted.",
      type: "gauge",
      value: () => sender.backlog().deliveries,
    },
    {
      name: "webhook_overdue_seconds",
      help: "How long ago the longest waiting webhook was due.",
      type: "gauge",
      value: () => secondsSince(sender.backlog().dueAtMs, now()),
    },
    {
      name: "webhook_attempts_failed_total",
      help: "Attempts to send a webhook that failed.",
      type: "counter",
      value: () => sender.backlog().failedTotal,
    },
    {
      name: "webhook_endpoints_disabled_total",
      help: "Endpoints disabled because they failed for long or answered 410.",
      type: "counter",
      value: () => sender.backlog().disabledTotal,
    },
    {
      name: "webhook_endpoints_disabled",
      help: "Disabled endpoints of the shops that this process has sent for, or has looked at since its start.",
      type: "gauge",
      value: () => sender.backlog().disabled,
    },
    ...mailGauges(mails, now),
    ...pullGauges(puller, now),
  ];
}

const pullGauges = (puller: Pick<Puller, "work">, now: () => number): readonly Gauge[] => [
  {
    name: "pulls_running",
    help: "Pulls of storefronts that this process is at.",
    type: "gauge",
    value: () => puller.work().running,
  },
  {
    name: "pulls_oldest_seconds",
    help: "How long ago the oldest of them was begun.",
    type: "gauge",
    value: () => secondsSince(puller.work().oldestStartedAtMs, now()),
  },
  {
    name: "pulls_started_total",
    help: "Pulls of storefronts that this process has begun.",
    type: "counter",
    value: () => puller.work().startedTotal,
  },
  {
    name: "pulls_done_total",
    help: "Pulls that have brought everything there was to bring.",
    type: "counter",
    value: () => puller.work().doneTotal,
  },
  {
    name: "pulls_done_seconds_total",
    help: "How long these have taken, from their beginning to their end.",
    type: "counter",
    value: () => puller.work().doneMsTotal / 1_000,
  },
  {
    name: "pulls_failed_total",
    help: "Pulls given up: the storefront refused them, or did not answer eight times.",
    type: "counter",
    value: () => puller.work().failedTotal,
  },
  {
    name: "pulled_records_total",
    help: "Locations, variants, products, levels and orders of customers that pulls have stored.",
    type: "counter",
    value: () => puller.work().recordsTotal,
  },
  {
    name: "pulls_last_done_timestamp_seconds",
    help: "When this process has last ended a pull that was done; 0: never.",
    type: "gauge",
    value: () => (puller.work().lastDoneAtMs ?? 0) / 1_000,
  },
];

const mailGauges = (mails: Pick<MailSender, "backlog"> | null, now: () => number): readonly Gauge[] => [
  {
    name: "mails_queued",
    help: "Mails that wait to be sent or are being sent, in shops that this process sends for.",
    type: "gauge",
    value: () => mails?.backlog().queued ?? 0,
  },
  {
    name: "mails_overdue_seconds",
    help: "How long ago the longest waiting mail was due.",
    type: "gauge",
    value: () => secondsSince(mails?.backlog().dueAtMs ?? null, now()),
  },
  {
    name: "mails_sent_total",
    help: "Mails that the mail server has taken for everybody.",
    type: "counter",
    value: () => mails?.backlog().sentTotal ?? 0,
  },
  {
    name: "mails_failed_total",
    help: "Mails that the mail server has refused, or that were given up after 24 hours.",
    type: "counter",
    value: () => mails?.backlog().failedTotal ?? 0,
  },
];
