/** Many more connections than the process serves: refusals come soon and say when to come again, and nothing is reset (H10, H13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answersOf, load, percentile } from "../../bench/raw-load.ts";
import { withProgram } from "../support/process.ts";

const served = 100;
const seconds = 5;
const rampSeconds = 3;

/** Half of the time of the goal is the client's, which shares the machine. A refusal that waits behind requests takes seconds. */
const refusalMsMax = 500;

test("at eight times the connections that the process serves it goes on answering, refuses the others soon, and resets none", async () => {
  await withProgram(
    async (program, adminToken) => {
      const made = await program.ask("PUT", "/admin/v1/shops/s", adminToken, {
        name: "s",
        currencyCode: "EUR",
        settings: { rateLimit: { capacity: 100_000, refillPerSecond: 100_000 } },
      });
      assert.ok(made.status < 300, made.text);
      const key = await program.ask("POST", "/admin/v1/shops/s/keys", adminToken, { name: "k", scope: "read" });
      const request = `GET /api/v1/purchase-orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${String(key.at("data", "apiKey"))}\r\n\r\n`;
      const health: number[] = [];
      const endsAtMs = performance.now() + (rampSeconds + seconds) * 1_000;
      const watch = async (): Promise<void> => {
        while (performance.now() < endsAtMs) {
          const probe = await fetch(`${program.url}/healthz`, { headers: { Connection: "close" } });
          await probe.arrayBuffer();
          health.push(probe.status);
          await sleep(20);
        }
      };
      const pressing = load({
        port: Number(new URL(program.url).port),
        connections: served * 8,
        seconds,
        rampSeconds,
        next: () => request,
        obeysRetryAfter: true,
      });
      const [found] = await Promise.all([pressing, watch()]);
      assert.deepEqual(
        [...found.statuses.keys()].toSorted((a, b) => a - b),
        [200, 503],
      );
      assert.equal(found.resets, 0);
      assert.equal(found.withoutRetryAfter, 0);
      const refusalMs = percentile(found.latenciesMs.get(503) ?? [], 0.99);
      assert.ok(refusalMs <= refusalMsMax, `${refusalMs} ms`);
      assert.ok(answersOf(found, 200) > answersOf(found, 503), "most of the work is refusals");
      assert.ok(health.length > 10 && health.every((status) => status === 200), health.join(" "));
    },
    { OPENPO_CONNECTIONS_MAX: String(served) },
  );
});
