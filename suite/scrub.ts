import type { ProviderRequest, ProviderResponse } from '#connector';

/** A request and its response without personal data. */
export interface Fixture {
  readonly request: Pick<ProviderRequest, 'method' | 'path' | 'query'>;
  readonly response: ProviderResponse;
}

/** Headers that describe a response without naming anybody. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['content-type', 'date', 'link', 'retry-after']);

/** Removes the values of an exchange. It keeps names and structure, and replaces letters, digits and dates. */
export function scrub(request: ProviderRequest, { status, headers, body }: ProviderResponse): Fixture {
  const kept = Object.entries(headers).filter(([name]) => KEPT_HEADERS.has(name));
  return {
    request: scrubRequest(request),
    response: {
      status,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, name === 'link' ? scrubText(value) : value])),
      body: scrubValue(body),
    },
  };
}

/** Removes the values of a request. */
export function scrubRequest({ method, path = '/', query }: ProviderRequest): Fixture['request'] {
  const names = query && Object.fromEntries(Object.keys(query).map((name) => [name, 'x']));
  return { method, path: path.replaceAll(/\d/g, '1'), query: names };
}

function scrubValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrubValue);
  if (typeof value === 'string') return scrubText(value);
  if (typeof value === 'number') return value === 0 ? 0 : Number(scrubText(String(value)));
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return scrubText(String(value));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, scrubValue(member)]));
}

/**
 * Replaces the characters of a text. A date stays a valid date, and a URL keeps the names of its parameters, because connectors read
 * cursors from them.
 */
function scrubText(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text)) {
    const names = [...new URL(text).searchParams.keys()];
    return `https://example.com/?${names.map((name) => `${name}=x`).join('&')}`;
  }
  const date = /^\d{4}-\d\d-\d\d/.exec(text)?.[0];
  if (date !== undefined) return `2001-01-01${text.slice(date.length).replaceAll(/\d/g, '0')}`;
  return text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/\p{L}/gu, (letter) => (letter === 'X' ? 'X' : 'x'))
    .replaceAll(/\d/g, '1');
}
