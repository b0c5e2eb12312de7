/**
 * Keeps a release (docs/releasing.md): `npm run release:keep`. Starts the program of this checkout on an empty data directory and an empty
 * database, has it make shops, and keeps both with all answers, small enough to be committed, in `test/releases/<version>/`.
 *
 *     npm run release:keep                                   the version in package.json
 *     npm run release:keep -- --again                        replaces what is kept of it
 *     npm run release:keep -- --checkout DIR --as NAME       of a checkout of an earlier commit
 *     npm run release:keep -- … --program                    its program alone, beside what is kept of it
 *
 * It needs `pg_dump` of the PostgreSQL that it starts, which must not be newer than the oldest one that is supported.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { transformSync } from "esbuild";
import type { JsonObject } from "../../src/base/json.ts";
import { programVersion } from "../../src/base/program-version.ts";
import { findPostgres, freshDatabase, startPostgres, withClient } from "../support/postgres/postgres.ts";
import { packDirectory, packed, unpackInto } from "./archive.ts";
import { readAll } from "./answers.ts";
import { fileNames, type KeptStore, statementsOfDump } from "./kept.ts";
import { atTime, type Running, startCheckout } from "./program.ts";
import { type MadeShops, withSurroundings } from "./shops.ts";

const { values: given } = parseArgs({
  options: {
    checkout: { type: "string" },
    as: { type: "string" },
    again: { type: "boolean", default: false },
    program: { type: "boolean", default: false },
  },
});
const root = path.join(import.meta.dirname, "../..");
const checkout = path.resolve(given.checkout ?? root);
const jsonIn = (name: string): JsonObject => JSON.parse(readFileSync(path.join(checkout, name), "utf8"));
const version = given.as ?? programVersion();
const target = path.join(import.meta.dirname, version);
const keeps = fileNames[given.program ? "program" : "directory"];
if (existsSync(path.join(target, keeps)) && !given.again) {
  console.error(
    `${version} is kept already. A kept release is never changed; --again replaces one that nobody has yet.`,
  );
  process.exit(1);
}

const isEarlier = given.checkout !== undefined;
const migrations = readdirSync(path.join(checkout, "src/shop/schema")).filter((name) => name.endsWith(".sql")).length;
const documents = ["openapi.json", "admin-openapi.json"].filter((name) => existsSync(path.join(checkout, name)));
/** Noon, so that the day is the same however long it takes. */
const atMs = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000;

/** Makes the shops, keeps them with `pack`, and reads everything from what was kept. */
async function kept(
  env: Readonly<Record<string, string>>,
  make: (program: Running, isEarlier: boolean) => Promise<MadeShops>,
  pack: () => Promise<Readonly<Record<string, string>>>,
): Promise<KeptStore> {
  const first = await startCheckout(checkout, { ...env, ...atTime(atMs) });
  const made = await make(first, isEarlier);
  await first.stop();
  for (const what of made.missing) console.log(`  without ${what}`);
  const place = await pack();
  const readAtMs = atMs + 600_000;
  const second = await startCheckout(checkout, { ...env, ...place, ...atTime(readAtMs) });
  const answers = await readAll((asked) => second.ask(asked), made, documents.map(jsonIn));
  await second.stop();
  console.log(`  ${answers.length} answers, ${made.keyed.length} stored ones`);
  return { version, migrations, atMs: readAtMs, ...made, answers };
}

const write = (name: string, bytes: Uint8Array): void => {
  writeFileSync(path.join(target, name), bytes);
  console.log(`  ${name}: ${bytes.length} bytes`);
};

/** The program as it runs, without types, comments and fonts, which nodes need for documents only. */
function packProgram(): Buffer {
  const program = path.join(directory, "program");
  cpSync(path.join(checkout, "package.json"), path.join(program, "package.json"));
  for (const name of globSync("src/**/*.{ts,cjs,sql}", { cwd: checkout })) {
    const file = path.join(checkout, name);
    if (name.endsWith(".d.ts") || lstatSync(file).isSymbolicLink()) continue;
    const source = readFileSync(file, "utf8");
    mkdirSync(path.join(program, path.dirname(name)), { recursive: true });
    const small = name.endsWith(".ts") ? transformSync(source, { loader: "ts", minifyWhitespace: true }).code : source;
    writeFileSync(path.join(program, name), small);
  }
  return packDirectory(program);
}

const directory = mkdtempSync(path.join(tmpdir(), "openpo-keep-"));

async function keepAll(): Promise<void> {
  await using server = await startPostgres();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await withSurroundings(async (env, make) => {
    console.log(`${version}, a data directory:`);
    const data = path.join(directory, "data");
    const store = await kept({ ...env, OPENPO_DATA_DIR: data }, make, async () => {
      for (const name of ["server.json", "lock.db", "time"]) rmSync(path.join(data, name), { force: true });
      write(fileNames.directory, packDirectory(data));
      const again = path.join(directory, "again");
      unpackInto(again, path.join(target, fileNames.directory));
      return { OPENPO_DATA_DIR: again };
    });
    write(fileNames.directoryAnswers, packed(Buffer.from(JSON.stringify(store))));
  });
  await withSurroundings(async (env, make) => {
    console.log(`${version}, a database:`);
    const database = await freshDatabase({ empty: true, server: server.url });
    const store = await kept({ ...env, OPENPO_DATABASE_URL: database.url }, make, async () => {
      const superuser = new URL(database.url);
      superuser.username = "postgres";
      const dump = execFileSync(
        path.join(findPostgres() ?? "", "pg_dump"),
        ["--no-owner", "--no-privileges", "--rows-per-insert=100", "--schema=openpo*", superuser.href],
        { encoding: "utf8", maxBuffer: 2 ** 28 },
      );
      write(fileNames.dump, packed(Buffer.from(dump)));
      const again = await freshDatabase({ empty: true, server: server.url });
      const statements = statementsOfDump(path.join(target, fileNames.dump));
      await withClient(again.url, (client) => client.query(statements));
      return { OPENPO_DATABASE_URL: again.url };
    });
    write(fileNames.dumpAnswers, packed(Buffer.from(JSON.stringify(store))));
  });
  write(fileNames.document, packed(Buffer.from(JSON.stringify(jsonIn("openapi.json")))));
  write(fileNames.program, packProgram());
}

try {
  if (given.program) write(fileNames.program, packProgram());
  else await keepAll();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
