/**
 * Makes `inter-latin-ext.woff2` anew: of the package's further Latin letters those that the console's style sheet asks
 * it for (`unicode-range` in `tokens.css`). It needs Python: `pip install fonttools==4.60.1 brotli==1.1.0`, which bring
 * `pyftsubset`, then `node console/fonts/take.ts`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const folder = import.meta.dirname;
const inter = path.dirname(createRequire(import.meta.url).resolve("@fontsource-variable/inter/package.json"));
const tokens = readFileSync(path.join(folder, "../styles/tokens.css"), "utf8");
const [, range = ""] = /inter-latin-ext\.woff2"[^}]*?unicode-range:([^;]+);/.exec(tokens) ?? [];
execFileSync(
  "pyftsubset",
  [
    path.join(inter, "files/inter-latin-ext-wght-normal.woff2"),
    `--unicodes=${range.replaceAll(/\s/g, "")}`,
    "--layout-features=*",
    "--flavor=woff2",
    `--output-file=${path.join(folder, "inter-latin-ext.woff2")}`,
  ],
  { stdio: "inherit" },
);
copyFileSync(path.join(inter, "LICENSE"), path.join(folder, "OFL.txt"));
