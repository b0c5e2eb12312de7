/**
 * Makes the fonts anew, of the package's. Each has the letters that the console's style sheet asks it for
 * (`unicode-range` in `tokens.css`), and the features of text that pages use. It needs Python:
 * `pip install fonttools==4.60.1 brotli==1.1.0` brings `pyftsubset`; then `node console/fonts/take.ts`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const folder = import.meta.dirname;
const inter = path.dirname(createRequire(import.meta.url).resolve("@fontsource-variable/inter/package.json"));
const tokens = readFileSync(path.join(folder, "../styles/tokens.css"), "utf8");
for (const [, name = "", range = ""] of tokens.matchAll(/fonts\/([\w-]+)\.woff2"[^}]*?unicode-range:([^;]+);/g))
  execFileSync(
    "pyftsubset",
    [
      path.join(inter, `files/${name}-wght-normal.woff2`),
      `--unicodes=${range.replaceAll(/\s/g, "")}`,
      "--layout-features=calt,ccmp,kern,locl,mark,mkmk,tnum",
      "--flavor=woff2",
      `--output-file=${path.join(folder, `${name}.woff2`)}`,
    ],
    { stdio: "inherit" },
  );
copyFileSync(path.join(inter, "LICENSE"), path.join(folder, "OFL.txt"));
