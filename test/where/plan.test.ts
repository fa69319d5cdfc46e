import { expect } from 'chai';
import type { Queryable } from '../../src/where/model.ts';
import { assertFullyPushed } from '../../src/where/plan.ts';
import { print } from '../../src/where/print.ts';
import { prepareQuery } from '../../src/where/query.ts';
import { faultOf } from './faults.ts';
import { brackets, EXACT, MIXED, plannedParts, planOf, provider } from './planned.ts';

describe('a plan', () => {
  it('of no filter is full, and asks for nothing', () => {
    expect(planOf(undefined, provider(EXACT))).to.deep.equal({
      queries: [{}],
      parameters: {},
      orderBy: [],
      sortPushed: true,
      providerOrder: [],
      decisions: [],
      pushdown: 'full',
    });
  });

  it('has the pushed part in the words of the provider', () => {
    const { native } = planOf("a = 'x' AND (x > 1 OR y IN (1, 2)) AND b LIKE '%z' AND b IS NULL", provider(EXACT));
    expect(native).to.equal('[a = x & [x > 1 | y in 2] & b like suffix z & b is null]');
  });

  it('has the native names', () => {
    const queryable: Queryable = {
      fields: { a: { type: 'string', native: 'x.y', filter: { '=': 'exact' } } },
      translator: brackets,
    };
    expect(planOf("a = 'v'", queryable).native).to.equal('x.y = v');
  });

  it('tells what becomes of each predicate, and why', () => {
    const queryable: Queryable = {
      fields: {
        e: { type: 'number', filter: { '=': 'exact' } },
        s: { type: 'number', filter: { '=': 'superset' } },
        n: { type: 'number' },
      },
      translator: brackets,
      shape: { kind: 'and' },
    };
    const recheck = 'the provider may return more rows than match, so Causeway checks them again';
    expect(planOf('e = 1 AND s = 1 AND n = 1 AND (e = 2 OR s = 2)', queryable).decisions).to.deep.equal([
      { predicate: 'e = 1', position: 0, length: 5, exactness: 'exact', pushed: true },
      { predicate: 's = 1', position: 10, length: 5, exactness: 'superset', pushed: true, reason: recheck },
      {
        predicate: 'n = 1',
        position: 20,
        length: 5,
        exactness: 'none',
        pushed: false,
        reason: "the provider has no = for 'n'",
      },
      {
        predicate: 'e = 2',
        position: 31,
        length: 5,
        exactness: 'exact',
        pushed: false,
        reason: 'it is part of an OR that cannot be pushed: the provider joins predicates by AND only',
      },
      {
        predicate: 's = 2',
        position: 40,
        length: 5,
        exactness: 'superset',
        pushed: false,
        reason: 'it is part of an OR that cannot be pushed: the provider joins predicates by AND only',
      },
    ]);
  });

  it('counts parameters as pushed', () => {
    const queryable = { ...provider({}), parameters: { q: { type: 'string', description: 'Searches.' } } } as const;
    expect(planOf("q = 'x'", queryable)).to.include({ pushdown: 'full' });
    expect(planOf("q = 'x' AND a = 'y'", queryable)).to.include({ pushdown: 'partial' });
    expect(planOf("q = 'x'", queryable).parameters).to.deep.equal({ q: { kind: 'string', value: 'x' } });
  });
});

describe('the longest filter of a provider', () => {
  const short = (maxLength: number) => provider(EXACT, { limits: { maxLength } });

  it('is kept to by giving up groups first, then the last predicates', () => {
    const where = '(x > 1 OR y > 1) AND x < 5 AND y < 5';
    expect(plannedParts(where, short(33))).to.deep.equal({ pushed: where, residual: undefined, pushdown: 'full' });
    expect(plannedParts(where, short(32))).to.deep.equal({
      pushed: 'x < 5 AND y < 5',
      residual: 'x > 1 OR y > 1',
      pushdown: 'partial',
    });
    expect(plannedParts(where, short(5))).to.deep.equal({
      pushed: 'x < 5',
      residual: '(x > 1 OR y > 1) AND y < 5',
      pushdown: 'partial',
    });
    expect(plannedParts(where, short(4))).to.deep.equal({ pushed: undefined, residual: where, pushdown: 'none' });
  });

  it('is named as the reason', () => {
    expect(planOf('x < 5 AND y < 5', short(5)).decisions[1]?.reason).to.equal(
      'the provider accepts filters of at most 5 characters',
    );
  });

  it('counts the characters of a native filter that is no text as JSON', () => {
    const queryable: Queryable = {
      ...short(12),
      translator: { compare: ({ name }) => ({ name }), and: (operands) => operands },
    };
    expect(planOf('x = 1', queryable).native).to.deep.equal({ name: 'x' });
    expect(plannedParts('x = 1 AND y = 1', queryable)).to.include({ pushed: 'x = 1', residual: 'y = 1' });
  });
});

