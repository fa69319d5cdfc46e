/** The first rows of the CAP server, as they are sent to it. They are the same at every start. */

export interface Product {
  readonly ID: number;
  readonly title: string;
  readonly description: string | null;
  readonly category: 'book' | 'music' | 'tool' | null;
  /** Decimals and 64-bit numbers are text, so that no digit is lost. */
  readonly price: string | null;
  readonly weight: string | null;
  readonly stock: number | null;
  readonly views: string | null;
  readonly rating: number | null;
  readonly released: string | null;
  readonly opensAt: string | null;
  readonly soldAt: string | null;
  readonly changedAt: string | null;
  readonly active: boolean | null;
  readonly externalId: string | null;
  readonly tags: readonly string[];
}

const TITLES = [
  ...["O'Neil", "''", '"quoted" and “typographic”', 'back\\slash', 'line\nbreak', '100% _real_', 'ÄÖÜ äöü ß', '日本語'],
  ...['😀 emoji', 'plus + and & amp', 'a/b?c#d;e=f', ' leading and trailing ', '(brackets) [x] {y}'],
  ...['eq null or true', 'Straße', 'UPPER', 'upper', ''],
];

const DESCRIPTIONS = [
  ...['short', 'Short', '%', '_', "it's", 'ends with tool', 'tool in front', '😀', '', 'naïve', 'naive'],
];

/** Replaces every nth value by null, so that each column has nulls in other rows. */
function orNull<Value>(index: number, nth: number, value: Value): Value | null {
  return index % nth === 0 ? null : value;
}

function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('There is nothing to pick from.');
  return value;
}

function pad(number: number, length: number): string {
  return String(number).padStart(length, '0');
}

function createProduct(index: number): Product {
  const ID = index + 1;
  const month = pad((index % 12) + 1, 2);
  const day = pad((index % 28) + 1, 2);
  const hour = pad(index % 24, 2);
  return {
    ID,
    title: index < TITLES.length ? pick(TITLES, index) : `Product ${pad(ID, 3)}`,
    description: orNull(ID, 4, pick(DESCRIPTIONS, index)),
    category: orNull(ID, 5, pick(['book', 'music', 'tool'], index)),
    price: orNull(ID, 6, `${(index * 37) % 200}.${pad((index * 25) % 100, 2)}`),
    weight: orNull(ID, 7, `${index % 9}.${pad((index * 123457) % 1000000, 6)}5`),
    stock: orNull(ID, 3, ((index * 7) % 40) - 5),
    views: orNull(ID, 8, String(9007199254740990n + BigInt(index % 10))),
    rating: orNull(ID, 9, (index % 50) / 10),
    released: orNull(ID, 10, `202${index % 5}-${month}-${day}`),
    opensAt: orNull(ID, 11, `${hour}:30:00`),
    soldAt: orNull(ID, 12, `2024-${month}-${day}T${hour}:00:00Z`),
    changedAt: orNull(ID, 13, `2025-${month}-${day}T${hour}:15:30.${pad((index * 111) % 1000, 3)}Z`),
    active: orNull(ID, 3, index % 2 === 0),
    externalId: orNull(ID, 14, `3f2504e0-4f89-41d3-9a0c-${pad(ID, 12)}`),
    tags: index % 2 === 0 ? ['new', `t${index}`] : [],
  };
}

function times<Row>(count: number, create: (index: number) => Row): readonly Row[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

export const products = times(150, createProduct);

export const rows = {
  Products: products,
  Reviews: times(20, (index) => ({
    ID: `00000000-0000-4000-8000-${pad(index, 12)}`,
    product_ID: (index % 2) + 1,
    text: `Review ${index}`,
    stars: (index % 5) + 1,
  })),
  OrderLines: times(30, (index) => ({
    orderNumber: pick(['A-1', "O'Hara, x=1", 'a/b'], index),
    line: Math.floor(index / 3) + 1,
    quantity: index,
  })),
  Documents: TITLES.filter((title) => title !== '').map((code, index) => ({ code, title: `Document ${index}` })),
  Contracts: times(5, (index) => ({ ID: index + 1, name: `Contract ${index + 1}` })),
  Pages: times(53, (index) => ({ ID: index + 1, title: `Page ${index + 1}`, score: index % 4 })),
};
