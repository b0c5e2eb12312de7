/**
 * Passkeys of people (C49): added to the person of a session, and what one that answers a challenge is checked for.
 *
 * Owns: the checks, by @simplewebauthn/server, which is loaded when somebody first needs it. Does not own: challenges
 * and bounds (core/access/passkey.ts), the rows (shop/access/passkeys.ts), sessions (sign-in.ts).
 */
import { hash, randomBytes } from "node:crypto";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { Fault } from "../base/fault.ts";
import {
  challengeExpiry,
  type ChallengePurpose,
  challengeRandomBytes,
  makeChallenge,
  passkeyChallengeMs,
  passkeyHandle,
  passkeysOfPersonMax,
  type RelyingParty,
  relyingPartyOf,
  shopOfHandle,
} from "../core/access/passkey.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { PersonCaller } from "../requests/caller.ts";
import {
  addPasskeyStatement,
  answeredStatements,
  findPasskey,
  type NewPasskey,
  type Passkey,
  passkeysOfPerson,
  usePasskeyStatement,
  wasAnswered,
} from "../shop/access/passkeys.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Coordination, Engine, Statement, Tx } from "../store/store.ts";

const encoded = z.base64url().min(1);

const credential = { id: encoded, rawId: encoded, type: z.literal("public-key") };

/** A browser's answer to a challenge with a passkey. Browsers may say more. */
export const signedChallenge = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: encoded,
    authenticatorData: encoded,
    signature: encoded,
    userHandle: encoded.nullish(),
  }),
});

/** A browser's answer when it has made a passkey. */
export const madeCredential = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: encoded,
    attestationObject: encoded,
    transports: z.array(z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])).catch([]),
  }),
});

export type SignedChallenge = z.output<typeof signedChallenge>;

type MadeCredential = z.output<typeof madeCredential>;

/** A passkey that has answered a challenge. */
interface ProvenPasskey {
  readonly shopId: string;
  readonly personId: string;
  /** Notes the use. @throws Fault UNAUTHORIZED when it was used or removed meanwhile. */
  readonly useStatements: (tx: Tx, nowMs: number) => Promise<readonly Statement[]>;
}

/** Dependencies of passkeys. */
interface PasskeyDependencies {
  readonly engine: Engine;
  readonly coordination: Pick<Coordination, "sharedSecret">;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where people reach the service; null: that is not known. */
  readonly origin: () => string | null;
}

/** A challenge that was answered in time. */
interface Answered {
  readonly hash: string;
  readonly expiresAtMs: number;
}

export class Passkeys {
  readonly #deps: PasskeyDependencies;
  #secret: string | null = null;

  constructor(deps: PasskeyDependencies) {
    this.#deps = deps;
  }

