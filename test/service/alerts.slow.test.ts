/**
 * The rules of deploy/alerts.yaml in a real Prometheus that scrapes a real server: three of them fire, no other does.
 *
 * `OPENPO_PROMETHEUS` names the program; by default it is the one of the Debian package. Without one the test is skipped, with a message.
 */
// Only on sqlite: its subject is the rules of alerts, which read the same metrics of both engines.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { freePort } from "../support/programs/ports.ts";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { until } from "../support/until.ts";

const prometheus = process.env["OPENPO_PROMETHEUS"] ?? "/usr/bin/prometheus";
const promtool = path.join(path.dirname(prometheus), "promtool");
const skip = existsSync(prometheus)
  ? false
  : "NO PROMETHEUS ON THIS MACHINE (apt-get install prometheus, or OPENPO_PROMETHEUS): the alert rules were not tried";

const shop = "/admin/v1/shops/shop";

const alertsSchema = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        labels: z.object({ alertname: z.string() }),
        annotations: z.object({ summary: z.string() }),
        state: z.enum(["pending", "firing"]),
      }),
    ),
  }),
});

const rulesSchema = z.object({
  data: z.object({
    groups: z.array(
      z.object({
        rules: z.array(z.object({ name: z.string(), health: z.string(), lastError: z.string().optional() })),
      }),
    ),
  }),
});

/** The rules with seconds for minutes, and an outbox that is stuck after two seconds: nobody waits for a quarter of an hour. */
const hurried = (rules: string): string =>
  rules
    .replaceAll(/for: (\d+)m$/gm, "for: 1s")
    .replace("openpo_outbox_oldest_pending_seconds > 600", "openpo_outbox_oldest_pending_seconds > 2");

const valueSchema = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

interface Watching {
  /** How often it has scraped the server. */
  samples(): Promise<number>;
  alerts(): Promise<z.output<typeof alertsSchema>["data"]["alerts"]>;
  rules(): Promise<z.output<typeof rulesSchema>["data"]["groups"]>;
}

/** A Prometheus that scrapes the server every second. */
async function withPrometheus(target: string, use: (watching: Watching) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-prometheus-"));
  const port = await freePort();
  writeFileSync(path.join(directory, "alerts.yaml"), hurried(readFileSync("deploy/alerts.yaml", "utf8")));
  const config = `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs: [{ job_name: openpo, static_configs: [{ targets: ["${new URL(target).host}"] }] }]
`;
  writeFileSync(path.join(directory, "prometheus.yml"), config);
  const child: ChildProcess = spawn(
    prometheus,
    [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let output = "";
  child.stderr?.on("data", (data: Buffer) => (output += data.toString()));
  const ask = async (below: string): Promise<unknown> =>
    await (await fetch(`http://127.0.0.1:${port}/api/v1/${below}`)).json();
  try {
    const isUp = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok;
    await until("Prometheus answers", async () => {
      assert.equal(child.exitCode, null, output);
      return isUp().catch(() => false);
    });
    await use({
      async samples() {
        const { data } = valueSchema.parse(await ask("query?query=count_over_time(up%5B1m%5D)"));
        return Number(data.result[0]?.value[1] ?? 0);
      },
      alerts: async () => alertsSchema.parse(await ask("alerts")).data.alerts,
      rules: async () => rulesSchema.parse(await ask("rules")).data.groups,
    });
  } finally {
    const gone = once(child, "exit");
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await gone;
    }
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Waits until each of these alerts has fired. @returns what they said, in their order; and which have fired altogether. */
async function fired(watching: Watching, wanted: readonly string[]) {
  const seen = new Map<string, string>();
  await until(
    () => [...seen.keys()],
    async () => {
      for (const { labels, annotations, state } of await watching.alerts())
        if (state === "firing") seen.set(labels.alertname, annotations.summary);
      return wanted.every((name) => seen.has(name));
    },
  );
  return { summaries: wanted.map((name) => seen.get(name) ?? `${name} has not fired`), names: [...seen.keys()] };
}

/** An order whose goods the storefront does not take, and an endpoint that is gone. */
async function breakThings(program: RunningProgram, token: string, hook: string): Promise<void> {
  const done = async (method: string, target: string, body: object | string, key = token): Promise<unknown> => {
    const answered = await program.ask(method, target, key, body);
    assert.ok(answered.status < 300, answered.text);
    return answered.at("data", "apiKey");
  };
  const records = [
    { type: "location", locationId: "warehouse", name: "Warehouse" },
    { type: "variant", variantId: "red", productId: "p", productName: "Shirt", unitCost: 1 },
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_1",
      status: "In Progress",
      locationId: "warehouse",
      lineItems: [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4 }],
    },
  ];
  await done("POST", `${shop}/import`, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  await done("PUT", `${shop}/sandbox/faults`, { faults: [{ call: "changeOnHand", outcome: "error" }] });
  await done("POST", `${shop}/webhook-endpoints`, { url: hook, eventTypes: ["*"] });
  const key = String(await done("POST", `${shop}/keys`, { name: "bot", scope: "write" }));
  const lines = [{ lineItemId: "a", quantityReceived: 3 }];
  await done("POST", "/api/v1/purchase-orders/po_1/receive", { lines }, key);
}

test(
  "a real Prometheus fires the alerts of a stuck outbox, a disabled endpoint and a server that is down",
  { skip },
  async () => {
    for (const args of [
      ["check", "rules", "deploy/alerts.yaml"],
      ["test", "rules", "deploy/alerts.test.yaml"],
    ])
      assert.match(execFileSync(promtool, args, { encoding: "utf8" }), /SUCCESS/);
    const receiver = await startReceiver();
    receiver.answer = (response) => void response.writeHead(410).end();
    try {
      await withProgram(
        async (program, token) => {
          assert.equal((await program.ask("PUT", shop, token, { name: "Shop", currencyCode: "EUR" })).status, 201);
          await withPrometheus(program.url, async (watching) => {
            // Prometheus finds its targets after some seconds; an increase counts from what it has seen before.
            await until("two samples are taken", async () => (await watching.samples()) >= 2);
            // A scrape that a busy machine does not answer within its second is an alert until the next one.
            await until("no alert is left", async () => (await watching.alerts()).length === 0);
            const groups = await watching.rules();
            const unhealthy = groups.flatMap(({ rules }) => rules).filter(({ health }) => health !== "ok");
            assert.deepEqual(unhealthy, []);
            await breakThings(program, token, receiver.url);
            const { summaries } = await fired(watching, ["OpenPOOutboxStuck", "OpenPOWebhookEndpointDisabled"]);
            const instance = new URL(program.url).host;
            assert.match(summaries[0] ?? "", /^Follow-on work of \S+ is \S+s old$/);
            assert.equal(summaries[1], `${instance} has disabled a webhook endpoint`);
            await program.end("SIGKILL");
            const ended = await fired(watching, ["OpenPODown"]);
            assert.deepEqual(ended.summaries, [`${instance} cannot be scraped`]);
            // Seven attempts may be over by now.
            const others = ["OpenPOOutboxStuck", "OpenPOWebhookEndpointDisabled", "OpenPOEffectsFailed", "OpenPODown"];
            assert.deepEqual(
              ended.names.filter((name) => !others.includes(name)),
              [],
            );
          });
        },
        { OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8", OPENPO_WEBHOOK_HTTP: "1" },
      );
    } finally {
      await receiver.close();
    }
  },
);
