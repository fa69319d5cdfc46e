import {
  createTable,
  cycle,
  makeRows,
  sparse,
  type Table,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { CATEGORIES, type EntitySet, keyOf, SETS } from './schema.ts';

/** An entity set with its rows. */
export interface Shelf extends EntitySet {
  readonly table: Table;
}

const NAMES = [
  ...["O'Neil's guide", '"Quoted"', 'back\\slash', 'line\nbreak', '100% _sure_', 'Ärger, Öl & Übermut', 'Straße'],
  ...['日本語の本', '😀 smile', 'a/b?c#d;e=f+g', ' blanks around ', '(all) [kinds] {of} brackets'],
  ...['null and void or true', 'ABC', 'abc', ''],
];

const two = (number: number) => String(number).padStart(2, '0');
const guid = (index: number) => `3f2504e0-4f89-41d3-9a0c-${String(index).padStart(12, '0')}`;
const monthAndDay = (index: number) => `${two((index % 12) + 1)}-${two((index % 28) + 1)}`;
const orderCode = (index: number) => (index % 10 === 0 ? `A/${index}'x` : `A-${index}`);

/** The initial rows. Decimals and 64-bit integers are stored as text, so that no digit is lost. */
const ROWS: Readonly<Record<string, readonly TableRow[]>> = {
  Products: makeRows(240, {
    Id: (index) => index + 1,
    Name: (index) => NAMES[index] ?? `Product ${index + 1}`,
    Description: sparse(4, (index) => `${index % 3 === 0 ? 'Good' : 'good'} thing ${index % 7}`),
    Category: sparse(5, cycle(CATEGORIES)),
    Price: sparse(6, (index) => `${(index * 37) % 300}.${two((index * 35) % 100)}`),
    Weight: sparse(7, (index) => `${index % 4}.12345678901234567${index % 10}`),
    Stock: sparse(3, (index) => ((index * 7) % 60) - 10),
    Views: sparse(8, (index) => String(9007199254740990n + BigInt(index % 12))),
    Rating: sparse(9, (index) => (index % 50) / 10),
    ReleasedOn: sparse(10, (index) => `202${index % 6}-${monthAndDay(index)}`),
    OpensAt: sparse(11, (index) => `${two(index % 24)}:30:00`),
    ChangedAt: sparse(
      12,
      (index) => `2025-${monthAndDay(index)}T${two(index % 24)}:00:00.${String(index).padStart(7, '1')}Z`,
    ),
    Active: sparse(3, (index) => index % 2 === 0),
    Package: sparse(4, (index) => ({
      Unit: ['box', 'bag'][index % 2],
      Height: `${index % 30}.250`,
      Store: sparse(6, () => ({ City: sparse(5, cycle(['Köln', "L'Aquila", 'Ulm']))(index), Floor: index % 4 }))(index),
    })),
    Tags: (index) => (index % 2 === 0 ? ['new', `t${index}`] : []),
  }),
  Customers: makeRows(40, {
    Id: guid,
    Name: (index) => `Customer ${index}`,
    Since: sparse(4, (index) => `20${10 + (index % 15)}-01-31`),
    Number: (index) => String(9007199254740993n + BigInt(index)),
    Notes: sparse(2, () => 'Pays late'),
  }),
  Orders: makeRows(100, {
    Code: orderCode,
    CustomerId: (index) => guid(index % 40),
    PlacedAt: (index) => `2026-01-${two((index % 28) + 1)}T08:30:00.5Z`,
    Paid: sparse(3, (index) => index % 2 === 0),
  }),
  OrderLines: makeRows(300, {
    OrderCode: (index) => orderCode(Math.floor(index / 3)),
    Line: (index) => (index % 3) + 1,
    ProductId: (index) => (index % 120) + 1,
    Quantity: (index) => (index % 9) + 1,
    Discount: sparse(5, (index) => (index * 11) % 256),
  }),
  Countries: makeRows(3, { Code: cycle(['DE', 'FR', 'JP']), Name: cycle(['Deutschland', 'France', '日本']) }),
};

/**
 * Creates the entity sets with their initial rows.
 * @param notify called for each change of a record
 */
export function createShelves(notify: (set: EntitySet, change: TableChange) => void = () => {}): readonly Shelf[] {
  return SETS.map((set) => {
    const { [set.name]: rows = [] } = ROWS;
    const onChange = (change: TableChange) => notify(set, change);
    return { ...set, table: createTable({ rows, keyOf: (row) => keyOf(set, row), onChange }) };
  });
}
