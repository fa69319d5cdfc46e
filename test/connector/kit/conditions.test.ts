import { expect } from 'chai';
import { type ConditionTable, conditions, defineObject, type FieldSpec } from '../../../src/connector/index.ts';
import { print } from '../../../src/where/print.ts';
import { prepareQuery } from '../../../src/where/query.ts';
import { EXACT } from '../../where/planned.ts';

const FIELDS: Readonly<Record<string, FieldSpec>> = {
  name: { type: 'string', native: 'Name', filter: EXACT, likeForms: ['prefix', 'contains'] },
  size: { type: 'number', filter: EXACT },
  at: { type: 'datetime', filter: EXACT },
};

/** Filters as Notion and Intercom have them, with every construct. */
const NESTED: ConditionTable<object> = {
  operators: {
    '=': 'is',
    '!=': 'is not',
    '<': 'below',
    '<=': 'at most',
    '>': 'above',
    '>=': 'at least',
    IN: 'one of',
    'NOT IN': 'none of',
    'IS NULL': 'empty',
    'IS NOT NULL': 'filled',
  },
  like: { prefix: 'begins', contains: 'has' },
  notLike: { prefix: 'begins not', contains: 'has not' },
  condition: ({ field, operator, ...value }) => ({ field: field.native, operator, ...value }),
  and: (operands) => ({ and: operands }),
  or: (operands) => ({ or: operands }),
};

function planOf(where: string, table: ConditionTable<object> = NESTED) {
  const object = defineObject<object>({ fields: FIELDS, translator: conditions(table), shape: { kind: 'any' } });
  const { native, residual } = prepareQuery({ where }, object).plan;
  return { native, residual: residual && print(residual) };
}

const FILLED = { field: 'Name', operator: 'filled' };

describe('a filter of JSON', () => {
  for (const [where, native] of [
    ["name = 'it''s \"x\"'", { field: 'Name', operator: 'is', value: 'it\'s "x"' }],
    ['size >= 1.50', { field: 'size', operator: 'at least', value: '1.5' }],
    ['at < 2026-01-31', { field: 'at', operator: 'below', value: '2026-01-31T00:00:00Z' }],
    ["name IN ('a', 'b')", { field: 'Name', operator: 'one of', values: ['a', 'b'] }],
    ["name NOT IN ('a', 'b')", { and: [FILLED, { field: 'Name', operator: 'none of', values: ['a', 'b'] }] }],
    ["name != 'a'", { and: [FILLED, { field: 'Name', operator: 'is not', value: 'a' }] }],
    ['name IS NULL', { field: 'Name', operator: 'empty' }],
    ["name LIKE 'a%'", { field: 'Name', operator: 'begins', value: 'a' }],
    ["name NOT LIKE '%a%'", { and: [FILLED, { field: 'Name', operator: 'has not', value: 'a' }] }],
    [
      "name = 'a' AND (size < 1 OR size > 2)",
      {
        and: [
          { field: 'Name', operator: 'is', value: 'a' },
          {
            or: [
              { field: 'size', operator: 'below', value: '1' },
              { field: 'size', operator: 'above', value: '2' },
            ],
          },
        ],
      },
    ],
  ] as const) {
    it(`is made from its table: ${where}`, () => {
      expect(planOf(where)).to.deep.equal({ native, residual: undefined });
    });
  }

  it('has values and patterns as the provider writes them', () => {
    const table: ConditionTable<object> = {
      ...NESTED,
      value: (value, { name }, operator) => `${name} ${operator} ${value.kind}`,
      pattern: ({ form, text }) => `${form}:${text}`,
    };
    expect(planOf('at > 2026-01-31', table).native).to.include({ value: 'at above datetime' });
    expect(planOf("name IN ('a', 'b')", table).native).to.deep.include({
      values: ['name one of string', 'name one of string'],
    });
    expect(planOf("name LIKE 'a%'", table).native).to.include({ value: 'prefix:a' });
  });

  it('says itself what missing values are, and which filters the provider refuses', () => {
    expect(planOf("name != 'a'", { ...NESTED, nulls: 'unknown' }).native).to.include({ operator: 'is not' });
    const refusing = { ...NESTED, fault: () => 'it has a bad day' };
    expect(planOf("name = 'a'", refusing)).to.deep.equal({ native: undefined, residual: "name = 'a'" });
    const counting = { ...NESTED, terms: () => 7 };
    expect(conditions(counting).terms?.({})).to.equal(7);
  });

  it('refuses an operator that a field declares and the table lacks', () => {
    const { operators, ...others } = NESTED;
    expect(() => planOf("name = 'a'", { ...others, operators: { '!=': 'is not' } })).to.throw(
      'A field declares =, but the conditions of its provider have no word for it.',
    );
    expect(() => planOf("name NOT LIKE 'a%'", { ...NESTED, notLike: {} })).to.throw(
      'A field declares LIKE of the form prefix, but the conditions of its provider have no word for it.',
    );
    const withoutLists = { ...NESTED, operators: { ...operators, IN: undefined, 'NOT IN': undefined } };
    expect(conditions(withoutLists).in).to.equal(undefined);
  });
});
