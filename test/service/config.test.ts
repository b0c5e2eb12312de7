import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllowed } from "../../src/webhooks/addresses.ts";
import { ConfigError, nameOfDatabase, readConfig } from "../../src/service/config.ts";
import { answersPackedBytesMax, answersRememberedBytesMax } from "../../src/requests/remembered/remembered-answers.ts";
import { bodiesBytesMax } from "../../src/http/body.ts";
import { connectionsMax, unreadBytesMax } from "../../src/http/node/server.ts";
import { shopsOpenMax, shopsWarmMax } from "../../src/store/sqlite/engine.ts";
import { memoryLimits } from "../../src/service/memory-limits.ts";
import { usualMegabytes } from "../../src/service/option-values.ts";
import { unknownOptionsIn } from "../../src/service/options.ts";

test("an empty environment gives the defaults of contract §1", () => {
  assert.deepEqual(readConfig({ OPENPO_MEMORY_MB: "1024" }), {
    port: 8080,
    host: "127.0.0.1",
    dataDir: "./data",
    database: null,
    adminToken: null,
    demo: true,
    logLevel: "info",
    metricsPort: null,
    publicUrl: null,
    documentFont: null,
    mail: null,
    webhooks: { http: false, hosts: new Set(), networks: [] },
    connect: { http: false, hosts: new Set(), networks: [] },
    storefronts: { secretKey: null, allowed: new Map() },
    memoryMegabytes: 1_024,
  });
});

test("an empty variable counts as not set", () => {
  const empty = {
    PORT: "",
    OPENPO_HOST: "",
    OPENPO_DATA_DIR: "",
    OPENPO_ADMIN_TOKEN: "",
    OPENPO_DEMO: "",
    OPENPO_DATABASE_URL: "",
    OPENPO_METRICS_PORT: "",
    OPENPO_UNREAD_MB: "",
  };
  assert.deepEqual(readConfig(empty), readConfig({}));
});

test("every variable is read, and unknown ones are ignored", () => {
  const config = readConfig({
    PORT: "0",
    OPENPO_HOST: "0.0.0.0",
    OPENPO_DATA_DIR: "/srv/openpo",
    OPENPO_ADMIN_TOKEN: "a-token-of-16-characters",
    OPENPO_DEMO: "0",
    OPENPO_DATABASE_URL: "postgres://openpo:s%40cret@db.example.com/openpo?sslmode=require&connections=25",
    OPENPO_LOG_LEVEL: "warn",
    OPENPO_METRICS_PORT: "9464",
    OPENPO_MEMORY_MB: "2048",
    OPENPO_PUBLIC_URL: "HTTPS://PO.example.com:8443/",
    OPENPO_DOCUMENT_FONT: "/fonts/cjk.otf",
    OPENPO_CONNECT_ALLOW: "clients.internal",
    OPENPO_WEBHOOK_ALLOW: "ERP.internal, 10.1.0.0/16",
    OPENPO_WEBHOOK_HTTP: "1",
    OPENPO_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
    OPENPO_STOREFRONT_ALLOW: "https://Store.example.com:8443, localhost:9000",
    OPENPO_SMTP_URL: "smtp://po%40example.com:p%3Ass@mail.example.com",
    OPENPO_MAIL_FROM: '"Example Orders" <po@example.com>',
    PATH: "/bin",
  });
  assert.deepEqual(config, {
    port: 0,
    host: "0.0.0.0",
    dataDir: "/srv/openpo",
    database: { url: "postgres://openpo:s%40cret@db.example.com/openpo?sslmode=require", connectionsMax: 25 },
    adminToken: "a-token-of-16-characters",
    demo: false,
    logLevel: "warn",
    metricsPort: 9_464,
    publicUrl: "https://po.example.com:8443",
    documentFont: "/fonts/cjk.otf",
    mail: {
      server: { host: "mail.example.com", port: 587, tls: "starttls", user: "po@example.com", password: "p:ss" },
      from: { name: "Example Orders", address: "po@example.com" },
      perHourMax: 60,
    },
    webhooks: { ...parseAllowed("erp.internal, 10.1.0.0/16"), http: true },
    connect: { ...parseAllowed("clients.internal"), http: false },
    storefronts: {
      secretKey: Buffer.alloc(32, 5),
      allowed: new Map([
        ["store.example.com:8443", "https://store.example.com:8443"],
        ["localhost:9000", "http://localhost:9000"],
      ]),
    },
    memoryMegabytes: 2_048,
  });
  assert.ok(Object.isFrozen(config));
  const [network] = config.webhooks.networks;
  assert.ok(config.webhooks.hosts.has("erp.internal"));
  assert.deepEqual(
    [network?.bits, network?.list.check("10.1.255.1"), network?.list.check("10.2.0.1")],
    [16, true, false],
  );
});

test("what webhooks may connect to is refused as a whole when an entry is neither a host nor a network", () => {
  for (const allowed of ["10.0.0.0/99", "https://erp.internal", "a b"])
    assert.throws(() => readConfig({ OPENPO_WEBHOOK_ALLOW: allowed }), /^ConfigError: OPENPO_WEBHOOK_ALLOW: must be/);
});

