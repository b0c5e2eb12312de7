/** Where the programs are that tests run out of packages. */
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "../../..");

/** Returns the path of a file of a package that test/install.ts has installed: `typescript/bin/tsc`. */
export function toolPath(file: string): string {
  const places = ["test/node_modules", "node_modules"].map((place) => path.join(root, place, file));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`${file} is not installed: npm run tools`);
  return found;
}
