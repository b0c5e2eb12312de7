/**
 * Receives webhooks: checks each signature, refuses old ones, counts an event once, and prints what happened.
 *
 *     WEBHOOK_SECRET=whsec_… node_modules/.bin/node examples/webhook-receiver.ts 8090
 *
 * With an ed25519 endpoint WEBHOOK_SECRET is its public key, whpk_…
 */
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { createServer, type Server } from "node:http";

const toleranceSeconds = 300;

const bodyBytesMax = 65_536;

/** What comes before the 32 bytes of an Ed25519 public key. */
const publicKeyHead = Buffer.from("302a300506032b6570032100", "hex");

/** Whether one of the signatures is that of this secret or public key. */
function isSigned(secret: string, signatures: string, content: string): boolean {
  const key = Buffer.from(secret.slice(secret.indexOf("_") + 1), "base64");
  return signatures.split(" ").some((each) => {
    const [version, text = ""] = each.split(",");
    const signature = Buffer.from(text, "base64");
    if (version === "v1" && secret.startsWith("whsec_")) {
      const expected = createHmac("sha256", key).update(content).digest();
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    }
    if (version !== "v1a" || !secret.startsWith("whpk_")) return false;
    const publicKey = createPublicKey({ key: Buffer.concat([publicKeyHead, key]), format: "der", type: "spki" });
    return verify(null, Buffer.from(content), publicKey, signature);
  });
}

/** Starts the receiver. `onEvent` gets each event once; do slow work after it, not in it. */
export function receiveWebhooks(secret: string, port: number, onEvent: (event: unknown) => void): Server {
  // A real receiver keeps these ids where they survive a restart.
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const answer = (status: number): void => void response.writeHead(status).end();
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= bodyBytesMax) parts.push(part);
    });
    request.on("end", () => {
      const header = (name: string): string => String(request.headers[name] ?? "");
      const [id, timestamp] = [header("webhook-id"), header("webhook-timestamp")];
      const body = Buffer.concat(parts).toString("utf8");
      if (bytes > bodyBytesMax || Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
        return answer(400);
      if (!isSigned(secret, header("webhook-signature"), `${id}.${timestamp}.${body}`)) return answer(401);
      if (!seen.has(id)) {
        seen.add(id);
        onEvent(JSON.parse(body));
      }
      return answer(204);
    });
  });
  return server.listen(port, "127.0.0.1");
}

if (import.meta.main) {
  const secret = process.env["WEBHOOK_SECRET"];
  if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set: it was shown when the endpoint was created.");
  receiveWebhooks(secret, Number(process.argv[2] ?? 8090), (event) => console.log(JSON.stringify(event)));
}
