import type { WebhookCall } from '#connector';
import type { Subject } from './subject.ts';

const SECRET = 'what nobody but the provider has signed with';
const NOW = Date.parse('2026-01-31T08:30:00Z');
const BODIES = [
  '',
  '{}',
  '[]',
  'null',
  '{"type":7}',
  '<html>',
  'a=1&a=2',
  '\ufeff{',
  '\0',
  '{"__proto__":{"a":1}}',
  'x'.repeat(10_000),
];
/** Values to try for each header. */
const HEADERS = [
  undefined,
  '',
  'x',
  '0',
  '0'.repeat(40),
  '0'.repeat(64),
  'v1,AAAA',
  't=1,v1=00',
  `sha256=${'0'.repeat(64)}`,
];
const UNVERIFIED = 401;

/**
 * Sends webhooks that the provider did not sign.
 * @returns those that are accepted, and those at which the connector's functions fail
 */
export async function forgeWebhooks({ target }: Subject): Promise<readonly string[]> {
  const { verify, signingKey } = target.connector.webhooks ?? {};
  if (verify === undefined || verify === 'unsigned') return [];
  const { configuration: config } = target;
  const { body: instance } = await target.call('/instances');
  const judged = BODIES.flatMap((body) =>
    HEADERS.flatMap((header) => {
      const call = callOf(instance.eventUrl, body, header);
      const verdict = tryTo(() => {
        signingKey?.request(call, config);
        return verify(call, { secret: SECRET, now: NOW, config });
      });
      const isRefused = ['unsigned', 'forged', 'stale'].includes(verdict);
      return isRefused ? [] : [`${JSON.stringify(body.slice(0, 40))} under headers of '${header}' is ${verdict}`];
    }),
  );
  const unsigned = await Promise.all(
    BODIES.map(async (body) => {
      const { status } = await fetch(instance.eventUrl, { method: 'POST', body });
      return status === UNVERIFIED
        ? []
        : [`${JSON.stringify(body.slice(0, 40))} without a signature returned ${status}`];
    }),
  );
  return [...judged, ...unsigned.flat()];
}

function callOf(url: string, body: string, header: string | undefined): WebhookCall {
  const headers = new Proxy<Record<string, string | undefined>>({}, { get: () => header });
  return { method: 'POST', url, headers, body: Buffer.from(body) };
}

function tryTo(judge: () => string): string {
  try {
    return judge();
  } catch (error) {
    return `thrown at: ${error}`;
  }
}
