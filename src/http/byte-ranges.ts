/** Returns the strong tag of a compressed response. Other bytes need another tag (RFC 9110, 8.8.3). */
export function packedTag(tag: string, encoding: string): string {
  return `${tag.slice(0, -1)}-${encoding}"`;
}

/**
 * Returns whether an `If-None-Match` header contains this tag, of the compressed or the plain form (RFC 9110, section
 * 13.1.2).
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const plain = header.split(',').map((one) =>
    one
      .trim()
      .replace(/^W\//, '')
      .replace(/-(?:br|gzip)"$/, '"'),
  );
  return plain.includes('*') || plain.includes(tag);
}

/** Range of bytes in a file. */
interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads a `Range` header (RFC 9110, 14.1.2).
 * @returns undefined if the whole file must be sent, because the header is absent, invalid, or names several ranges; null for a range
 * outside of the file
 */
export function readRange(header: string | undefined, size: number): ByteRange | undefined | null {
  const [, first = '', last = ''] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '')
    return Number(last) === 0 || size === 0 ? null : { begin: Math.max(0, size - Number(last)), end: size };
  const range = { begin: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return range.begin < size ? range : null;
}