test("a mail server that cannot be used is refused with the variable's name and nothing of its password", () => {
  const from = { OPENPO_MAIL_FROM: "po@example.com" };
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ OPENPO_SMTP_URL: "smtp://u:hunter2@mail.example" }, /OPENPO_MAIL_FROM: is needed/],
    [from, /OPENPO_SMTP_URL: is needed/],
    [{ ...from, OPENPO_SMTP_URL: "http://u:hunter2@mail.example" }, /OPENPO_SMTP_URL: must be like/],
    [{ ...from, OPENPO_SMTP_URL: "smtp://u:hunter2@mail.example/x" }, /OPENPO_SMTP_URL: must be like/],
    [{ ...from, OPENPO_SMTP_URL: "smtp://u:hunter2%@mail.example" }, /OPENPO_SMTP_URL: must be like/],
    [{ ...from, OPENPO_SMTP_URL: "smtp://hunter2@mail.example" }, /OPENPO_SMTP_URL: must have both/],
    [{ ...from, OPENPO_SMTP_URL: "smtp://u:hunter2@mail.example?pool=1" }, /OPENPO_SMTP_URL: may have no parameter/],
    [
      { ...from, OPENPO_SMTP_URL: "smtp://u:hunter2@mail.example?tls=none" },
      /OPENPO_SMTP_URL: may have \?tls=none only/,
    ],
    [
      { ...from, OPENPO_SMTP_URL: "smtp://u:hunter2@127.0.0.1.evil.example?tls=none" },
      /OPENPO_SMTP_URL: may have \?tls=/,
    ],
    [{ ...from, OPENPO_SMTP_URL: "smtps://u:hunter2@127.0.0.1?tls=none" }, /OPENPO_SMTP_URL: may have \?tls=none only/],
    [{ OPENPO_SMTP_URL: "smtp://u:hunter2@mail.example", OPENPO_MAIL_FROM: "nobody" }, /OPENPO_MAIL_FROM: must be/],
    [
      { OPENPO_SMTP_URL: "smtp://mail.example", OPENPO_MAIL_FROM: "E\nBcc: x <a@b.example>" },
      /OPENPO_MAIL_FROM: must be/,
    ],
    [{ OPENPO_SMTP_URL: "smtp://mail.example", OPENPO_MAIL_FROM: "<a@b.example\nc>" }, /OPENPO_MAIL_FROM: must be/],
  ];
  for (const [env, expected] of wrong)
    assert.throws(
      () => readConfig(env),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hunter2|\n/);
        return true;
      },
    );
  for (const host of ["localhost", "127.0.0.1", "[::1]", "127.9.9.9"])
    assert.equal(readConfig({ ...from, OPENPO_SMTP_URL: `smtp://${host}:25?tls=none` }).mail?.server.tls, "none");
  assert.equal(readConfig({ ...from, OPENPO_SMTP_URL: "smtps://mail.example" }).mail?.server.port, 465);
  assert.deepEqual(readConfig({ ...from, OPENPO_SMTP_URL: "smtps://mail.example" }).mail?.from, {
    name: null,
    address: "po@example.com",
  });
});

test("an admin token that nobody would try first is taken", () => {
  for (const token of [
    "opa_3f9c0d71b2e84a65",
    "correct-horse-battery-staple",
    "0f3a99e1d4c7b205",
    "tokenization-of-whales",
  ])
    assert.equal(readConfig({ OPENPO_ADMIN_TOKEN: token }).adminToken, token);
});

