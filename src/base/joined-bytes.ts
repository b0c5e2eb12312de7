/**
 * Bytes that arrive in pieces, in one array that grows. A list of pieces would take a hundred bytes for each, and a
 * client may send a megabyte in pieces of one byte.
 */
export class JoinedBytes {
  /** Longer than what has been added, once a second piece has come. */
  #bytes: Uint8Array = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a piece. The first one is kept as it is, without a copy. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) {
        const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
        grown.set(this.joined());
        this.#bytes = grown;
      }
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** All bytes so far. */
  joined(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns all bytes so far, and begins anew. */
  take(): Uint8Array {
    const bytes = this.joined();
    this.#bytes = new Uint8Array();
    this.#length = 0;
    return bytes;
  }
}
