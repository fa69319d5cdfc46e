import fc from 'fast-check';
import type { Knex } from 'knex';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { SqlQueryable } from '../../src/where/index.ts';
import { normalise } from '../../src/where/normalise.ts';
import { print } from '../../src/where/print.ts';
import { toSql } from '../../src/where/sql.ts';
import { predicatesOn, treesOf } from '../../suite/filters.ts';
import { anyCharacter } from '../support/characters.ts';
import { literal } from './literal.ts';
import { evaluate } from './reference.ts';

/** A table of PostgreSQL with difficult values, and random filters on it: PostgreSQL says what a filter means. */

export const ORACLE: SqlQueryable = {
  fields: {
    cs: { type: 'string' },
    ci: { type: 'string', collation: 'ci' },
    'json.cs': { type: 'string' },
    'json.ci': { type: 'string', collation: 'ci' },
    number: { type: 'number' },
    integer: { type: 'integer' },
    flag: { type: 'boolean' },
    day: { type: 'date' },
    at: { type: 'datetime' },
  },
  columns: {
    cs: 'cs',
    ci: 'ci',
    'json.cs': "json->>'cs'",
    'json.ci': "json->>'ci'",
    number: 'number',
    integer: 'integer',
    flag: 'flag',
    day: 'day',
    at: 'at',
  },
};

const TEXTS = [
  ...['', ' ', '  ', 'a', 'A', 'ab', 'aB', 'Ab', 'AB', 'abc', 'b', 'B', 'ba', 'null', 'NULL', '1', 'true'],
  ...["'", "''", "it's", '"', '\\', '\\\\', 'a\\b', '\\%', '%', '_', '%%', 'x%y', 'x_y', 'xay', 'x\\y', '?', '??'],
  ...['$1', ':a', '{}'],
  ...['é', 'É', 'e\u0301', 'E\u0301', 'école', 'ÉCOLE', 'Straße', 'STRASSE', 'straße', 'STRAẞE', 'ß', 'ẞ', 'ss', 'SS'],
  ...['ΑΣ', 'ας', 'ασ', 'ΑΣΑ', 'ασα', 'Σ', 'σ', 'ς', 'İ', 'i', 'ı', 'I', 'i\u0307', 'İstanbul', 'istanbul', 'ISTANBUL'],
  ...['\u212a', 'k', 'K', 'ſ', 's', 'S', 'µ', 'μ', 'Μ', 'Ǆ', 'ǅ', 'ǆ', 'ﬁ', 'FI', 'ա', 'Ա', 'ა', 'Ა', 'Ⴀ', 'ⴀ', 'Ꭰ'],
  ...['ꭰ', '\u1c80', 'в', 'В'],
  ...['😀', '😀a', '😁', '\uff00', '\uff21', '\uff41', '\u{10400}', '\u{10428}', '\u{1e900}', '\u{1e922}', '\u{1c89}'],
  ...['\u{1c8a}', '名前'],
  ...['a\nb', 'a\r\nb', '\t', '\u0001', '\u007f', '\u0080', '\u00a0', '\u200b', '\ufeff', '\ufffd', '\uffff'],
  ...['\u{10ffff}', 'a\u0000'],
];
const NUMBERS = [
  ...['0', '1', '1.0', '-1', '0.1', '0.3', '0.30000000000000004', '0.10000000000000001', '100', '99.999', '-0.001'],
  ...['12.5'],
  ...[
    '123456789012345678901234567890',
    '-123456789012345678901234567890.123456789',
    '0.000000000000000000000000000001',
  ],
];
const INTEGERS = [
  ...['0', '1', '-1', '2', '10', '9007199254740992', '9007199254740993', '9223372036854775807'],
  ...['-9223372036854775808'],
];
const DAYS = [
  ...['2026-01-31', '2026-02-01', '2024-02-29', '2026-03-29', '0001-01-01', '0000-12-31', '0000-02-29', '9999-12-31'],
  ...['1970-01-01'],
];
const INSTANTS = [
  ...['2026-01-31T00:00:00Z', '2026-01-30T23:59:59.999999Z', '2026-01-31T00:00:00.000001Z', '2026-01-31T12:00:00Z'],
  ...['2026-01-31T10:00:00Z', '2026-01-30T14:00:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'],
  ...['2026-10-25T01:30:00Z'],
  ...['1969-12-31T23:59:59.5Z', '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0000-12-31T23:59:59Z'],
  ...['9999-12-31T23:59:59.999999Z'],
];

/** Literals beyond what a column can hold: finer, greater, written otherwise. */
const OTHER_NUMBERS = ['-0', '1e2', '1e-30', '0.1000', '1e300', '-1e300', '1e-300'];
const OTHER_INTEGERS = ['9223372036854775808', '-9223372036854775809', '1e30', '1e1', '1.0'];
const OTHER_INSTANTS = [
  ...[
    '2026-01-31T00:00:00.000000001Z',
    '2026-01-30T23:59:59.999999999Z',
    '2026-01-31T00:00:00.000000999Z',
    '1969-12-31T23:59:59.999999999Z',
  ],
  ...['2026-01-31T01:00:00+01:00', '2026-01-31T00:00:00+14:00', '2026-01-31T00:00:00-12:00'],
  ...['2026-03-29T02:00:00+01:00', '2026-01-31'],
  ...['0000-12-31T23:59:59.0000005Z', '2026-01-31T12:00', '2026-01-31T12:00:00.1234567891Z'],
];

