import { type Call, DAY_MS, Fault, type Member, type TableRow } from '#connector/simulator';
import type { Resource } from './office.ts';

type Type = Member['type'];
type ValueTest = (value: unknown) => boolean;

/**
 * Reads the conditions in `f[]`, `op[name]` and `v[name][]`, all of which must hold. Unknown filters are ignored.
 * @throws Fault 400 for a condition without a value, 500 for an operator that the database lacks
 */
export function readConditions({ query }: Call, { filters, members, usual = () => true }: Resource) {
  if (!query.has('f[]')) return usual;
  const names = [...new Set(query.getAll('f[]'))].filter((name) => filters.includes(name));
  const tests = names.map((name) => {
    const whole = name.replace(/_id$/, '');
    // The filter `issue_id` of issues is their own id.
    const member = [name, whole].find((each) => Object.hasOwn(members, each)) ?? 'id';
    const type = name === 'id' ? 'reference' : (members[member]?.type ?? 'integer');
    const operator = query.get(`op[${name}]`) ?? '';
    const values = query.getAll(`v[${name}][]`);
    if (!operator.endsWith('*') && (values[0] ?? '').trim() === '') throw new Fault(400, 'INVALID', '');
    const test = OPERATORS[operator]?.(type, values);
    if (test === undefined) throw new Fault(500, 'UNKNOWN', `Unknown query operator ${operator}`);
    return (row: TableRow) => test(row[member] ?? null);
  });
  return (row: TableRow) => tests.every((test) => test(row));
}

const OPERATORS: Readonly<Record<string, (type: Type, values: readonly string[]) => ValueTest>> = {
  '*': () => (value) => value !== null,
  '!*': (type) => (value) => value === null || (type === 'string' && value === ''),
  '=': equals,
  '!': (_, values) => (value) => value === null || !values.includes(textOf(value)),
  '>=': (type, [low]) => isBetween(type, { low }),
  '<=': (type, [high]) => isBetween(type, { high }),
  '><': (type, [low, high]) => isBetween(type, { low, high }),
  '^': (_, [wanted = '']) => onText((text) => text.startsWith(fold(wanted))),
  $: (_, [wanted = '']) => onText((text) => text.endsWith(fold(wanted))),
  '~': (_, [wanted = '']) => onText((text) => tokensOf(wanted).every((token) => text.includes(fold(token)))),
};

function textOf(value: unknown): string {
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
}

function equals(type: Type, values: readonly string[]): ValueTest {
  const [first = ''] = values;
  // One text can contain several numbers.
  if (type === 'integer') return (value) => (first.match(/[+-]?\d+/g) ?? []).some((digits) => digits === String(value));
  if (type === 'number') return (value) => value !== null && Math.abs(Number(value) - Number(first)) <= 1e-5;
  if (type === 'date' || type === 'datetime') return isBetween(type, { low: first, high: first });
  return (value) => value !== null && values.includes(textOf(value));
}

/**
 * Returns a test for a range. The days of a user west of the server begin later than the server's, so a range from a day does not contain
 * the day itself.
 * @throws Fault 400 for an invalid bound
 */
function isBetween(type: Type, { low, high }: { readonly low?: string; readonly high?: string }): ValueTest {
  const isTime = type === 'date' || type === 'datetime';
  const numberOf = (value: unknown) => (isTime ? Date.parse(String(value)) : Number(value));
  const later = type === 'date' ? DAY_MS : 0;
  const [least, most] = [numberOf(low ?? 0), numberOf(high ?? 0)];
  if (Number.isNaN(least) || Number.isNaN(most)) throw new Fault(400, 'INVALID', '');
  return (value) => {
    const number = numberOf(value);
    const isFrom = low === undefined || number >= least + later;
    return value !== null && isFrom && (high === undefined || number <= most + later);
  };
}

/** Folds case as SQLite does: only of ASCII letters. */
function fold(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function onText(test: (text: string) => boolean): ValueTest {
  return (value) => typeof value === 'string' && test(fold(value));
}

/** Returns the words of at least two letters and the quoted phrases, five at most. Without any, it returns the whole text. */
function tokensOf(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:\s|^)"[^"]+"(?:\s|$)|\S+/g)].map(([word]) =>
    word.replace(/^\s*"\s*|\s*"\s*$/gm, ''),
  );
  const tokens = [...new Set(found)].filter((word) => word.length > 1 || /\p{Script=Han}/u.test(word)).slice(0, 5);
  return tokens.length > 0 ? tokens : [text];
}
