import { expect } from 'chai';
import { checkFilter, resolveFields } from '../../src/where/check.ts';
import type { Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { parseFieldList, parseWhere } from '../../src/where/parse.ts';
import { print } from '../../src/where/print.ts';
import { prepareQuery } from '../../src/where/query.ts';
import { faultOf, withoutLocs } from './faults.ts';
import { PEOPLE } from './people.ts';

const check = (where: string, queryable: Queryable = PEOPLE) => checkFilter(parseWhere(where), queryable);
const faults = (where: string, queryable?: Queryable) => faultOf(() => check(where, queryable), 'WHERE_INVALID');

/** The typed value of `field = literal`. */
function typedLiteral(where: string): unknown {
  const { condition } = check(where);
  return condition?.kind === 'compare' ? condition.value : undefined;
}

describe('literals under the type of their field', () => {
  for (const [where, value] of [
    ["name = 'x'", { kind: 'string', value: 'x' }],
    ["name = ''", { kind: 'string', value: '' }],
    ["name = '1'", { kind: 'string', value: '1' }],
    ['price = 0.1', { kind: 'number', text: '0.1' }],
    ['price = 1e3', { kind: 'number', text: '1000' }],
    ['price = -0', { kind: 'number', text: '0' }],
    ['price = +1.50', { kind: 'number', text: '1.5' }],
    ['price = 123456789012345678901234567890', { kind: 'number', text: '123456789012345678901234567890' }],
    ['price = 0.123456789012345678901234567891', { kind: 'number', text: '0.123456789012345678901234567891' }],
    ["price = '1'", { kind: 'number', text: '1' }],
    ["price = '-2.50'", { kind: 'number', text: '-2.5' }],
    ['count = 9007199254740993', { kind: 'number', text: '9007199254740993' }],
    ['count = 1.0', { kind: 'number', text: '1' }],
    ["count = '1'", { kind: 'number', text: '1' }],
    ['active = TRUE', { kind: 'boolean', value: true }],
    ["active = 'false'", { kind: 'boolean', value: false }],
    ["active = 'True'", { kind: 'boolean', value: true }],
    ['born = 2024-02-29', { kind: 'date', text: '2024-02-29' }],
    ["born = '2024-02-29'", { kind: 'date', text: '2024-02-29' }],
  ] as const) {
    it(`reads ${where}`, () => {
      expect(typedLiteral(where)).to.deep.equal(value);
    });
  }

  for (const [literal, text, epochMs, nanos] of [
    ['2026-01-31', '2026-01-31T00:00:00Z', Date.UTC(2026, 0, 31), 0],
    ["'2026-01-31'", '2026-01-31T00:00:00Z', Date.UTC(2026, 0, 31), 0],
    ['2026-01-31T08:30:00', '2026-01-31T08:30:00Z', Date.UTC(2026, 0, 31, 8, 30), 0],
    ["'2026-01-31T08:30:00+02:00'", '2026-01-31T06:30:00Z', Date.UTC(2026, 0, 31, 6, 30), 0],
    ['2026-01-31T08:30:00.123456789Z', '2026-01-31T08:30:00.123456789Z', Date.UTC(2026, 0, 31, 8, 30, 0, 123), 456_789],
  ] as const) {
    it(`reads created = ${literal}`, () => {
      expect(typedLiteral(`created = ${literal}`)).to.deep.equal({ kind: 'datetime', text, epochMs, nanos });
    });
  }

  const TEXT = "text in single quotes, such as 'abc'";
  const NUMBER = 'a number, such as 12.5';
  const INTEGER = 'a whole number, such as 12';
  const BOOLEAN = 'TRUE or FALSE';
  const DATE = 'a date, such as 2026-01-31';
  const DATE_TIME = 'a date-time, such as 2026-01-31T08:30:00Z';
  for (const [field, type, expected, literals] of [
    ['name', 'string', TEXT, ['1', 'TRUE', '2026-01-31', '2026-01-31T08:30:00Z']],
    ['price', 'number', NUMBER, ["'x'", "''", "'1,5'", 'TRUE', '2026-01-31', '1e999']],
    ['count', 'integer', INTEGER, ['1.5', "'1.5'", "'x'", 'TRUE', '2026-01-31']],
    ['active', 'boolean', BOOLEAN, ['1', "'yes'", "''", '2026-01-31']],
    ['born', 'date', DATE, ['2026-02-30', '2025-02-29', '1', "'today'", '2026-01-31T08:30:00Z', 'TRUE']],
    [
      'created',
      'datetime',
      DATE_TIME,
      ['1769848200', "'now'", 'TRUE', '2026-02-30', '2026-01-31T25:00:00Z', '9999-12-31T23:59:59-01:00'],
    ],
  ] as const) {
    for (const literal of literals) {
      it(`refuses ${field} = ${literal}`, () => {
        const error = faults(`${field} = ${literal}`);
        const message = `'${field}' is of type ${type}: expected ${expected}.`;
        expect(error.message).to.equal(message);
        expect(error.details).to.deep.equal([
          { position: field.length + 3, length: literal.length, message, expected: [expected] },
        ]);
      });
    }
  }
});

describe('checking a filter', () => {
  it('takes BETWEEN as two bounds, the place of both that of the whole', () => {
    const { condition } = check('count BETWEEN 1 AND 5');
    expect(condition && print(condition)).to.equal('count >= 1 AND count <= 5');
    expect(condition?.kind === 'and' && condition.operands.map((bound) => 'loc' in bound && bound.loc)).to.deep.equal([
      { offset: 0, length: 21 },
      { offset: 0, length: 21 },
    ]);
    expect(print(check('count NOT BETWEEN 1 AND 5').condition ?? fail())).to.equal('NOT (count >= 1 AND count <= 5)');
  });

  it('gives a field its native name, which is its own by default', () => {
    const queryable: Queryable = { fields: { a: { type: 'string', native: 'b.c' }, d: { type: 'string' } } };
    const natives = ["a = ''", "d = ''"].map((where) => {
      const { condition } = check(where, queryable);
      return condition?.kind === 'compare' ? condition.field.native : undefined;
    });
    expect(natives).to.deep.equal(['b.c', 'd']);
  });

  for (const [where, position, length, message, expected, nearest] of [
    ["nam = 'x'", 0, 3, "Unknown field 'nam'. Did you mean 'name'?", undefined, 'name'],
    ["NAME = 'x'", 0, 4, "Unknown field 'NAME'. Did you mean 'name'?", undefined, 'name'],
    ['NOT zzzzzz IS NULL', 4, 6, "Unknown field 'zzzzzz'.", undefined, undefined],
    [
      ...["address.cit = 'x'", 0, 11, "Unknown field 'address.cit'. Did you mean 'address.city'?", undefined],
      ...['address.city'],
    ],
    ['constructor IS NULL', 0, 11, "Unknown field 'constructor'.", undefined, undefined],
    ['__proto__ = 1', 0, 9, "Unknown field '__proto__'.", undefined, undefined],
    ['active < TRUE', 0, 13, "'active' is of type boolean. It accepts = and !=, not <.", ['=', '!='], undefined],
    [
      'active BETWEEN FALSE AND TRUE',
      0,
      29,
      "'active' is of type boolean. It accepts = and !=, not BETWEEN.",
      ['=', '!='],
      undefined,
    ],
    ["count LIKE '1%'", 0, 15, "'count' is of type integer. LIKE works only on text.", undefined, undefined],
    [
      "tags = 'x'",
      7,
      3,
      "'tags' is an array: only IS NULL and IS NOT NULL apply to it.",
      ['IS NULL', 'IS NOT NULL'],
      undefined,
    ],
    [
      'address IN (1)',
      12,
      1,
      "'address' is an object: only IS NULL and IS NOT NULL apply to it.",
      ['IS NULL', 'IS NOT NULL'],
      undefined,
    ],
    ["address LIKE 'x'", 0, 16, "'address' is of type object. LIKE works only on text.", undefined, undefined],
  ] as const) {
    it(`refuses ${where}`, () => {
      const error = faults(where);
      expect(error.message).to.equal(message);
      expect(error.details).to.deep.equal([
        {
          position,
          length,
          message,
          ...(expected !== undefined && { expected }),
          ...(nearest !== undefined && { nearest }),
        },
      ]);
    });
  }

  it('takes IS NULL of an object and of an array', () => {
    expect(print(check('address IS NULL OR tags IS NOT NULL').condition ?? fail())).to.equal(
      'address IS NULL OR tags IS NOT NULL',
    );
  });

  it('reports every fault at once, an unknown field without its value', () => {
    const error = faults("nam = 1 AND count = 'x' OR price IN (1, 'y', TRUE) AND born BETWEEN 1 AND 2026-02-30");
    expect(error.message).to.equal("Unknown field 'nam'. Did you mean 'name'? (and 5 more, see details)");
    expect(error.details?.map(({ position }) => position)).to.deep.equal([0, 20, 40, 45, 68, 74]);
  });

  it('tells 50 of 1,000 faults', () => {
    const error = faults(`price IN (${Array.from({ length: 1000 }, () => 'TRUE').join(',')})`);
    expect(error.message).to.contain('(and at least 50 more, see details)');
    expect(error.details).to.have.length(50);
    expect(error.details?.at(-1)).to.deep.equal({ message: '… and more.' });
  });

  it('stops at the 51st', () => {
    let looked = 0;
    const fields = new Proxy(PEOPLE.fields, {
      ownKeys: (target) => {
        looked++;
        return Reflect.ownKeys(target);
      },
    });
    const unknown = Array.from({ length: 300 }, (_, index) => `unknown${index}`);
    faults(unknown.map((name) => `${name} = 1`).join(' AND '), { fields });
    // And once for all aliases of the object.
    expect(looked).to.equal(52);
    const named = faultOf(() => resolveFields(parseFieldList(unknown.join(',')), { fields }), 'WHERE_INVALID');
    expect(looked).to.equal(103);
    expect(named.message).to.contain('(and at least 50 more, see details)');
    expect(named.details).to.have.length(50);
  });

  it('cuts names', () => {
    expect(faults(`${'x'.repeat(300)} = 1`).message).to.equal(`Unknown field '${'x'.repeat(100)}…'.`);
  });

  it('takes fields with the names of what every object has', () => {
    const queryable: Queryable = {
      fields: Object.fromEntries(
        ['constructor', '__proto__', 'toString'].map((name) => [name, { type: 'string' }] as const),
      ),
    };
    const where = "constructor = 'a' AND __proto__ = 'b' AND toString = 'c'";
    expect(print(check(where, queryable).condition ?? fail())).to.equal(where);
  });
});

describe('parameters', () => {
  const queryable: Queryable = {
    fields: { name: { type: 'string' }, since: { type: 'string' } },
    parameters: {
      q: { type: 'string', description: 'Searches.' },
      limit: { type: 'integer', description: 'Most.' },
      view: { type: 'string', description: 'Which.', values: ['all', 'mine'] },
      since: { type: 'datetime', description: 'Hidden by the field of that name.' },
      ['__proto__']: { type: 'string', description: 'Hostile.' },
    },
  };
  const RULE = (name: string) => `'${name}' is a parameter. It accepts only '=', joined by AND at the top level.`;

  it('are set apart from the filter', () => {
    const { condition, parameters } = check("q = 'x' AND (name = 'y' AND limit = '5') AND view = 'mine'", queryable);
    expect(condition && print(condition)).to.equal("name = 'y'");
    expect(parameters).to.deep.equal({
      q: { kind: 'string', value: 'x' },
      limit: { kind: 'number', text: '5' },
      view: { kind: 'string', value: 'mine' },
    });
  });

  it('may be all there is', () => {
    expect(check("q = 'x'", queryable)).to.deep.equal({ parameters: { q: { kind: 'string', value: 'x' } } });
  });

  it('give way to a field of the same name', () => {
    expect(check("since = 'x'", queryable).parameters).to.deep.equal({});
  });

  it('are kept whatever they are called', () => {
    const { parameters } = check("__proto__ = 'x'", queryable);
    expect(Object.entries(parameters)).to.deep.equal([['__proto__', { kind: 'string', value: 'x' }]]);
  });

  for (const where of [
    ...["q != 'x'", "q LIKE 'x%'", "q IN ('x')", 'q IS NULL', "q BETWEEN 'a' AND 'b'", "NOT q = 'x'"],
    ...["q = 'x' OR name = 'y'", "name = 'y' AND (q = 'x' OR name = 'z')", "NOT (name = 'y' AND q = 'x')"],
  ]) {
    it(`are refused in ${where}`, () => {
      const error = faults(where, queryable);
      expect(error.message).to.equal(RULE('q'));
      expect(error.details).to.deep.equal([
        { position: where.indexOf('q'), length: 1, message: RULE('q'), expected: ['='] },
      ]);
    });
  }

  for (const [where, message] of [
    ["q = 'x' AND q = 'y'", "The parameter 'q' appears twice. Use it once."],
    ["view = 'yours'", "'view' must be one of: all, mine."],
    ["limit = 'x'", "'limit' is of type integer: expected a whole number, such as 12."],
    ['view = 1', "'view' is of type string: expected text in single quotes, such as 'abc'."],
    ['vew = 1', "Unknown field 'vew'. Did you mean 'view'?"],
  ] as const) {
    it(`refuse ${where}`, () => {
      const error = faults(where, queryable);
      expect(error.message).to.equal(message);
      expect(error.details).to.have.length(1);
    });
  }
});

describe('resolving names', () => {
  it('finds all fields', () => {
    const found = resolveFields(parseFieldList('name, address.city'), PEOPLE);
    expect(withoutLocs(found)).to.deep.equal([
      { type: 'string', name: 'name', native: 'name' },
      { type: 'string', name: 'address.city', native: 'address.city' },
    ]);
  });

  it('reports every unknown one', () => {
    const error = faultOf(() => resolveFields(parseFieldList('nam, price, toString'), PEOPLE), 'WHERE_INVALID');
    expect(error.message).to.equal("Unknown field 'nam'. Did you mean 'name'? (and 1 more, see details)");
    expect(error.details).to.deep.equal([
      { position: 0, length: 3, message: "Unknown field 'nam'. Did you mean 'name'?", nearest: 'name' },
      { position: 12, length: 8, message: "Unknown field 'toString'." },
    ]);
  });
});

function fail(): never {
  throw new Error('Expected a condition.');
}

describe('an alias of a field', () => {
  const queryable: Queryable = {
    fields: {
      '_info.changed': { type: 'datetime', aliases: { lastUpdated: '=', since: '>=', until: '<=' } },
      shown: { type: 'string', unlisted: true, aliases: { hidden: '=' } },
      price: { type: 'number' },
    },
    parameters: { paid: { type: 'boolean', description: 'Whether it is paid.' } },
  };
  const canonical = (where: string) => {
    const { condition } = check(where, queryable);
    return condition && print(normalise(condition));
  };

  for (const [alias, field] of [
    ["lastUpdated = '2026-01-31'", "_info.changed = '2026-01-31'"],
    [
      "NOT lastUpdated BETWEEN '2026-01-01' AND '2026-01-31'",
      "NOT _info.changed BETWEEN '2026-01-01' AND '2026-01-31'",
    ],
    ['lastUpdated IS NULL OR price = 1', '_info.changed IS NULL OR price = 1'],
    ["lastUpdated IN ('2026-01-31', '2026-02-01')", "_info.changed IN ('2026-01-31', '2026-02-01')"],
    ["since = '2026-01-31'", "_info.changed >= '2026-01-31'"],
    [
      "NOT (since = '2026-01-31' AND until = '2026-02-01')",
      "NOT (_info.changed >= '2026-01-31' AND _info.changed <= '2026-02-01')",
    ],
    ["since > '2026-01-31'", "_info.changed > '2026-01-31'"],
    ["since != '2026-01-31'", "_info.changed != '2026-01-31'"],
    ["paid = TRUE AND since = '2026-01-31'", "paid = TRUE AND _info.changed >= '2026-01-31'"],
  ] as const)
    it(`makes ${alias} mean ${field}`, () => {
      expect(canonical(alias)).to.equal(canonical(field)).and.not.equal(undefined);
    });

  it('stands in fields and orders, too, and keeps the name that rows have', () => {
    const [field] = resolveFields(parseFieldList('lastUpdated'), queryable);
    expect(field).to.include({ name: '_info.changed', native: '_info.changed' });
    expect(prepareQuery({ orderBy: 'lastUpdated desc' }, queryable).canonical).to.equal(
      prepareQuery({ orderBy: '_info.changed desc' }, queryable).canonical,
    );
  });

  it('is refused as its field is', () => {
    expect(faults('lastUpdated = 5', queryable).message).to.equal(
      "'_info.changed' is of type datetime: expected a date-time, such as 2026-01-31T08:30:00Z.",
    );
    expect(faults("hidden = 'x'", queryable).message).to.equal(
      "The provider returns the field 'hidden' only for single records, not in lists.",
    );
  });
});
