/** Ports for programs that are told theirs, and that keep it when they are started anew. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to whoever asks for any port (32,768 and above on Linux): nobody gets one of these while a program is away. */
const [portMin, portMax] = [15_000, 30_000];

/** A port that nobody uses. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin));
    const server = createServer();
    const isFree = once(server, "listening").then(
      () => true,
      () => false,
    );
    server.listen(port, "127.0.0.1");
    if (!(await isFree)) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
