/**
 * The protocol's official conformance suite against the agent surface, once for each revision, with what is not offered and why.
 *
 * A scenario that is listed here and passes fails the test, like one that fails and is not listed.
 *
 * Only on sqlite: its subject is what assistants are shown and answered; mcp/twins.slow.test.ts gives the same commands on both engines.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer, request as httpRequest } from "node:http";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type Revision, revisions } from "../support/mcp.ts";
import { withDirectory } from "../support/process.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { toolPath } from "../support/programs/tools.ts";
import { listenOnPort, stopListening } from "../support/peers/serving.ts";

const suite = toolPath("@modelcontextprotocol/conformance/dist/index.js");
const run = promisify(execFile);

/** Scenarios, or single checks of one, by the reason why they cannot pass here. */
const notOffered: readonly {
  readonly because: string;
  readonly scenarios: Readonly<Record<Revision, readonly string[]>>;
}[] = [
  {
    because: "they call a tool, resource or prompt of the suite's own example server; ours are the shop's",
    scenarios: {
      "2026-07-28": [
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-error",
        "resources-read-text",
        "resources-read-binary",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
        "server-stateless:sep-2575-server-rejects-undeclared-capability",
        "server-stateless:sep-2575-missing-capability-http-400",
        "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
        "server-stateless:sep-2575-server-no-log-without-loglevel",
      ],
      "2025-11-25": [
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-error",
        "resources-read-text",
        "resources-read-binary",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
      ],
    },
  },
  {
    because: "a call is one request and one answer: no progress, and no log but the operator's and the order's",
    scenarios: {
      "2026-07-28": ["tools-call-with-progress"],
      "2025-11-25": ["tools-call-with-progress", "tools-call-with-logging", "logging-set-level"],
    },
  },
  {
    because: "the service never asks back: what it needs are arguments, so that REST and agents are asked for the same",
    scenarios: {
      "2026-07-28": [
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "input-required-result-missing-input-response",
        "input-required-result-ignore-extra-params",
      ],
      "2025-11-25": [
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
      ],
    },
  },
  {
    because: "there are no sessions: every message stands for itself, whichever process it reaches",
    scenarios: { "2026-07-28": [], "2025-11-25": ["server-sse-multiple-streams"] },
  },
  {
    because: "the suite reads templates of its own; there are no subscriptions",
    scenarios: {
      "2026-07-28": ["resources-templates-read"],
      "2025-11-25": ["resources-templates-read", "resources-subscribe", "resources-unsubscribe"],
    },
  },
];

/** The suite has no key of ours: it talks to this door, which puts one on. */
async function withDoor(server: TestServer, use: (url: string) => Promise<void>): Promise<void> {
  const door = createServer((incoming, outgoing) => {
    const { method, url: target, headers } = incoming;
    const authorization = `Bearer ${server.writeKey}`;
    const options = {
      host: "127.0.0.1",
      port: server.port,
      method,
      path: target,
      headers: { ...headers, authorization },
    };
    const forwarded = httpRequest(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  const port = await listenOnPort(door);
  try {
    await use(`http://127.0.0.1:${port}/mcp`);
  } finally {
    await stopListening(door);
  }
}

for (const revision of revisions)
  test(`revision ${revision} of the protocol is kept, but for what is not offered`, async () => {
    await using server = await startServer();
    await withDirectory(async (directory) => {
      const list = notOffered.flatMap(({ because, scenarios }) => [
        `  # ${because}`,
        ...scenarios[revision].map((scenario) => `  - ${scenario}`),
      ]);
      const file = path.join(directory, "not-offered.yaml");
      await writeFile(file, `server:\n${list.join("\n")}\n`);
      await withDoor(server, async (url) => {
        const args = ["server", "--url", url, "--requirements", revision, "--expected-failures", file];
        const told = await run(process.execPath, [suite, ...args], { cwd: directory }).catch((error: unknown) =>
          assert.fail(
            typeof error === "object" && error !== null && "stdout" in error ? String(error.stdout) : String(error),
          ),
        );
        // The suite ran, and found what is in its own words there: tools, lists, errors and the refusal of foreign names.
        for (const passed of ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"])
          assert.match(told.stdout, new RegExp(`✓ ${passed}: [1-9]`), told.stdout);
      });
    });
  });
