/**
 * Runs another benchmark on PostgreSQL: `OPENPO_BENCH_PROGRAM` is hot.ts or size.ts. Starts a server with an empty database for the service, and
 * one for the bound.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { freshDatabase, startPostgres } from "../test/support/postgres/postgres.ts";

const program = path.join(import.meta.dirname, process.env["OPENPO_BENCH_PROGRAM"] ?? "hot.ts");
await using server = await startPostgres();
const { url } = await freshDatabase({ empty: true, server: server.url });
const { url: boundUrl } = await freshDatabase({ empty: true, server: server.url });
const running = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
  env: { OPENPO_BENCH_READINGS: "15", ...process.env, OPENPO_DATABASE_URL: url, OPENPO_BOUND_URL: boundUrl },
  stdio: "inherit",
});
const [status] = await once(running, "exit");
if (status !== 0) process.exitCode = 1;
