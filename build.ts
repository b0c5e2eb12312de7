/**
 * Builds `dist`: the program as JavaScript, with the schema files and the reference page's script beside the modules that read them, and the console.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleOfPackage } from "./src/http/node/reference-bundle.ts";

const root = import.meta.dirname;
const dist = path.join(root, "dist");

rmSync(dist, { recursive: true, force: true });
execFileSync("tsc", ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
for (const file of globSync(["src/**/*.sql", "src/documents/fonts/*"], { cwd: root }))
  cpSync(path.join(root, file), path.join(dist, path.relative("src", file)));
const bundle = await bundleOfPackage();
if (bundle === null) throw new Error("@scalar/fastify-api-reference is not installed: npm ci");
writeFileSync(path.join(dist, "http/node/reference.js"), bundle);
await import("./console/build.ts");
chmodSync(path.join(dist, "main.js"), 0o755);
