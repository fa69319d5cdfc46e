import {
  compileFilter,
  Fault,
  type FilterTree,
  foldCases,
  sortRows,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import type { Kind } from './records.ts';
import { searchFields } from './schema.ts';
import { parseSearch } from './search.ts';

/** The members that search fields and sort keys read, unless their names in camel case are the members. */
const PATHS: Readonly<Record<string, string>> = {
  financial_status: 'displayFinancialStatus',
  customer_id: 'customer',
  product_id: 'product',
  inventory_total: 'totalInventory',
  total_spent: 'amountSpent.amount',
  orders_count: 'numberOfOrders',
  current_total_price: 'currentTotalPriceSet.shopMoney.amount',
  order_number: 'number',
  customer_date: 'createdAt',
};
const CUSTOMER: Readonly<Record<string, string>> = {
  email: 'defaultEmailAddress.emailAddress',
  phone: 'defaultPhoneNumber.phoneNumber',
};

/** A list with search fields, and the type of its nodes. */
type Searchable = Pick<Kind, 'type' | 'list'>;

/** Returns the number in a global id. */
export const numberIn = (id: unknown) => Number(/\d+$/.exec(String(id ?? ''))?.[0] ?? Number.NaN);

function pathOf({ type }: Searchable, name: string): string {
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return (type === 'Customer' ? CUSTOMER[name] : undefined) ?? PATHS[name] ?? camel;
}

/** Texts are found by their words, without regard to case. Source: "Shopify API search syntax". */
const wordsOf = (text: unknown) => foldCases(String(text)).match(/[\p{L}\p{N}]+/gu) ?? [];

function findsText(held: unknown, value: string, isPrefix: boolean): boolean {
  const [words, wanted] = [wordsOf(held), wordsOf(value)];
  if (wanted.length === 0) return false;
  return words.some((_, start) =>
    wanted.every((word, index) => {
      const found = words[start + index] ?? '';
      return isPrefix && index === wanted.length - 1 ? found.startsWith(word) : found === word;
    }),
  );
}

const COMPARES: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/**
 * Returns the test of a search.
 * @throws Fault for fields that the list does not name, which Shopify ignores with a warning
 */
export function testOf(kind: Searchable, query: string): (row: TableRow) => boolean {
  const types = searchFields(kind.list);
  const tests = new Map<string, (row: TableRow) => boolean>();
  const tree = parseSearch(query, ({ field, comparator, value, isPrefix }): FilterTree => {
    const name = `t${tests.size}`;
    const type = types.get(field);
    if (type === undefined) throw new Fault(400, 'BAD_SEARCH', `${kind.list} has no search field '${field}'.`);
    const path = pathOf(kind, field);
    const toNumber =
      type === 'time' ? (given: unknown) => Date.parse(String(given)) : type === 'id' ? numberIn : Number;
    const bound = toNumber(value);
    const compare = COMPARES[comparator] ?? (() => false);
    const isText = type === 'string';
    if (!isText && type !== 'boolean' && !(value === '' && isPrefix) && Number.isNaN(bound))
      throw new Fault(400, 'BAD_SEARCH', `'${value}' is no value of ${field}.`);
    tests.set(name, (row) => {
      const held = valueAt(row, path);
      if (value === '' && isPrefix) return held != null && held !== '';
      if (held == null) return false;
      if (type === 'boolean') return String(held) === value;
      if (!isText) return compare(toNumber(held), bound);
      return findsText(held, value, isPrefix);
    });
    return { kind: 'test', field: name, operator: '=', values: [true] };
  });
  return compileFilter(tree, {
    field: (name) => ({ type: 'boolean', read: (row) => tests.get(name)?.(row) }),
  });
}

/** Returns the rows in the order of a sort key. */
export function sorted(kind: Kind, rows: readonly TableRow[], { sortKey, reverse }: TableRow): readonly TableRow[] {
  const path = pathOf(kind, String(sortKey).toLowerCase());
  const isTime = path.endsWith('At');
  const read = (row: TableRow) => {
    const held = sortKey === 'ID' ? numberIn(row.id) : valueAt(row, path);
    return /(?:amount|^number\w*)$/.test(path) && held != null ? Number(held) : held;
  };
  const type = isTime ? 'datetime' : rows.some((row) => typeof read(row) === 'number') ? 'number' : 'string';
  const all = sortRows(rows, [{ type, read, fold: foldCases }]);
  return reverse === true ? all.toReversed() : all;
}
