/** How the program starts, refuses to start, and stops (contract §1). */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { test } from "node:test";
import { promisify } from "node:util";
import { onStore, runProgram, serveProgram, withDirectory } from "../support/process.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);

test("a first start creates the demo shop in time; the printed keys, token and curl command work", async () => {
  await withDirectory(async (directory) => {
    const dataDir = path.join(directory, "data");
    const program = await serveProgram({ OPENPO_DATA_DIR: dataDir });
    const [readKey, writeKey] = [program.word("read key"), program.word("write key")];
    const { adminToken } = program;
    assert.equal(program.word("admin token"), adminToken);
    const reference = /^The API reference is at (\S+)$/m.exec(program.stdout)?.[1] ?? "";
    assert.equal(reference, `${program.url}/docs`);
    assert.equal((await fetch(reference)).status, 200);
    const curl = /^ *(curl .+)$/m.exec(program.stdout)?.[1] ?? "";
    const pasted: { data: { totalCount: number } } = JSON.parse((await run("sh", ["-c", `${curl} -sS`])).stdout);
    assert.ok(pasted.data.totalCount >= 12, curl);

    assert.equal((await program.ask("POST", "/api/v1/purchase-orders", readKey, {})).status, 403);
    assert.equal((await program.ask("POST", "/api/v1/purchase-orders", writeKey, {})).status, 201);
    assert.equal((await program.ask("GET", "/admin/v1/shops/demo", adminToken)).status, 200);
    for (const place of ["/healthz", "/readyz", "/api/v1/openapi.json"])
      assert.equal((await program.ask("GET", place, "none")).status, 200, place);

    const stopped = await program.end("SIGTERM");
    assert.equal(stopped.code, 0, stopped.stderr);

    // The second start creates nothing and prints no secret; keys and token still work.
    const again = await serveProgram({ OPENPO_DATA_DIR: dataDir });
    assert.ok(!again.stdout.includes("opo_") && !again.stdout.includes(adminToken), again.stdout);
    assert.equal((await again.ask("GET", "/api/v1/purchase-orders", readKey)).status, 200);
    assert.equal((await again.ask("GET", "/admin/v1/shops", adminToken)).at("data", "totalCount"), 1);
    assert.equal((await again.end("SIGINT")).code, 0);
  });
});

test("a failing start prints a one-line message and exits with 1", async () => {
  await withDirectory(async (directory) => {
    const busy = createServer().unref();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    const address = busy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ PORT: "many" }, /^openpo: PORT: must be a port number/],
      [
        { PORT: String(port), OPENPO_DATA_DIR: path.join(directory, "a") },
        /^openpo: Port \d+ on 127\.0\.0\.1 is in use/,
      ],
      [
        { OPENPO_HOST: "192.0.2.1", OPENPO_DATA_DIR: path.join(directory, "b") },
        /^openpo: Port 0 on 192\.0\.2\.1 is not an address/,
      ],
      [{ OPENPO_DATABASE_URL: "postgres://x" }, /^openpo: OPENPO_ADMIN_TOKEN: is needed with OPENPO_DATABASE_URL\. /],
      [
        {
          OPENPO_DATABASE_URL: "postgres://openpo:s3cret@127.0.0.1:9/openpo",
          OPENPO_ADMIN_TOKEN: "an-admin-token-for-tests",
        },
        /^openpo: OPENPO_DATABASE_URL: the database postgres:\/\/127\.0\.0\.1:9\/openpo cannot be used: .*ECONNREFUSED/,
      ],
    ];
    for (const [env, message] of cases) {
      const { code, stderr } = await runProgram([], { OPENPO_DEMO: "0", ...env });
      assert.equal(code, 1, stderr);
      assert.match(stderr, message);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
      assert.ok(!stderr.includes("s3cret"));
    }
    busy.close();
  });
});

test("after a first start that fails on its port, the next one prints keys that work", async () => {
  await withDirectory(async (directory) => {
    const busy = createServer().unref();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    const address = busy.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    for (const OPENPO_DEMO of ["1", "0"]) {
      const env = { OPENPO_DATA_DIR: path.join(directory, `demo-${OPENPO_DEMO}`), OPENPO_DEMO };
      assert.match((await runProgram([], { ...env, PORT: port })).stderr, /is in use/);
      const program = await serveProgram(env);
      assert.equal((await program.ask("GET", "/admin/v1/shops", program.adminToken)).status, 200, program.stdout);
      if (OPENPO_DEMO === "1") {
        const list = await program.ask("GET", "/api/v1/purchase-orders", program.word("read key"));
        assert.equal(list.status, 200, program.stdout);
      }
      await program.end("SIGTERM");
    }
    busy.close();
  });
});

test("a request that runs during a stop is answered", async () => {
  await withDirectory(async (directory) => {
    const token = "an-admin-token-for-tests";
    const program = await serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_ADMIN_TOKEN: token, OPENPO_DEMO: "0" });
    await program.ask("PUT", "/admin/v1/shops/slow", token, { name: "Slow" });
    const sent = request(`${program.url}/admin/v1/shops/slow/import`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, Expect: "100-continue" },
    });
    sent.flushHeaders();
    // The service has the request.
    await once(sent, "continue");
    sent.write('{"type":"location","locationId":"a",');
    const ending = program.end("SIGTERM");
    await until("it stops", () => program.stderr.includes("OpenPO stops (SIGTERM)"));
    sent.end('"name":"A"}\n');
    const [answered] = (await once(sent, "response")) as [IncomingMessage];
    const text = await readText(answered);
    assert.equal(answered.statusCode, 200, text);
    const { data }: { readonly data: object } = JSON.parse(text);
    assert.deepEqual(data, { imported: { location: 1 } });
    assert.equal((await ending).code, 0);
  });
});

test("a signal to npm start reaches the service, which stops properly and releases the store", async () => {
  await withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", OPENPO_LOG_LEVEL: "warn", PORT: "0" };
    const npm = spawn("npm", ["start"], {
      cwd: path.join(import.meta.dirname, "../.."),
      env: { ...process.env, ...(await onStore(env)) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    npm.stderr.on("data", (data: Buffer) => (said += data.toString()));
    let served = "";
    while (!served.includes("OpenPO serves at")) served += String((await once(npm.stdout, "data"))[0]);
    npm.kill("SIGTERM");
    await once(npm, "close");
    assert.match(said, /OpenPO stops \(SIGTERM\)/);
    const next = await serveProgram(env);
    assert.equal((await next.end("SIGTERM")).code, 0);
  });
});

test("after a start the program collects all that it has left behind, and gives the memory back", async () => {
  const tellCollections = `import { setFlagsFromString } from "node:v8"; setFlagsFromString("--trace-gc");`;
  await withDirectory(async (directory) => {
    const program = await serveProgram({
      OPENPO_DATA_DIR: path.join(directory, "data"),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellCollections)}`,
    });
    // So V8 names the collection that it makes when it is told that memory is short.
    await until("such a collection", () => /Mark-Compact.* low memory notification/.test(program.stdout));
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
