import type { Behaviour } from '../../support/misbehaving-server.ts';

/** How somebody writes a secret who quotes it. */
export const QUOTATIONS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON-escaped twice': (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (escaped) => escaped.toLowerCase()),
  'form-encoded': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 behind a user name': (secret) => Buffer.from(`canary-user:${secret}`).toString('base64'),
};

/** A provider that repeats a secret in each way in turn, in body and headers, each time with the next status. */
export function quoting(secret: string, statuses: readonly number[]): readonly Behaviour[] {
  return statuses.flatMap((code) =>
    Object.values(QUOTATIONS).map(
      (quote): Behaviour =>
        (response) => {
          const quoted = quote(secret);
          const isHeaderSafe = /^[\x20-\x7e]*$/.test(quoted);
          response.writeHead(code, {
            'content-type': 'application/json',
            ...(isHeaderSafe && { 'www-authenticate': `Basic realm="${quoted}"`, 'x-quoted': quoted }),
          });
          response.end(JSON.stringify({ error: { message: `Not with '${quoted}' here`, details: [quoted] } }));
        },
    ),
  );
}

/** What to look for: the secret as text and in each encoding, whatever stands around it. */
export function tracesOf(secret: string): readonly string[] {
  const hex = Buffer.from(secret).toString('hex');
  const quoted = Object.entries(QUOTATIONS).flatMap(([name, quote]) =>
    name.startsWith('base64') ? [] : [quote(secret)],
  );
  // However the rest of a canary is escaped (PostgreSQL doubles quotes in a row as text), its random end stays as it is.
  const end = /[0-9a-f]{16}$/.exec(secret) ?? [];
  return [...new Set([...quoted, ...end, hex, hex.toUpperCase(), ...base64Cores(secret)])];
}

/** The characters made of the bits of the secret alone, for each place in a group of three bytes. */
function base64Cores(secret: string): readonly string[] {
  return ['', 'x', 'xx'].flatMap((before) => {
    const text = Buffer.from(before + secret)
      .toString('base64')
      .replace(/=+$/, '');
    const core = text.slice(Math.ceil((before.length * 4) / 3), -1);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
