import type { Member, Members } from './members.ts';
import type { TableRow } from './table.ts';

/** Texts that break quoting, patterns, encodings or guesses of types in some systems. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  "'",
  "''",
  '"',
  '`',
  '‘’“”´',
  "' or 1 eq 1 or '",
  "x' OR 'x'='x",
  '%',
  '_',
  '100%_sure',
  '\\',
  '\\%',
  "\\'",
  '^caret$',
  '[brackets]',
  '(a) {b} <c>',
  'two\nlines',
  'tab\tand\rreturn',
  'null',
  'a,b;c&d=e+f#g?h/i',
  '%27%20or%201',
  'javascript:alert(1)',
  '${x} {{y}}',
  'ÄÖÜ ß ẞ İ ı',
  'e\u0301',
  '日本語',
  '😀👩‍🚀',
  '\u{10ffff}',
  '2024-02-29T08:30:00Z',
  '-12.50',
  'x'.repeat(600),
];

/** Returns the value of a column in the row at an index. It must return the same value every time. */
export type Column = (index: number) => unknown;

/** Makes rows from columns. */
export function makeRows(count: number, columns: Readonly<Record<string, Column>>): readonly TableRow[] {
  return times(count, (index) => makeRow(index, columns));
}

/**
 * Makes the row at an index. A column whose name is a path (`employee.id`) fills an object, which is missing where all its values are null.
 */
export function makeRow(index: number, columns: Readonly<Record<string, Column>>): TableRow {
  const row: Record<string, unknown> = {};
  for (const [path, column] of Object.entries(columns)) {
    const [name = '', ...inside] = path.split('.');
    const value = column(index);
    if (inside.length === 0) row[name] = value;
    else if (value !== null) row[name] = put(Object(row[name] ?? {}), inside, value);
  }
  return row;
}

function put(object: TableRow, [name = '', ...inside]: readonly string[], value: unknown): TableRow {
  return { ...object, [name]: inside.length === 0 ? value : put(Object(object[name] ?? {}), inside, value) };
}

/** Makes a list of `count` values. */
export function times<Value>(count: number, create: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

/** Returns a function that repeats the values in their order. */
export function cycle<Value>(values: readonly Value[], step = 1, start = 0): (index: number) => Value {
  return (index) => pick(values, index * step + start);
}

/** Returns the value at an index, as if the values repeated without end. */
export function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('Nothing to pick from.');
  return value;
}

/** Returns a column that is null in every nth row. */
export function sparse(nth: number, column: Column, offset = nth - 1): Column {
  return (index) => (index % nth === offset ? null : column(index));
}

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** Returns the date that is a number of days after another. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

const FIRST_DAY = '2023-12-30';
/** Texts that some providers treat as equal. */
const SIMILAR_TEXTS = ['Printer', 'PRINTER', 'printer ', 'Straße', 'STRASSE', "O'Brien & Söhne"];
const TEXTS = [...SIMILAR_TEXTS, ...HOSTILE_TEXTS];
const INTEGERS = [0, 1, -1, 7, 2_147_483_647, -2_147_483_648, 100];
const NUMBERS = [0.1, 0.2, 0.3, -12.5, 123_456_789_012.34, 0, 1];

/** A description of the rows of a provider. */
export interface RowForm {
  /** Writes an instant in the provider's form. Default: ISO 8601 in UTC, in whole seconds. */
  readonly writeTime?: (ms: number) => unknown;
  /** Writes values of types that are not as in JSON. */
  readonly write?: Readonly<Partial<Record<Member['type'], (value: unknown) => unknown>>>;
  /** Returns the ids that references to a collection can have. */
  readonly idsOf?: (collection: string) => readonly unknown[];
}

/** Writes an instant as ISO 8601 in UTC, in whole seconds. */
export function writeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/**
 * Returns columns for the members of a record: hostile and similar texts, extreme numbers, pairs of rows with the same time, days around
 * turns of the year, references, and nulls where they are allowed, in other rows for each column.
 */
export function columnsFor(members: Members, form: RowForm = {}): Readonly<Record<string, Column>> {
  const columns = Object.entries(members).map(([name, member], index): [string, Column] => {
    const { [member.type]: write = (value: unknown) => value } = form.write ?? {};
    const values = valuesFor(member, index, form);
    const column: Column = (index) => write(values(index));
    const isNullable = member.isNeverNull !== true && member.isRequired !== true;
    const nth = 3 + (index % 5);
    return [name, isNullable ? sparse(nth, column, index % nth) : column];
  });
  return Object.fromEntries(columns);
}

/** `shift` moves the values, so that no two columns have them in the same rows. */
function valuesFor(member: Member, shift: number, { writeTime = writeSeconds, idsOf = () => [] }: RowForm): Column {
  const { type, values, range: [least, most] = ['-Infinity', 'Infinity'], refersTo = '' } = member;
  const isHeld = (number: number) => number >= Number(least) && number <= Number(most);
  switch (type) {
    case 'string':
      return cycle(values ?? textsFor(member), 1, shift);
    case 'integer':
      return cycle(INTEGERS.filter(isHeld), 1, shift);
    case 'number':
      return cycle(NUMBERS.filter(isHeld), 1, shift);
    case 'boolean':
      return cycle([true, false, ...times(shift % 3, () => false)], 1, shift);
    case 'date':
      return (index) => dayAfter(FIRST_DAY, (index + shift) * 31);
    case 'datetime':
      return (index) =>
        writeTime(Date.parse(FIRST_DAY) + shift * 3_600_000 + Math.floor(index / 2) * (DAY_MS + 61_000));
    case 'reference':
      return (index) => {
        const ids = idsOf(refersTo);
        return pick(ids, index + shift + Math.floor(index / ids.length));
      };
    case 'array':
      return () => [];
    case 'object':
      return () => ({});
  }
}

function textsFor({ longest, isPossible = () => true, isRequired }: Member): readonly string[] {
  const cut = TEXTS.map((text) => cutAt(text, longest));
  return cut.filter((text) => isPossible(text) && (isRequired !== true || text.trim() !== ''));
}

/** Cuts a text without dividing a character. */
function cutAt(text: string, longest = Number.POSITIVE_INFINITY): string {
  return text.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
}
