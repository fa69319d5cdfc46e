import { expect } from 'chai';
import { parseFieldList, parseOrderBy, parseStatement, parseWhere } from '../../src/where/parse.ts';
import { withoutLocs } from './faults.ts';

const parsed = (text: string) => withoutLocs(parseWhere(text));
const field = (name: string) => ({ name });
const string = (text: string) => ({ kind: 'string', text });
const number = (text: string) => ({ kind: 'number', text });
const equals = (name: string, value: unknown) => ({ kind: 'compare', field: field(name), operator: '=', value });

describe('parsing a where', () => {
  for (const [written, operator] of [
    ['=', '='],
    ['!=', '!='],
    ['<>', '!='],
    ['<', '<'],
    ['<=', '<='],
    ['>', '>'],
    ['>=', '>='],
  ] as const) {
    it(`reads ${written} with and without blanks`, () => {
      const meant = { kind: 'compare', field: field('a'), operator, value: number('1') };
      expect(parsed(`a${written}1`)).to.deep.equal(meant);
      expect(parsed(`\t a  ${written}\r\n1 `)).to.deep.equal(meant);
    });
  }

  it('reads IN, LIKE, IS NULL and BETWEEN, each with and without NOT, in any case', () => {
    for (const [not, negated] of [
      ['', false],
      ['NOT ', true],
      ['nOt ', true],
    ] as const) {
      expect(parsed(`a ${not}iN (1,'b')`)).to.deep.equal({
        kind: 'in',
        field: field('a'),
        negated,
        values: [number('1'), string('b')],
      });
      expect(parsed(`a ${not}Like 'x%'`)).to.deep.equal({
        kind: 'like',
        field: field('a'),
        negated,
        pattern: string('x%'),
      });
      expect(parsed(`a is ${not}Null`)).to.deep.equal({ kind: 'isNull', field: field('a'), negated });
      expect(parsed(`a ${not}between 1 and 2`)).to.deep.equal({
        kind: 'between',
        field: field('a'),
        negated,
        low: number('1'),
        high: number('2'),
      });
    }
  });

  it('binds NOT before AND before OR, and parentheses before all', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => equals(name, number('1')));
    expect(parsed('a=1 OR b=1 AND c=1')).to.deep.equal({
      kind: 'or',
      operands: [a, { kind: 'and', operands: [b, c] }],
    });
    expect(parsed('(a=1 OR b=1) AND c=1')).to.deep.equal({
      kind: 'and',
      operands: [{ kind: 'or', operands: [a, b] }, c],
    });
    expect(parsed('NOT a=1 AND b=1')).to.deep.equal({ kind: 'and', operands: [{ kind: 'not', operand: a }, b] });
    expect(parsed('NOT NOT (a=1 AND b=1)')).to.deep.equal({
      kind: 'not',
      operand: { kind: 'not', operand: { kind: 'and', operands: [a, b] } },
    });
    expect(parsed('((a=1))')).to.deep.equal(a);
    expect(parsed('a=1 AND (b=1 AND c=1)')).to.deep.equal({
      kind: 'and',
      operands: [a, { kind: 'and', operands: [b, c] }],
    });
  });

  it('takes the AND of a BETWEEN for its own', () => {
    const between = { kind: 'between', field: field('a'), negated: false, low: number('1'), high: number('2') };
    expect(parsed('a between 1 and 2 and b=1')).to.deep.equal({
      kind: 'and',
      operands: [between, equals('b', number('1'))],
    });
  });

  it('reads every kind of literal as it is written', () => {
    for (const text of [
      ...['0', '1.5', '.5', '+1', '-1', '-0', '1e3', '1E-3', '-1.25e+7', '123456789012345678901234567890'],
    ]) {
      expect(parsed(`a=${text}`), text).to.deep.equal(equals('a', number(text)));
    }
    expect(parsed('a=TRUE')).to.deep.equal(equals('a', { kind: 'boolean', value: true }));
    expect(parsed('a=fAlse')).to.deep.equal(equals('a', { kind: 'boolean', value: false }));
    expect(parsed('a=2026-01-31')).to.deep.equal(equals('a', { kind: 'date', text: '2026-01-31' }));
    for (const text of [
      ...['2026-01-31T08:30Z', '2026-01-31T08:30:00', '2026-01-31t08:30:00z', '2026-01-31T08:30:00.123456789+02:00'],
      ...['2026-01-31T08:30:00-0730', '2026-01-31T08:30:00+02'],
    ]) {
      expect(parsed(`a=${text}`), text).to.deep.equal(equals('a', { kind: 'datetime', text }));
    }
  });

  it('reads texts with quotes, backslashes, line ends, NUL and characters of every plane as they are', () => {
    for (const text of [
      ...['', "'", "''", "a'b", '\\', "\\'", '"', 'line\r\nend\n', '\0', 'é e\u0301 ß İ 😀', '%_', '`', '/* */ --'],
    ]) {
      const where = `a='${text.replaceAll("'", "''")}'`;
      expect(parsed(where), JSON.stringify(text)).to.deep.equal(equals('a', string(text)));
    }
  });

  it('reads names of letters, digits, _ $ - @ and dots, and anything between backticks', () => {
    for (const name of [
      ...['a', 'A1', '_x', '$x', '@odata', 'a-b', '-a', 'größe', '名前', 'a.b', 'a.b.c-d', 'e\u0301', 'a-'],
    ]) {
      expect(parsed(`${name} = 1`), name).to.deep.equal(equals(name, number('1')));
    }
    for (const name of [
      ...['1a', 'first name', "it's", 'a..b', '(', '-', '"', 'a = 1 or b', '\\', '😀', '__proto__', '\n'],
    ]) {
      expect(parsed(`\`${name}\`=1`), name).to.deep.equal(equals(name, number('1')));
    }
    expect(parsed('`a b`.c.`d`=1')).to.deep.equal(equals('a b.c.d', number('1')));
  });

  it('tells a minus sign from a minus in a name', () => {
    expect(parsed('a-b=1')).to.deep.equal(equals('a-b', number('1')));
    expect(parsed('a=-1')).to.deep.equal(equals('a', number('-1')));
    expect(parsed('a>-1')).to.deep.equal({ kind: 'compare', field: field('a'), operator: '>', value: number('-1') });
  });

  it('keeps the place of every node in UTF-16 units', () => {
    expect(parseWhere("  `😀` = 'x' AND NOT b IN (1, 2)")).to.deep.equal({
      kind: 'and',
      loc: { offset: 2, length: 30 },
      operands: [
        {
          kind: 'compare',
          field: { name: '😀', loc: { offset: 2, length: 4 } },
          operator: '=',
          value: { kind: 'string', text: 'x', loc: { offset: 9, length: 3 } },
          loc: { offset: 2, length: 10 },
        },
        {
          kind: 'not',
          loc: { offset: 17, length: 15 },
          operand: {
            kind: 'in',
            field: { name: 'b', loc: { offset: 21, length: 1 } },
            negated: false,
            values: [
              { kind: 'number', text: '1', loc: { offset: 27, length: 1 } },
              { kind: 'number', text: '2', loc: { offset: 30, length: 1 } },
            ],
            loc: { offset: 21, length: 11 },
          },
        },
      ],
    });
  });
});

