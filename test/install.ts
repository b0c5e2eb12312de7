/**
 * Installs what only checks the project (test/package.json) into test/node_modules, unless it is there in the versions of the lock file. So
 * the first start needs neither its 280 MB nor the time, and every script that uses it is still one command after `npm ci`.
 *
 * Node finds the packages from every file below test/. The scripts of package.json put test/node_modules/.bin on the path.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import path from "node:path";

const folder = import.meta.dirname;

interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function textOf(...steps: readonly string[]): string | null {
  try {
    return readFileSync(path.join(folder, ...steps), "utf8");
  } catch {
    return null;
  }
}

/** The packages that a lock file lists, by place; null without the file. */
function packagesOf(...steps: readonly string[]): Readonly<Record<string, Locked>> | null {
  const text = textOf(...steps);
  if (text === null) return null;
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(text);
  return lock.packages;
}

/** The version of a package in the root's node_modules; null when it is not there. */
function versionAtRoot(name: string): string | null {
  const text = textOf("../node_modules", name, "package.json");
  if (text === null) return null;
  const manifest: { readonly version: string } = JSON.parse(text);
  return manifest.version;
}

/** Whether the folder has what the lock file lists; packages for other platforms need not be there. */
function isInstalled(wanted: Readonly<Record<string, Locked>>): boolean {
  // npm keeps it up to date with what it has installed.
  const installed = packagesOf("node_modules", ".package-lock.json");
  if (installed !== null)
    return Object.entries(wanted).every(
      ([place, { version, optional }]) =>
        place === "" || installed[place]?.version === version || (optional === true && installed[place] === undefined),
    );
  // All packages in one place, the root's node_modules, do as well.
  return Object.keys(wanted[""]?.dependencies ?? {}).every(
    (name) => versionAtRoot(name) === wanted[`node_modules/${name}`]?.version,
  );
}

const isLink = lstatSync(path.join(folder, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink() === true;
const wanted = packagesOf("package-lock.json");
if (wanted === null) throw new Error("test/package-lock.json cannot be read");
if (!isInstalled(wanted)) {
  if (isLink) throw new Error("What test/node_modules leads to is out of date: run npm ci --prefix test there.");
  console.error("Installing what checks the project into test/node_modules …");
  const npm = spawnSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", process.stderr, process.stderr],
  });
  process.exitCode = npm.status ?? 1;
}
