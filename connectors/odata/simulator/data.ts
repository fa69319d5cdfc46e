import { CATEGORIES } from './schema.ts';

/** A record as it is stored: decimals and 64-bit numbers as text, so that no digit is lost. */
export type Row = Record<string, unknown>;

export type Tables = Map<string, Row[]>;

const NAMES = [
  "O'Neil's guide",
  '"Quoted"',
  'back\\slash',
  'line\nbreak',
  '100% _sure_',
  'Ärger, Öl & Übermut',
  'Straße',
  '日本語の本',
  '😀 smile',
  'a/b?c#d;e=f+g',
  ' blanks around ',
  '(all) [kinds] {of} brackets',
  'null and void or true',
  'ABC',
  'abc',
  '',
];

function times<Value>(count: number, create: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

/** Every nth value is null, in each column at other rows. */
function orNull<Value>(index: number, nth: number, value: Value): Value | null {
  return index % nth === nth - 1 ? null : value;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function guid(index: number): string {
  return `3f2504e0-4f89-41d3-9a0c-${String(index).padStart(12, '0')}`;
}

function createProduct(index: number): Row {
  const month = two((index % 12) + 1);
  const day = two((index % 28) + 1);
  return {
    Id: index + 1,
    Name: NAMES[index] ?? `Product ${index + 1}`,
    Description: orNull(index, 4, `${index % 3 === 0 ? 'Good' : 'good'} thing ${index % 7}`),
    Category: orNull(index, 5, CATEGORIES[index % CATEGORIES.length]),
    Price: orNull(index, 6, `${(index * 37) % 300}.${two((index * 35) % 100)}`),
    Weight: orNull(index, 7, `${index % 4}.12345678901234567${index % 10}`),
    Stock: orNull(index, 3, ((index * 7) % 60) - 10),
    Views: orNull(index, 8, String(9007199254740990n + BigInt(index % 12))),
    Rating: orNull(index, 9, (index % 50) / 10),
    ReleasedOn: orNull(index, 10, `202${index % 6}-${month}-${day}`),
    OpensAt: orNull(index, 11, `${two(index % 24)}:30:00`),
    ChangedAt: orNull(index, 12, `2025-${month}-${day}T${two(index % 24)}:00:00.${String(index).padStart(7, '1')}Z`),
    Active: orNull(index, 3, index % 2 === 0),
    Package: orNull(index, 4, createPackage(index)),
    Tags: index % 2 === 0 ? ['new', `t${index}`] : [],
  };
}

function createPackage(index: number): Row {
  const store = { City: orNull(index, 5, ['Köln', "L'Aquila", 'Ulm'][index % 3]), Floor: index % 4 };
  return { Unit: ['box', 'bag'][index % 2], Height: `${index % 30}.250`, Store: orNull(index, 6, store) };
}

function createCustomer(index: number): Row {
  return {
    Id: guid(index),
    Name: `Customer ${index}`,
    Since: orNull(index, 4, `20${10 + (index % 15)}-01-31`),
    Number: String(9007199254740993n + BigInt(index)),
    Notes: orNull(index, 2, 'Pays late'),
  };
}

function createOrder(index: number): Row {
  return {
    Code: index % 10 === 0 ? `A/${index}'x` : `A-${index}`,
    CustomerId: guid(index % 40),
    PlacedAt: `2026-01-${two((index % 28) + 1)}T08:30:00.5Z`,
    Paid: orNull(index, 3, index % 2 === 0),
  };
}

function createOrderLine(index: number): Row {
  const order = createOrder(Math.floor(index / 3));
  return {
    OrderCode: order.Code,
    Line: (index % 3) + 1,
    ProductId: (index % 120) + 1,
    Quantity: (index % 9) + 1,
    Discount: orNull(index, 5, (index * 11) % 256),
  };
}

export function createTables(): Tables {
  return new Map([
    ['Products', times(240, createProduct)],
    ['Customers', times(40, createCustomer)],
    ['Orders', times(100, createOrder)],
    ['OrderLines', times(300, createOrderLine)],
    [
      'Countries',
      [
        { Code: 'DE', Name: 'Deutschland' },
        { Code: 'FR', Name: 'France' },
        { Code: 'JP', Name: '日本' },
      ],
    ],
  ]);
}
