import fc from 'fast-check';
import { compileMapping } from '../../src/mappings/compile.ts';
import type { FieldEntry, MappedType, MappingInForce, TransformationField } from '../../src/mappings/model.ts';
import { canonicalDecimal } from '../../src/numbers/decimal.ts';
import { toJsonNumber } from '../../src/numbers/number-value.ts';
import type { Filter } from '../../src/where/ast.ts';
import type { FieldType, Queryable } from '../../src/where/model.ts';
import type { Row } from '../../src/where/row-values.ts';
import { predicatesOn, treesOf } from '../../suite/filters.ts';
import { literal } from '../where/literal.ts';
import { RECORD_FIELDS, RECORDS } from '../where/records.ts';

/** Random mappings of the records of test/where, and filters on their fields. */

/** Values as the API shows them: typed fields hold readable values only, in any spelling that a provider may use. */
export const VENDOR_ROWS: readonly Row[] = RECORDS.filter((row) => isReadable(row)).map((row) => ({
  ...row,
  number: toJsonNumber(row.number),
  integer: toJsonNumber(row.integer),
  stamp: stampOf(row),
  moment: momentOf(row),
}));

function isReadable({ number, integer, flag, day, at, cs, ci }: Row): boolean {
  const isNumber = (value: unknown) => value == null || canonicalDecimal(String(value)) !== undefined;
  const isText = (value: unknown) => value == null || typeof value === 'string';
  const isFlag = flag == null || typeof flag === 'boolean' || /^(true|false)$/i.test(String(flag));
  const isMoment = (value: unknown) =>
    value == null || (typeof value === 'string' && /^\d{4}-\d\d-(?!30$)\d\d/.test(value));
  return [number, integer].every(isNumber) && [cs, ci].every(isText) && isFlag && [day, at].every(isMoment);
}

/** A text that is a date in a pattern, or nearly. */
function stampOf({ day, cs }: Row): unknown {
  if (typeof day !== 'string') return cs;
  const [year, month, date] = day.slice(0, 10).split('-');
  return `${date}.${month}.${year}`;
}

/** A text that is a date with a time, or nearly. */
function momentOf({ at, cs }: Row): unknown {
  if (typeof at !== 'string') return cs;
  const [day = '', time = '00:00:00'] = at.slice(0, 19).split('T');
  return `${day} ${time.padEnd(8, ':00')}`;
}

/** The fields of the records, an object around one of them, and texts that only mappings need. */
export const VENDOR_FIELDS = {
  ...RECORD_FIELDS,
  in: { type: 'object' },
  stamp: { type: 'string' },
  moment: { type: 'string' },
} as const;

interface Sort {
  readonly type: MappedType;
  readonly entries?: fc.Arbitrary<readonly FieldEntry[]>;
}

// `null` and 'keep' stand twice: too few maps had both, and a fault that needs both was missed.
const OURS = ['a', 'x', 'ours', '1', null, null] as const;
const otherwise = fc.constantFrom<unknown>(undefined, 'ours', 'keep', 'keep', null);

function valueMap(keys: readonly string[]): fc.Arbitrary<FieldEntry> {
  return fc
    .tuple(fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...OURS), { maxKeys: 4 }), otherwise)
    .map(
      ([values, other]) =>
        ({ type: 'valueMap', properties: { values, ...(other !== undefined && { otherwise: other }) } }) as FieldEntry,
    );
}

const some = (...entries: readonly (FieldEntry | undefined)[]): fc.Arbitrary<readonly FieldEntry[]> =>
  fc.constantFrom(...entries).map((entry) => (entry === undefined ? [] : [entry]));
const byDefault = (value: string | number | boolean): FieldEntry => ({ type: 'defaultValue', properties: { value } });
const times = (multiply: number): FieldEntry => ({ type: 'number', properties: { multiply } });
const dated = (pattern: string): FieldEntry => ({ type: 'transformDate', properties: { pattern } });
const pattern = dated('dd.MM.yyyy');
const sortable = dated('yyyy-MM-dd');

