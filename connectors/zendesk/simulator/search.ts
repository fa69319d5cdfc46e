import { Fault, type TableRow } from '#connector/simulator';

/** A property of the search: how it is compared, and its value in a row. */
export interface Property {
  readonly type: 'text' | 'exact' | 'number' | 'date' | 'datetime' | 'boolean';
  /** Values in their order, for comparisons. */
  readonly order?: readonly string[];
  readonly read: (row: TableRow) => unknown;
}

type Test = (row: TableRow) => boolean;

const TERM = /(-?)([a-z_]\w*)(:|<=|>=|<|>)(?:"([^"]*)"|([^\s"]+))(?=\s|$)/gi;

/**
 * Compiles a search. Terms are joined by AND; terms with the same property and `:` are joined by OR. Source: "Zendesk Support search
 * reference".
 * @throws Fault 422 for what is not documented
 */
export function compileSearch(query: string, find: (keyword: string) => Property | undefined): Test {
  const strange = query.replaceAll(TERM, '').trim();
  if (strange !== '') throw refusal(strange);
  const groups = new Map<string, Test[]>();
  for (const [term, minus, keyword = '', operator = '', quoted, plain = ''] of query.matchAll(TERM)) {
    const property = find(keyword);
    if (property === undefined) throw refusal(term);
    const test = testOf(property, operator, quoted ?? plain, quoted === undefined);
    const name = minus === '' && operator === ':' ? keyword : term;
    groups.set(name, [...(groups.get(name) ?? []), minus === '-' ? (row) => !test(row) : test]);
  }
  return (row) => [...groups.values()].every((tests) => tests.some((test) => test(row)));
}

function testOf(property: Property, operator: string, value: string, isPlain: boolean): Test {
  const { type, read } = property;
  if (isPlain && value === 'none') return (row) => read(row) == null;
  if (isPlain && value === '*') return (row) => read(row) != null;
  if (type === 'text' && operator === ':') return wordsTest(read, value, isPlain && value.endsWith('*'));
  const keyOf = keysBy(property, value);
  const wanted = keyOf(value);
  if (type === 'text' || Number.isNaN(wanted)) throw refusal(operator + value);
  return (row) => {
    const held = read(row);
    if (held == null) return false;
    const key = keyOf(String(held));
    if (operator === ':') return key === wanted;
    return (operator.startsWith('<') ? key < wanted : key > wanted) || (operator.endsWith('=') && key === wanted);
  };
}

/** Returns what values are compared by. A day without a time is a whole day. */
function keysBy({ type, order }: Property, value: string): (text: string) => string | number {
  if (order !== undefined) return (text) => order.indexOf(text.toLowerCase());
  if (type === 'number') return Number;
  if (type === 'datetime') return (text) => text.slice(0, value.length === 10 ? 10 : 19);
  return (text) => text.toLowerCase();
}

/** Texts are compared by words, without regard to case. */
function wordsTest(read: Property['read'], value: string, isPrefix: boolean): Test {
  const wanted = wordsIn(value);
  return (row) => wanted !== '  ' && wordsIn(read(row)).includes(isPrefix ? wanted.slice(0, -1) : wanted);
}

function wordsIn(value: unknown): string {
  const words =
    String(value ?? '')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return ` ${words.join(' ')} `;
}

function refusal(term: string): Fault {
  return new Fault(422, 'invalid', `Invalid search: ${term}`);
}
