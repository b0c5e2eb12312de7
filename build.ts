/**
 * Makes `dist`: the program as JavaScript, with the schema files beside the modules that read them.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, rmSync } from "node:fs";
import path from "node:path";

const root = import.meta.dirname;
const dist = path.join(root, "dist");

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
for (const file of globSync("src/**/*.sql", { cwd: root }))
  cpSync(path.join(root, file), path.join(dist, path.relative("src", file)));
chmodSync(path.join(dist, "main.js"), 0o755);
