const VERSION = '0.0.0-dev';

/** Returns the header that names the client. Browsers set it themselves. */
export const AGENT: Readonly<Record<string, string>> =
  typeof process === 'undefined' || process.versions?.node === undefined
    ? {}
    : { 'User-Agent': `causeway-typescript/${VERSION} (${runtime(process.versions)})` };

function runtime({ bun, deno, node }: Readonly<Record<string, string | undefined>>): string {
  if (bun !== undefined) return `bun/${bun}`;
  return deno === undefined ? `node/${node}` : `deno/${deno}`;
}
