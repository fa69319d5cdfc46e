/** FNV-1a, which spreads keys that differ in one letter. @returns a number of 32 bits, always the same for a key */
export function hashKey(key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
