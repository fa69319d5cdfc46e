import { expect } from 'chai';
import type { FieldEntry, MappedType, MappedValue } from '../../src/mappings/model.ts';
import type { Queryable } from '../../src/where/model.ts';
import { print } from '../../src/where/print.ts';
import { prepareQuery } from '../../src/where/query.ts';
import { brackets, exactProvider } from '../where/planned.ts';
import { mappedQueryable } from './mapped-rows.ts';
import { inForceOf } from './simulated.ts';

/** What becomes of a filter, rule by rule: the pushed part in the provider's fields, and the part that is checked again. */

const VENDOR = exactProvider({
  text: { type: 'string' },
  loose: { type: 'string', collation: 'ci' },
  number: { type: 'number' },
  whole: { type: 'integer' },
  flag: { type: 'boolean' },
  day: { type: 'date' },
  at: { type: 'datetime' },
  list: { type: 'array' },
});

/** The field `x` from a path of the provider, as a type, with its configuration. */
type Mapped = readonly [vendorPath: string | undefined, type: MappedType, ...configuration: FieldEntry[]];

function planned([vendorPath, type, ...configuration]: Mapped, where: string): string {
  const field = { path: 'x', type, configuration, ...(vendorPath !== undefined && { vendorPath }) };
  const mapping = inForceOf({ objectName: 'mine', vendorName: 'rows', fields: [field] });
  const { plan } = prepareQuery({ where }, mappedQueryable(VENDOR, mapping).queryable);
  if (plan.holds !== undefined) return plan.holds;
  const again = plan.residual === undefined ? '' : ' again';
  return `${plan.pushed === undefined ? 'nothing' : print(plan.pushed)}${again}`;
}

const byDefault = (value: MappedValue): FieldEntry => ({ type: 'defaultValue', properties: { value } });
const times = (multiply: number): FieldEntry => ({ type: 'number', properties: { multiply } });
const dated = (pattern: string): FieldEntry => ({ type: 'transformDate', properties: { pattern } });
const table = (values: Readonly<Record<string, MappedValue>>, otherwise?: MappedValue): FieldEntry => ({
  type: 'valueMap',
  properties: { values, ...(otherwise !== undefined && { otherwise }) },
});
const STATES = { A: 'x', B: 'x', C: 'y', D: null };

