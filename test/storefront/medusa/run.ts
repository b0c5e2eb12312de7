/**
 * Runs the tests of the Medusa adapter on a real Medusa: `npm run test:medusa`, or with parts of the paths of other tests.
 *
 * The Medusa of project/ is installed once into the folder for tools (`OPENPO_TOOLS_CACHE`), 670 MB, with every version pinned. It gets a
 * database of its own on the tests' PostgreSQL, an admin and a secret key, listens on this machine alone, and is gone afterwards. Nothing
 * is downloaded but from npm. The last line is `N passed, N failed`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { freePort } from "../../support/programs/ports.ts";
import { startPostgres } from "../../support/postgres/postgres.ts";
import { type Command, installed, shownEnd, step } from "../../support/programs/programs.ts";
import { medusaKeyVariable, medusaUrlVariable } from "./place.ts";
import { pause } from "../../support/until.ts";

const startMsMax = 120_000;
const tests = process.argv.slice(2);
const project = path.join(import.meta.dirname, "project");
const manifests = ["package.json", "package-lock.json", "medusa-config.js"].map((name) => path.join(project, name));

async function askJson<Answer>(url: string, headers: Record<string, string>, body: object | null): Promise<Answer> {
  const response = await fetch(url, {
    method: body === null ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status} ${text}`);
  const json: Answer = JSON.parse(text);
  return json;
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<void> {
  for (const untilMs = Date.now() + startMsMax; ;) {
    const isUp = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (server.exitCode !== null || Date.now() > untilMs) throw new Error("Medusa did not start.");
    await pause(100);
  }
}

/** Adds the currency of the tests, and makes a secret key. */
async function prepared(url: string, admin: { readonly email: string; readonly password: string }): Promise<string> {
  const { token } = await askJson<{ token: string }>(`${url}/auth/user/emailpass`, {}, admin);
  const headers = { authorization: `Bearer ${token}` };
  const { stores } = await askJson<{ stores: { id: string }[] }>(`${url}/admin/stores`, headers, null);
  const currencies = [{ currency_code: "usd", is_default: true }, { currency_code: "eur" }];
  await askJson(`${url}/admin/stores/${stores[0]?.id}`, headers, { supported_currencies: currencies });
  const key = { title: "openpo", type: "secret" };
  const made = await askJson<{ api_key: { token: string } }>(`${url}/admin/api-keys`, headers, key);
  return made.api_key.token;
}

async function run(): Promise<boolean> {
  // Not `npm ci`: it insists on packages for other systems that the lock file leaves out. The versions are those of the lock file all the same.
  const install: readonly Command[] = [
    ["npm", "install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"],
  ];
  const folder = await installed(install, manifests);
  if (folder === null) return false;
  await using postgres = await startPostgres();
  const environment = {
    DATABASE_URL: postgres.url,
    MEDUSA_DISABLE_TELEMETRY: "true",
    LOG_LEVEL: "warn",
    NODE_ENV: "production",
    OPENPO_MEDUSA_SECRET: randomBytes(16).toString("hex"),
  };
  const medusa = (...args: readonly string[]): Command => [
    process.execPath,
    "node_modules/@medusajs/cli/cli.js",
    ...args,
  ];
  const admin = { email: "admin@example.com", password: randomBytes(12).toString("hex") };
  const isReady =
    (await step("database", [medusa("db:migrate", "--skip-links", "--skip-scripts")], folder, environment)) &&
    (await step("links", [medusa("db:sync-links", "--execute-all")], folder, environment)) &&
    (await step("admin", [medusa("user", "-e", admin.email, "-p", admin.password)], folder, environment));
  if (!isReady) return false;
  const port = await freePort();
  const [program, ...rest] = medusa("start", "-H", "127.0.0.1", "-p", String(port));
  const output: Buffer[] = [];
  const server = spawn(program, rest, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own children, if it has any, end with it.
    detached: true,
  });
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (data: Buffer) => output.push(data));
  let isStopped = false;
  const stop = (): void => {
    if (server.pid === undefined || isStopped || server.exitCode !== null) return;
    isStopped = true;
    process.kill(-server.pid, "SIGKILL");
  };
  process.once("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  try {
    const url = `http://127.0.0.1:${port}`;
    const startedAtMs = performance.now();
    await untilItAnswers(url, server);
    const key = await prepared(url, admin);
    console.log(`  start (${((performance.now() - startedAtMs) / 1000).toFixed(1)} s)`);
    const files =
      tests.length === 0 ? ["storefront/medusa/", "storefront/medusa/connect.slow", "storefront/replay.slow"] : tests;
    const child = spawn(process.execPath, [path.join(import.meta.dirname, "../../run.ts"), ...files], {
      env: { ...process.env, [medusaUrlVariable]: url, [medusaKeyVariable]: key },
      stdio: "inherit",
    });
    const [status] = await once(child, "exit");
    return status === 0;
  } catch (error) {
    console.log(`✖ ${String(error)}\n${shownEnd(Buffer.concat(output).toString())}`);
    return false;
  } finally {
    stop();
  }
}

if (!(await run())) process.exitCode = 1;