  /** Where passkeys hold; null: nowhere. */
  get party(): RelyingParty | null {
    return relyingPartyOf(this.#deps.origin());
  }

  /** Options for a browser that signs somebody in, whoever it is. */
  async signInOptions(): Promise<object> {
    const { id: rpID } = this.#requireParty();
    const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
    const challenge = await this.#challenge("sign in");
    return await generateAuthenticationOptions({ rpID, challenge, ...ceremony });
  }

  /** Options for a browser that makes a passkey for this person. */
  async addOptions({ shop, person }: PersonCaller, personId: string): Promise<object> {
    const { shopId } = shop;
    const { id: rpID } = this.#requireParty();
    const { generateRegistrationOptions } = await import("@simplewebauthn/server");
    const passkeys = await this.#deps.engine.read(shopId, async (tx) => {
      await requireRoom(tx, shopId, personId);
      return await passkeysOfPerson(tx, shopId, personId);
    });
    return await generateRegistrationOptions({
      rpName: "OpenPO",
      rpID,
      userName: `${person.name} (${shop.name})`,
      userDisplayName: person.name,
      userID: new TextEncoder().encode(passkeyHandle(shopId, personId)),
      challenge: await this.#challenge({ shopId, personId }),
      timeout: ceremony.timeout,
      // Whoever finds the device would be in: it asks for a finger, a face or a number.
      authenticatorSelection: { residentKey: "required", userVerification: ceremony.userVerification },
      // A device makes no second one for the same person.
      excludeCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId })),
    });
  }

  /** The passkey that a browser has made, and the statements that add it. @throws Fault INVALID_INPUT */
  async made(
    { shopId, personId }: { readonly shopId: string; readonly personId: string },
    name: string,
    { id, rawId, type, response }: MadeCredential,
  ): Promise<{ readonly passkey: Passkey; readonly addStatements: (tx: Tx) => Promise<readonly Statement[]> }> {
    const { ids, clock } = this.#deps;
    const party = this.#requireParty();
    const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
    const challenge = this.#expected({ shopId, personId });
    const registration: RegistrationResponseJSON = { id, rawId, type, response, clientExtensionResults: {} };
    const { registrationInfo: info } = await verifyRegistrationResponse({
      response: registration,
      expectedChallenge: challenge.isOurs,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    }).catch((error: unknown) => {
      throw error instanceof Fault ? error : unmade("was not made here, for you and now", error);
    });
    const [noted] = challenge.answered;
    if (info === undefined || noted === undefined) throw unmade("is not proven");
    const nowMs = clock.now();
    const passkey: NewPasskey = {
      secretHash: hash("sha256", info.credential.id),
      passkeyId: ids.next("psk"),
      personId,
      name,
      credentialId: info.credential.id,
      publicKey: Buffer.from(info.credential.publicKey).toString("base64url"),
      transports: response.transports,
      counter: info.credential.counter,
      deviceType: info.credentialDeviceType,
      isBackedUp: info.credentialBackedUp,
      createdAtMs: nowMs,
    };
    const addStatements = async (tx: Tx): Promise<readonly Statement[]> => {
      await requireRoom(tx, shopId, personId);
      if (await wasAnswered(tx, shopId, noted.hash)) throw unmade("was added already");
      if ((await findPasskey(tx, shopId, passkey.secretHash)) !== null) throw unmade("is somebody's already");
      return [...noteStatements(shopId, noted, nowMs), addPasskeyStatement(shopId, passkey)];
    };
    return { passkey: { ...passkey, lastUsedAtMs: null }, addStatements };
  }

  /**
   * Checks a challenge that a passkey has answered.
   *
   * @throws Fault UNAUTHORIZED when it signs nobody in: the same for a passkey that is unknown, removed or another
   *   person's.
   */
  async prove({ id, rawId, type, response }: SignedChallenge): Promise<ProvenPasskey> {
    const party = this.#requireParty();
    const { clientDataJSON, authenticatorData, signature, userHandle } = response;
    const handle = Buffer.from(userHandle ?? "", "base64url").toString();
    const shopId = shopOfHandle(handle);
    if (shopId === null) throw unusablePasskey();
    const passkey = await this.#find(shopId, hash("sha256", id));
    if (passkey === null || handle !== passkeyHandle(shopId, passkey.personId)) throw unusablePasskey();
    const challenge = this.#expected("sign in");
    const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
    const assertion: AuthenticationResponseJSON = {
      id,
      rawId,
      type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    };
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: challenge.isOurs,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    }).catch((error: unknown) => {
      throw error instanceof Fault ? error : unusablePasskey(error);
    });
    const [noted] = challenge.answered;
    if (!verified || noted === undefined || info.credentialDeviceType !== passkey.deviceType) throw unusablePasskey();
    const used = { counter: info.newCounter, isBackedUp: info.credentialBackedUp };
    return {
      shopId,
      personId: passkey.personId,
      async useStatements(tx, nowMs) {
        const now = await findPasskey(tx, shopId, passkey.secretHash);
        if (now?.counter !== passkey.counter || (await wasAnswered(tx, shopId, noted.hash))) throw unusablePasskey();
        return [...noteStatements(shopId, noted, nowMs), usePasskeyStatement(shopId, passkey.secretHash, used, nowMs)];
      },
    };
  }

  async #find(shopId: string, secretHash: string): Promise<Passkey | null> {
    try {
      return await this.#deps.engine.peek(shopId, (tx) => findPasskey(tx, shopId, secretHash), secretHash);
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  async #challenge(purpose: ChallengePurpose): Promise<Uint8Array<ArrayBuffer>> {
    const secret = await this.#sharedSecret();
    return makeChallenge(secret, purpose, this.#deps.clock.now(), randomBytes(challengeRandomBytes));
  }

  /** Takes a challenge that was made for this and has not expired, and keeps it in `answered`. */
  #expected(purpose: ChallengePurpose) {
    const answered: Answered[] = [];
    const isOurs = async (challenge: string): Promise<boolean> => {
      const expiresAtMs = challengeExpiry(await this.#sharedSecret(), purpose, challenge);
      if (expiresAtMs === null || expiresAtMs <= this.#deps.clock.now()) return false;
      return answered.push({ hash: hash("sha256", challenge), expiresAtMs }) === 1;
    };
    return { isOurs, answered };
  }

  async #sharedSecret(): Promise<string> {
    this.#secret ??= await this.#deps.coordination.sharedSecret();
    return this.#secret;
  }

  /** @throws Fault INVALID_INPUT where there are no passkeys. */
  #requireParty(): RelyingParty {
    const { party } = this;
    if (party === null)
      throw new Fault("INVALID_INPUT", "Browsers know no passkeys for the address of this service.", {
        action: "The operator sets OPENPO_PUBLIC_URL to its https address, with a name of a host.",
      });
    return party;
  }
}

/** Options of every ceremony in a browser. */
const ceremony = { timeout: passkeyChallengeMs, userVerification: "required" } as const;

/** Clocks of nodes may be apart: what has expired is remembered for as long again. */
const noteStatements = (shopId: string, { hash: challengeHash, expiresAtMs }: Answered, nowMs: number) =>
  answeredStatements(shopId, challengeHash, expiresAtMs, nowMs - passkeyChallengeMs);

/** @throws Fault INVALID_INPUT when the person has as many passkeys as they may have. */
async function requireRoom(tx: Tx, shopId: string, personId: string): Promise<void> {
  if ((await passkeysOfPerson(tx, shopId, personId)).length >= passkeysOfPersonMax)
    throw new Fault("INVALID_INPUT", `You have ${passkeysOfPersonMax} passkeys, as many as you may have.`, {
      action: "Remove one that you do not use any more.",
    });
}

const unmade = (why: string, cause?: unknown): Fault =>
  new Fault("INVALID_INPUT", `/passkey: ${why}`, {
    action: "Begin again: the browser makes a new one.",
    details: [{ path: "/passkey", message: why }],
    cause,
  });

/** Refusal of a passkey that signs nobody in. */
export const unusablePasskey = (cause?: unknown): Fault =>
  new Fault("UNAUTHORIZED", "Nobody can sign in with this passkey now.", {
    action: "Try again. If it was removed, sign in another way and add a new one.",
    cause,
  });
