/**
 * Files that the service shows as they are. They stand beside the program's folder, in a checkout and in the package.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { documentSurface } from "../rest.ts";
import { adminPrefix, apiPrefix } from "../routes.ts";
import type { Surface } from "../surface.ts";

/** @returns null when this installation does not carry the file. */
export const loadCarried = async (name: "README.md" | "openapi.json" | "admin-openapi.json"): Promise<string | null> =>
  await readFile(path.join(import.meta.dirname, "../../..", name), "utf8").catch(() => null);

/** The descriptions of the API and of the admin API (C9): the files that `npm run generate` writes. */
export const descriptions: readonly Surface[] = [
  documentSurface(`${apiPrefix}/openapi.json`, "openapi", () => loadCarried("openapi.json")),
  documentSurface(`${adminPrefix}/openapi.json`, "admin:openapi", () => loadCarried("admin-openapi.json")),
];