describe('contextual keywords', () => {
  const keywords = [
    ...['and', 'or', 'not', 'in', 'like', 'is', 'null', 'between', 'true', 'false'],
    ...['select', 'from', 'where', 'order', 'by', 'asc', 'desc', 'limit'],
  ];

  for (const word of [...keywords, ...keywords.map((keyword) => keyword.toUpperCase())]) {
    it(`lets a field be called ${word}, alone, negated and in a group`, () => {
      const predicates = [
        [`${word} = '+1'`, equals(word, string('+1'))],
        [`${word} IN ('a')`, { kind: 'in', field: field(word), negated: false, values: [string('a')] }],
        [`${word} NOT IN ('a')`, { kind: 'in', field: field(word), negated: true, values: [string('a')] }],
        [`${word} LIKE 'a%'`, { kind: 'like', field: field(word), negated: false, pattern: string('a%') }],
        [`${word} NOT LIKE 'a%'`, { kind: 'like', field: field(word), negated: true, pattern: string('a%') }],
        [`${word} IS NULL`, { kind: 'isNull', field: field(word), negated: false }],
        [`${word} IS NOT NULL`, { kind: 'isNull', field: field(word), negated: true }],
        [
          `${word} BETWEEN 1 AND 2`,
          { kind: 'between', field: field(word), negated: false, low: number('1'), high: number('2') },
        ],
        [`${word}.${word} = 1`, equals(`${word}.${word}`, number('1'))],
      ] as const;
      for (const [text, meant] of predicates) {
        expect(parsed(text), text).to.deep.equal(meant);
        expect(parsed(`NOT (${text})`), text).to.deep.equal({ kind: 'not', operand: meant });
        expect(parsed(`a = 1 AND ${text}`), text).to.deep.equal({
          kind: 'and',
          operands: [equals('a', number('1')), meant],
        });
        expect(parsed(`${text} OR a = 1`), text).to.deep.equal({
          kind: 'or',
          operands: [meant, equals('a', number('1'))],
        });
      }
      // Where `not` is itself a field's name, `NOT not …` may be read either way; both mean the same rows.
      if (word.toLowerCase() !== 'not') {
        expect(parsed(`NOT ${word} = 1`)).to.deep.equal({ kind: 'not', operand: equals(word, number('1')) });
      }
    });
  }

  for (const [text, meant] of [
    ["from='+15550100'", equals('from', string('+15550100'))],
    ['order = 1', equals('order', number('1'))],
    ["like like 'a%'", { kind: 'like', field: field('like'), negated: false, pattern: string('a%') }],
    ["not in ('a')", { kind: 'in', field: field('not'), negated: false, values: [string('a')] }],
    ['not in = 1', { kind: 'not', operand: equals('in', number('1')) }],
    ["not not in ('a')", { kind: 'in', field: field('not'), negated: true, values: [string('a')] }],
    [
      "not in in ('a')",
      { kind: 'not', operand: { kind: 'in', field: field('in'), negated: false, values: [string('a')] } },
    ],
    ["not like 'a'", { kind: 'like', field: field('not'), negated: false, pattern: string('a') }],
    ['not like = 1', { kind: 'not', operand: equals('like', number('1')) }],
    ['not is null', { kind: 'isNull', field: field('not'), negated: false }],
    ['not is = 1', { kind: 'not', operand: equals('is', number('1')) }],
    ['not is is null', { kind: 'not', operand: { kind: 'isNull', field: field('is'), negated: false } }],
    [
      "not is not in ('a')",
      { kind: 'not', operand: { kind: 'in', field: field('is'), negated: true, values: [string('a')] } },
    ],
    ['not between = 1', { kind: 'not', operand: equals('between', number('1')) }],
    [
      'not between 1 and 2',
      { kind: 'between', field: field('not'), negated: false, low: number('1'), high: number('2') },
    ],
    [
      'not between between 1 and 2',
      {
        kind: 'not',
        operand: { kind: 'between', field: field('between'), negated: false, low: number('1'), high: number('2') },
      },
    ],
    ['not = 1', equals('not', number('1'))],
    ['not not = 1', { kind: 'not', operand: equals('not', number('1')) }],
    ['not.in = 1', equals('not.in', number('1'))],
    ['null is null', { kind: 'isNull', field: field('null'), negated: false }],
    ['true = true', equals('true', { kind: 'boolean', value: true })],
    ['android = 1', equals('android', number('1'))],
    ['notes = 1', equals('notes', number('1'))],
    ['ordered = 1', equals('ordered', number('1'))],
    ['in-stock = 1', equals('in-stock', number('1'))],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(parsed(text)).to.deep.equal(meant);
    });
  }
});

