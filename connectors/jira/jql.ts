import { type LikePattern, type PushedField, plainText, type Translator, type Value } from '#connector';

/**
 * A condition in JQL. Jira rejects a query that names an issue or a user that does not exist, so these names are looked up before the
 * condition is printed.
 */
export interface Jql {
  /** The issues and users that the condition names. */
  readonly names: readonly Name[];
  /** Prints the condition. */
  readonly print: (isKnown: (name: string) => boolean) => string;
  /** Whether the condition has no word that Jira finds for sure. */
  readonly isVague?: boolean;
}

/** A name of an issue (id or key) or of a user (account id). */
export interface Name {
  readonly of: 'issue' | 'user';
  readonly name: string;
}

/** A restriction that every issue meets, because Jira rejects unrestricted queries, and one that none meets. */
const EVERY = 'created is not EMPTY';
const NONE = 'created is EMPTY';

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Returns a text in double quotes. Quotes and backslashes in it have a backslash, and the grammar has its own signs for control characters.
 * Source: "Search using JQL", special characters.
 */
export function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/\p{Cc}/gu, (sign) => ESCAPES[sign] ?? printUnicode(sign));
  return `"${escaped}"`;
}

function printUnicode(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns the whole query: the condition, or a restriction that every issue meets, and the order. */
export function printQuery(filter: string | undefined, order: string | undefined): string {
  return [filter ?? EVERY, ...(order === undefined ? [] : [`ORDER BY ${order}`])].join(' ');
}

/**
 * Returns the translator to JQL.
 * @param zone the time zone of the user, in which Jira reads instants. If it is not known, bounds are a day wider.
 * @param clause returns the name of a field in JQL
 */
export function createTranslator(zone: string | undefined, clause: (field: PushedField) => string): Translator<Jql> {
  const writeBound = createBounds(zone);
  const join = (word: string) => (operands: readonly Jql[]) => ({
    names: operands.flatMap(({ names }) => names),
    print: (isKnown: (name: string) => boolean) =>
      operands.length === 1
        ? (operands[0]?.print(isKnown) ?? '')
        : `(${operands.map((operand) => operand.print(isKnown)).join(` ${word} `)})`,
    isVague: operands.some(({ isVague }) => isVague === true),
  });
  const contains = (field: PushedField, words: readonly string[]): Jql => ({
    ...plain(`${clause(field)} ~ ${quote(words.join(' '))}`),
    isVague: words.length === 0,
  });
  const oneOf = (field: PushedField, values: readonly Value[], isNegated: boolean): Jql => {
    const texts = values.map(plainText);
    const of = field.nativeType === 'issue' || field.nativeType === 'user' ? field.nativeType : undefined;
    if (field.nativeType === 'text') return join('OR')(texts.map((text) => contains(field, wordsIn(text))));
    return {
      names: of === undefined ? [] : texts.map((name) => ({ of, name })),
      print: (isKnown) => {
        const known = of === undefined ? texts : texts.filter(isKnown);
        if (known.length > 0) return printList(clause(field), known, isNegated);
        if (!isNegated) return NONE;
        return field.nullable === false ? EVERY : `${clause(field)} is not EMPTY`;
      },
    };
  };
  return {
    // Source: "JQL operators", NOT EQUALS, NOT IN.
    nulls: 'unknown',
    and: join('AND'),
    or: join('OR'),
    compare: (field, operator, value) => {
      if (operator === '=' || operator === '!=') {
        if (value.kind !== 'datetime') return oneOf(field, [value], operator === '!=');
        const bounds = [`>= ${writeBound(value, 'from')}`, `<= ${writeBound(value, 'to')}`];
        return join('AND')(bounds.map((bound) => plain(`${clause(field)} ${bound}`)));
      }
      if (value.kind !== 'datetime') return plain(`${clause(field)} ${operator} ${quote(plainText(value))}`);
      // Jira compares with the first instant of a minute.
      const isLower = operator.startsWith('>');
      return plain(`${clause(field)} ${isLower ? '>=' : '<='} ${writeBound(value, isLower ? 'from' : 'to')}`);
    },
    in: oneOf,
    like: (field, pattern) => contains(field, wordsOf(pattern)),
    isNull: (field, isNegated) => plain(`${clause(field)} is ${isNegated ? 'not ' : ''}EMPTY`),
    fault: ({ isVague }) => (isVague === true ? 'Jira finds texts only by whole words' : undefined),
  };
}

function plain(text: string): Jql {
  return { names: [], print: () => text };
}

function printList(name: string, texts: readonly string[], isNegated: boolean): string {
  const [first = ''] = texts;
  if (texts.length === 1) return `${name} ${isNegated ? '!=' : '='} ${quote(first)}`;
  return `${name} ${isNegated ? 'not in' : 'in'} (${texts.map(quote).join(', ')})`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Returns a function that prints an instant as a bound: the minute before it or behind it, on the user's clock. Where that clock is being
 * changed, the bound is two hours wider, because a local time can then mean two instants.
 */
function createBounds(zone: string | undefined): (value: Value, end: 'from' | 'to') => string {
  const local = createLocalMinutes(zone ?? 'UTC');
  return (value, end) => {
    const moment = value.kind === 'datetime' ? value.epochMs : 0;
    const sign = end === 'from' ? -1 : 1;
    const offset = (at: number) => Date.parse(`${local(at)}Z`) - at;
    const isChange = offset(moment - 3 * HOUR_MS) !== offset(moment + 3 * HOUR_MS);
    const slack = zone === undefined ? DAY_MS : isChange ? 2 * HOUR_MS : 0;
    const wide = moment + sign * slack;
    const whole = end === 'from' ? Math.floor(wide / MINUTE_MS) : Math.floor(wide / MINUTE_MS) + 1;
    return quote(local(whole * MINUTE_MS).replace('T', ' '));
  };
}

/** Returns a function that prints an instant as `yyyy-MM-ddTHH:mm` on the clock of a zone. */
function createLocalMinutes(timeZone: string): (moment: number) => string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en', { timeZone, hourCycle: 'h23', ...options });
  return (moment) => {
    const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, value]));
    const [year = '', month, day, hour, minute] = ['year', 'month', 'day', 'hour', 'minute'].map(
      (type) => parts.get(type as Intl.DateTimeFormatPartTypes) ?? '',
    );
    return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}`;
  };
}

/** Words that Jira does not index. Source: "Search for issues using the text field", reserved words. */
const UNINDEXED = new Set(
  'a and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
);
const MOST_WORDS = 10;

/** Returns the words of a text that Jira finds for sure: letters and digits between blanks. Jira may divide all others. */
function wordsIn(text: string): readonly string[] {
  const words = text.split(/\s+/).filter((word) => /^[A-Za-z0-9]{2,50}$/.test(word));
  return [...new Set(words)].filter((word) => !UNINDEXED.has(word.toLowerCase())).slice(0, MOST_WORDS);
}

/** Returns the whole words of a pattern. A word beside `%` may be a part of a longer one. */
function wordsOf({ form, text }: LikePattern): readonly string[] {
  const isOpen = { start: form === 'suffix' || form === 'contains', end: form === 'prefix' || form === 'contains' };
  const start = isOpen.start ? text.replace(/^\S+/, '') : text;
  return wordsIn(isOpen.end ? start.replace(/\S+$/, '') : start);
}
