/** Up to this number of pieces, each is kept as it arrived, which is enough for most bodies. */
const WHOLE_PIECES = 16;
const BLOCK_BYTES = 64 * 1024;

/**
 * The pieces of a body until it is whole. A piece is a view of a larger buffer that it keeps, and an object of some hundred bytes
 * itself; one byte in each would cost a hundred times what was counted. So all but the first are copied together.
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

  /** How many buffers are held. */
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

  /** All of it in one. */
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
