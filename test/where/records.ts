import fc from 'fast-check';
import type { Filter } from '../../src/where/ast.ts';
import type { Row } from '../../src/where/evaluate.ts';
import type { FieldSpec } from '../../src/where/model.ts';
import { predicatesOn, treesOf } from '../../suite/filters.ts';
import { literal } from './literal.ts';

/** Records and filters over the same few values, so that filters match often and narrowly miss often. */

export const RECORD_FIELDS = {
  cs: { type: 'string' },
  ci: { type: 'string', collation: 'ci' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  flag: { type: 'boolean' },
  day: { type: 'date' },
  at: { type: 'datetime' },
  'in.side': { type: 'string' },
  tags: { type: 'array' },
} as const satisfies Record<string, FieldSpec>;

const TEXTS = [
  ...['', ' ', 'a', 'A', 'ab', 'aB', 'AB', 'b', 'x%y', 'x_y', 'x\\y', "it's", 'é', 'É', 'e\u0301', 'E\u0301', 'ß'],
  ...['ẞ', 'ss'],
  ...['ΑΣ', 'ας', 'ασ', 'ασα', 'İ', 'i', 'ı', 'I', 'i\u0307', '\u212a', 'k', '😀', '😀a', '\uff00', 'null', '1'],
  ...['true'],
];
const NUMBERS = [
  ...['0', '-0', '1', '1.0', '-1', '0.1', '0.10000000000000001', '0.3', '1e2', '100'],
  ...['123456789012345678901234567890'],
];
const INTEGERS = ['0', '1', '-1', '2', '10', '9007199254740992', '9007199254740993', '1e2', '100'];
const DAYS = ['2026-01-31', '2026-02-01', '2024-02-29', '0000-01-01', '0001-01-01', '9999-12-31'];
const INSTANTS = [
  ...['2026-01-31T00:00:00Z', '2026-01-31T01:00:00+01:00', '2026-01-30T23:59:59.999Z', '2026-01-31T00:00:00.000001Z'],
  ...['2026-01-31T00:00:00.000000001Z', '2026-01-31T00:00:00', '2026-01-31T08:30', '1969-12-31T23:59:59.5Z'],
];
const UNREADABLE = ['', 'x', '2026-02-30', {}, [], 0.5];

const patterns = fc
  .array(
    fc.constantFrom('%', '%', '_', 'a', 'A', 'b', 'x', 'y', 'é', 'ß', 'Σ', 'σ', 'İ', '😀', '\\%', '\\_', '\\\\', "'"),
    {
      maxLength: 5,
    },
  )
  .map((parts) => literal.text(parts.join('')));

export const recordFilters: fc.Arbitrary<Filter> = treesOf(
  fc.oneof(
    predicatesOn({ name: 'cs', literals: fc.constantFrom(...TEXTS).map(literal.text), patterns }),
    predicatesOn({ name: 'ci', literals: fc.constantFrom(...TEXTS).map(literal.text), patterns }),
    predicatesOn({ name: 'in.side', literals: fc.constantFrom(...TEXTS).map(literal.text), patterns }),
    predicatesOn({ name: 'number', literals: fc.constantFrom(...NUMBERS).map(literal.number) }),
    predicatesOn({ name: 'integer', literals: fc.constantFrom(...INTEGERS).map(literal.number) }),
    predicatesOn({ name: 'flag', literals: fc.boolean().map(literal.boolean), operators: ['=', '!='] }),
    predicatesOn({ name: 'day', literals: fc.constantFrom(...DAYS).map(literal.date) }),
    predicatesOn({ name: 'at', literals: fc.constantFrom(...INSTANTS).map(literal.dateTime) }),
    predicatesOn({ name: 'tags', literals: undefined }),
  ),
);

const missing = fc.constantFrom(null, undefined);
const valuesOf = (...values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: missing });
const strange = fc.constantFrom(...UNREADABLE);
const orStrange = (values: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: strange });

const record: fc.Arbitrary<Row> = fc.record({
  cs: orStrange(valuesOf(...TEXTS)),
  ci: orStrange(valuesOf(...TEXTS)),
  number: orStrange(valuesOf(...NUMBERS, ...NUMBERS.map(Number))),
  integer: orStrange(valuesOf(...INTEGERS, ...INTEGERS.map(Number))),
  flag: orStrange(valuesOf(true, false, 'true', 'False')),
  day: orStrange(valuesOf(...DAYS, '2026-01-31T23:00:00-05:00')),
  at: orStrange(valuesOf(...INSTANTS)),
  in: fc.oneof(
    valuesOf(...TEXTS).map((side) => ({ side })),
    missing,
  ),
  tags: valuesOf([], ['a']),
});

/** The same records for every test. */
export const RECORDS: readonly Row[] = fc.sample(record, { seed: 7, numRuns: 150 });
