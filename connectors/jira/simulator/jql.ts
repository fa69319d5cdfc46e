import { type Clause, type Jast, JastBuilder, type Operand, type TerminalClause } from '@atlaskit/jql-ast';
import { LRUCache } from 'lru-cache';
import { compileFilter, createTimeZone, type FilterTree, sortRows, type TableRow } from '#connector/simulator';
import { ENTRIES, FIELDS, type Field, type Kind, refuse, textOf } from './fields.ts';

/** The records of the site that a query can name. */
export interface Directory {
  readonly now: () => number;
  /** The account id of the user whose token is used. */
  readonly me: string;
  readonly users: () => readonly TableRow[];
  readonly projects: () => readonly TableRow[];
  readonly issues: () => readonly TableRow[];
}

/** The time zone of the user's profile, in which JQL reads dates. */
export const ZONE = createTimeZone('Europe/Berlin');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Each page of a list has the same query. */
const parsed = new LRUCache<string, Jast>({ max: 100 });

function parse(text: string): Jast {
  const known = parsed.get(text) ?? new JastBuilder().build(text);
  parsed.set(text, known);
  return known;
}

/**
 * Compiles a query. Atlassian's own grammar parses it.
 * @throws Fault 400 with Jira's words
 */
export function compileJql(text: string, directory: Directory) {
  const { query, errors } = parse(text);
  const [error] = errors;
  if (error !== undefined) throw refuse(`Error in the JQL Query: ${error.message}`);
  if (!query?.where) {
    throw refuse('Unbounded JQL queries are not allowed here. Please add a search restriction to your query.');
  }
  const terms = (query.orderBy ? query.orderBy.fields : []).map(({ field, direction }) => ({
    ...sortKeyOf(findField(field.value)),
    ...{ descending: direction?.value.toUpperCase() === 'DESC', nulls: 'last' as const },
  }));
  if (terms.length > 7) throw refuse('The ORDER BY clause can contain a maximum of 7 fields.');
  // Without an order, the latest issue is first.
  const latest = { type: 'number', read: ({ id }: TableRow) => Number(id), descending: true } as const;
  return {
    test: compileFilter(compile(query.where, directory), {}),
    sort: (rows: readonly TableRow[]) => sortRows(rows, [...terms, latest]),
  };
}

function compile(clause: Clause, directory: Directory): FilterTree {
  if (clause.clauseType === 'terminal') return compileTerminal(clause, directory);
  if (clause.clauseType === 'not') return { kind: 'not', operand: compile(clause.clause, directory) };
  return { kind: clause.operator.value, operands: clause.clauses.map((each) => compile(each, directory)) };
}

/** A literal: whether a value is one that it stands for, and whether a value is below, in or above it. */
interface Literal {
  readonly is: (value: unknown) => boolean;
  readonly compare: (value: unknown) => number;
}

const EQUALITY = ['=', '!=', 'in', 'not in'];
const EMPTINESS = ['is', 'is not'];
const ORDER = ['<', '<=', '>', '>='];
const CONTAINING = ['~', '!~'];

/** Source: support.atlassian.com, "JQL fields": supported operators. */
const OPERATORS: Readonly<Record<Kind, readonly string[]>> = {
  ...{ text: [...CONTAINING, ...EMPTINESS], document: [...CONTAINING, ...EMPTINESS] },
  ...{ key: [...EQUALITY, ...ORDER], issue: [...EQUALITY, ...EMPTINESS] },
  ...{ project: [...EQUALITY, ...EMPTINESS], entry: [...EQUALITY, ...EMPTINESS], user: [...EQUALITY, ...EMPTINESS] },
  ...{ labels: [...EQUALITY, ...EMPTINESS], option: [...EQUALITY, ...EMPTINESS], options: [...EQUALITY, ...EMPTINESS] },
  ...{ number: [...EQUALITY, ...ORDER, ...EMPTINESS], date: [...EQUALITY, ...ORDER, ...EMPTINESS] },
  datetime: [...EQUALITY, ...ORDER, ...EMPTINESS],
};

/** Returns the operators of a field. Priorities also have an order. */
export function operatorsOf({ id, kind }: Field): readonly string[] {
  return id === 'priority' ? [...OPERATORS.entry, ...ORDER] : OPERATORS[kind];
}

function findField(name: string): Field {
  const isName = (each: string) => each.toLowerCase() === name.toLowerCase();
  const field = FIELDS.find(({ id, clauses }) => isName(id) || clauses.some(isName));
  if (field === undefined) throw refuse(`Field '${name}' does not exist or you do not have permission to view it.`);
  return field;
}

