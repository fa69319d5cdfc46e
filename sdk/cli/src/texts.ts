import stringWidth from 'string-width';

/**
 * Characters that a terminal would interpret or that change the order of the text: control characters, line separators and marks of
 * direction.
 */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes all characters that a terminal would interpret, and line breaks. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => NAMED[character] ?? escaped(character));
}

/** Prints JSON in which all characters are escaped that a terminal would interpret. Parsers read the same values. */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) ?? 'null';
  return json.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
}

/** Returns the text of a value in a cell. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns a number with its noun, such as `1 row` or `2 rows`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Cuts a text to at most `width` columns. */
export function shortened(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let short = '';
  let used = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    short += segment;
  }
  return `${short}…`;
}

/** Returns the line of a text that contains a position, and a line of carets under the marked part. */
export function pointAt(text: string, position: number, length: number): readonly [line: string, carets: string] {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const end = text.indexOf('\n', position) === -1 ? text.length : text.indexOf('\n', position);
  const marked = text.slice(position, Math.min(position + length, end));
  const indent = ' '.repeat(stringWidth(printable(text.slice(start, position))));
  return [printable(text.slice(start, end)), indent + '^'.repeat(Math.max(1, stringWidth(printable(marked))))];
}

/** Replaces each secret in a text by `********`. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((redacted, secret) => redacted.replaceAll(secret, '********'), text);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