const TEXT_KEYS = ['a', 'A', 'ab', 'ß', '1', 'true', 'x%y', ''];
const texts: readonly Sort[] = [
  { type: 'string', entries: some(undefined, byDefault('a'), byDefault('ours')) },
  { type: 'string', entries: valueMap(TEXT_KEYS).map((entry) => [entry]) },
  { type: 'string', entries: valueMap(TEXT_KEYS).map((entry) => [entry, byDefault('x')]) },
  { type: 'number', entries: some(undefined, byDefault(1)) },
  { type: 'boolean', entries: some(undefined, byDefault(true)) },
  { type: 'date' },
];
const numbers: readonly Sort[] = [
  { type: 'number', entries: some(undefined, byDefault(1), byDefault(100)) },
  { type: 'number', entries: some(times(0.01), times(-2), times(3), times(1000)) },
  { type: 'string', entries: some(undefined, byDefault('1')) },
  { type: 'string', entries: valueMap(['0', '1', '1.0', '-1', '100', '2', 'a']).map((entry) => [entry]) },
];
const moments: readonly Sort[] = [
  { type: 'date', entries: some(undefined, byDefault('2026-01-31')) },
  { type: 'string' },
  { type: 'string', entries: valueMap(['2026-01-31', '2026-02-01', '2026-01-31T00:00:00Z']).map((entry) => [entry]) },
];

const SORTS: Readonly<Record<keyof typeof VENDOR_FIELDS, readonly Sort[]>> = {
  cs: texts,
  ci: texts,
  'in.side': texts,
  in: [{ type: 'object' }, { type: 'string' }],
  number: numbers,
  integer: numbers,
  flag: [
    { type: 'boolean', entries: some(undefined, byDefault(true)) },
    { type: 'string', entries: some(undefined, byDefault('true')) },
    { type: 'string', entries: valueMap(['true', 'false', 'True']).map((entry) => [entry]) },
  ],
  day: moments,
  at: moments,
  stamp: [{ type: 'date', entries: some(pattern, sortable, dated('d.M.yyyy')) }],
  moment: [
    { type: 'date', entries: some(dated('yyyy-MM-dd HH:mm:ss'), dated('yyyy-MM-dd HH:mm')) },
    { type: 'date', entries: fc.constant([dated('yyyy-MM-dd HH:mm:ss'), byDefault('2026-01-31T00:00:00.000Z')]) },
  ],
  tags: [{ type: 'array' }, { type: 'number' }],
};

const NAMES = Object.keys(VENDOR_FIELDS).filter((name): name is keyof typeof VENDOR_FIELDS => name in VENDOR_FIELDS);

const oneField: fc.Arbitrary<Omit<TransformationField, 'path'>> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom(...NAMES)
      .chain((vendorPath) =>
        fc
          .constantFrom(...SORTS[vendorPath])
          .chain(({ type, entries = fc.constant([]) }) =>
            entries.map((configuration) => ({ vendorPath, type, configuration })),
          ),
      ),
  },
  fc.constantFrom<Omit<TransformationField, 'path'>>(
    { type: 'string', configuration: [{ type: 'first', properties: { paths: ['cs', 'ci'] } }] },
    { type: 'string', configuration: [{ type: 'first', properties: { paths: ['ci', 'cs'] } }] },
    { type: 'string', configuration: [{ type: 'first', properties: { paths: ['in.side', 'number'] } }] },
    { type: 'string', configuration: [{ type: 'first', properties: { paths: ['ci', 'number'] } }, byDefault('a')] },
    { type: 'number', configuration: [{ type: 'first', properties: { paths: ['integer', 'number'] } }] },
    { type: 'number', configuration: [{ type: 'first', properties: { paths: ['cs', 'integer'] } }, byDefault(1)] },
    { type: 'date', configuration: [{ type: 'first', properties: { paths: ['day', 'at'] } }] },
    { type: 'string', configuration: [{ type: 'join', properties: { paths: ['cs', 'ci'] } }, byDefault('a')] },
    { type: 'string', configuration: [{ type: 'join', properties: { paths: ['cs', 'in.side'], separator: ' ' } }] },
    { type: 'string', configuration: [{ type: 'constant', properties: { value: 'a' } }] },
    { type: 'number', configuration: [{ type: 'constant', properties: { value: 1 } }] },
    { type: 'string', vendorPath: 'nowhere' },
    { type: 'string', vendorPath: 'tags[0]' },
    { type: 'number', vendorPath: 'tags[*].size()' },
  ),
);