describe('an order', () => {
  const queryable: Queryable = {
    fields: { a: { type: 'string', sortable: true }, b: { type: 'number', sortable: true }, c: { type: 'number' } },
    limits: { maxSortFields: 2 },
  };

  for (const [orderBy, isPushed] of [
    ['a', true],
    ['a, b desc', true],
    ['c', false],
    ['a, c', false],
    ['a, b, a desc', false],
  ] as const) {
    it(`by ${orderBy} is ${isPushed ? '' : 'not '}pushed`, () => {
      const plan = planOf(undefined, queryable, orderBy);
      expect(plan.sortPushed).to.equal(isPushed);
      expect(plan.orderBy.map(({ field, direction }) => `${field.name} ${direction}`)).to.deep.equal(
        orderBy.split(', ').map((term) => (term.includes(' ') ? term : `${term} asc`)),
      );
    });
  }

  it('ends with the id for the provider, where it can sort by it', () => {
    const id = { type: 'integer', sortable: true } as const;
    const withId: Queryable = { ...queryable, fields: { ...queryable.fields, id } };
    const told = (orderBy: string | undefined, changes: Partial<Queryable> = {}) =>
      planOf(undefined, { ...withId, ...changes }, orderBy).providerOrder.map(
        ({ field, direction }) => `${field.name} ${direction}`,
      );
    expect(told(undefined)).to.deep.equal(['id asc']);
    expect(told('a desc')).to.deep.equal(['a desc', 'id asc']);
    expect(told('id desc')).to.deep.equal(['id desc']);
    expect(told('a, id desc')).to.deep.equal(['a asc', 'id desc']);
    // Sorted here, from pages that neither overlap nor leave gaps.
    expect(told('c')).to.deep.equal(['id asc']);
    expect(told('a, b')).to.deep.equal(['a asc', 'b asc']);
    expect(told('a', { idField: 'b' })).to.deep.equal(['a asc', 'b asc']);
    expect(told('a', { idField: 'c' })).to.deep.equal(['a asc']);
    expect(told(undefined, { fields: queryable.fields })).to.deep.equal([]);
  });

  it('by unknown fields names them all', () => {
    const error = faultOf(() => planOf(undefined, queryable, 'x, a, zzz'), 'WHERE_INVALID');
    expect(error.details?.map(({ position }) => position)).to.deep.equal([0, 6]);
  });
});

describe('going on behind an id', () => {
  const id = { type: 'integer', nullable: false, sortable: true, filter: { '>': 'exact' } } as const;
  const windowed = (limits: Queryable['limits'] = {}): Queryable => ({
    ...provider(EXACT, { limits: { resultWindow: 100, ...limits } }),
    fields: { ...provider(EXACT).fields, id, s: { type: 'number', filter: { '=': 'superset' } } },
  });
  const behind = (where: string | undefined, limits?: Queryable['limits']) => {
    const query = planOf(where, windowed(limits)).goOnAfter?.queryAfter(0, '5');
    return query && [query.pushed && print(query.pushed), query.residual && print(query.residual)];
  };

  it('adds it to the filter', () => {
    expect(behind(undefined)).to.deep.equal(['id > 5', undefined]);
    expect(behind('x = 1 OR y = 2')).to.deep.equal(['(x = 1 OR y = 2) AND id > 5', undefined]);
    expect(behind('s = 1 AND none = 2')).to.deep.equal(['s = 1 AND id > 5', 's = 1 AND none = 2']);
  });

  it('is not done where the rest of the filter would not be answered as before', () => {
    expect(behind('x = 1', { maxTerms: 2 })).to.deep.equal(['x = 1 AND id > 5', undefined]);
    expect(behind('x = 1', { maxTerms: 1 })).to.equal(undefined);
  });

  it('is not done without a window', () => {
    const { resultWindow: _, ...limits } = windowed().limits ?? {};
    expect(planOf(undefined, { ...windowed(), limits }).goOnAfter).to.equal(undefined);
  });
});

