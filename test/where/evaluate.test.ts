import { expect } from 'chai';
import { isAppError } from '../../src/errors.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { FieldSpec, Queryable } from '../../src/where/model.ts';
import { compareValues } from '../../src/where/order.ts';
import { conditionOf } from './people.ts';

/** Whether the filter is true for a row whose field `a` has the value. */
function isTrue(where: string, spec: FieldSpec, value: unknown): boolean {
  return compileCondition(conditionOf(where, { fields: { a: spec } }))({ a: value });
}

/** Which of the values the filter is true for. */
function matching(where: string, spec: FieldSpec, values: readonly unknown[]): readonly unknown[] {
  return values.filter((value) => isTrue(where, spec, value));
}

const OPERATIONS = ["a = 'x'", "a != 'x'", "a < 'x'", "a >= 'x'", "a IN ('x', 'y')", "a NOT IN ('x', 'y')"];
const text: FieldSpec = { type: 'string' };
const insensitive: FieldSpec = { type: 'string', collation: 'ci' };
const number: FieldSpec = { type: 'number' };
const boolean: FieldSpec = { type: 'boolean' };
const date: FieldSpec = { type: 'date' };
const datetime: FieldSpec = { type: 'datetime' };

describe('the residual', () => {
  it('is unknown for null and missing values, which is not true, negated or not', () => {
    for (const where of [...OPERATIONS, "a LIKE 'x%'", "a NOT LIKE 'x%'", "NOT (a = 'x')", "NOT (a IN ('x'))"]) {
      expect(matching(where, text, [null, undefined]), where).to.deep.equal([]);
    }
    expect(matching('a IS NULL', text, [null, undefined, ''])).to.deep.equal([null, undefined]);
    expect(matching('a IS NOT NULL', text, [null, undefined, '', 0, false])).to.deep.equal(['', 0, false]);
  });

  it('tells an empty text from a missing one', () => {
    expect(matching("a = ''", text, ['', ' ', null])).to.deep.equal(['']);
    expect(matching("a < 'a'", text, ['', 'b', null])).to.deep.equal(['']);
  });

  it('is unknown for a value that is not of the field’s type', () => {
    const strange = ['x', '', 'NaN', Number.NaN, Number.POSITIVE_INFINITY, true, [5], { a: 5 }, '5,0'];
    for (const where of ['a = 5', 'a != 5', 'a < 5', 'a >= 5', 'a IN (5, 6)', 'a NOT IN (5, 6)']) {
      expect(matching(where, number, strange), where).to.deep.equal([]);
    }
    for (const where of ['a = 2026-01-31', 'a != 2026-01-31', 'a < 2026-01-31', 'a NOT IN (2026-01-31, 2026-02-01)']) {
      const noDates = ['', '0000-00-00', '2026-02-30', '31.01.2026', '2026-1-1', 'today', 0, true, []];
      expect(matching(where, date, noDates), where).to.deep.equal([]);
      expect(matching(where, datetime, [...noDates, '2026-01-31T25:00Z']), where).to.deep.equal([]);
    }
    for (const where of ['a = TRUE', 'a != TRUE', 'a IN (TRUE, FALSE)', 'a NOT IN (TRUE, FALSE)']) {
      expect(matching(where, boolean, ['yes', '', 1, 0, [], {}]).length, where).to.equal(0);
    }
    for (const where of [...OPERATIONS, "a LIKE '%'", "a NOT LIKE 'x'"]) {
      expect(matching(where, text, [{}, ['x'], { x: 1 }]), where).to.deep.equal([]);
    }
  });

  it('compares numbers as decimals, written as numbers or as texts', () => {
    expect(matching('a = 0.3', number, [0.3, 0.1 + 0.2, '0.3', '0.30', '3e-1'])).to.deep.equal([
      0.3,
      '0.3',
      '0.30',
      '3e-1',
    ]);
    expect(matching('a > 0.3', number, [0.3, 0.1 + 0.2, '0.3', '0.30000000000000000001'])).to.deep.equal([
      0.1 + 0.2,
      '0.30000000000000000001',
    ]);
    expect(
      matching('a = 9007199254740993', number, [
        '9007199254740993',
        '9007199254740992',
        9007199254740992n,
        9007199254740993n,
      ]),
    ).to.deep.equal(['9007199254740993', 9007199254740993n]);
    expect(matching('a < 1e-350', number, [0, 1, -1])).to.deep.equal([0, -1]);
    expect(matching('a = 0', number, [0, -0, '0', '-0.00', '0e5'])).to.have.length(5);
    expect(matching('a IN (0.1, 2)', number, [0.1, '0.10', 2, '2.0', 20])).to.deep.equal([0.1, '0.10', 2, '2.0']);
    expect(matching('a NOT IN (0.1, 2)', number, [0.1, 2, 20, '21'])).to.deep.equal([20, '21']);
    expect(matching('a > 9', number, [10, '10', 9, '9'])).to.deep.equal([10, '10']);
  });

  it('compares date-times as instants, whatever their zone and precision', () => {
    const at = ['2026-01-31T08:30:00Z', '2026-01-31T10:30:00+02:00', '2026-01-31T08:30:00.000', '2026-01-31T08:30'];
    const after = ['2026-01-31T08:30:00.000000001Z', '2026-02-01', '2026-01-31T08:30:00-01:00'];
    expect(matching('a = 2026-01-31T08:30:00Z', datetime, [...at, ...after])).to.deep.equal(at);
    expect(matching('a > 2026-01-31T08:30:00Z', datetime, [...at, ...after])).to.deep.equal(after);
    expect(matching('a IN (2026-01-31T08:30:00Z, 2026-02-01)', datetime, [...at, ...after])).to.deep.equal([
      ...at,
      '2026-02-01',
    ]);
  });

  it('compares dates as days, also where a record has a time behind them', () => {
    const values = ['2026-01-30', '2026-01-31', '2026-01-31T23:59:59-12:00', '2026-02-01'];
    expect(matching('a = 2026-01-31', date, values)).to.deep.equal(['2026-01-31', '2026-01-31T23:59:59-12:00']);
    expect(matching('a < 2026-01-31', date, values)).to.deep.equal(['2026-01-30']);
    expect(matching('a NOT IN (2026-01-31, 2026-02-01)', date, values)).to.deep.equal(['2026-01-30']);
  });

  it('takes true and false as words', () => {
    expect(matching('a = TRUE', boolean, [true, 'true', 'TRUE', false, 'false'])).to.deep.equal([true, 'true', 'TRUE']);
    expect(matching('a != TRUE', boolean, [true, 'true', false, 'False'])).to.deep.equal([false, 'False']);
    expect(matching('a IN (FALSE)', boolean, [true, false, 'false'])).to.deep.equal([false, 'false']);
  });

  it('takes numbers and booleans in a text field for their spelling', () => {
    expect(matching("a = '5'", text, [5, '5', 5n])).to.deep.equal([5, '5', 5n]);
    expect(matching("a IN ('true', 'x')", text, [true, 'x', 'TRUE'])).to.deep.equal([true, 'x']);
  });

  it('compares texts by code point, apart from their case only under ci', () => {
    const values = ['Straße', 'STRASSE', 'straße', 'ΟΔΟΣ', 'οδος', 'İ', 'i'];
    expect(matching("a = 'straße'", text, values)).to.deep.equal(['straße']);
    expect(matching("a = 'STRAßE'", insensitive, values)).to.deep.equal(['Straße', 'straße']);
    expect(matching("a LIKE 'ΟΔΟΣ'", insensitive, values)).to.deep.equal(['ΟΔΟΣ', 'οδος']);
    expect(matching("a IN ('i', 'x')", insensitive, values)).to.deep.equal(['i']);
    expect(matching("a > '\uff00'", text, ['😀', '\uff01', '\ufeff'])).to.deep.equal(['😀', '\uff01']);
    expect(matching("a < 'b'", insensitive, ['A', 'B', 'a', 'b', 'C'])).to.deep.equal(['A', 'a']);
    expect(matching("a < 'b'", text, ['A', 'B', 'a', 'b', 'C'])).to.deep.equal(['A', 'B', 'a', 'C']);
  });

  it('matches a piece of a pattern wherever it ends, under ci too', () => {
    expect(matching("a LIKE 'ΑΣ%'", insensitive, ['ασα', 'ΑΣ', 'ας', 'α'])).to.deep.equal(['ασα', 'ΑΣ', 'ας']);
    expect(matching("a LIKE '_b'", insensitive, ['İB', 'ib', 'xxb'])).to.deep.equal(['İB', 'ib']);
    expect(matching("a NOT LIKE '%X%'", insensitive, ['axb', 'AXB', 'ab', null])).to.deep.equal(['ab']);
  });

  it('joins by AND and OR', () => {
    const queryable: Queryable = { fields: { a: number, b: number } };
    const test = compileCondition(conditionOf('a = 1 AND (b = 1 OR b > 5 OR b IS NULL)', queryable));
    const rows: readonly Row[] = [{ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 1 }, { a: 2, b: 1 }, { b: 9 }, { a: 1, b: 9 }];
    expect(rows.map(test)).to.deep.equal([true, false, true, false, false, true]);
  });

  it('reads dotted names from nested objects and flat ones, own properties only', () => {
    const queryable: Queryable = {
      fields: { 'a.b': text, constructor: text, ['__proto__']: text, 'a.constructor': text, 'a.length': text },
    };
    const isNull = (name: string) => compileCondition(conditionOf(`\`${name}\` IS NULL`, queryable));
    expect(isNull('a.b')({ a: { b: 'x' } })).to.equal(false);
    for (const row of [{}, { a: null }, { a: 'b' }, { a: {} }]) expect(isNull('a.b')(row)).to.equal(true);
    for (const name of ['constructor', '__proto__', 'a.constructor', 'a.length']) {
      expect(isNull(name)({ a: {} }), name).to.equal(true);
    }
    expect(isNull('constructor')({ constructor: 'x' })).to.equal(false);
    expect(isNull('__proto__')(JSON.parse('{"__proto__":"x"}'))).to.equal(false);
  });
});

