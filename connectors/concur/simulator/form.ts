import { createHash } from 'node:crypto';
import { type TableRow, times } from '#connector/simulator';

/** As the provider makes its protected identifiers: letters, digits and `$`; the same for the same words. */
export function protectedId(...words: readonly unknown[]): string {
  return `gW${createHash('sha256').update(words.join(' ')).digest('base64').replaceAll(/[+/=]/g, '$').slice(0, 33)}`;
}

/**
 * Without a zone and without zeros at the end, in steps of a 300th of a second: where the provider's examples have three digits, the
 * last is 0, 3 or 7.
 */
export function printMoment(ms: number): string {
  const stepped = Math.round(Math.round(ms * 0.3) / 0.3);
  return new Date(stepped)
    .toISOString()
    .slice(0, -1)
    .replace(/\.?0+$/, '');
}

/** Six of units and so many of the customer's own. */
export function emptyFields(customs: number): TableRow {
  const named = (prefix: string, count: number) => times(count, (index) => [`${prefix}${index + 1}`, null]);
  return Object.fromEntries([...named('OrgUnit', 6), ...named('Custom', customs)]);
}

export type FieldType = 'List' | 'Number' | 'Text';

/** As the form of report headers has them; all others are null. */
export const FORM: Readonly<Record<string, FieldType>> = {
  OrgUnit1: 'List',
  Custom1: 'Text',
  Custom2: 'Number',
};
export const LIST_ITEMS = ['Sales', "R&D «O'Neil»", '東京'].map((name, index) => ({
  Code: `0${index + 1}`,
  ListItemID: protectedId('list item', index),
  Type: 'List',
  Value: name,
}));

/** Text that is empty is nothing. */
export function fieldOf(type: FieldType, value: string): TableRow | null {
  return value === '' ? null : { Code: null, ListItemID: null, Type: type, Value: value };
}
