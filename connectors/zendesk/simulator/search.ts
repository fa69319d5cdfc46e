import {
  compileFilter,
  escapePattern,
  Fault,
  type FilterTest,
  type FilterTree,
  type TableRow,
} from '#connector/simulator';

/** A property of the search: its type, and its value in a row. */
export interface Property {
  readonly type: 'text' | 'exact' | 'number' | 'date' | 'datetime' | 'boolean';
  /** Values in their order, for comparisons. */
  readonly order?: readonly string[];
  readonly read: (row: TableRow) => unknown;
}

/**
 * Compiles a search. Terms are joined by AND; terms with the same property and `:` are joined by OR. Source: "Zendesk Support search
 * reference".
 * @throws Fault 422 for what is not documented
 */
export function compileSearch(
  query: string,
  find: (keyword: string) => Property | undefined,
): (row: TableRow) => boolean {
  const terms = [...query.matchAll(TERM)];
  const strange = query.replaceAll(TERM, '').trim();
  if (strange !== '') throw refusal(`Invalid search: ${strange}`);
  const wanted = new Map<string, FilterTree[]>();
  const all: FilterTree[] = [];
  for (const [, minus = '', keyword = '', operator = '', quoted, plain = ''] of terms) {
    const property = find(keyword);
    if (property === undefined) throw refusal(`Invalid search: there is no property ${keyword}`);
    const test = testOf(keyword, property, operator, { quoted, plain });
    if (minus !== '') all.push({ kind: 'not', operand: definitely(test) });
    else if (operator !== ':') all.push(test);
    else wanted.set(keyword, [...(wanted.get(keyword) ?? []), test]);
  }
  const groups = [...wanted.values()].map((operands): FilterTree => ({ kind: 'or', operands }));
  return compileFilter(
    { kind: 'and', operands: [...all, ...groups] },
    {
      field: (name) => {
        const property = find(name);
        return (
          property && {
            type: property.order === undefined ? TYPES[property.type] : 'number',
            read: readerOf(property),
            fold: (text) => text.toLowerCase(),
          }
        );
      },
      refuse: (message) => refusal(message),
    },
  );
}

const TERM = /(-?)([a-z_]\w*)(:|<=|>=|<|>)(?:"([^"]*)"|([^\s"]+))(?=\s|$)/gi;
const TYPES = {
  text: 'string',
  exact: 'string',
  number: 'number',
  date: 'date',
  datetime: 'datetime',
  boolean: 'boolean',
} as const;

/** Texts are compared by words: ` one two `. A value in an order is compared by its position. */
function readerOf({ type, order, read }: Property): (row: TableRow) => unknown {
  if (type === 'text') return (row) => (read(row) == null ? null : ` ${wordsIn(String(read(row))).join(' ')} `);
  if (order !== undefined) return (row) => (read(row) == null ? null : String(order.indexOf(String(read(row)))));
  return (row) => (typeof read(row) === 'number' && type === 'exact' ? String(read(row)) : read(row));
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** A test of a row without a value is false, and its exclusion is true. */
function definitely(test: FilterTree): FilterTree {
  if (test.kind !== 'test' || test.operator === 'IS NULL') return test;
  return { kind: 'and', operands: [{ ...test, operator: 'IS NOT NULL', values: [] }, test] };
}

interface Written {
  readonly quoted: string | undefined;
  readonly plain: string;
}

function testOf(field: string, { type, order }: Property, operator: string, { quoted, plain }: Written): FilterTree {
  const value = quoted ?? plain;
  const test = (sign: FilterTest['operator'], ...values: readonly string[]): FilterTest => ({
    kind: 'test',
    field,
    operator: sign,
    values,
  });
  if (operator === ':' && plain === 'none') return test('IS NULL');
  if (operator === ':' && plain === '*') return test('IS NOT NULL');
  if (type === 'text') {
    if (operator !== ':') throw refusal(`Invalid search: ${field} is not compared by ${operator}`);
    const words = wordsIn(value).join(' ');
    // What has no word finds nothing.
    if (words === '') return { kind: 'or', operands: [] };
    const isPrefix = quoted === undefined && plain.endsWith('*');
    return test('LIKE', `% ${escapePattern(words)}${isPrefix ? '' : ' '}%`);
  }
  const known = order === undefined ? value : String(order.indexOf(value.toLowerCase()));
  if (type !== 'datetime' || !/^\d{4}-\d\d-\d\d$/.test(value)) return test(signOf(operator), known);
  // A day without a time is a whole day.
  const [first, last] = [`${value}T00:00:00Z`, `${value}T23:59:59Z`];
  if (operator !== ':') return test(signOf(operator), operator === '>' || operator === '<=' ? last : first);
  return { kind: 'and', operands: [test('>=', first), test('<=', last)] };
}

function signOf(operator: string): FilterTest['operator'] {
  return operator === ':' ? '=' : (operator as '<' | '<=' | '>' | '>=');
}

function refusal(message: string): Fault {
  return new Fault(422, 'invalid', message);
}
