/** Paths outside of the API whose end is a secret: addresses for the events of a provider, and pages of connect sessions. The number says after how many segments. */
const PUBLIC_SEGMENTS: ReadonlyMap<string, number> = new Map([
  ['events', 2],
  ['connect', 1],
]);

/** 32 bytes in base64url, and what somebody added. */
const KEY = /^[\w-]{43}/;

/**
 * What may be a secret in the path of a URL, in every spelling that leads to such an address or was meant to: another method, more or
 * fewer segments, other letters, percent-encoded, behind the path of a proxy or of the API.
 */
export function secretsInPath(originalUrl: string): readonly string[] {
  const [path = ''] = originalUrl.split('?', 1);
  // Almost no path is one: this is asked of every request.
  if (!/events|connect|%/i.test(path)) return [];
  const raw = segmentsOf(path);
  const plain = segmentsOf(decoded(path));
  const at = plain.findIndex((segment) => PUBLIC_SEGMENTS.has(segment.toLowerCase()));
  const name = plain[at]?.toLowerCase();
  if (name === undefined) return [];
  const behind = plain.slice(at + 1).filter((segment) => KEY.test(segment));
  const isOwn = at === 0;
  const ends = isOwn ? plain.slice(PUBLIC_SEGMENTS.get(name)) : [];
  const encoded = raw.filter((segment) => segment.includes('%') && (isOwn || behind.length > 0));
  return [...ends, ...behind, ...encoded].filter((segment) => !(name === 'connect' && segment === 'authorize'));
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // What is not well percent-encoded leads nowhere; it stands in the log as it came.
    return path;
  }
}
