import { can, type FieldSpec, type PushedField, plainText, type Translator, type Value } from '#connector';

const INTEGER: Partial<FieldSpec> = { filter: can.compare('exact') };

/** A text with a quote, a backslash or a comma may be misread, and one without a word finds nothing. */
const isAskable = (text: string) => /^[^"\\,\p{Cc}]*$/u.test(text) && /[\p{L}\p{N}]/u.test(text);
const TEXT: Partial<FieldSpec> = {
  collation: 'ci',
  domain: { text: { askable: isAskable, certain: () => false } },
  // Texts are compared by words, without regard to case.
  filter: can.only('superset', '=', 'IN', 'LIKE'),
  likeForms: ['prefix'],
  // A prefix is the beginning of one word.
  likeExcept: ' \t\n\r!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
};

/** The kinds of search fields: how a field of each kind filters. */
const KINDS = {
  id: { filter: can.only('exact', '=', 'IN') },
  integer: INTEGER,
  money: { filter: can.order('superset') },
  flag: { filter: can.only('exact', '=', '!=') },
  time: { domain: { step: 'second' }, filter: can.order('exact') },
  // "The date and time, matching a whole day": bounds include their day, so `<` becomes `<=`.
  day: { domain: { step: 'second' }, filter: can.order('superset') },
  text: TEXT,
  /** The same, and `field:*` finds rows with a value. */
  known: { ...TEXT, filter: { ...can.null, ...TEXT.filter } },
  /** A value that `field:*` finds where it is there. */
  present: { filter: can.null },
  /** A value of an enum, which the search writes in lower case. */
  choice: { domain: { closed: true }, filter: can.only('superset', '=', 'IN') },
} as const satisfies Readonly<Record<string, Partial<FieldSpec>>>;

/** Search fields by the field of the API: `{ createdAt: 'created_at time' }`. */
export type Searched = Readonly<Record<string, `${string} ${keyof typeof KINDS}`>>;

/** Returns what a field can do in searches. */
export function searching(searched: Searched, name: string): Partial<FieldSpec> {
  const kind = searched[name]?.split(' ')[1];
  return kind === undefined ? {} : KINDS[kind as keyof typeof KINDS];
}

/** Returns the translator to the search syntax. Source: "Shopify API search syntax". */
export function createTranslator(searched: Searched): Translator<string> {
  const nameOf = ({ name }: PushedField) => searched[name]?.split(' ')[0] ?? name;
  const isOfDay = ({ name }: PushedField) => searched[name]?.endsWith(' day') === true;
  const group = (word: string) => (operands: readonly string[]) =>
    operands.length === 1 ? operands.join() : `(${operands.join(` ${word} `)})`;
  const equal = (field: PushedField, value: Value) => `${nameOf(field)}:${literal(value, searched[field.name])}`;
  return {
    nulls: 'different',
    and: group('AND'),
    or: group('OR'),
    compare: (field, operator, value) => {
      if (operator === '=') return equal(field, value);
      if (operator === '!=') return `-${equal(field, value)}`;
      const sign = isOfDay(field) ? `${operator.charAt(0)}=` : operator;
      return `${nameOf(field)}:${sign}${literal(value, searched[field.name])}`;
    },
    in: (field, values, negated) =>
      group(negated ? 'AND' : 'OR')(values.map((value) => `${negated ? '-' : ''}${equal(field, value)}`)),
    like: (field, { text }) => {
      // How Shopify divides other characters into words is not documented, so the prefix ends at the first of them.
      const [word] = /^[\p{L}\p{N}]+/u.exec(text) ?? [];
      return word === undefined ? ANY : `${nameOf(field)}:${word}*`;
    },
    isNull: (field, negated) => `${negated ? '' : '-'}${nameOf(field)}:*`,
  };
}

/** A search that finds every record. */
const ANY = 'id:>=0';

/** Texts are phrases, in which no character is special but those that are never sent. */
function literal(value: Value, searched = ''): string {
  if (value.kind === 'datetime') return `'${value.text}'`;
  const text = plainText(value);
  if (value.kind !== 'string') return text;
  return searched.endsWith(' choice') && /^\w+$/.test(text) ? text.toLowerCase() : `"${text}"`;
}