/** A comparison of an empty field is unknown: "The != operator will not match a field that has no value", and neither does NOT. */
function compileTerminal(
  { field: { value: name }, operator, operand }: TerminalClause,
  directory: Directory,
): FilterTree {
  const field = findField(name);
  const word = operator?.value ?? '';
  if (!operatorsOf(field).includes(word) || !operand) {
    throw refuse(`The operator '${word}' is not supported by the '${name}' field.`);
  }
  const read = (row: TableRow) => valuesOf(field, row);
  const isEmpty: FilterTree = { kind: 'own', holds: (row) => read(row).length === 0 };
  if (word.startsWith('is') && operand.operandType !== 'keyword')
    throw refuse(`The operator '${word}' supports only the EMPTY value.`);
  const operands = (operand.operandType === 'list' ? operand.values : [operand]).map((each): FilterTree => {
    if (each.operandType === 'keyword') return isEmpty;
    const literal = readLiteral(field, name, textOfOperand(each, directory), directory);
    const isMet = (value: unknown) => holds(word, literal, value);
    return { kind: 'own', holds: (row) => (read(row).length === 0 ? undefined : read(row).some(isMet)) };
  });
  const any: FilterTree = { kind: 'or', operands };
  return word.startsWith('!') || word.includes('not') ? { kind: 'not', operand: any } : any;
}

function holds(word: string, { is, compare }: Literal, value: unknown): boolean {
  if (word === '<') return compare(value) < 0;
  if (word === '<=') return compare(value) <= 0;
  if (word === '>') return compare(value) > 0;
  return word === '>=' ? compare(value) >= 0 : is(value);
}

function textOfOperand(operand: Operand, { me, now }: Directory): string {
  if (operand.operandType === 'value') return operand.value;
  const name = operand.operandType === 'function' ? operand.function.value : 'list';
  if (name.toLowerCase() === 'currentuser') return me;
  if (name.toLowerCase() === 'now') return String(now());
  throw refuse(`Unable to find JQL function '${name}()'.`);
}

/** Returns the values of a row as a query compares them. An empty field has none. */
function valuesOf({ id, kind }: Field, row: TableRow): readonly unknown[] {
  if (kind === 'key') return [keyRank(row)];
  const value = row[id];
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value;
  if (kind === 'document') return textOf(value).trim() === '' ? [] : [textOf(value)];
  return [kind === 'date' ? Date.parse(String(value)) : value];
}

/** Issues are ordered by the key of their project and by their number. */
function keyRank({ key }: TableRow): string {
  const [project, number = ''] = String(key).split('-');
  return `${project} ${number.padStart(10, '0')}`;
}

const among = (ids: readonly unknown[]): Literal => ({ is: (value) => ids.includes(value), compare: () => Number.NaN });
const within = (least: number, most = least): Literal => ({
  is: (value) => Number(value) >= least && Number(value) <= most,
  compare: (value) => (Number(value) < least ? -1 : Number(Number(value) > most)),
});

function readLiteral(field: Field, name: string, text: string, directory: Directory): Literal {
  switch (field.kind) {
    case 'text':
    case 'document':
      return { is: compileText(text, name), compare: () => Number.NaN };
    case 'number':
      if (!/^[+-]?\d+(?:\.\d+)?$/.test(text)) throw refuse(`Value '${text}' is invalid for the '${name}' field.`);
      return within(Number(text));
    case 'date':
    case 'datetime':
      return readTime(text, { name, isDay: field.kind === 'date', now: directory.now() });
    case 'labels':
      return { ...among([]), is: (value) => String(value).toLowerCase() === text.toLowerCase() };
    case 'key':
    case 'issue':
      return readKey(field, name, text, directory);
    default:
      return readEntry(field, name, text, directory);
  }
}

function readKey({ kind }: Field, name: string, text: string, directory: Directory): Literal {
  const row = directory.issues().find(({ id, key }) => id === text || key === text.toUpperCase());
  if (row === undefined) throw refuse(`An issue with key '${text}' does not exist for field '${name}'.`);
  if (kind === 'issue') return among([row.id]);
  const rank = keyRank(row);
  return {
    is: (value) => value === rank,
    compare: (value) => (String(value) < rank ? -1 : Number(String(value) > rank)),
  };
}

