/** Up to this number of pieces, each is kept as it arrived, which is enough for most bodies. */
const WHOLE_PIECES = 16;
const BLOCK_BYTES = 64 * 1024;

/**
 * Collects the pieces of a body. Each piece is a view that keeps a larger buffer in memory, and itself an object of some hundred bytes;
 * pieces of one byte would need a hundred times the counted memory. So all pieces but the first are copied into shared blocks.
 */
export class CollectedBytes {
  #buffers: Buffer[] = [];
  #open: Buffer | undefined;
  /** Number of used bytes in the open block. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Number of buffers in use. */
  get buffers(): number {
    return this.#buffers.length;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#open === undefined && this.#buffers.length < WHOLE_PIECES) this.#buffers.push(piece);
    else this.#copy(piece);
  }

  clear(): void {
    this.#buffers = [];
    this.#open = undefined;
    this.#length = 0;
  }

  /** Returns all bytes as one buffer. */
  join(): Buffer {
    const [first] = this.#buffers;
    return this.#buffers.length === 1 && first !== undefined ? first : Buffer.concat(this.#buffers, this.#length);
  }

  #copy(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      const block = this.#openBlock();
      const copied = piece.copy(block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #openBlock(): Buffer {
    if (this.#open !== undefined && this.#used < BLOCK_BYTES) return this.#open;
    this.#open = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    this.#buffers.push(this.#open);
    return this.#open;
  }
}