const somethingOf = (...values: readonly string[]) => fc.constantFrom(...values);
const letters = fc.string({
  unit: fc.oneof(fc.constantFrom(...'abAB%_\\\'"Σσςßẞéİı😀'), anyCharacter),
  maxLength: 4,
});
const texts = fc.oneof({ weight: 6, arbitrary: somethingOf(...TEXTS) }, { weight: 1, arbitrary: letters });
const patterns = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('%', '_', '\\%', '\\_', '\\\\', '\\') },
      { weight: 2, arbitrary: texts.map((text) => text.slice(0, 2)).filter((text) => text.isWellFormed()) },
    ),
    { maxLength: 4 },
  )
  .map((parts) => literal.text(parts.join('')));
const numbers = fc.oneof(
  somethingOf(...NUMBERS, ...OTHER_NUMBERS),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -2, max: 2 }))
    .map(([digits, exponent]) => `${digits}e${exponent}`),
);

export const oracleFilters: fc.Arbitrary<Filter> = treesOf(
  fc.oneof(
    ...['cs', 'ci', 'json.cs', 'json.ci'].map((name) =>
      predicatesOn({ name, literals: texts.map(literal.text), patterns }),
    ),
    predicatesOn({ name: 'number', literals: numbers.map(literal.number) }),
    predicatesOn({ name: 'integer', literals: somethingOf(...INTEGERS, ...OTHER_INTEGERS).map(literal.number) }),
    predicatesOn({ name: 'flag', literals: fc.boolean().map(literal.boolean), operators: ['=', '!='] }),
    predicatesOn({ name: 'day', literals: somethingOf(...DAYS).map(literal.date) }),
    predicatesOn({ name: 'at', literals: somethingOf(...INSTANTS, ...OTHER_INSTANTS).map(literal.dateTime) }),
  ),
);

const orNull = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(values, { freq: 8 });
const storableTexts = texts.map((text) => text.replaceAll('\0', ''));

/** Rows as a caller would see them. */
function makeRows(count: number, seed: number): readonly OracleRow[] {
  const row = fc.record(
    {
      cs: orNull(storableTexts),
      ci: orNull(storableTexts),
      json: orNull(
        fc.record({ cs: orNull(storableTexts), ci: storableTexts }, { requiredKeys: [], noNullPrototype: true }),
      ),
      number: orNull(somethingOf(...NUMBERS)),
      integer: orNull(somethingOf(...INTEGERS)),
      flag: orNull(fc.boolean()),
      day: orNull(somethingOf(...DAYS)),
      at: orNull(somethingOf(...INSTANTS)),
    },
    { noNullPrototype: true },
  );
  return fc.sample(row, { seed, numRuns: count }).map((values, id) => ({ id, ...values }));
}

type OracleRow = Row & { readonly id: number };

export type OracleTable = Awaited<ReturnType<typeof createOracleTable>>;

const COLUMNS = ['id', 'cs', 'ci', 'json', 'number', 'integer', 'flag', 'day', 'at'] as const;

export async function createOracleTable(
  knex: Knex,
  { rowCount, seed }: { readonly rowCount: number; readonly seed: number },
) {
  const rows = makeRows(rowCount, seed);
  await knex.raw(`create table oracle (
    id integer primary key, cs text, ci varchar, json jsonb, number numeric, integer bigint, flag boolean, day date,
    at timestamptz
  )`);
  const stored = rows.map((row) => Object.fromEntries(COLUMNS.map((column) => [column, inPostgres(row[column])])));
  await knex.batchInsert('oracle', stored, 100);
  return { rows, assertAgreement: (filter: Filter) => assertAgreement(knex, rows, filter) };
}

/** PostgreSQL has no year 0: it calls it 1 BC. */
function inPostgres(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  if (typeof value !== 'string' || !/^0000-\d\d-\d\d/.test(value)) return value;
  return `0001${value.slice(4).replace('T', ' ').replace('Z', '+00')} BC`;
}

/**
 * Returns how many rows the filter matches.
 * @throws Error where PostgreSQL, the residual and the reference do not agree on them
 */
async function assertAgreement(knex: Knex, rows: readonly OracleRow[], filter: Filter): Promise<number> {
  const { condition: tree } = checkFilter(filter, ORACLE);
  if (tree === undefined) throw new Error('A filter without parameters has a condition.');
  const condition = normalise(tree);
  const { sql, bindings } = toSql(condition, ORACLE.columns);
  const found: readonly OracleRow[] = await knex.select('id').from('oracle').whereRaw(sql, bindings).orderBy('id');
  const answers = {
    postgres: idsOf(found),
    residual: idsOf(rows.filter(compileCondition(condition))),
    reference: idsOf(rows.filter((row) => evaluate(tree, row) === true)),
  };
  if (answers.postgres === answers.residual && answers.residual === answers.reference) return found.length;
  throw new Error(`${print(filter)}\n${sql}\n${JSON.stringify(bindings)}\n${JSON.stringify(answers)}`);
}

function idsOf(rows: readonly OracleRow[]): string {
  return rows.map(({ id }) => id).join();
}
