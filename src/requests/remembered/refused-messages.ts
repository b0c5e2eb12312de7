/**
 * Long messages that were refused for want of a token and may not be read again for that. Whether a message is the
 * replay of a stored answer, which needs no token (C18), is told by its meaning, so it is read. The same bytes mean the
 * same: they are read once.
 *
 * Owns: which bytes mean which keyed request. Does not own: which request an answer is stored for.
 */
import { hash } from "node:crypto";
import { fingerprintsKnownMax } from "./fingerprints.ts";
import { RecentMap } from "../../base/recent-map.ts";

/** The request that a message is. */
interface KeyedMeaning {
  readonly idempotencyKey: string;
  readonly fingerprint: string;
}

export class RefusedMessages {
  readonly #known = new RecentMap<KeyedMeaning>(fingerprintsKnownMax);

  add(message: Uint8Array, meaning: KeyedMeaning): void {
    this.#known.set(nameOf(message), meaning);
  }

  /** Returns the meaning of the message; null when these bytes were not read before. */
  meaningOf(message: Uint8Array): KeyedMeaning | null {
    const name = nameOf(message);
    const known = this.#known.get(name);
    if (known === undefined) return null;
    this.#known.set(name, known);
    return known;
  }
}

const nameOf = (message: Uint8Array): string => hash("sha256", message, "base64");
