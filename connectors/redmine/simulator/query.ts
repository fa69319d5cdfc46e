import { type Call, Fault, type TableRow } from '#connector/simulator';

/** How Redmine compares a field. */
export type Kind = 'list' | 'text' | 'integer' | 'float' | 'date' | 'moment';

/** By the names of filters, which are not always those of members: what it reads of a row, and as what. */
export type Filters = Readonly<Record<string, { readonly kind: Kind; readonly read?: (row: TableRow) => unknown }>>;

type Test = (row: TableRow) => boolean;

const NEEDS_NOTHING = ['*', '!*', 'o', 'c'];

/**
 * The conditions in `f[]`, `op[name]` and `v[name][]`, all of which must hold. Filters that do not exist are passed over.
 * @throws Fault 400 for one without a value
 */
export function readConditions({ query }: Call, filters: Filters, initial: Test): Test {
  if (!query.has('f[]')) return initial;
  const tests = [...new Set(query.getAll('f[]'))]
    .filter((name) => Object.hasOwn(filters, name))
    .map((name): Test => {
      const { kind, read = (row: TableRow) => memberOf(row, name) } = filters[name] ?? { kind: 'list' };
      const operator = query.get(`op[${name}]`) ?? '';
      const values = query.getAll(`v[${name}][]`);
      if (!NEEDS_NOTHING.includes(operator) && (values[0] ?? '').trim() === '') throw new Fault(400, 'INVALID', '');
      const test = testOf(kind, operator, values);
      return (row) => test(read(row) ?? null);
    });
  return (row) => tests.every((test) => test(row));
}

/** `status_id` is the `id` of `status`. */
function memberOf(row: TableRow, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name];
  const whole = row[name.replace(/_id$/, '')];
  return typeof whole === 'object' && whole !== null ? Reflect.get(whole, 'id') : null;
}

type ValueTest = (value: unknown) => boolean;

/** @throws Fault 500 for an operator that the database is not asked with */
function testOf(kind: Kind, operator: string, values: readonly string[]): ValueTest {
  const [first = '', second = ''] = values;
  switch (operator) {
    case '*':
      return (value) => value !== null;
    case '!*':
      return (value) => value === null || (kind === 'text' && value === '');
    case '=':
      return equals(kind, values);
    case '!':
      return (value) => value === null || !values.includes(textOf(value));
    case '>=':
      return from(kind, first);
    case '<=':
      return until(kind, first);
    case '><': {
      const [low, high] = [from(kind, first), until(kind, second)];
      return (value) => low(value) && high(value);
    }
    case '^':
      return onText((text) => text.startsWith(fold(first)));
    case '$':
      return onText((text) => text.endsWith(fold(first)));
    case '~':
      return onText((text) => tokensOf(first).every((token) => text.includes(fold(token))));
    default:
      throw new Fault(500, 'UNKNOWN', `Unknown query operator ${operator}`);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
}

function equals(kind: Kind, values: readonly string[]): ValueTest {
  const [first = ''] = values;
  if (kind === 'integer')
    return (value) => [...first.matchAll(/[+-]?\d+/g)].map(([digits]) => digits).includes(String(value));
  if (kind === 'float') return (value) => value !== null && Math.abs(Number(value) - Number(first)) <= 1e-5;
  if (kind === 'list' || kind === 'text') return (value) => value !== null && values.includes(textOf(value));
  const [low, high] = [from(kind, first), until(kind, first)];
  return (value) => low(value) && high(value);
}

/** A user who lives west of the server has days that begin later than the server's: a day itself is not found from its beginning. */
function from(kind: Kind, bound: string): ValueTest {
  const least = numberOf(kind, bound);
  if (kind === 'date') return (value) => value !== null && numberOf(kind, value) > least;
  return (value) => value !== null && numberOf(kind, value) >= least;
}

const DAY_MS = 86_400_000;

function until(kind: Kind, bound: string): ValueTest {
  const most = numberOf(kind, bound) + (kind === 'date' ? DAY_MS : 0);
  return (value) => value !== null && numberOf(kind, value) <= most;
}

/** @throws Fault 400 for a bound that is none */
function numberOf(kind: Kind, value: unknown): number {
  const form = kind === 'date' || kind === 'moment' ? DATE : /^[+-]?\d+(?:\.\d*)?$/;
  const text = String(value);
  const number = kind === 'date' || kind === 'moment' ? Date.parse(text) : Number(text);
  if (typeof value === 'string' && (!form.test(text) || Number.isNaN(number))) throw new Fault(400, 'INVALID', '');
  return number;
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}(?::?\d{2}){0,2}Z?)?$/;

/** As SQLite does, which minds no case of Latin letters, and of no others. */
function fold(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function onText(test: (text: string) => boolean): ValueTest {
  return (value) => typeof value === 'string' && test(fold(value));
}

/** Words of two letters at least, and what stands between quotes; five at most. Without any, the whole text. */
function tokensOf(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:\s|^)"[^"]+"(?:\s|$)|\S+/g)].map(([word]) =>
    word.replace(/^\s*"\s*|\s*"\s*$/gm, ''),
  );
  const tokens = [...new Set(found)].filter((word) => word.length > 1 || /\p{Script=Han}/u.test(word)).slice(0, 5);
  return tokens.length > 0 ? tokens : [text];
}