describe('the order of values', () => {
  const sorted = (spec: FieldSpec, values: readonly unknown[]) =>
    [...values].reverse().sort(compareValues({ ...spec, name: 'a', native: 'a' }));

  for (const [what, spec, values] of [
    ['texts', text, ['', 'A', 'B', 'a', 'é', '\uff00', '😀', null]],
    ['numbers', number, ['-1e2', -5, '0.09', 0.1, '0.11', 9, '10', '9007199254740993', '9007199254740994', null]],
    ['integers', { type: 'integer' }, [-1, 0, '1', 2, 10n, null]],
    ['booleans', boolean, [false, true, null]],
    ['dates', date, ['0001-01-01', '2026-01-31', '2026-02-01', null]],
    [
      'date-times',
      datetime,
      ['2026-01-31T08:30:00+02:00', '2026-01-31T08:30:00Z', '2026-01-31T08:30:00.1Z', '2026-02-01', null],
    ],
  ] as const) {
    it(`is that of ${what}, nulls last`, () => {
      expect(sorted(spec, values)).to.deep.equal(values);
    });
  }

  it('does not tell cases apart under ci', () => {
    expect(sorted(insensitive, ['c', 'B', 'a'])).to.deep.equal(['a', 'B', 'c']);
  });

  it('puts unreadable values last, so that it stays an order', () => {
    expect(sorted(number, [1, 2, 'x'])).to.deep.equal([1, 2, 'x']);
    expect(sorted(datetime, ['2026-01-31', '2026-02-01', 'soon'])).to.deep.equal(['2026-01-31', '2026-02-01', 'soon']);
    expect(sorted(number, [{}, null]).length).to.equal(2);
  });

  it('leaves objects and arrays as they come', () => {
    expect(sorted({ type: 'object' }, [{ a: 1 }, { a: 0 }])).to.deep.equal([{ a: 0 }, { a: 1 }]);
  });
});

