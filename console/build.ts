/**
 * Builds the console into `dist/console`: `index.html`, and scripts and styles whose names have a hash of their content. `npm ci` runs it
 * (`prepare`), and `npm run build` for the package.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const folder = import.meta.dirname;
const outdir = path.join(folder, "../dist/console");

rmSync(outdir, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ["app.tsx", "styles.css"].map((name) => path.join(folder, name)),
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2023"],
  minify: true,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  metafile: true,
  logLevel: "warning",
});

/** The name of the file that an entry has become. */
function nameOf(entry: string): string {
  const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(`console/${entry}`));
  if (found === undefined) throw new Error(`${entry} was not built`);
  return path.basename(found[0]);
}

const page = readFileSync(path.join(folder, "index.html"), "utf8")
  .replace("app.css", nameOf("styles.css"))
  .replace("app.js", nameOf("app.tsx"));
mkdirSync(outdir, { recursive: true });
writeFileSync(path.join(outdir, "index.html"), page);
