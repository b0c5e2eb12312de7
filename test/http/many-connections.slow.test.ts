/**
 * Many more connections than the process serves: it goes on answering, refuses the others in words, and resets none (H10, H13).
 *
 * Runs alone: the process and its client already share the processors.
 */
// Only on sqlite: its subject is how requests come in, not where their data are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryLimits } from "../../src/service/memory-limits.ts";
import { memoryMegabytesMin } from "../../src/service/option-values.ts";
import { answersOf, load } from "../../bench/raw-load.ts";
import { withProgram } from "../support/process.ts";
import { pause } from "../support/until.ts";

/** With the least memory that can be set. */
const served = memoryLimits(memoryMegabytesMin).connectionsMax;
const seconds = 4;
const rampSeconds = 2;

test("at four times the connections that the process serves it goes on answering, refuses the others in words, and resets none", async () => {
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
      const over = new AbortController();
      const watch = async (): Promise<void> => {
        while (!over.signal.aborted) {
          const probe = await fetch(`${program.url}/healthz`, { headers: { Connection: "close" } });
          await probe.arrayBuffer();
          health.push(probe.status);
          await pause(20);
        }
      };
      const watching = watch();
      // As long as it takes until there are more answers than places: how many it answers a second, bench/overload.ts measures.
      let answers = 0;
      while (answers <= served) {
        const many = await load({
          port: Number(new URL(program.url).port),
          connections: served * 4,
          seconds,
          rampSeconds,
          next: () => request,
          obeysRetryAfter: true,
        });
        assert.deepEqual(
          [...many.statuses.keys()].toSorted((a, b) => a - b),
          [200, 503],
        );
        assert.equal(many.resets, 0);
        assert.equal(many.withoutRetryAfter, 0);
        answers += answersOf(many, 200);
      }
      over.abort();
      await watching;
      assert.ok(health.length > 0 && health.every((status) => status === 200), health.join(" "));
    },
    { OPENPO_MEMORY_MB: String(memoryMegabytesMin) },
  );
});