describe('one row', () => {
  const long = 'é'.repeat(4 * 1024 * 1024);

  /** Why the service does not test the row; undefined when it does. */
  function refusal(where: string, spec: FieldSpec, value: string): string | undefined {
    try {
      isTrue(where, spec, value);
      return undefined;
    } catch (error) {
      if (isAppError(error, 'WHERE_UNSUPPORTED')) return error.message;
      throw error;
    }
  }

  it('may hold texts of 4 MB for one LIKE, and shorter ones for more', () => {
    const patterns = (count: number) =>
      Array.from({ length: count }, (_, index) => `a LIKE '%${index}x%'`).join(' OR ');
    expect(refusal(patterns(1), text, long)).to.equal(undefined);
    expect(refusal(patterns(1), text, `${long}é`)).to.match(
      /^'a' of a row has 4194305 characters\. The service itself searches texts of at most 4194304 characters/,
    );
    expect(refusal(patterns(500), text, long.slice(0, 8388))).to.equal(undefined);
    expect(refusal(patterns(500), text, long.slice(0, 8389))).to.contain('at most 8388 characters');
    expect(refusal("a LIKE '%x_y%'", text, long)).to.contain('at most 1398101 characters');
    expect(refusal(patterns(1), insensitive, long)).to.contain('at most 2097152 characters');
    expect(refusal("a NOT LIKE '%x%y%'", text, `${long}é`)).to.contain('at most 4194304 characters');
  });

  it('is read no further than it has to be by all other predicates', () => {
    const longer = `${long}${long}`;
    for (const spec of [text, insensitive]) {
      for (const [where, isMatch] of [
        ["a = 'é'", false],
        ["a != 'é'", true],
        ["a > 'éé'", true],
        ["a <= 'ÉÉ'", false],
        ["a IN ('é', 'éé')", false],
        ["a NOT IN ('é', 'éé')", true],
        ["a LIKE 'éé'", false],
        ["a LIKE 'éé%'", true],
        ["a LIKE '%éé'", true],
        ["a LIKE '%éx'", false],
        ['a IS NOT NULL', true],
      ] as const) {
        expect(isTrue(where, spec, longer), where).to.equal(isMatch);
      }
    }
    expect(matching("a LIKE '%ÉÉ'", insensitive, [longer, 'é', 'éé', ''])).to.deep.equal([longer, 'éé']);
    expect(matching("a LIKE 'ÉÉ%'", insensitive, [longer, 'é', 'éé', ''])).to.deep.equal([longer, 'éé']);
    expect(matching("a LIKE 'ÉÉ'", insensitive, [longer, 'é', 'éé', ''])).to.deep.equal(['éé']);
    expect(matching("a IN ('', 'ÉÉ')", insensitive, [longer, 'é', 'éé', ''])).to.deep.equal(['éé', '']);
  });

  it('holds no number, date-time or truth in a text that is longer than any of them', () => {
    const zeros = '0'.repeat(1_000_000);
    expect(matching('a != 1', number, [`1.${zeros}`, `${zeros}2`, '2'])).to.deep.equal(['2']);
    const noon = '2026-01-31T12:00:00';
    const times = [`${noon}.${'0'.repeat(79)}Z`, `${noon}.${'0'.repeat(80)}Z`, `${noon}.${zeros}x`];
    expect(matching(`a = ${noon}Z`, datetime, times)).to.deep.equal(times.slice(0, 1));
    expect(matching('a != TRUE', boolean, [`false${' '.repeat(1_000_000)}`, 'false'])).to.deep.equal(['false']);
  });
});
