import { expect } from 'chai';
import {
  type BooleanShape,
  defineObject,
  type InfixTable,
  infix,
  plainText,
  quoteDoubled,
} from '../../../src/connector/index.ts';
import { prepareQuery } from '../../../src/where/query.ts';
import { EXACT } from '../../where/planned.ts';

/** A language with everything, unlike any that there is. */
const WHOLE: InfixTable = {
  and: 'UND',
  or: 'ODER',
  words: { '=': 'is', '!=': 'isnt', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' },
  literal: (value) => (value.kind === 'string' ? quoteDoubled(value.value) : plainText(value)),
  field: ({ native }) => `[${native}]`,
  in: (field, literals) => `${field} among ${literals.join('|')}`,
  notIn: (field, literals) => `${field} outside ${literals.join('|')}`,
  like: {
    prefix: (field, literal) => `${field} begins ${literal}`,
    pattern: (field, _, { parts }) => `${field} fits ${parts.map(({ kind }) => kind).join('-')}`,
  },
  notLike: (condition) => `not(${condition})`,
  isNull: (field) => `${field} missing`,
  isNotNull: (field) => `${field} there`,
};

function nativeOf(where: string, table: InfixTable, shape: BooleanShape = { kind: 'any' }): unknown {
  const fields = {
    a: { type: 'string', native: 'Name', filter: EXACT, likeForms: ['prefix', 'pattern'] },
    x: { type: 'number', filter: EXACT },
    flag: { type: 'boolean', filter: EXACT },
    at: { type: 'datetime', filter: EXACT },
  } as const;
  const object = defineObject<string>({ fields, translator: infix(table), shape });
  return prepareQuery({ where }, object).plan.native;
}

describe('a language of expressions', () => {
  for (const [where, filter] of [
    ["a = 'it''s'", "[Name] is 'it''s'"],
    ['x >= 1.50', '[x] ge 1.5'],
    ['flag = TRUE', '[flag] is true'],
    ['at < 2026-01-31', '[at] lt 2026-01-31T00:00:00Z'],
    ['x != 1', '([x] there UND [x] isnt 1)'],
    ['x IN (1, 2)', '[x] among 1|2'],
    ['x NOT IN (1, 2)', '([x] there UND [x] outside 1|2)'],
    ["a LIKE 'b%'", "[Name] begins 'b'"],
    ["a NOT LIKE 'b%'", "([Name] there UND not([Name] begins 'b'))"],
    ["a LIKE 'b_%'", '[Name] fits text-one-any'],
    ['a IS NULL', '[Name] missing'],
    ['x = 1 AND (x < 2 OR flag = TRUE)', '([x] is 1 UND ([x] lt 2 ODER [flag] is true))'],
  ] as const) {
    it(`is written from its table: ${where} → ${filter}`, () => {
      expect(nativeOf(where, WHOLE)).to.equal(filter);
    });
  }

  it('has no parentheses where it nests nothing', () => {
    expect(nativeOf('x = 1 AND flag = TRUE', { ...WHOLE, parentheses: 'none' }, { kind: 'and-xor-or' })).to.equal(
      '[x] is 1 UND [flag] is true',
    );
  });

  it('gets lists as equalities where it has none', () => {
    const { in: _, notIn: __, ...table } = WHOLE;
    expect(nativeOf('x IN (1, 2)', table)).to.equal('([x] is 1 ODER [x] is 2)');
    expect(nativeOf('x NOT IN (1, 2)', table)).to.equal('([x] there UND [x] isnt 1 UND [x] isnt 2)');
  });

  it('has the constructs of its table, and no others', () => {
    const { or: _, in: __, like: ___, isNull: ____, ...table } = WHOLE;
    expect(Object.keys(infix(table))).to.deep.equal(['and', 'compare']);
    expect(infix({ ...table, nulls: 'unknown', terms: () => 1 })).to.include.keys('nulls', 'terms');
  });

  it('refuses to write what fields declare and its table lacks', () => {
    const { notIn: _, ...withoutNotIn } = WHOLE;
    const { '<': __, ...words } = WHOLE.words;
    const missing = (name: string) => `A field declares ${name}, but the words of its language do not include it.`;
    expect(() => nativeOf('x NOT IN (1, 2)', withoutNotIn)).to.throw(missing('NOT IN'));
    expect(() => nativeOf('x < 1', { ...WHOLE, words })).to.throw(missing('<'));
    expect(() => nativeOf("a LIKE 'x%'", { ...WHOLE, like: {} })).to.throw(missing('LIKE of the form prefix'));
  });
});
