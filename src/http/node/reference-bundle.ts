/**
 * The program of the reference page: Scalar's, as one script.
 *
 * `npm run build` writes it beside this module, so that an installation needs no further package. A checkout takes it
 * from the development dependency. That is a plugin for another server, which contains the script and is called for the
 * one route that serves it (D55).
 */
import { readFile } from "node:fs/promises";
import path from "node:path";

/** Where the build puts the script. */
const builtBundle = path.join(import.meta.dirname, "reference.js");

/** @returns null when this installation has none. */
export async function loadReferenceBundle(): Promise<string | null> {
  try {
    return await readFile(builtBundle, "utf8");
  } catch {
    // Not built: a checkout.
  }
  return bundleOfPackage();
}

/** The script out of the package. @returns null when it is not installed. */
export async function bundleOfPackage(): Promise<string | null> {
  const packageName = "@scalar/fastify-api-reference";
  const plugin: unknown = await import(packageName).then(
    (module: { default: unknown }) => module.default,
    () => null,
  );
  if (typeof plugin !== "function") return null;
  let script: string | null = null;
  const take = (sent: unknown): void => {
    if (typeof sent === "string") script = sent;
  };
  const reply = { header: () => reply, send: take };
  const server = {
    initialConfig: {},
    route: (route: { readonly url: string; handler(request: object, reply: object): unknown }) => {
      if (route.url.endsWith(".js")) route.handler({}, reply);
    },
  };
  plugin(server, { configuration: { url: "/" } }, () => {});
  return script;
}
