/** Other bytes have another strong tag (RFC 9110, 8.8.3). */
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

/** Bytes of a file, from one up to another one. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/**
 * One range of a `Range` header (RFC 9110, 14.1.2).
 * @returns undefined for what is no such header, or names several: the whole is sent; null for one that no byte is in
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