/** Values are found by id or by name, users also by their e-mail address, and projects by their key. */
function readEntry({ id, kind }: Field, name: string, text: string, directory: Directory): Literal {
  const rows: readonly TableRow[] =
    kind === 'user'
      ? directory.users().map((row) => ({ ...row, id: row.accountId, name: row.displayName }))
      : kind === 'project'
        ? directory.projects()
        : (ENTRIES[id] ?? []);
  const isIt = (value: unknown) => typeof value === 'string' && value.toLowerCase() === text.toLowerCase();
  const found = rows.filter((row) => row.id === text || [row.name, row.key, row.emailAddress].some(isIt));
  if (found.length === 0) throw refuse(`The value '${text}' does not exist for the field '${name}'.`);
  const ids = found.map((row) => row.id);
  // The highest priority is the first one.
  const rank = (value: unknown) => -rows.findIndex((row) => row.id === value);
  return { ...among(ids), compare: (value) => Math.sign(rank(value) - rank(ids[0])) };
}

interface TimeRules {
  readonly name: string;
  readonly isDay: boolean;
  readonly now: number;
}

/** A date or a minute stands for the whole of it. Source: Jira's `JqlDateSupport`, "convertToDateRangeWithImpliedPrecision". */
function readTime(text: string, { name, isDay, now }: TimeRules): Literal {
  const [, year, month, day, hour, minute = '00'] =
    /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?: (\d{1,2}):(\d{2}))?$/.exec(text) ?? [];
  if (year !== undefined && month !== undefined && day !== undefined) {
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const local = Date.parse(`${date}T${(hour ?? '00').padStart(2, '0')}:${minute}:00Z`);
    if (!Number.isNaN(local)) {
      if (isDay) return within(Date.parse(date));
      return within(toUtc(local), toUtc(local + (hour === undefined ? DAY_MS : MINUTE_MS)) - 1);
    }
  }
  const [, sign, count, unit] = /^([+-]?)(\d+)([mhdw])$/.exec(text) ?? [];
  const unitMs = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS, w: 7 * DAY_MS }[unit ?? ''];
  if (unitMs !== undefined) return within(now + Number(count) * unitMs * (sign === '-' ? -1 : 1));
  if (/^\d{10,}$/.test(text)) return within(Number(text));
  throw refuse(
    `Date value '${text}' for field '${name}' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'.`,
  );
}

function toUtc(local: number): number {
  return local - ZONE.offsetAt(local - ZONE.offsetAt(local));
}

/** Words that the index leaves out. Source: "Search syntax for text fields", reserved words. */
const STOP_WORDS = new Set(
  'a and are as at be but by for if in into is it no not of on or s such t that the their then there these they this to was will with'.split(
    ' ',
  ),
);

/** The index has stems of words, without case. */
function stemOf(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word;
}

function wordsIn(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stemOf);
}

/**
 * Compiles a text search: all words must be found, a phrase in quotes in its order, and a word with `*` or `?` as a pattern.
 * A backslash makes a special character part of a word, and other special characters separate words.
 */
function compileText(query: string, name: string): (value: unknown) => boolean {
  const parts = query.match(/"(?:[^"\\]|\\.)*"|(?:[^\s"\\]|\\.)+/gs) ?? [];
  const tests = parts.flatMap((part) => {
    if (part.startsWith('"')) return [phraseTest(wordsIn(part.replaceAll(/\\(.)/gs, '$1')))];
    if (/^[*?]/.test(part)) {
      throw refuse(`The text query '${query}' for field '${name}' is not allowed to start with '${part[0]}'.`);
    }
    if (/(?<!\\)[*?]/.test(part)) return [patternTest(part.replaceAll(/\\(.)/gs, '$1'))];
    return wordsIn(part.replaceAll(/\\(.)/gs, '$1')).map((word) => phraseTest([word]));
  });
  return (value) => {
    const words = wordsIn(String(value));
    return tests.length > 0 && tests.every((test) => test(words));
  };
}

type WordTest = (words: readonly string[]) => boolean;

function phraseTest(phrase: readonly string[]): WordTest {
  return (words) =>
    phrase.length > 0 && words.some((_, start) => phrase.every((word, index) => words[start + index] === word));
}

function patternTest(pattern: string): WordTest {
  const source = RegExp.escape(pattern.toLowerCase()).replaceAll('\\*', '.*').replaceAll('\\?', '.');
  const regex = new RegExp(`^${source}$`, 'su');
  return (words) => words.some((word) => regex.test(word));
}

function sortKeyOf(field: Field) {
  const ranks = new Map<unknown, number>((ENTRIES[field.id] ?? []).map(({ id }, index) => [id, -index]));
  const isNumber = ranks.size > 0 || ['number', 'date', 'datetime'].includes(field.kind);
  const read = (row: TableRow) => {
    const [value] = valuesOf(field, row);
    if (ranks.size > 0) return ranks.get(value);
    return typeof value === 'string' ? value.toLowerCase() : value;
  };
  return { type: isNumber ? 'number' : 'string', read } as const;
}
