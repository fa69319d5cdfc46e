const VERSION = '0.0.0-dev';

/** Who calls, as a header. A browser says itself who it is. */
export const AGENT: Readonly<Record<string, string>> =
  typeof process === 'undefined' || process.versions?.node === undefined
    ? {}
    : { 'User-Agent': `causeway-typescript/${VERSION} (${runtime(process.versions)})` };

function runtime({ bun, deno, node }: Readonly<Record<string, string | undefined>>): string {
  if (bun !== undefined) return `bun/${bun}`;
  return deno === undefined ? `node/${node}` : `deno/${deno}`;
}
