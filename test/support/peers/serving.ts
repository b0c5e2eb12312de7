/** Servers that tests play, on a free port of this machine. */
import assert from "node:assert/strict";
import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";

/** Lets the server listen. @returns its port. */
export async function listenOnPort(server: Server | SecureServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

/** Cuts the server's connections and waits for its end. */
export async function stopListening(server: Server | SecureServer): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
