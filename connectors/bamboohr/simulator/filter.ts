import odata from '@balena/odata-parser';
import {
  compileFilter,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { COLUMNS, type Column } from './employees.ts';
import { invalidFilter, isDay, Problem } from './fault.ts';

export const COLUMN_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((each) => [each.dataset, each]));

/** The operators for each type of column. Types that are missing here have no operators. */
const OPERATORS: Readonly<Record<string, string>> = official.operators;

/**
 * Compiles the filter of a dataset query as strictly as its description: known fields, the operators of their types, and `and` or `or` but
 * not both. Where the description is open, the filter behaves in the least convenient way for the caller: text ignores case and blanks at
 * its end, an empty literal matches nothing, and a missing value differs from every value and counts as 0000-00-00 or 0.
 * @throws Problem 400 for an unknown field, 422 for other errors
 */
export function compileRowFilter(text: string): (row: TableRow) => boolean {
  return compileFilter(readFilter(text), {
    field: (name) => (FIELDS[findColumn(name).type] ?? TEXT)(name),
    ofNull: { '!=': true },
    refuse: (message) => invalidFilter(message),
  });
}

type Reader = (name: string) => FilterField;

const fold = (text: string) => text.trimEnd().toLowerCase();
const TEXT: Reader = (name) => ({
  type: 'string',
  fold,
  read: (row) => (fold(String(row[name] ?? '')) === '' ? null : row[name]),
});

function readFilter(text: string): FilterTree {
  const { tree, binds } = parse(text);
  const [word, ...operands] = asNode(tree);
  if (word !== 'and' && word !== 'or') return readTest(tree, binds);
  return { kind: word, operands: operands.map((operand) => readTest(operand, binds)) };
}

type Binds = readonly unknown[];

function parse(text: string): { readonly tree: unknown; readonly binds: Binds } {
  try {
    // The parser expects a part of a URL and decodes it, but a filter in a JSON body is not encoded.
    return odata.parse(text.replaceAll('%', '%25'), { startRule: 'ProcessRule', rule: 'FilterByExpression' });
  } catch (error) {
    throw invalidFilter(`The filter cannot be parsed: ${error instanceof Error ? error.message : error}`);
  }
}

const WORDS: Readonly<Record<string, FilterTest['operator']>> = {
  eq: '=',
  ne: '!=',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  eqany: 'IN',
};

const FIELDS: Readonly<Record<string, Reader>> = {
  // Dates compare as texts, because 0000-00-00, which stands for a missing date, is not a valid day.
  date: (name) => ({ type: 'string', read: (row) => row[name] ?? '0000-00-00' }),
  int: (name) => ({ type: 'integer', read: (row) => row[name] ?? 0 }),
};

function readTest(node: unknown, binds: Binds): FilterTest {
  const [word, left, right] = asNode(node);
  const name: unknown = Object(left).name;
  if (typeof name !== 'string') throw invalidFilter('A comparison begins with a field.');
  const column = findColumn(name);
  const operator = OPERATORS[column.type]?.split(' ').includes(word) ? WORDS[word] : undefined;
  if (operator === undefined) throw invalidFilter(`'${word}' is not supported for ${name}.`);
  return { kind: 'test', field: name, operator, values: readLiterals(column, word, binds[Object(right).bind]) };
}

function asNode(node: unknown): readonly [string, ...unknown[]] {
  if (!Array.isArray(node) || typeof node[0] !== 'string') throw invalidFilter('A comparison was expected.');
  return [node[0], ...node.slice(1)];
}

function findColumn(name: string): Column {
  const column = COLUMN_BY_NAME.get(name);
  if (column === undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Invalid field name: employee_${name}`);
  return column;
}

function readLiterals(column: Column, word: string, bind: unknown): readonly FilterLiteral[] {
  if (!Array.isArray(bind)) throw invalidFilter('A comparison ends with a literal.');
  const list: readonly unknown[] = word === 'eqany' && Array.isArray(bind[1]) ? bind[1] : [bind];
  if (list.length > 1 && column.type !== 'options') throw invalidFilter(`'in' takes one value for ${column.dataset}.`);
  return list.map((item) => readLiteral(column, item));
}

function readLiteral(column: Column, bind: unknown): FilterLiteral {
  const [type, value]: readonly unknown[] = Array.isArray(bind) ? bind : [];
  if (column.type === 'int') {
    if (type === 'Real' && Number.isInteger(value)) return Number(value);
    throw invalidFilter(`${column.dataset} is compared with a whole number.`);
  }
  if (type !== 'Text' || typeof value !== 'string') throw invalidFilter(`${column.dataset} is compared with a text.`);
  if (column.type === 'date' && !isDay(value)) throw invalidFilter(`'${value}' is not a date.`);
  return value;
}
