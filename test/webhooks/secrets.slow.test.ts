/** Secrets of webhook endpoints at rest: sealed once the operator has set OPENPO_SECRET_KEY, those of before too (C60, C65). */
// Only on sqlite: its subject is how secrets are sealed, before they reach a store.
import assert from "node:assert/strict";
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { listEndpoints } from "../../src/shop/events/webhook-endpoints.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { type Received, startReceiver } from "../support/peers/receiver.ts";
import { openStore } from "../support/store.ts";
import { until } from "../support/until.ts";

const shop = "/admin/v1/shops/shop";
const endpoints = `${shop}/webhook-endpoints`;
const token = "an-admin-token-for-tests";
const open = {
  OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8",
  OPENPO_WEBHOOK_HTTP: "1",
  OPENPO_ADMIN_TOKEN: token,
  OPENPO_DEMO: "0",
};

const headersOf = ({ headers }: Received): Record<string, string> => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"]),
});

/** Whether the delivery is signed by this secret, or by the key pair of which this is the public key. */
function isSignedBy(secret: string, delivery: Received): boolean {
  const headers = headersOf(delivery);
  if (secret.startsWith("whsec_")) {
    try {
      new Webhook(secret).verify(delivery.body, headers);
      return true;
    } catch {
      return false;
    }
  }
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(secret.slice(5), "base64")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const content = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${delivery.body}`);
  const signatures = (headers["webhook-signature"] ?? "").split(" ").filter((each) => each.startsWith("v1a,"));
  return signatures.some((each) => verify(null, content, key, Buffer.from(each.slice(4), "base64")));
}

/** What is stored of the secrets, while no program runs. */
async function stored(directory: string): Promise<readonly string[]> {
  const store = await openStore(directory);
  try {
    const found = await store.engine.read("shop", (tx) => listEndpoints(tx, "shop"));
    return found.flatMap(({ secret, previousSecret }) => [
      secret,
      ...(previousSecret === null ? [] : [previousSecret]),
    ]);
  } finally {
    await store.close();
  }
}

const isSealed = (secret: string): boolean => /^v1\.[A-Za-z0-9+/=]{40,}$/.test(secret);

test("secrets of before are sealed when there is a key, and go on to sign; another key is named, and rotating is the way out", async () => {
  await using receiver = Object.assign(await startReceiver(), { [Symbol.asyncDispose]: async () => {} });
  await withDirectory(async (directory) => {
    const key = randomBytes(32).toString("base64");
    const serving = async (env: Readonly<Record<string, string>>, use: (program: RunningProgram) => Promise<void>) => {
      const program = await serveProgram({ OPENPO_DATA_DIR: directory, ...open, ...env });
      await use(program);
      await program.end("SIGTERM");
    };
    const ask = async (program: RunningProgram, method: string, path: string, body?: object) => {
      const answered = await program.ask(method, path, token, body);
      assert.ok(answered.status < 300, answered.text);
      return answered;
    };
    const add = async (program: RunningProgram, signature: string): Promise<readonly [id: string, secret: string]> => {
      const made = await ask(program, "POST", endpoints, {
        url: `${receiver.url}?${signature}`,
        eventTypes: ["*"],
        signature,
      });
      return [String(made.at("data", "endpointId")), String(made.at("data", "secret"))];
    };
    /** Makes an event and waits for as many deliveries of it. */
    const told = async (program: RunningProgram, count: number): Promise<readonly Received[]> => {
      const before = receiver.received.length;
      await ask(program, "POST", `${shop}/keys`, { name: "another", scope: "read" });
      await receiver.until(() => receiver.received.length >= before + count);
      return receiver.received.slice(before);
    };
    const signedBy = (received: readonly Received[], secrets: readonly string[]): void => {
      for (const secret of secrets)
        assert.ok(
          received.some((each) => isSignedBy(secret, each)),
          secret.slice(0, 9),
        );
    };
    let first: readonly string[] = [];
    await serving({}, async (program) => {
      await ask(program, "PUT", shop, { name: "Shop" });
      first = [(await add(program, "hmac"))[1], (await add(program, "ed25519"))[1]];
      signedBy(await told(program, 2), first);
    });
    assert.deepEqual((await stored(directory)).map(isSealed), [false, false], "no key: in clear");

    let second: readonly string[] = [];
    let rotated = "";
    await serving({ OPENPO_SECRET_KEY: key }, async (program) => {
      signedBy(await told(program, 2), first);
      const [endpointId, secret] = await add(program, "hmac");
      second = [secret];
      const given = await ask(program, "POST", `${endpoints}/${endpointId}/rotate-secret`, {});
      rotated = String(given.at("data", "secret"));
      const received = await told(program, 3);
      signedBy(received, [...first, secret, rotated]);
    });
    const sealed = await stored(directory);
    assert.deepEqual(sealed.map(isSealed), [true, true, true, true], "those of before too");
    assert.equal(new Set(sealed).size, 4);

    await serving({ OPENPO_SECRET_KEY: randomBytes(32).toString("base64") }, async (program) => {
      await ask(program, "POST", `${shop}/keys`, { name: "another", scope: "read" });
      const listed = await ask(program, "GET", endpoints);
      const ids = [0, 1, 2].map((index) => String(listed.at("data", "endpoints", index, "endpointId")));
      const errorOf = async (endpointId: string | undefined): Promise<unknown> =>
        (await ask(program, "GET", `${endpoints}/${String(endpointId)}/deliveries`)).at(
          "data",
          "deliveries",
          0,
          "lastError",
        );
      await until("it is told why nothing is sent", async () =>
        String(await errorOf(ids[0])).includes("OPENPO_SECRET_KEY"),
      );
      // The way out: a secret of today's key. The one before cannot be read and does not sign.
      const given = await ask(program, "POST", `${endpoints}/${String(ids[0])}/rotate-secret`, {});
      signedBy(await told(program, 1), [String(given.at("data", "secret"))]);
    });

    await serving({ OPENPO_SECRET_KEY: key }, async (program) => {
      signedBy(await told(program, 2), [...first.slice(1), ...second, rotated]);
    });
  });
  await receiver.close();
});
