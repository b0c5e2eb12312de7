#!/usr/bin/env node
/**
 * The command `openpo`: checks its Node, reads arguments and environment, serves until it is told to stop.
 *
 * Everything else is imported once the Node is known to be new enough: an older one would stop at the first import, with a
 * message that helps nobody.
 */
import type { Service } from "./serve.ts";

// sqlite's authorizer, which keeps the statements of one shop within their transaction, came with 24.10.
const [nodeMajorMin, nodeMinorMin] = [24, 10];
const [nodeMajor = 0, nodeMinor = 0] = process.versions.node.split(".").map(Number);
if (nodeMajor < nodeMajorMin || (nodeMajor === nodeMajorMin && nodeMinor < nodeMinorMin)) {
  console.error(`OpenPO needs Node ${nodeMajorMin}.${nodeMinorMin} or later; this is ${process.version}.`);
  process.exit(1);
}
/** Shops are synced to disk in the thread pool, side by side; read when the pool is first used, which is later. */
const threadPoolSize = "8";
process.env["UV_THREADPOOL_SIZE"] ??= threadPoolSize;

const usage = `openpo: a purchase-order service

Usage: openpo [serve]     serve the API, and make a demo shop on an empty data directory
       openpo --help      this text
       openpo --version

Environment:
  PORT                 port to listen on (8080; 0: any free one)
  OPENPO_HOST          address to listen on (127.0.0.1)
  OPENPO_DATA_DIR      where everything is kept (./data)
  OPENPO_ADMIN_TOKEN   the operator's token (else made once and kept in the data directory)
  OPENPO_DEMO          1: make the demo shop on an empty data directory (1), 0: do not
  OPENPO_LOG_LEVEL     fatal, error, warn, info, debug, trace or silent (info); the log goes to stderr
`;

/** Ends with a line on stderr instead of a stack: for what the operator can put right. */
function fail(message: string): never {
  console.error(`openpo: ${message}`);
  process.exit(1);
}

/** The address as a client on this machine reaches it. */
function urlOf({ host, port }: Pick<Service, "host" | "port">): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function welcome(service: Service, dataDir: string): string {
  const url = urlOf(service);
  const lines = [`OpenPO serves at ${url}`];
  if (service.demo === null && service.adminToken.isNew)
    lines.push("", `First start: the admin token is ${service.adminToken.token}, kept in ${dataDir}.`, "");
  if (service.demo !== null)
    lines.push(
      "",
      `First start: the demo shop "${service.demo.shopId}" is ready in ${dataDir}. These keys are shown once.`,
      "",
      `  read key     ${service.demo.readKey}`,
      `  write key    ${service.demo.writeKey}`,
      `  admin token  ${service.adminToken.token}`,
      "",
      `  API          ${url}/api/v1`,
      `  OpenAPI      ${url}/api/v1/openapi.json`,
      `  admin        ${url}/admin/v1`,
      `  health       ${url}/healthz`,
      "",
      "Try:",
      "",
      `  curl -H "Authorization: Bearer ${service.demo.readKey}" "${url}/api/v1/purchase-orders?limit=3"`,
      "",
    );
  return lines.join("\n");
}

async function serve(): Promise<void> {
  const { ConfigError, readConfig } = await import("./config.ts");
  const { openService } = await import("./serve.ts");
  try {
    const config = readConfig(process.env);
    const service = await openService(config);
    console.log(welcome(service, config.dataDir));
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      // Asked twice: whoever waits has no more patience, and what was acknowledged is safe.
      if (stopping) process.exit(1);
      stopping = true;
      console.log(`OpenPO stops (${signal}); what runs is finished first.`);
      service.close().then(
        () => process.exit(0),
        (error: unknown) => fail(`stopping failed: ${String(error)}`),
      );
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message);
    throw error;
  }
}

async function printVersion(): Promise<void> {
  const { readFileSync } = await import("node:fs");
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  console.log(manifest.version);
}

const [argument = "serve", ...more] = process.argv.slice(2);
if (more.length > 0) fail(`unknown argument ${more[0]}. See openpo --help.`);
switch (argument) {
  case "serve":
    await serve();
    break;
  case "--help":
  case "-h":
    console.log(usage);
    break;
  case "--version":
  case "-v":
    await printVersion();
    break;
  default:
    fail(`unknown argument ${argument}. See openpo --help.`);
}