const level = 'organization';

/** Paths of up to five fields. Some have the names of fields of the vendor, or lie inside of one. */
const PATHS = fc.constantFrom(
  ['m0', 'm1', 'm2', 'n.m3', 'm4'],
  ['m0', 'm1', 'm2', 'n.m3', 'm4'],
  ['cs', 'number', 'm2', 'in.m3', 'm4'],
  ['ci', 'm1', 'in', 'n.m3', 'at'],
  ['in.side', 'm1', 'm2', 'in.m3', 'flag'],
);

/** A mapping with two to five fields. */
export const mappings: fc.Arbitrary<MappingInForce> = fc
  .tuple(fc.array(oneField, { minLength: 2, maxLength: 5 }), fc.boolean(), PATHS)
  .map(([fields, passes, paths]) => {
    const named = fields.map((field, index) => ({ ...field, path: paths[index] ?? `m${index}`, level }) as const);
    return {
      version: '1',
      objectName: 'mine',
      vendorName: 'rows',
      level,
      definition: named.map(({ path, type = 'string' }) => ({ path, type, level })),
      fields: named,
      configuration: [{ type: 'passThrough', properties: { fromVendor: passes, toVendor: true } }],
    };
  });

const patterns = fc
  .array(fc.constantFrom('%', '_', 'a', 'o', 'u', 'r', 's', 'x'), { maxLength: 4 })
  .map((parts) => literal.text(parts.join('')));

const STRINGS = [
  'a',
  'A',
  'ab',
  'x',
  'ours',
  '1',
  '1.0',
  '-1',
  'true',
  'True',
  'false',
  'ß',
  '',
  '2026-01-31',
  '2026-01-31T00:00:00Z',
  'a a',
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '0.01',
  '0.1',
  '3',
  '100',
  '1000',
  '-2',
  '0.3',
  '0.333333333333333333',
  '1e3',
  '9007199254740993',
];
const DAYS = ['2026-01-31', '2026-02-01', '2024-02-29', '9999-12-31'];
const INSTANTS = [
  '2026-01-31T00:00:00Z',
  '2026-01-31T01:00:00+01:00',
  '2026-01-31T00:00:00.000001Z',
  '2026-01-30T23:59:59.999Z',
  '2026-01-30T23:59:59Z',
  '2026-01-31T08:30:00Z',
  '2026-01-31T08:30:00.000000001Z',
];

const CHOICES: Readonly<Record<FieldType, (name: string) => fc.Arbitrary<Filter>>> = {
  string: (name) => predicatesOn({ name, literals: fc.constantFrom(...STRINGS).map(literal.text), patterns }),
  number: (name) => predicatesOn({ name, literals: fc.constantFrom(...NUMBERS).map(literal.number) }),
  integer: (name) => predicatesOn({ name, literals: fc.constantFrom('0', '1', '-1', '2', '100').map(literal.number) }),
  boolean: (name) => predicatesOn({ name, literals: fc.boolean().map(literal.boolean), operators: ['=', '!='] }),
  date: (name) => predicatesOn({ name, literals: fc.constantFrom(...DAYS).map(literal.date) }),
  datetime: (name) => predicatesOn({ name, literals: fc.constantFrom(...INSTANTS).map(literal.dateTime) }),
  array: (name) => predicatesOn({ name, literals: undefined }),
  object: (name) => predicatesOn({ name, literals: undefined }),
};

/** Filters on the fields of a mapped object. */
export function filtersOn({ fields }: Pick<Queryable, 'fields'>): fc.Arbitrary<Filter> {
  return treesOf(fc.oneof(...Object.entries(fields).map(([name, { type }]) => CHOICES[type](name))), { depth: 2 });
}

/** The mapped object of a vendor's object, as the planner takes it. */
export function mappedQueryable(vendor: Queryable, mapping: MappingInForce) {
  const compiled = compileMapping(vendor, mapping, undefined);
  const { fields, idField = '', rewriting } = compiled;
  return { fields: mapping.fields, compiled, queryable: { ...vendor, fields, idField, rewriting } };
}