const RULES: readonly (readonly [rule: string, mapped: Mapped, plans: Readonly<Record<string, string>>])[] = [
  [
    'a rename',
    ['text', 'string'],
    { "x = 'a'": "text = 'a'", "x LIKE 'a%'": "text LIKE 'a%'", 'x IS NULL': 'text IS NULL' },
  ],
  [
    'numbers as texts',
    ['number', 'string'],
    {
      "x = '1'": 'number = 1 again',
      "x = '1.0'": 'never',
      "x != '1'": 'number != 1 again',
      "x != '1.0'": 'number IS NOT NULL again',
      "x IN ('1', 'a')": 'number = 1 again',
      "x < '1'": 'nothing again',
      'x IS NOT NULL': 'number IS NOT NULL',
    },
  ],
  ['booleans as texts', ['flag', 'string'], { "x = 'true'": 'flag = TRUE again', "x = 'TRUE'": 'never' }],
  [
    'dates as texts',
    ['day', 'string'],
    { "x = '2026-01-31'": 'day = 2026-01-31 again', "x != '2026-01-31'": 'nothing again', "x = 'a'": 'nothing again' },
  ],
  ['texts as numbers', ['text', 'number'], { 'x = 1': 'nothing again', 'x IS NULL': 'nothing again' }],
  ['texts as booleans', ['text', 'boolean'], { 'x = TRUE': 'nothing again' }],
  [
    'texts without case as booleans',
    ['loose', 'boolean'],
    { 'x = TRUE': "loose = 'true' again", 'x != TRUE': 'nothing again' },
  ],
  [
    'a default',
    ['text', 'string', byDefault('none')],
    {
      "x = 'none'": "text = 'none' OR text IS NULL again",
      "x = 'a'": "text = 'a'",
      "x != 'a'": "text != 'a' OR text IS NULL again",
      "x < 'z'": "text < 'z' OR text IS NULL again",
      "x LIKE 'n%'": "text LIKE 'n%' OR text IS NULL again",
      'x IS NULL': 'never',
      'x IS NOT NULL': 'always',
    },
  ],
  ['a default of what may not convert', ['text', 'number', byDefault(1)], { 'x IS NULL': 'nothing again' }],
  [
    'a factor',
    ['number', 'number', times(0.01)],
    {
      'x = 1.5': 'number = 150',
      'x < 1.5': 'number < 150',
      'x IN (1, 2)': 'number IN (100, 200)',
      'x != 1': 'number != 100',
    },
  ],
  [
    'a negative factor',
    ['number', 'number', times(-2)],
    { 'x < 4': 'number > -2', 'x >= 4': 'number <= -2', 'x = 4': 'number = -2' },
  ],
  [
    'a factor on whole numbers',
    ['whole', 'number', times(3)],
    {
      'x = 4': 'never',
      'x != 4': 'whole IS NOT NULL',
      'x > 4': 'whole >= 2',
      'x < 4': 'whole <= 1',
      'x < -4': 'whole <= -2',
      'x >= -4': 'whole >= -1',
      'x >= 6': 'whole >= 2',
    },
  ],
  [
    'a table',
    ['text', 'string', table(STATES)],
    {
      "x = 'x'": "text IN ('A', 'B')",
      "x != 'x'": "text = 'C'",
      "x = 'A'": 'never',
      "x LIKE 'y%'": "text = 'C'",
      'x IS NULL': "text IS NULL OR text NOT IN ('A', 'B', 'C')",
      'x IS NOT NULL': "text IN ('A', 'B', 'C')",
    },
  ],
  [
    'a table with a value for all others',
    ['text', 'string', table(STATES, 'other')],
    {
      "x = 'other'": "text NOT IN ('A', 'B', 'C', 'D')",
      "x = 'x'": "text IN ('A', 'B')",
      "x != 'x'": "text NOT IN ('A', 'B', 'D')",
    },
  ],
  [
    'a table that keeps all others',
    ['text', 'string', table(STATES, 'keep')],
    {
      "x = 'x'": "text IN ('A', 'B', 'x')",
      "x != 'x'": "text NOT IN ('A', 'B', 'D', 'x')",
      "x = 'A'": 'never',
      "x = 'z'": "text = 'z'",
      "x < 'z'": 'nothing again',
      'x IS NULL': "text IS NULL OR text = 'D'",
    },
  ],
  [
    'a table without case',
    ['loose', 'string', table({ a: 'x', A: 'y' })],
    { "x = 'x'": "loose = 'a'", "x = 'y'": 'never' },
  ],
  [
    'a date in a pattern with an order',
    ['text', 'date', dated('yyyy-MM-dd HH:mm')],
    {
      'x = 2026-01-31T10:00:00Z': "text = '2026-01-31 10:00' again",
      'x = 2026-01-31T10:00:01Z': 'never',
      'x != 2026-01-31T10:00:01Z': 'text IS NOT NULL again',
      'x < 2026-01-31T10:00:01Z': "text <= '2026-01-31 10:00' again",
      'x > 2026-01-31T10:00:01Z': "text >= '2026-01-31 10:00' again",
      'x >= 2026-01-31T10:00:00Z': "text >= '2026-01-31 10:00' again",
      'x != 2026-01-31T10:00:00.000000001Z': 'text IS NOT NULL again',
    },
  ],
  [
    'a date in a pattern without an order',
    ['text', 'date', dated('dd.MM.yyyy')],
    { 'x = 2026-01-31': "text = '31.01.2026' again", 'x < 2026-01-31': 'nothing again', 'x IS NULL': 'nothing again' },
  ],
  [
    'a constant',
    [undefined, 'string', { type: 'constant', properties: { value: 'a' } }],
    { "x = 'a'": 'always', "x = 'b'": 'never', 'x IS NULL': 'never' },
  ],
  [
    'the first of several',
    [undefined, 'string', { type: 'first', properties: { paths: ['text', 'loose'] } }],
    {
      "x = 'a'": "text = 'a' OR loose = 'a' again",
      "x != 'a'": 'nothing again',
      'x IS NULL': 'text IS NULL AND loose IS NULL',
      'x IS NOT NULL': 'text IS NOT NULL OR loose IS NOT NULL',
    },
  ],
  [
    'several joined',
    [undefined, 'string', { type: 'join', properties: { paths: ['text', 'loose'] } }],
    { "x = 'a'": 'nothing again' },
  ],
  ['a path into values', ['list[0]', 'string'], { "x = 'a'": 'nothing again', 'x IS NULL': 'nothing again' }],
  ['nothing at the provider', ['nowhere', 'string'], { 'x IS NULL': 'always', "x = 'a'": 'never' }],
];

describe('a list on a mapped field that the provider does not accept', () => {
  it('is widened once, though the field has the name of one of the provider', () => {
    const flag = {
      path: 'flag',
      type: 'string',
      vendorPath: 'flag',
      configuration: [table({ true: null, false: 'x' })],
    } as const;
    const mapping = inForceOf({ objectName: 'mine', vendorName: 'rows', fields: [flag] });
    const filter = { '=': 'exact' } as const;
    const vendor: Queryable = {
      fields: { whole: { type: 'integer', filter }, flag: { type: 'boolean', filter } },
      translator: brackets,
      shape: { kind: 'dnf', groups: 1 },
    };
    const { queryable } = mappedQueryable(vendor, mapping);
    const { plan } = prepareQuery({ where: "whole = 0 OR flag IN ('x', 'a')" }, queryable);
    expect([plan.pushed, plan.pushdown]).to.deep.equal([undefined, 'none']);
  });
});

describe('the rules of rewriting', () => {
  for (const [rule, mapped, plans] of RULES) {
    it(`have a plan for ${rule}`, () => {
      const found = Object.keys(plans).map((where) => [where, planned(mapped, where)]);
      expect(Object.fromEntries(found)).to.deep.equal(plans);
    });
  }
});
