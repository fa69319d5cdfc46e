import { quoteText } from '../src/where/print.ts';

/**
 * Returns a filter for rows with the words in one of the fields. Undefined without words. Lists of the service distinguish upper and lower
 * case and users do not, so the filter has all usual spellings of the words.
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