test("an invalid value is refused with one line that names the variable", () => {
  const bad: readonly (readonly [string, string])[] = [
    ...[
      "aaaaaaaaaaaaaaaaaaaa",
      "abcabcabcabcabcabcabc",
      "Change-Me-Change-Me-1",
      "please-change-this-secret",
      "1234567890123456",
      "password1234567890",
      "OpenPO-admin-2026",
      "opa_your_token_here_",
      "opa_aaaaaaaaaaaaaaaaaaaaaaaa",
      "aaaabbbbccccdddd",
      "ThisIsMyAdminToken",
      "openpo1openpo2openpo3",
      "Qwertyuiop123456",
      "1q2w3e4r5t6y7u8i",
    ].map((token) => ["OPENPO_ADMIN_TOKEN", token] as const),
    ["OPENPO_MEMORY_MB", "255"],
    ["OPENPO_MEMORY_MB", "1.5"],
    ["OPENPO_MEMORY_MB", "much"],
    ["PORT", "http"],
    ["OPENPO_METRICS_PORT", "65536"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ...[
      "po.example.com",
      "localhost:8080",
      "ftp://po.example.com",
      "https://",
      "https://po.example.com/openpo",
      "https://po.example.com/?",
      "https://po.example.com/#",
      "https://@po.example.com",
      "https://user:secret@po.example.com",
      "https://po example.com",
    ].map((url) => ["OPENPO_PUBLIC_URL", url] as const),
    ["OPENPO_DEMO", "yes"],
    ["OPENPO_ADMIN_TOKEN", "short"],
    ["OPENPO_ADMIN_TOKEN", "a token with spaces in it"],
    ["OPENPO_LOG_LEVEL", "loud"],
    ["OPENPO_DATABASE_URL", "mysql://openpo:s3cret@localhost/openpo"],
    ["OPENPO_DATABASE_URL", "localhost:5432"],
    ["OPENPO_DATABASE_URL", "postgres://openpo:s3cret@local host/openpo"],
    ...["", "1", "201", "ten"].map(
      (connections) => ["OPENPO_DATABASE_URL", `postgres://localhost/openpo?connections=${connections}`] as const,
    ),
  ];
  for (const [name, value] of bad)
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `) && !error.message.includes("\n"),
      `${name}=${value}`,
    );
});

test("a refusal does not repeat secrets", () => {
  const secrets = { OPENPO_ADMIN_TOKEN: "hunter2", OPENPO_DATABASE_URL: "mysql://openpo:hunter2@localhost/openpo" };
  for (const [name, value] of Object.entries(secrets))
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => error instanceof ConfigError && !error.message.includes("hunter2"),
    );
});

test("a database is named without its user and password", () => {
  const names: Readonly<Record<string, string>> = {
    "postgres://openpo:s3cret@db.example.com:5433/po?sslmode=require": "postgres://db.example.com:5433/po",
    "postgresql://openpo@[fd00::5]/po": "postgres://[fd00::5]/po",
    "postgres:///po?host=/run/postgresql&user=openpo&password=s3cret": "postgres:///run/postgresql/po",
  };
  for (const [url, name] of Object.entries(names)) assert.equal(nameOfDatabase({ url, connectionsMax: 2 }), name);
});

test("with 1,024 megabytes the limits are their constants, and otherwise in proportion", () => {
  const measured = {
    connectionsMax,
    bodiesBytesMax,
    unreadBytesMax,
    shopsOpenMax,
    shopsWarmMax,
    answersRememberedBytesMax,
    answersPackedBytesMax,
  };
  assert.deepEqual(memoryLimits(1_024, 4), { ...measured, readerThreads: 4 });
  for (const [megabytes, factor] of [
    [256, 0.25],
    [4_096, 4],
  ] as const) {
    const { readerThreads, ...scaled } = memoryLimits(megabytes, 4);
    assert.deepEqual(
      scaled,
      Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, value * factor])),
    );
    assert.equal(readerThreads, megabytes < 1_024 ? 2 : 4);
  }
  assert.equal(memoryLimits(1_000_000, 1).connectionsMax, 10_000);
  const threads = (megabytes: number, processors: number) => memoryLimits(megabytes, processors).readerThreads;
  assert.deepEqual([threads(1_024, 1), threads(1_024, 64), threads(8_192, 64), threads(8_192, 6)], [2, 4, 8, 6]);
});

test("without the variable a quarter of what the machine or container grants counts, from 1,024 to 4,096 megabytes", () => {
  const gibibyte = 1_073_741_824;
  assert.equal(usualMegabytes(0.5 * gibibyte, 0), 1_024);
  assert.equal(usualMegabytes(8 * gibibyte, 0), 2_048);
  assert.equal(usualMegabytes(64 * gibibyte, 0), 4_096);
  assert.equal(usualMegabytes(64 * gibibyte, 6 * gibibyte), 1_536);
  // A container without a limit tells one that no machine has.
  assert.equal(usualMegabytes(8 * gibibyte, 2 ** 63), 2_048);
});

test("a variable that is gone is refused with what stands in its place", () => {
  const gone: readonly (readonly [string, RegExp])[] = [
    ["OPENPO_ALLOWED_HOSTS", /OPENPO_PUBLIC_URL/],
    ["OPENPO_BODIES_MB", /OPENPO_MEMORY_MB/],
    ["OPENPO_CONNECTIONS_MAX", /OPENPO_MEMORY_MB/],
    ["OPENPO_MAILS_PER_HOUR", /60 e-mails/],
    ["OPENPO_READER_THREADS", /OPENPO_MEMORY_MB/],
    ["OPENPO_SHOPS_OPEN_MAX", /OPENPO_MEMORY_MB/],
    ["OPENPO_STORED_ANSWERS_MB", /4096 megabytes/],
    ["OPENPO_UNREAD_MB", /OPENPO_MEMORY_MB/],
    ["OPENPO_URL", /--url/],
  ];
  for (const [name, instead] of gone)
    assert.throws(
      () => readConfig({ [name]: "1" }),
      (error) =>
        error instanceof ConfigError && error.message.startsWith(`${name}: is gone: `) && instead.test(error.message),
      name,
    );
});

test("an unknown variable is named with the one that is most like it", () => {
  const env = { OPENPO_DATADIR: "/x", OPENPO_HOTS: "", OPENPO_HOST: "::", OPENPO_URL: "x", PATH: "/bin", DEMO: "1" };
  assert.deepEqual(unknownOptionsIn(env), [
    { name: "OPENPO_DATADIR", nearest: "OPENPO_DATA_DIR" },
    { name: "OPENPO_HOTS", nearest: "OPENPO_HOST" },
  ]);
});
