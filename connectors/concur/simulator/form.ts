import { createHash } from 'node:crypto';
import { HOSTILE_TEXTS, pick, type TableRow, times } from '#connector/simulator';

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

export type Form = Readonly<Record<string, FieldType>>;

/** Of report headers. What a form does not have is null. */
export const FORM: Form = {
  OrgUnit1: 'List',
  OrgUnit2: 'List',
  OrgUnit3: 'Text',
  Custom1: 'Text',
  Custom2: 'Number',
  Custom3: 'List',
  Custom4: 'Text',
  Custom5: 'Number',
  Custom6: 'Text',
};
export const ENTRY_FORM: Form = {
  ...FORM,
  ...Object.fromEntries(times(14, (index) => [`Custom${index + 7}`, 'Text'])),
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

const NUMBERS = ['0', '12.50', '-3', '100000'];

/** The fields of a form, some of them empty. */
export function fillForm(form: Form, number: number): TableRow {
  const values = Object.entries(form).map(([name, type], place) => {
    if ((number + place) % (place + 3) === 1) return [name, null];
    if (type === 'List') return [name, pick(LIST_ITEMS, number + place)];
    const text = type === 'Number' ? pick(NUMBERS, number) : pick(HOSTILE_TEXTS, number + place).slice(0, 48);
    return [name, fieldOf(type, text)];
  });
  return Object.fromEntries(values);
}
