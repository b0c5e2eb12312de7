/** What is kept of a release, and how it is put where the program opens it. */
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { textIn, unpackInto } from "./archive.ts";
import type { KeptAnswer } from "./answers.ts";
import type { MadeShops } from "./shops.ts";

export const fileNames = {
  directory: "data-directory.br",
  directoryAnswers: "data-directory.json.br",
  dump: "database.sql.br",
  dumpAnswers: "database.json.br",
  document: "openapi.json.br",
  program: "program.br",
} as const;

/** A store of a release with what it has answered. */
export interface KeptStore extends MadeShops {
  readonly version: string;
  /** How many migrations of the shop's schema the release had. */
  readonly migrations: number;
  /** When the answers were read. */
  readonly atMs: number;
  readonly answers: readonly KeptAnswer[];
}

/** The kept releases, by name. */
export const releases: readonly string[] = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

export const fileOf = (release: string, name: keyof typeof fileNames): string =>
  path.join(import.meta.dirname, release, fileNames[name]);

export const keptStore = (release: string, name: "directoryAnswers" | "dumpAnswers"): KeptStore =>
  JSON.parse(textIn(fileOf(release, name)));

export const documentOf = (release: string): JsonObject => JSON.parse(textIn(fileOf(release, "document")));

/** The statements of a dump, without lines that only `psql`, or only a newer server, knows. */
export const statementsOfDump = (file: string): string =>
  textIn(file).replaceAll(/^(?:\\.*|SET transaction_timeout.*)$/gm, "");

/** The releases whose program is kept. */
export const releasesWithProgram = releases.filter((release) => existsSync(fileOf(release, "program")));

/** How many migrations of the shop's schema a release had. */
export const migrationsOf = (release: string): number => keptStore(release, "dumpAnswers").migrations;

/** The program of a release, unpacked, with this checkout's packages. */
export function unpackProgram(release: string): { readonly main: string } & Disposable {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-release-"));
  unpackInto(directory, fileOf(release, "program"));
  symlinkSync(path.join(import.meta.dirname, "../../node_modules"), path.join(directory, "node_modules"));
  return {
    main: path.join(directory, "src/main.cjs"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
