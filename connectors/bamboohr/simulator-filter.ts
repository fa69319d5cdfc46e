import odata from '@balena/odata-parser';
import { COLUMN_BY_NAME, type Column } from './simulator-columns.ts';
import type { Row, Stored } from './simulator-data.ts';
import { Problem } from './simulator-http.ts';

export type RowTest = (row: Row) => boolean;

/**
 * Compiles the filter of a dataset query, as strict as its description: known fields, the operators of their types, `and` or `or`
 * but not both. What the description leaves open is decided against the caller: text ignores case and blanks at its end, an
 * empty literal finds nothing, and a missing value differs from everything and counts as 0000-00-00 or 0.
 * @throws Problem 400 for an unknown field, 422 for anything else.
 */
export function compileFilter(text: string): RowTest {
  const { tree, binds } = parse(text);
  const [word, ...operands] = asNode(tree);
  if (word !== 'and' && word !== 'or') return compileTerm(tree, binds);
  const tests = operands.map((operand) => compileTerm(operand, binds));
  return word === 'and' ? (row) => tests.every((test) => test(row)) : (row) => tests.some((test) => test(row));
}

type Binds = readonly unknown[];

function parse(text: string): { readonly tree: unknown; readonly binds: Binds } {
  try {
    // The parser expects a part of a URL and decodes it; a filter in a JSON body is not encoded.
    return odata.parse(text.replaceAll('%', '%25'), { startRule: 'ProcessRule', rule: 'FilterByExpression' });
  } catch (error) {
    throw invalid(`The filter cannot be parsed: ${error instanceof Error ? error.message : error}`);
  }
}

const TESTS: Readonly<Record<string, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

const EQUALITIES: ReadonlySet<string> = new Set(['eq', 'ne', 'eqany']);
const ALL: ReadonlySet<string> = new Set([...EQUALITIES, 'lt', 'le', 'gt', 'ge']);
const OPERATORS: Readonly<Record<Column['type'], ReadonlySet<string>>> = {
  text: EQUALITIES,
  options: EQUALITIES,
  date: ALL,
  int: ALL,
  bool: new Set(),
  currency: new Set(),
  govIdText: new Set(),
};

function compileTerm(node: unknown, binds: Binds): RowTest {
  const [word, left, right] = asNode(node);
  const column = findColumn(left);
  if (!OPERATORS[column.type].has(word)) throw invalid(`'${word}' is not supported for ${column.dataset}.`);
  const literals = readLiterals(column, word, right, binds);
  const orders = literals.map((literal) => ORDERS[column.type](column.dataset, literal));
  const test = TESTS[word === 'eqany' ? 'eq' : word];
  if (test === undefined) throw invalid(`'${word}' is not an operator.`);
  return (row) => orders.some((order) => test(order(row)));
}

function asNode(node: unknown): readonly [string, ...unknown[]] {
  if (!Array.isArray(node) || typeof node[0] !== 'string') throw invalid('A comparison was expected.');
  return [node[0], ...node.slice(1)];
}

function findColumn(node: unknown): Column {
  const name = typeof node === 'object' && node !== null ? Reflect.get(node, 'name') : undefined;
  if (typeof name !== 'string') throw invalid('A comparison begins with a field.');
  const column = COLUMN_BY_NAME.get(name);
  if (column === undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Invalid field name: employee_${name}`);
  return column;
}

function readLiterals(column: Column, word: string, node: unknown, binds: Binds): readonly Stored[] {
  const index = typeof node === 'object' && node !== null ? Reflect.get(node, 'bind') : undefined;
  const bind: unknown = typeof index === 'number' ? binds[index] : undefined;
  if (!Array.isArray(bind)) throw invalid('A comparison ends with a literal.');
  const list: readonly unknown[] = word === 'eqany' && Array.isArray(bind[1]) ? bind[1] : [bind];
  if (list.length > 1 && column.type !== 'options') throw invalid(`'in' takes one value for ${column.dataset}.`);
  return list.map((item) => readLiteral(column, item));
}

function readLiteral(column: Column, bind: unknown): Stored {
  const [type, value]: readonly unknown[] = Array.isArray(bind) ? bind : [];
  if (column.type === 'int') {
    if (type === 'Real' && Number.isInteger(value)) return Number(value);
    throw invalid(`${column.dataset} is compared with a whole number.`);
  }
  if (type !== 'Text' || typeof value !== 'string') throw invalid(`${column.dataset} is compared with a text.`);
  if (column.type === 'date' && !isDate(value)) throw invalid(`'${value}' is not a date.`);
  return value;
}

export function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

type Order = (dataset: string, literal: Stored) => (row: Row) => number;

const ORDERS: Readonly<Record<Column['type'], Order>> = {
  text: orderText,
  options: orderText,
  govIdText: orderText,
  currency: orderText,
  bool: orderText,
  date: (dataset, literal) => (row) => compare(String(row[dataset] ?? '0000-00-00'), String(literal)),
  int: (dataset, literal) => (row) => Number(row[dataset] ?? 0) - Number(literal),
};

/** Only equal or not matters for text. */
function orderText(dataset: string, literal: Stored): (row: Row) => number {
  const wanted = fold(literal);
  return (row) => (wanted !== '' && fold(row[dataset] ?? null) === wanted ? 0 : 1);
}

function fold(value: Stored): string {
  return value === null ? '' : String(value).trimEnd().toLowerCase();
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function invalid(detail: string): Problem {
  return new Problem(422, 'INVALID_FILTER', detail);
}
