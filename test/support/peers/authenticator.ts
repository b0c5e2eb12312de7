/** An authenticator and the browser before it, in software: keys of ES256, attestation `none` (WebAuthn level 3). */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { z } from "zod";

const creation = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string() }),
  user: z.object({ id: z.string() }),
});

const request = z.object({ challenge: z.string(), rpId: z.string() });

/** What goes otherwise than the options and the page say. */
interface Otherwise {
  readonly rpId?: string;
  readonly origin?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  readonly isVerified?: boolean;
  readonly type?: string;
  readonly credentialId?: string;
}

/** A credential that the authenticator keeps. */
interface Kept {
  readonly id: string;
  readonly userHandle: string;
  readonly key: KeyObject;
}

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>;

/** A head of CBOR: the major type, and a length or number below 65,536. */
const headOf = (major: number, size: number): Uint8Array =>
  size < 24
    ? Uint8Array.of((major << 5) | size)
    : size < 256
      ? Uint8Array.of((major << 5) | 24, size)
      : Uint8Array.of((major << 5) | 25, size >> 8, size & 0xff);

function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return Buffer.from(value < 0 ? headOf(1, -1 - value) : headOf(0, value));
  if (typeof value === "string") return Buffer.concat([headOf(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([headOf(2, value.length), value]);
  return Buffer.concat([headOf(5, value.size), ...[...value].flat().map(cbor)]);
}

const sha256 = (bytes: string | Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

const encoded = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64url");

export class Authenticator {
  readonly #origin: string;
  readonly #kept: Kept[] = [];
  /** Uses, as the authenticator counts them; 0: it does not count. */
  counter = 0;
  /** It may be, and is, on other devices too. */
  isBackedUp = false;

  /** @param origin  of the page. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Makes a credential, and returns what the browser sends of it. */
  make(options: unknown, otherwise: Otherwise = {}) {
    const { challenge, rp, user } = creation.parse(options);
    const { privateKey: key, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { credentialId } = otherwise;
    const id = credentialId === undefined ? randomBytes(16) : Buffer.from(credentialId, "base64url");
    this.#kept.push({ id: encoded(id), userHandle: user.id, key });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const cose = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), Uint8Array.of(0, id.length), id, cose]);
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", this.#data(rp.id, otherwise, attested)],
      ]),
    );
    return {
      id: encoded(id),
      rawId: encoded(id),
      type: "public-key",
      authenticatorAttachment: "platform",
      clientExtensionResults: { credProps: { rk: true } },
      response: {
        clientDataJSON: this.#clientData("webauthn.create", challenge, otherwise),
        attestationObject: encoded(attestationObject),
        transports: ["internal"],
      },
    };
  }

  /** Answers a challenge with its first credential, or the one with this id. */
  answer(options: unknown, otherwise: Otherwise = {}, credentialId?: string) {
    const { challenge, rpId } = request.parse(options);
    const kept = this.#kept.find(({ id }) => credentialId === undefined || id === credentialId);
    if (kept === undefined) throw new Error("the authenticator has no such credential");
    const clientDataJSON = this.#clientData("webauthn.get", challenge, otherwise);
    const authenticatorData = this.#data(rpId, otherwise);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    return {
      id: kept.id,
      rawId: kept.id,
      type: "public-key",
      authenticatorAttachment: "platform",
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: encoded(authenticatorData),
        signature: encoded(sign("sha256", signed, kept.key)),
        userHandle: otherwise.userHandle === undefined ? kept.userHandle : encoded(otherwise.userHandle),
      },
    };
  }

  #clientData(type: string, challenge: string, otherwise: Otherwise): string {
    const { origin } = { origin: this.#origin, ...otherwise };
    return encoded(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...otherwise }));
  }

  #data(rpId: string, { rpId: otherId = rpId, isVerified = true }: Otherwise, attested?: Uint8Array): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const backup = this.isBackedUp ? 0b1_1000 : 0;
    const flags = 1 | (isVerified ? 0b100 : 0) | backup | (attested === undefined ? 0 : 0b100_0000);
    return Buffer.concat([sha256(otherId), Uint8Array.of(flags), counter, attested ?? new Uint8Array()]);
  }
}