describe('parsing other texts', () => {
  it('reads an order: ascending by default, fields may be called asc and desc', () => {
    expect(withoutLocs(parseOrderBy('a, b.c DESC,`x y` asc, desc desc, asc'))).to.deep.equal([
      { field: field('a'), direction: 'asc' },
      { field: field('b.c'), direction: 'desc' },
      { field: field('x y'), direction: 'asc' },
      { field: field('desc'), direction: 'desc' },
      { field: field('asc'), direction: 'asc' },
    ]);
  });

  it('reads a list of fields', () => {
    expect(withoutLocs(parseFieldList('a,b.c , `x,y`'))).to.deep.equal([field('a'), field('b.c'), field('x,y')]);
  });

  it('reads a whole statement', () => {
    const text = "select a, from FROM order WHERE from = 'x' Order By a desc, limit LIMIT 10";
    expect(withoutLocs(parseStatement(text))).to.deep.equal({
      fields: [field('a'), field('from')],
      object: field('order'),
      where: equals('from', string('x')),
      orderBy: [
        { field: field('a'), direction: 'desc' },
        { field: field('limit'), direction: 'asc' },
      ],
      limit: { rows: 10 },
      clauseLocs: {
        select: { offset: 0, length: 6 },
        from: { offset: 15, length: 4 },
        where: { offset: 26, length: 5 },
        orderBy: { offset: 43, length: 8 },
        limit: { offset: 66, length: 5 },
      },
    });
  });

  it('reads the shortest statement', () => {
    expect(parseStatement('SELECT * FROM a')).to.deep.equal({
      fields: undefined,
      object: { name: 'a', loc: { offset: 14, length: 1 } },
      where: undefined,
      orderBy: [],
      limit: undefined,
      clauseLocs: {
        select: { offset: 0, length: 6 },
        from: { offset: 9, length: 4 },
        where: undefined,
        orderBy: undefined,
        limit: undefined,
      },
    });
  });
});
