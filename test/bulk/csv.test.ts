import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { convertFile, createRowPrinter, type Rendition } from '../../src/bulk/convert.ts';
import type { FileColumn } from '../../src/bulk/job.ts';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import type { Row } from '../../src/where/index.ts';
import { runs } from '../../suite/effort.ts';

const COLUMNS: readonly FileColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'text', type: 'string' },
  { name: 'amount', type: 'number' },
  { name: 'price', type: 'number', format: 'decimal-text' },
  { name: 'isOpen', type: 'boolean' },
  { name: 'place.city', type: 'string' },
  { name: 'place.zip, code', type: 'string' },
  { name: 'list', type: 'array' },
  { name: 'more', type: 'object' },
];

const HOSTILE = [
  ...['', ' ', '"', '""', ',', '\n', '\r', '\r\n', '\t', "'", '\\', '\\"', ';', '﻿', '\0', 'null', 'NULL', '\\N'],
  ...['=1+1', '+49', '-1', '@SUM(A1)', '\t=1', '\r=1', '"=1', 'a,b', 'a"b', '"a"', 'a\r\nb', ' a ', '😀', 'é', '名'],
  ...['x'.repeat(100_000), '",'.repeat(3000), '\r\n"'.repeat(3000), '__proto__', '{"a":1}', '[', '1e5', '0x1', '007'],
];

const texts = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', 'a') }),
);
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => (double === 0 ? 0 : double)),
  fc.integer(),
);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const rows: fc.Arbitrary<Row> = fc.record({
  id: orNull(fc.integer()),
  text: orNull(texts),
  amount: orNull(numbers),
  price: orNull(fc.constantFrom('0', '12.50', '-123456789012345678901234.5')),
  isOpen: orNull(fc.boolean()),
  place: fc.record({ city: orNull(texts), 'zip, code': orNull(texts) }),
  list: orNull(fc.array(json)),
  more: orNull(fc.dictionary(fc.constantFrom('a', 'b"', 'c,'), json).map((value) => ({ ...value }))),
});

function store(format: 'csv' | 'jsonl', all: readonly Row[]): string {
  const { header, print } = createRowPrinter(format, COLUMNS);
  return header + all.map(print).join('');
}

/** As a file comes: in pieces that end anywhere. */
async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<string, void> {
  let at = 0;
  for (const size of sizes) {
    yield text.slice(at, at + size);
    at += size;
  }
  yield text.slice(at);
}

async function convert(
  format: 'csv' | 'jsonl',
  text: string,
  rendition: Rendition,
  sizes: readonly number[] = [],
): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of convertFile(cut(text, sizes), { format, fields: COLUMNS }, rendition)) pieces.push(piece);
  return pieces.join('');
}

const CSV = { type: 'text/csv', isDefused: false } as const;
const LINES = { type: 'application/x-ndjson', isDefused: false } as const;
const JSON_LIST = { type: 'application/json', isDefused: false } as const;
const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 });

/** What a cell must be, by a rule of its own. */
function cellsOf(row: Row): readonly string[] {
  const place = Object(row.place);
  const values = [
    row.id,
    row.text,
    row.amount,
    row.price,
    row.isOpen,
    place.city,
    place['zip, code'],
    row.list,
    row.more,
  ];
  return values.map((value) =>
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
  );
}

describe('the CSV of a bulk file', () => {
  it('is what another parser reads, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(rows, { maxLength: 6 }), (all) => {
        const [header, ...cells] = parse(store('csv', all), { recordDelimiter: '\r\n', bom: false });
        expect(header).to.deep.equal(COLUMNS.map(({ name }) => name));
        expect(cells).to.deep.equal(all.map(cellsOf));
      }),
      { numRuns: runs(300) },
    );
  });

  it('tells the empty text from no value', () => {
    const nothing = { id: 1, text: null, place: { city: '' } };
    expect(store('csv', [nothing]).split('\r\n')[1]).to.equal('1,,,,,"",,,');
    const quoted = parse(store('csv', [nothing]), {
      cast: (value, { quoting }) => (quoting || value !== '' ? value : null),
    });
    expect(quoted[1]?.slice(0, 6)).to.deep.equal(['1', null, null, null, null, '']);
  });

  it('keeps all digits of numbers', () => {
    const row = { id: new ExactNumber('9007199254740993'), amount: new ExactNumber('1.000000000000000000001') };
    expect(store('csv', [row]).split('\r\n')[1]).to.equal('9007199254740993,,1.000000000000000000001,,,,,,');
  });

  it('has a header without rows', () => {
    expect(store('csv', [])).to.equal('id,text,amount,price,isOpen,place.city,"place.zip, code",list,more\r\n');
  });

  it('becomes the same records again, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { maxLength: 5 }), sizes, async (all, cuts) => {
        const text = store('csv', all);
        expect(JSON.parse(await convert('csv', text, JSON_LIST, cuts))).to.deep.equal(all);
        expect(await convert('csv', text, LINES, cuts)).to.equal(store('jsonl', all));
        expect(await convert('csv', text, CSV, cuts)).to.equal(text);
      }),
      { numRuns: runs(200) },
    );
  });

  it('is made of lines of JSON as of records, wherever they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { maxLength: 5 }), sizes, async (all, cuts) => {
        const text = store('jsonl', all);
        expect(await convert('jsonl', text, CSV, cuts)).to.equal(store('csv', all));
        expect(JSON.parse(await convert('jsonl', text, JSON_LIST, cuts))).to.deep.equal(all);
      }),
      { numRuns: runs(200) },
    );
  });

  it('has no formula for a spreadsheet, and its numbers still', async () => {
    const texts = ['=1+1', '+49', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a=1', '', "'=1"];
    const all = texts.map((text, id) => ({
      id: -id,
      text,
      amount: -1.5,
      price: '-2.5',
      place: { city: null, 'zip, code': null },
    }));
    const defused = await convert('csv', store('csv', all), { type: 'text/csv', isDefused: true });
    const [, ...cells] = parse(defused, { recordDelimiter: '\r\n' });
    expect(cells.map((row) => row[1])).to.deep.equal([
      ...["'=1+1", "'+49", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", 'a=1', '', "'=1"],
    ]);
    expect(cells[1]?.slice(0, 4)).to.deep.equal(['-1', "'+49", '-1.5', '-2.5']);
    expect(await convert('jsonl', store('jsonl', all), { type: 'text/csv', isDefused: true })).to.equal(defused);
  });

  it('that ends within a row is not taken for whole', async () => {
    for (const format of ['csv', 'jsonl'] as const) {
      const text = store(format, [{ id: 1, text: 'a"b' }]).slice(0, -3);
      const failure = await convert(format, text, JSON_LIST).catch((error: unknown) => error);
      expect(failure).to.be.an('error');
    }
  });
});
