/**
 * Answers of reads that a process remembers (H11). The latest are kept as they are, the others compressed, so that the
 * answers of many shops find room (D398).
 *
 * Owns: which answers are compressed, and how. Does not own: whether one still holds (store/cache.ts), which reads are
 * remembered (perform.ts).
 */
import { bytesOfText, type Entry, Cache } from "../../store/cache.ts";
import type { Compression, Footprint, Packed } from "../../store/store.ts";
import type { ShownAnswer } from "../envelope.ts";

/** Answers of reads that a process remembers (D111). */
export const answersRememberedBytesMax = 16_777_216;

/**
 * Answers that have not been asked for of late, compressed (D398). On SQLite one of an order of 10 lines takes 1 KB
 * with all that belongs to it.
 */
export const answersPackedBytesMax = 134_217_728;

/** Characters of an answer that is kept compressed; a longer one is forgotten. It is expanded on the event loop. */
export const answerPackedLengthMax = 65_536;

/** Answers that are compressed at once, some 30 µs each, when another takes their place; further ones are forgotten. */
export const answersPackedAtOnce = 8;

/** An answer, and the settings of the shop that it was given under. */
interface KnownAnswer {
  readonly shown: ShownAnswer;
  readonly shopText: string;
}

/** There are many, so one takes few objects. */
interface PackedAnswer extends Packed {
  readonly others: Omit<ShownAnswer, "dataText">;
  readonly shopText: string;
  readonly dictionary: Buffer;
  /** When it was asked for last, in answers that were expanded. */
  usedAt: number;
}

/**
 * Memory of a compressed answer beside its bytes and the cache's own count, roughly: a `Footprint` and the watch of an
 * order.
 */
const besideBytes = 300;

/** Asked for again after so many others, a compressed answer is kept as it is once more. */
const answersSoonAgain = 1_024;

/** Deflate looks back no further. */
const dictionaryLengthMax = 32_768;

/**
 * A text with the same members and none of the values, from which deflate copies the members of others. It has nothing
 * of any shop.
 */
const blank = (dataText: string): Buffer =>
  Buffer.from(
    JSON.stringify(JSON.parse(dataText), (_member, value: unknown) =>
      typeof value === "string" ? "" : typeof value === "number" ? 0 : value,
    ).slice(-dictionaryLengthMax),
  );

export class KnownAnswers {
  readonly #compression: Pick<Compression, "pack" | "unpack">;
  readonly #texts: Cache<KnownAnswer>;
  readonly #packed: Cache<PackedAnswer>;
  /** By the kind of answer: the first that was compressed. */
  readonly #dictionaries = new Map<string, Buffer>();
  #packedAtOnce = 0;
  #expanded = 0;

  /**
   * @param textsBytesMax  of those that are kept as they are.
   * @param packedBytesMax  of those that are compressed.
   */
  constructor(
    compression: Pick<Compression, "pack" | "unpack">,
    textsBytesMax = answersRememberedBytesMax,
    packedBytesMax = answersPackedBytesMax,
  ) {
    this.#packed = new Cache(packedBytesMax);
    this.#compression = compression;
    this.#texts = new Cache(textsBytesMax, (key, entry) => this.#pack(key, entry));
  }

  /** The answer, if it would be the same now under these settings; else null. */
  get(key: string, shopText: string): ShownAnswer | null {
    const known = this.#texts.get(key);
    if (known !== null) return known.shopText === shopText ? known.shown : null;
    const found = this.#packed.find(key);
    if (found?.value.shopText !== shopText) return null;
    const { value: packed, seen } = found;
    const { dictionary, others } = packed;
    const dataText = this.#compression.unpack(packed, dictionary);
    const shown = { ...others, dataText };
    this.#expanded += 1;
    // Else each would take the place of one that is asked for as rarely.
    if (this.#expanded - packed.usedAt <= answersSoonAgain) this.put(key, { shown, shopText }, seen);
    packed.usedAt = this.#expanded;
    return shown;
  }

  put(key: string, known: KnownAnswer, seen: readonly Footprint[]): void {
    this.#packedAtOnce = 0;
    this.#texts.put(key, known, bytesOfText(known.shown.dataText), seen);
  }

  /** Keeps an answer for which there is no room any more as it is. */
  #pack(key: string, { value, seen }: Entry<KnownAnswer>): void {
    const { shopText } = value;
    const { dataText, ...others } = value.shown;
    if (this.#packed.get(key)?.shopText === shopText) return;
    if (dataText.length > answerPackedLengthMax || this.#packedAtOnce >= answersPackedAtOnce) return;
    this.#packedAtOnce += 1;
    const dictionary = this.#dictionaryOf(key, dataText);
    const { bytes, length } = this.#compression.pack(dataText, dictionary);
    // A small integer for "never": -Infinity would be an object of its own for each answer.
    const answer = { others, shopText, bytes, length, dictionary, usedAt: -answersSoonAgain - 1 };
    this.#packed.put(key, answer, bytes.length + besideBytes, seen);
  }

  /** @param key names the surface and the operation in its second and third line. */
  #dictionaryOf(key: string, dataText: string): Buffer {
    const kind = key.split("\n", 3).slice(1).join("\n");
    const dictionary = this.#dictionaries.get(kind) ?? blank(dataText);
    this.#dictionaries.set(kind, dictionary);
    return dictionary;
  }
}
