import odata from '@balena/odata-parser';
import { expect } from 'chai';
import { defineObject, type PushedField, type Value } from '#connector';
import { type PreparedQuery, prepareQuery } from '../../src/where/query.ts';
import { KINDS } from './employee-fields.ts';
import { datasetTranslator } from './where.ts';

const TEXT: PushedField = { name: 'lastName', native: 'lastName', type: 'string' };
const DATE: PushedField = { name: 'hireDate', native: 'hireDate', type: 'date' };
const ID: PushedField = { name: 'id', native: 'eeid', type: 'integer' };
const DEPARTMENT: PushedField = { name: 'department', native: 'jobInformationDepartment', type: 'string' };

const { and, or, compare, in: among, like, isNull } = datasetTranslator;

describe('the filter of a dataset query', () => {
  it('compares with the words of OData', () => {
    const words = (['=', '!=', '<', '<=', '>', '>='] as const).map((operator) =>
      compare?.(ID, operator, { kind: 'number', text: '5' }),
    );
    expect(words).to.deep.equal(['eeid eq 5', 'eeid ne 5', 'eeid lt 5', 'eeid le 5', 'eeid gt 5', 'eeid ge 5']);
  });

  it('quotes text and dates, and leaves numbers bare', () => {
    expect(compare?.(TEXT, '=', text("O'Brien"))).to.equal("lastName eq 'O''Brien'");
    expect(compare?.(DATE, '>=', { kind: 'date', text: '2024-02-29' })).to.equal("hireDate ge '2024-02-29'");
    expect(compare?.(ID, '<', { kind: 'number', text: '-12' })).to.equal('eeid lt -12');
  });

  it('lists options', () => {
    expect(among?.(DEPARTMENT, [text("Men's"), text('R&D')], false)).to.equal(
      "jobInformationDepartment in ('Men''s','R&D')",
    );
  });

  it('joins by and, and by or, without parentheses', () => {
    expect(and?.(['a eq 1', 'b eq 2'])).to.equal('a eq 1 and b eq 2');
    expect(or?.(['a eq 1', 'b eq 2', 'c eq 3'])).to.equal('a eq 1 or b eq 2 or c eq 3');
  });

  it('has no like and no null, because BambooHR has none', () => {
    expect([like, isNull]).to.deep.equal([undefined, undefined]);
  });

  it('asks nothing where an empty text is wanted, because it is not documented what BambooHR finds', () => {
    expect(plan("lastName = ''").pushdown).to.equal('none');
    expect(plan("lastName IN ('Orr', '')").pushdown).to.equal('none');
    expect(plan("department IN ('R&D', '')")).to.include({ native: "jobInformationDepartment eq 'R&D'" });
  });

  it('asks for a closed list in its own spelling', () => {
    expect(plan("status = 'aCtive'")).to.include({ native: "status eq 'Active'", pushdown: 'full' });
    expect(plan("status != 'INACTIVE'")).to.include({ native: "status ne 'Inactive'", pushdown: 'full' });
    expect(plan("status NOT IN ('active')")).to.include({ native: "status ne 'Active'", pushdown: 'full' });
  });

  it('asks nothing where the values of a closed list decide', () => {
    expect(plan("status = 'retired'").holds).to.equal('never');
    expect(plan("status = ''").holds).to.equal('never');
    expect(plan("status NOT IN ('active', 'inactive')").holds).to.equal('never');
    expect(plan("status != 'retired'").holds).to.equal('always');
    expect(plan("status IN ('active', 'inactive')").holds).to.equal('always');
  });
});

const HOSTILE = [
  "O'Brien",
  "''",
  "'",
  "' or 1 eq 1 or '",
  '"double"',
  '`tick`',
  '‘curly’ “quotes” ′prime′ ＇wide＇',
  'back\\slash\\',
  "\\'",
  'line\nbreak\r\ntab\t',
  '100%',
  '%27 %00 %zz',
  '_%_',
  'a+b c&d=e;f',
  'Zoe\u0308 Zoë',
  '👩‍🚀🏳️‍🌈',
  '\u0000\u0001',
  '(a) and [b]',
  'null',
  ' ',
  "x'".repeat(5120),
];

describe('hostile values in the filter', () => {
  for (const value of HOSTILE) {
    it(`come back from a foreign parser as they went in: ${JSON.stringify(value).slice(0, 40)}`, () => {
      const filter = compare?.(TEXT, '=', text(value)) ?? '';
      expect(parse(filter)).to.deep.equal({
        tree: ['eq', { name: 'lastName' }, { bind: 0 }],
        binds: [['Text', value]],
      });
    });
  }

  it('stay apart in a list and in a group', () => {
    const values = HOSTILE.slice(0, 8);
    const list = among?.(DEPARTMENT, values.map(text), false) ?? '';
    expect(parse(and?.([list, "status eq 'Active'"]) ?? '')).to.deep.equal({
      tree: [
        'and',
        ['eqany', { name: 'jobInformationDepartment' }, { bind: 0 }],
        ['eq', { name: 'status' }, { bind: 1 }],
      ],
      binds: [
        ['List', values.map((value) => ['Text', value])],
        ['Text', 'Active'],
      ],
    });
  });
});

const EMPLOYEES = defineObject<string>({
  fields: {
    lastName: KINDS.text,
    department: { ...KINDS.options, native: 'jobInformationDepartment' },
    status: KINDS.status,
  },
  shape: { kind: 'and-xor-or' },
  translator: datasetTranslator,
});

function plan(where: string): PreparedQuery['plan'] & { readonly native?: unknown } {
  return prepareQuery({ where }, EMPLOYEES).plan;
}

function text(value: string): Value {
  return { kind: 'string', value };
}

/** Parses a filter. The parser expects a part of a URL, but a filter in a JSON body is not encoded. */
function parse(filter: string): { tree: unknown; binds: unknown[] } {
  const { tree, binds } = odata.parse(filter.replaceAll('%', '%25'), {
    startRule: 'ProcessRule',
    rule: 'FilterByExpression',
  });
  return { tree, binds: [...binds] };
}
