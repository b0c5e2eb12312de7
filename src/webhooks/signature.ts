/**
 * Secrets of webhook endpoints, and the signatures of what is sent to them (Standard Webhooks 1.0; C60).
 */
import { type SecretBox, type SecretNamed, SecretUnreadable } from "../base/secret-box.ts";
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { type EndpointSecrets, secretsStatement, type WebhookEndpoint } from "../shop/events/webhook-endpoints.ts";
import type { Statement } from "../store/store.ts";

const secretBytes = 32;

/** Prefix of an Ed25519 seed in PKCS #8. */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");

/** A new secret: what is stored, and what its owner is shown. */
interface MadeSecret {
  readonly stored: string;
  /** `whsec_…`, or the public key `whpk_…`. */
  readonly shown: string;
}

/** Makes a secret of this kind. Of an Ed25519 key the owner gets the public part only. */
export function makeSecret(kind: EndpointSecrets["signature"]): MadeSecret {
  if (kind === "hmac") {
    const secret = `whsec_${randomBytes(secretBytes).toString("base64")}`;
    return { stored: secret, shown: secret };
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(pkcs8Head.length);
  return { stored: `whsk_${seed.toString("base64")}`, shown: publicKeyOf(privateKey) };
}

function publicKeyOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return `whpk_${der.subarray(der.length - secretBytes).toString("base64")}`;
}

const bytesOf = (secret: string): Buffer => Buffer.from(secret.slice(secret.indexOf("_") + 1), "base64");

function signatureBy(secret: string, kind: EndpointSecrets["signature"], content: string): string {
  if (kind === "hmac") return `v1,${createHmac("sha256", bytesOf(secret)).update(content).digest("base64")}`;
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, bytesOf(secret)]), format: "der", type: "pkcs8" });
  return `v1a,${sign(null, Buffer.from(content), key).toString("base64")}`;
}

/**
 * Headers with which a body is sent: its id, the second of this attempt, and a signature by each secret that is valid
 * then.
 */
export function signedHeaders(
  { signature, secret, previousSecret, previousUntilMs }: EndpointSecrets,
  webhookId: string,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const overlaps = previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs;
  const secrets = overlaps ? [secret, previousSecret] : [secret];
  const content = `${webhookId}.${timestamp}.${body}`;
  return {
    "webhook-id": webhookId,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((each) => signatureBy(each, signature, content)).join(" "),
  };
}

const named: SecretNamed = { what: "the endpoint's secret", wayOut: "rotate it" };

/**
 * The secrets of an endpoint as they sign.
 *
 * @throws SecretUnreadable when the key under which the secret was sealed is not here. A previous one that cannot be
 *   read does not sign.
 */
export function openedSecrets(box: SecretBox, shopId: string, endpoint: EndpointSecrets): EndpointSecrets {
  const secret = box.openIfSealed(shopId, endpoint.secret, named);
  const { previousSecret } = endpoint;
  try {
    return {
      ...endpoint,
      secret,
      previousSecret: previousSecret === null ? null : box.openIfSealed(shopId, previousSecret, named),
    };
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    return { ...endpoint, secret, previousSecret: null };
  }
}

/** Seals secrets of an endpoint that were stored before there was a key. */
export function sealedStatements(
  box: SecretBox,
  shopId: string,
  { endpointId, secret, previousSecret }: WebhookEndpoint,
): readonly Statement[] {
  const clear = [secret, previousSecret].filter((each) => each !== null && box.mayBeSealed(each));
  if (clear.length === 0) return [];
  const sealed = (stored: string): string => (box.mayBeSealed(stored) ? box.seal(shopId, stored) : stored);
  return [
    secretsStatement(shopId, endpointId, {
      secret: sealed(secret),
      previousSecret: previousSecret === null ? null : sealed(previousSecret),
    }),
  ];
}
