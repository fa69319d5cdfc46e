import { ExactNumber } from '../numbers/exact-json.ts';

/** Characters that a reader does not see: controls, marks that turn the direction of text around, and tags. Scripts and emojis need joiners. */
const HIDDEN = /(?![\n\t\r\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Shows characters that hide text from a person, or command a terminal, as `\u{202e}`. */
function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Shows a text of a provider on one line of a longer text: hidden characters and the ends of lines are visible. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\n\r\t\u2028\u2029]/g, (character) => JSON.stringify(character).slice(1, -1));
}

/** Returns a value of JSON with hidden characters visible, and nothing cut. */
export function toVisibleJson(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === 'string' ? visibleText(member) : member));
}

/** Maximum number of items of a list in a record. */
const MOST_ITEMS = 50;
/** Maximum depth of a shown value. */
export const MOST_DEPTH = 8;

/** Returns a value of a provider with long texts and lists cut, each with its length, and with hidden characters visible. */
export function shortValue(value: unknown, textLimit: number, depth = 0): unknown {
  if (typeof value === 'string') return shortText(value, textLimit);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (depth >= MOST_DEPTH) return '… [cut: nested too deep]';
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => shortValue(item, textLimit, depth + 1));
    return value.length > MOST_ITEMS ? [...items, `… [cut: ${value.length} items]`] : items;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [visibleText(name), shortValue(member, textLimit, depth + 1)]),
  );
}

function shortText(text: string, limit: number): string {
  const cut = text.length > limit ? `${text.slice(0, limit).toWellFormed()}… [cut: ${text.length} characters]` : text;
  return visibleText(cut);
}
