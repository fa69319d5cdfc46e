import type { Redactor } from '../../redaction.ts';

const MAX_CHARACTERS = 500;
/** Far more than is shown, so that a secret cut here stays unseen; redacting megabytes would take its time. */
const MAX_READ_CHARACTERS = 20_000;

/** Where providers put their words, the most telling first. */
const PLACES: readonly (readonly (string | number)[])[] = [
  ['error', 'message'],
  ['error', 'message', 'value'],
  ['error_description'],
  ['message'],
  ['errors', 0, 'message'],
  ['errors', 0, 'detail'],
  ['errors', 0],
  [0, 'message'],
  ['errorMessage'],
  ['errorMessages', 0],
  ['detail'],
  ['description'],
  ['title'],
  ['error'],
  [],
];

/** The provider's own words in an answer, fit to be shown; undefined when there are none. HTML is never shown. */
export function readProviderMessage(redactor: Redactor, body: unknown): string | undefined {
  for (const place of PLACES) {
    const text = getText(body, place);
    if (text !== undefined && !isHtml(text)) return toShowable(redactor, text, MAX_CHARACTERS);
  }
  return undefined;
}

function getText(body: unknown, place: readonly (string | number)[]): string | undefined {
  const value = place.reduce(getMember, body);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function getMember(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const HTML = /<(!doctype\s+html|\/?(html|head|body|title|h[1-6]|p|div|span|br|hr|a|pre|center|script|table))\b[^>]*>/i;

export function isHtml(text: string): boolean {
  return HTML.test(text.slice(0, 2000));
}

/** Redacted before it is cut, so that no half of a secret remains at the end. */
export function toShowable(redactor: Redactor, text: string, maxCharacters: number): string {
  const clean = redactor
    .redact(text.slice(0, MAX_READ_CHARACTERS))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return clean.length <= maxCharacters ? clean : `${clean.slice(0, maxCharacters - 1)}…`;
}