describe('filters that a provider demands', () => {
  const queryable = provider(EXACT, {
    requiredFilters: ['x', 'q'],
    parameters: { q: { type: 'string', description: 'Searches.' } },
  });

  for (const where of [
    "x = 1 AND q = 'y'",
    "x IN (1, 2) AND y = 1 AND q = 'y'",
    "(x = 1 OR x > 5) AND q = 'y'",
    "((x = 1 AND y = 1) OR (x = 2 AND y = 2)) AND q = 'y'",
  ]) {
    it(`are there in ${where}`, () => {
      expect(planOf(where, queryable).pushdown).to.equal('full');
    });
  }

  for (const [where, names, missing] of [
    [undefined, "'x' and 'q'", ['x', 'q']],
    ["q = 'y'", "'x'", ['x']],
    ['x = 1', "'q'", ['q']],
    ["(x = 1 OR y = 1) AND q = 'y'", "'x'", ['x']],
  ] as const) {
    it(`are missed in ${where ?? 'no filter'}`, () => {
      const error = faultOf(() => planOf(where, queryable), 'WHERE_UNSUPPORTED');
      expect(error.message).to.equal(`The provider lists this object only with a filter on ${names}, joined by AND.`);
      expect(error.details).to.deep.equal(missing.map((name) => ({ message: `Add a condition on '${name}'.` })));
    });
  }

  it('are not there when they cannot be pushed', () => {
    const unable = provider({ '=': 'exact' }, { requiredFilters: ['x'] });
    expect(() => planOf('x > 1', unable)).to.throw('The provider lists this object only with a filter on');
  });

  it('go before others where a limit leaves no room for all', () => {
    const limited = provider(EXACT, { requiredFilters: ['x'], limits: { maxTerms: 1 } });
    expect(plannedParts('y = 1 AND x = 1', limited)).to.deep.equal({
      pushed: 'x = 1',
      residual: 'y = 1',
      pushdown: 'partial',
    });
    const short = provider(EXACT, { requiredFilters: ['x'], limits: { maxLength: 5 } });
    expect(plannedParts('y = 1 AND x = 1', short)).to.include({ pushed: 'x = 1', residual: 'y = 1' });
  });
});

describe('pushdown-only', () => {
  it('takes what the provider answers alone', () => {
    assertFullyPushed(planOf('e = 1', MIXED, 'e desc'));
    assertFullyPushed(planOf(undefined, MIXED));
  });

  it('refuses the rest and says which and why', () => {
    const plan = planOf('e = 1 AND s = 1 AND e > 5', MIXED, 's');
    const error = faultOf(() => assertFullyPushed(plan), 'WHERE_UNSUPPORTED');
    expect(error.message).to.equal(
      'The provider cannot evaluate this query completely, as pushdown-only requires. Change the parts that the details name, or leave out pushdown-only.',
    );
    expect(error.details).to.deep.equal([
      {
        position: 10,
        length: 5,
        message: 's = 1: the provider may return more rows than match, so Causeway checks them again.',
      },
      { position: 20, length: 5, message: "e > 5: the provider has no > for 'e'." },
      { message: 'The provider cannot sort by these fields.' },
    ]);
  });
});

describe('a prepared query', () => {
  const queryable = provider(EXACT);
  const canonical = (where: string) => prepareQuery({ where }, queryable).canonical;

  it('has one canonical text for all spellings', () => {
    expect(canonical("(x=1 OR X1=2) and not a!='v'".replace('X1', 'x'))).to.equal(
      canonical("x IN ( 1.0, 2 ) AND a = 'v'"),
    );
    expect(canonical('x = 1')).not.to.equal(canonical("a = '1'"));
    expect(canonical("a = 'x'")).not.to.equal(canonical("a = 'X'"));
  });

  it('has another for another order, other fields and other parameters', () => {
    const texts = [
      {},
      { where: 'x = 1' },
      { where: "q = 'x'" },
      { orderBy: 'a' },
      { orderBy: 'a desc' },
      { fields: 'a' },
      { fields: 'b' },
      { fields: 'a, b' },
    ];
    const withParameter = { ...queryable, parameters: { q: { type: 'string', description: 'Searches.' } } } as const;
    expect(new Set(texts.map((text) => prepareQuery(text, withParameter).canonical)).size).to.equal(texts.length);
  });

  it('has the fields asked for, or all that no other holds', () => {
    const nested: Queryable = {
      fields: { a: { type: 'object' }, 'a.b': { type: 'string' }, 'c.d': { type: 'string' }, e: { type: 'string' } },
    };
    const names = (fields?: string) => prepareQuery({ fields }, nested).fields.map(({ name }) => name);
    expect(names()).to.deep.equal(['a', 'c.d', 'e']);
    expect(names('a.b, e')).to.deep.equal(['a.b', 'e']);
  });

  it('has the whole condition, normalised', () => {
    const { condition } = prepareQuery({ where: 'NOT x = 1' }, queryable);
    expect(condition && print(condition)).to.equal('x != 1');
  });
});
