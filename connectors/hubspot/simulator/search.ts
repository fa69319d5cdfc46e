import { sortRows, type TableRow } from '#connector/simulator';
import { invalid } from './faults.ts';
import type { Property } from './properties.ts';

interface Filter {
  readonly propertyName: string;
  readonly operator: string;
  readonly value?: string | undefined;
  readonly highValue?: string | undefined;
  readonly values?: readonly string[];
}

/** The body of a search. The official description has checked its form. */
export interface SearchBody {
  readonly filterGroups?: readonly { readonly filters: readonly Filter[] }[];
  readonly sorts?: readonly (string | { readonly propertyName: string; readonly direction?: string })[];
  readonly query?: string;
  readonly properties?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
}

type Properties = Readonly<Record<string, Property>>;
type Comparable = string | number;

/**
 * Returns a test of records. Groups are joined by OR, and the filters in a group by AND.
 * @param matchesMissing whether NEQ, NOT_IN and NOT_CONTAINS_TOKEN match records without a value, which HubSpot does not document
 * @throws Fault 400 beyond the limits of the guide "Search the CRM", and for a filter that does not fit its property
 */
export function compileSearch(
  { filterGroups = [], query = '' }: SearchBody,
  properties: Properties,
  matchesMissing: boolean,
) {
  const sizes = filterGroups.map(({ filters }) => filters.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length > 5 || total > 18 || sizes.some((size) => size > 6)) {
    throw invalid('At most 5 filter groups, 6 filters in a group and 18 filters in total are allowed.', 'filterGroups');
  }
  const groups = filterGroups.map(({ filters }) =>
    filters.map((filter) => compileFilter(filter, properties, matchesMissing)),
  );
  const searched = Object.keys(properties).filter((name) => properties[name]?.type === 'string');
  const wanted = query.toLowerCase();
  const isFound = (row: TableRow) =>
    query === '' || searched.some((name) => textIn(row, name)?.toLowerCase().includes(wanted));
  return (row: TableRow) =>
    isFound(row) && (groups.length === 0 || groups.some((tests) => tests.every((test) => test(row))));
}

function compileFilter(filter: Filter, properties: Properties, matchesMissing: boolean) {
  const { propertyName: name, operator } = filter;
  const property = findProperty(properties, name);
  if (operator === 'HAS_PROPERTY') return (row: TableRow) => textIn(row, name) !== undefined;
  if (operator === 'NOT_HAS_PROPERTY') return (row: TableRow) => textIn(row, name) === undefined;
  const isNegated = operator === 'NEQ' || operator.startsWith('NOT_');
  const test = TESTS[isNegated ? operator.replace(/^NOT_|^N(?=EQ)/, '') : operator]?.(filter, property);
  if (test === undefined) throw invalid(`Unknown operator ${operator}`, name);
  return (row: TableRow) => {
    const text = textIn(row, name);
    return text === undefined ? isNegated && matchesMissing : test(text) !== isNegated;
  };
}

function findProperty(properties: Properties, name: string): Property {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) throw invalid(`Property '${name}' does not exist`, name);
  return property;
}

function textIn(row: TableRow, name: string): string | undefined {
  return typeof row[name] === 'string' && row[name] !== '' ? row[name] : undefined;
}

type TestMaker = (filter: Filter, property: Property) => (text: string) => boolean;

/** The tests that are not negations, each from its line in the table of operators. */
const TESTS: Readonly<Record<string, TestMaker>> = {
  EQ: compared((a, b) => a === b),
  LT: compared((a, b) => a < b),
  LTE: compared((a, b) => a <= b),
  GT: compared((a, b) => a > b),
  GTE: compared((a, b) => a >= b),
  BETWEEN: ({ highValue, ...filter }, property) => {
    const isAbove = compared((a, b) => a >= b)(filter, property);
    const isBelow = compared((a, b) => a <= b)({ ...filter, value: highValue }, property);
    return (text) => isAbove(text) && isBelow(text);
  },
  IN: ({ values = [], propertyName }, property) => {
    if (values.length === 0) throw invalid('IN and NOT_IN need values', propertyName);
    // Only the stored text is in lower case, so that values in upper case find nothing.
    const known = values.map((value) => (property.type === 'string' ? value : read(value, property, propertyName)));
    return (text) => partsOf(text, property).some((part) => known.includes(comparable(part, property) ?? ''));
  },
  CONTAINS_TOKEN: ({ value = '', propertyName }, property) => {
    const words = value.split(/\s+/).filter((word) => word !== '');
    if (words.length === 0) throw invalid('CONTAINS_TOKEN needs a value', propertyName);
    const patterns = words.map((word) => new RegExp(`^${word.split('*').map(RegExp.escape).join('.*')}$`, 'iu'));
    return (text) => patterns.every((pattern) => tokensOf(text, property).some((token) => pattern.test(token)));
  },
};

function compared(holds: (a: Comparable, b: Comparable) => boolean): TestMaker {
  return ({ value, propertyName }, property) => {
    const wanted = read(value, property, propertyName);
    return (text) => {
      const held = comparable(text, property);
      return held !== undefined && holds(held, wanted);
    };
  };
}

/** Reads the value of a filter. */
function read(value: string | undefined, property: Property, name: string): Comparable {
  const known = value === undefined || value === '' ? undefined : comparable(value, property);
  if (known === undefined) throw invalid(`'${value ?? ''}' is no ${property.type}`, name);
  return known;
}

/** Texts are compared without case, values of enumerations with it, and times by their milliseconds. */
export function comparable(text: string, { type }: Property): Comparable | undefined {
  if (type === 'string') return text.toLowerCase();
  if (type !== 'number' && type !== 'date' && type !== 'datetime') return text;
  const number = type === 'number' || /^-?\d+$/.test(text) ? Number(text) : Date.parse(text);
  return text.trim() === '' || Number.isNaN(number) ? undefined : number;
}

/** A property with several selected options has them in one text, with semicolons between. */
function partsOf(text: string, { fieldType }: Property): readonly string[] {
  return fieldType === 'checkbox' ? text.split(';') : [text];
}

/** The guide finds an e-mail address by `*@hubspot.com`, so an address is one token. Other tokens are runs of letters and digits. */
function tokensOf(text: string, property: Property): readonly string[] {
  if (property.type !== 'string') return partsOf(text, property);
  return text.match(/[\p{L}\p{M}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * Returns the records in the order of a search: by one property, otherwise by creation. Records without a value come last.
 * @throws Fault 400 for more than one sort
 */
export function sortFound(rows: readonly TableRow[], sorts: SearchBody['sorts'] = [], properties: Properties) {
  const [sort, ...more] = sorts.map(readSort);
  if (more.length > 0) throw invalid('Only one sort is allowed.', 'sorts');
  if (sort === undefined) return rows;
  const property = findProperty(properties, sort.propertyName);
  const isNumber = ['number', 'date', 'datetime'].includes(property.type);
  const read = (row: TableRow) => {
    const text = textIn(row, sort.propertyName);
    return text === undefined ? undefined : comparable(text, property);
  };
  const descending = sort.direction === 'DESCENDING';
  return sortRows(rows, [{ type: isNumber ? 'number' : 'string', read, descending, nulls: 'last' }]);
}

function readSort(sort: NonNullable<SearchBody['sorts']>[number]) {
  if (typeof sort !== 'string') return sort;
  return sort.startsWith('{') ? JSON.parse(sort) : { propertyName: sort, direction: 'ASCENDING' };
}
