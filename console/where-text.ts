import { quoteText } from '../src/where/print.ts';

/**
 * A filter for those of which one of the fields has the words in it; undefined without words. Lists of the service tell upper and lower
 * case apart, and people who search do not: the cases in which names are written are all asked for.
 */
export function containing(fields: readonly string[], words: string): string | undefined {
  const sought = words.trim();
  if (sought === '') return undefined;
  const lower = sought.toLowerCase();
  const capital = lower.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
  const cases = new Set([sought, lower, capital, sought.toUpperCase()]);
  return fields
    .flatMap((field) => [...cases].map((text) => `${field} LIKE ${quoteText(`%${text.replace(/[\\%_]/g, '\\$&')}%`)}`))
    .join(' OR ');
}
