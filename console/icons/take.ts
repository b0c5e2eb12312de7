/**
 * Makes `icons.svg` anew: the icons in `names.ts` as symbols, from the package `lucide-static`. It is not installed
 * with the project, since it has 67 MB: `npm pack lucide-static@1.62.0`, unpack it, and
 * `node console/icons/take.ts <folder of the package>`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { iconNames } from "./names.ts";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("Name the folder of lucide-static.");

const symbols = iconNames.map((name) => {
  const icon = readFileSync(path.join(folder, "icons", `${name}.svg`), "utf8");
  const [, shapes = ""] = /<svg[^>]*>([^]*)<\/svg>/.exec(icon) ?? [];
  return `<symbol id="icon-${name}" viewBox="0 0 24 24">${shapes.replaceAll(/\s*\n\s*/g, "")}</symbol>`;
});
const license = readFileSync(path.join(folder, "LICENSE"), "utf8");
writeFileSync(path.join(import.meta.dirname, "icons.svg"), `${["<svg hidden>", ...symbols, "</svg>"].join("\n")}\n`);
writeFileSync(path.join(import.meta.dirname, "LICENSE"), license);
