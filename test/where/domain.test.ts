import { expect } from 'chai';
import fc from 'fast-check';
import type { ComparisonOperator, Operator } from '../../src/where/ast.ts';
import { type Condition, isGroup, operatorOf, type Predicate } from '../../src/where/condition.ts';
import { fitPredicate, roundedBounds } from '../../src/where/domain.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import { readLikePattern } from '../../src/where/like.ts';
import type { Domain, Exactness, FieldSpec, PushedField, Queryable, Value } from '../../src/where/model.ts';
import { planQuery } from '../../src/where/plan.ts';
import { print } from '../../src/where/print.ts';
import { readLiteral } from '../../src/where/values.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { brackets, EVERY_OPERATOR, EXACT, plannedParts, planOf, provider } from './planned.ts';
import { evaluate } from './reference.ts';

const LOC = { offset: 0, length: 0 };

/** A field, what a row of it can hold (said otherwise than the domain says it), and literals around that. */
interface Subject {
  readonly spec: FieldSpec;
  readonly values: readonly string[];
  readonly literals: readonly string[];
}

const decimals = (text: string) => (text.split('.')[1] ?? '').length;
const whole = (text: string) => (text.replace('-', '').split('.')[0] ?? '').replace(/^0$/, '').length;
const significant = (text: string) =>
  text.replace(/[-.]/g, '').replace(/^0+/, '').length - (text.includes('.') ? 0 : (/0*$/.exec(text)?.[0].length ?? 0));

const NUMBERS = [
  ...['0', '1', '-1', '2', '5', '9', '10', '11', '-12', '99', '100', '101', '120', '123', '999', '-999', '1000'],
  ...['12345'],
  ...['0.1', '-0.1', '0.5', '1.5', '-1.5', '0.01', '0.12', '0.123', '1.23', '9.9', '9.99', '99.9', '-99.95', '0.001'],
  ...['12.5'],
  ...['0.0009', '-0.999', '999.5', '-999.5', '123456789012345678901234567890', '-123456789012345678901234567890.5'],
];

const digits: fc.Arbitrary<readonly [Domain['digits'] & object, (text: string) => boolean]> = fc.oneof(
  fc.integer({ min: 0, max: 2 }).map((most) => [{ decimals: most }, (text: string) => decimals(text) <= most] as const),
  fc
    .integer({ min: 1, max: 3 })
    .map((most) => [{ significant: most }, (text: string) => significant(text) <= most] as const),
  fc
    .integer({ min: 1, max: 3 })
    .map((most) => [{ total: most }, (text: string) => whole(text) + decimals(text) <= most] as const),
);

const ranges = fc.constantFrom<FieldSpec['range']>(
  undefined,
  ['-10', '100'],
  ['0.5', '99.9'],
  ['-999', '-1'],
  ['5', '5'],
);

const numbers: fc.Arbitrary<Subject> = fc
  .tuple(fc.option(digits, { nil: undefined }), ranges)
  .map(([limit, range]) => ({
    spec: { type: 'number', ...(range && { range }), ...(limit && { domain: { digits: limit[0] } }) },
    values: NUMBERS.filter(
      (text) =>
        (limit?.[1](text) ?? true) &&
        (range === undefined || (Number(text) >= Number(range[0]) && Number(text) <= Number(range[1]))),
    ),
    literals: NUMBERS,
  }));

const DAYS = [
  ...['1999-12-31', '2000-01-01', '2000-02-28', '2000-02-29', '2000-03-01', '2024-06-15', '2024-06-16', '2030-12-31'],
  ...['2031-01-01'],
];
const TIMES = [
  ...['00:00:00', '00:00:00.001', '00:00:00.0015', '00:00:30', '00:01:00', '12:34:56', '12:34:56.789'],
  ...['23:59:59.999999999'],
];
const INSTANTS = DAYS.flatMap((day) => TIMES.map((time) => `${day}T${time}Z`));
const ends = fc.constantFrom<readonly [string | undefined, string | undefined]>(
  [undefined, undefined],
  ['2000-01-01', '2030-12-31'],
  ['2000-02-29', undefined],
  [undefined, '2024-06-15'],
);
const STEPS = { day: /T00:00:00Z$/, minute: /:00Z$/, second: /:\d\dZ$/, millisecond: /:\d\d(\.\d{3})?Z$/ } as const;

function domainOf(first: string | undefined, last: string | undefined, step?: Domain['step']): Domain {
  return { ...(first && { first }), ...(last && { last }), ...(step && { step }) };
}

const days: fc.Arbitrary<Subject> = fc.tuple(ends, fc.constantFrom('day', undefined)).map(([[first, last], step]) => ({
  spec: { type: 'date', domain: domainOf(first, last, step) },
  values: DAYS.filter((day) => day >= (first ?? '') && day <= (last ?? '9')),
  literals: DAYS,
}));

const instants: fc.Arbitrary<Subject> = fc
  .tuple(ends, fc.constantFrom<Domain['step']>('day', 'minute', 'second', 'millisecond', undefined))
  .map(([[first, last], step]) => ({
    spec: { type: 'datetime', domain: domainOf(first, last, step) },
    values: INSTANTS.filter(
      (text) =>
        text >= `${first ?? '0000'}` &&
        // Of the last day only its first instant.
        (last === undefined || text.slice(0, -1) <= `${last}T00:00:00`) &&
        (step === undefined || STEPS[step].test(text)),
    ),
    literals: INSTANTS,
  }));

const TEXTS = ['', 'a', 'A', 'b', 'ab', 'AB', 'abc', 'abcd', 'x_y', '%', 'ä', 'Ä'];

const texts: fc.Arbitrary<Subject> = fc
  .record({
    longest: fc.constantFrom(undefined, 0, 1, 2, 3),
    nonEmpty: fc.constantFrom(undefined, true as const),
    isPossible: fc.constantFrom(undefined, (text: string) => /^[a-z]*$/.test(text)),
    collation: fc.constantFrom('cs' as const, 'ci' as const),
  })
  .map(({ longest, nonEmpty, isPossible, collation }) => ({
    spec: {
      type: 'string',
      collation,
      domain: {
        text: {
          ...(longest !== undefined && { longest }),
          ...(nonEmpty && { nonEmpty }),
          // What a row compares as one of these is one of these.
          ...(isPossible && { possible: (text: string) => isPossible(collation === 'ci' ? text.toLowerCase() : text) }),
        },
      },
    },
    values: TEXTS.filter(
      (text) =>
        text.length <= (longest ?? 9) &&
        !(nonEmpty && text === '') &&
        (isPossible?.(collation === 'ci' ? text.toLowerCase() : text) ?? true),
    ),
    literals: TEXTS,
  }));

const closed: fc.Arbitrary<Subject> = fc
  .tuple(fc.subarray(['a', 'B', 'ab', 'Ä'], { minLength: 1 }), fc.constantFrom('cs' as const, 'ci' as const))
  .map(([values, collation]) => ({
    spec: { type: 'string', collation, values, domain: { closed: true } },
    values,
    literals: TEXTS,
  }));

const flags = fc.constant<Subject>({
  spec: { type: 'boolean' },
  values: ['true', 'false'],
  literals: ['true', 'false'],
});

const subjects = fc
  .tuple(fc.oneof(numbers, days, instants, texts, closed, flags), fc.boolean())
  .map(([subject, nullable]): Subject => ({ ...subject, spec: { ...subject.spec, nullable } }))
  .filter(({ values }) => values.length > 0);

function literalOf(spec: FieldSpec, text: string): Value {
  const { type } = spec;
  const value =
    type === 'object' || type === 'array' ? undefined : readLiteral({ kind: 'string', text, loc: LOC }, type);
  if (value === undefined) throw new Error(`'${text}' is no ${type}.`);
  return value;
}

const EQUALITIES: readonly ComparisonOperator[] = ['=', '!='];

function predicatesOn(subject: Subject, field: PushedField): fc.Arbitrary<Predicate> {
  const literal = fc.constantFrom(...subject.literals).map((text) => literalOf(subject.spec, text));
  const operators: readonly ComparisonOperator[] =
    field.type === 'boolean' ? EQUALITIES : [...EQUALITIES, '<', '<=', '>', '>='];
  const patterns = fc.array(fc.constantFrom('%', '_', 'a', 'A', 'b', 'x', 'ä', '\\%'), { maxLength: 4 });
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...operators), literal)
      .map(([operator, value]): Predicate => ({ kind: 'compare', field, operator, value, loc: LOC })),
    fc
      .tuple(fc.array(literal, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([values, negated]): Predicate => ({ kind: 'in', field, values, negated, loc: LOC })),
    ...(field.type === 'string'
      ? [
          fc.tuple(patterns, fc.boolean()).map(
            ([parts, negated]): Predicate => ({
              kind: 'like',
              field,
              pattern: readLikePattern(parts.join('')),
              negated,
              loc: LOC,
            }),
          ),
        ]
      : []),
  );
}

function rowsOf({ spec, values }: Subject): readonly Row[] {
  const rows = values.map((text) => ({ f: spec.type === 'boolean' ? text === 'true' : text }));
  return spec.nullable === false ? rows : [...rows, { f: null }];
}

const cases = subjects.chain((subject) =>
  predicatesOn(subject, { ...subject.spec, name: 'f', native: 'f' }).map((predicate) => ({ subject, predicate })),
);

describe('what a field can hold', () => {
  it('changes no predicate for the rows that there can be', () => {
    const seen = { ways: 0, never: 0, valued: 0, unasked: 0, otherWays: 0 };
    fc.assert(
      fc.property(cases, ({ subject, predicate }) => {
        const fitted = fitPredicate(predicate);
        seen[fitted.kind]++;
        if (fitted.kind === 'ways') seen.otherWays += fitted.ways.length - 1;
        for (const row of rowsOf(subject)) {
          const isMeant = evaluate(predicate, row) === true;
          const what = `${print(predicate)} on ${JSON.stringify(row)} of ${JSON.stringify(subject.spec)}`;
          if (fitted.kind === 'never') expect(isMeant, what).to.equal(false);
          // Of a pattern of a text that a row cannot have nothing else is said.
          if (fitted.kind === 'valued') expect(isMeant, what).to.equal(row.f !== null);
          if (fitted.kind !== 'ways') continue;
          for (const way of fitted.ways)
            expect(evaluate(way, row) === true, `${print(way)} for ${what}`).to.equal(isMeant);
        }
      }),
      { seed: seedOr(21), numRuns: runs(6000) },
    );
    for (const [kind, times] of Object.entries(seen)) expect(times, kind).to.be.greaterThan(runs(20));
  });

  const abilities = fc
    .array(fc.tuple(fc.constantFrom(...EVERY_OPERATOR), fc.constantFrom<Exactness>('exact', 'exact', 'superset')), {
      maxLength: 14,
    })
    .map((pairs): Partial<Record<Operator, Exactness>> => Object.fromEntries(pairs));
  const providers = fc.record({
    filter: abilities,
    nulls: fc.constantFrom('different' as const, 'unknown' as const, undefined),
    hasLists: fc.boolean(),
    maxInSize: fc.constantFrom(undefined, 1, 2),
    maxTerms: fc.constantFrom(undefined, 2, 5),
  });

  /** A provider whose negations find missing values, unless it says that they do not. */
  function returns(condition: Condition, row: Row, nulls: string | undefined): boolean {
    if (isGroup<Condition>(condition)) {
      const test = (operand: Condition) => returns(operand, row, nulls);
      return condition.kind === 'and' ? condition.operands.every(test) : condition.operands.some(test);
    }
    const isNegation = ['!=', 'NOT IN', 'NOT LIKE'].includes(operatorOf(condition));
    return evaluate(condition, row) === true || (isNegation && nulls !== 'unknown' && row.f === null);
  }

  it('leaves every plan sound, whatever the provider has and takes nulls for', () => {
    const seen = { full: 0, partial: 0, none: 0, never: 0, always: 0, guarded: 0, divided: 0 };
    const property = fc.property(
      cases,
      providers,
      ({ subject, predicate }, { filter, nulls, hasLists, maxInSize, maxTerms }) => {
        const { in: among, nulls: _, ...rest } = brackets;
        const field: PushedField = { ...predicate.field, filter };
        const queryable: Queryable = {
          fields: { f: field },
          shape: { kind: 'any' },
          translator: { ...rest, ...(nulls && { nulls }), ...(hasLists && among && { in: among }) },
          limits: { ...(maxInSize && { maxInSize }), ...(maxTerms && { maxTerms }) },
        };
        const plan = planQuery(queryable, { condition: { ...predicate, field }, parameters: {}, orderBy: [] });
        const rows = rowsOf(subject);
        const kept = plan.queries.flatMap(({ pushed, residual }) =>
          rows.filter(
            (row) =>
              (pushed === undefined || returns(pushed, row, nulls)) &&
              (residual === undefined || compileCondition(residual)(row)),
          ),
        );
        const meant = rows.filter((row) => evaluate(predicate, row) === true);
        const what = `${print(predicate)} of ${JSON.stringify(field)}: ${plan.queries.map(({ pushed }) => pushed && print(pushed))}`;
        expect([...kept].sort(byText), what).to.deep.equal([...meant].sort(byText));
        if (plan.holds === 'always') expect(meant.length, what).to.equal(rows.length);
        if (plan.holds === 'never') expect(plan.queries, what).to.deep.equal([]);
        seen[plan.pushdown]++;
        if (plan.holds) seen[plan.holds]++;
        if (plan.pushed?.kind === 'and' && nulls !== 'unknown') seen.guarded++;
        if (plan.queries.length > 1) seen.divided++;
      },
    );
    fc.assert(property, { seed: seedOr(22), numRuns: runs(6000) });
    for (const [way, times] of Object.entries(seen)) expect(times, way).to.be.at.least(runs(10));
  });

  const byText = (a: Row, b: Row) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

  it('loses no row whose number the provider keeps in more digits than the row shows', () => {
    const exact = fc
      .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 6 }))
      .map(([digits, places]) => digits / 10 ** places);
    const shown = (value: number) => Number(value.toPrecision(3));
    const operators = fc.constantFrom<ComparisonOperator>('=', '<', '<=', '>', '>=', '!=');
    fc.assert(
      fc.property(exact, exact, operators, fc.boolean(), (kept, other, operator, isNear) => {
        const literal = isNear ? shown(kept) : other;
        const queryable = provider({
          ...EXACT,
          '=': 'superset',
          '!=': 'superset',
          '<': 'superset',
          '<=': 'superset',
          '>': 'superset',
          '>=': 'superset',
        });
        const fields = { x: { ...queryable.fields.x, type: 'number', domain: { rounded: 3 } } } as const;
        const { pushed, residual } = planOf(`x ${operator} ${literal}`, { ...queryable, fields });
        if (pushed === undefined || residual === undefined) throw new Error('Something is asked, and checked again.');
        const isMeant = evaluate(residual, { x: shown(kept) }) === true;
        if (isMeant) expect(evaluate(pushed, { x: kept }), `${kept}: ${print(pushed)}`).to.equal(true);
      }),
      { seed: seedOr(23), numRuns: runs(5000) },
    );
  });
});

describe('numbers next to a number', () => {
  const CASES = [
    ['0', '-0.000000000000001', '0.000000000000001'],
    ['1', '0.99999999999999', '1.00000000000001'],
    ['-20.5', '-20.5000000000001', '-20.4999999999999'],
    ['123456789012345.7', '123456789012344', '123456789012347'],
    ['-123456789012345.7', '-123456789012347', '-123456789012344'],
    ['1234567890123456789', '1234567890123440000', '1234567890123470000'],
    ['0.00000000000000000001', '0.0000000000000000000099999999999999', '0.0000000000000000000100000000000001'],
  ] as const;
  for (const [text, low, high] of CASES) {
    it(`are ${low} and ${high} for ${text}, in fifteen digits`, () => {
      expect(roundedBounds(text, 15)).to.deep.equal({ low, high });
    });
  }
});

describe('a literal that no row can equal', () => {
  const holding = (spec: FieldSpec, rest: Partial<Queryable> = {}) => {
    const fields = { f: { filter: EXACT, ...spec }, x: { type: 'number', filter: EXACT } } as const;
    return { ...provider({}), ...rest, fields } satisfies Queryable;
  };
  const whole = holding({ type: 'number', range: ['0', '100'], domain: { digits: { decimals: 0 } } });

  for (const [where, pushed] of [
    ['f < 1.5', 'f <= 1'],
    ['f > 1.5', 'f > 1'],
    ['f IN (1, 1.5, 200)', 'f = 1'],
    ['f NOT IN (1.5, 200)', 'f IS NOT NULL'],
    ['f <= 1000', 'f IS NOT NULL'],
    ['f = 1.5 OR x = 1', 'x = 1'],
    ['f < 1.5 AND x = 1', 'f <= 1 AND x = 1'],
  ] as const) {
    it(`is not asked for: ${where} → ${pushed}`, () => {
      expect(plannedParts(where, whole)).to.deep.equal({ pushed, residual: undefined, pushdown: 'full' });
    });
  }

  it('needs no call where nothing else can be true', () => {
    const plan = planOf('x = 1 AND (f = 1.5 OR f > 100.5)', whole);
    expect(plan).to.deep.include({ holds: 'never', queries: [], pushdown: 'full' });
    expect(plan.decisions.map(({ holds, pushed, reason }) => [holds, pushed, reason])).to.deep.equal([
      [undefined, false, 'no row can match the filter, so Causeway does not call the provider'],
      ['never', false, 'no value of the field can match it'],
      ['never', false, 'no value of the field can match it'],
    ]);
  });

  it('leaves nothing to ask where every row passes', () => {
    const plan = planOf('f >= 0 OR x = 1', holding({ type: 'number', range: ['1', '2'], nullable: false }));
    expect(plan).to.deep.include({ holds: 'always', queries: [{}], pushdown: 'full' });
  });

  it('is decided for a provider that takes no filter, too', () => {
    const { translator: _, ...blind } = whole;
    expect(planOf('f = 1.5', blind).holds).to.equal('never');
  });

  it('is asked for by the ends of the values where the provider has no IS NOT NULL', () => {
    const ordered = holding({ type: 'number', range: ['0', '100'], filter: { '>=': 'exact', '<': 'exact' } });
    expect(plannedParts('f < 1000', ordered)).to.include({ pushed: 'f >= 0', pushdown: 'full' });
  });

  it('makes a strict bound an inclusive one, exactly, where the steps are known', () => {
    const day = holding({ type: 'date', domain: { step: 'day' }, filter: { '>=': 'exact', '<=': 'exact' } });
    expect(plannedParts('f > 2026-01-31 AND f < 2024-03-01', day)).to.include({
      pushed: 'f >= 2026-02-01 AND f <= 2024-02-29',
      pushdown: 'full',
    });
  });
});

describe('a negation', () => {
  const { nulls: _, ...translator } = brackets;
  const different = provider(EXACT, { translator });

  for (const [where, pushed] of [
    ['x != 1', 'x IS NOT NULL AND x != 1'],
    ['x NOT IN (1, 2)', 'x IS NOT NULL AND x NOT IN (1, 2)'],
    ["a NOT LIKE 'x%'", "a IS NOT NULL AND a NOT LIKE 'x%'"],
    ["x = 1 OR a != 'x'", "x = 1 OR (a IS NOT NULL AND a != 'x')"],
    ['flag != TRUE', 'flag = FALSE'],
  ] as const) {
    it(`comes with "has a value": ${where} → ${pushed}`, () => {
      expect(plannedParts(where, different)).to.deep.equal({ pushed, residual: undefined, pushdown: 'full' });
    });
  }

  it('comes without where there is always a value, or the provider means it already', () => {
    const always = { ...different, fields: { x: { type: 'number', nullable: false, filter: EXACT } } } as const;
    const meant = { ...different, fields: { x: { type: 'number', nulls: 'unknown', filter: EXACT } } } as const;
    for (const queryable of [always, meant, provider(EXACT)]) {
      expect(plannedParts('x != 1', queryable)).to.include({ pushed: 'x != 1', pushdown: 'full' });
    }
  });

  it('is checked again where the provider cannot be asked for a value', () => {
    const { 'IS NOT NULL': __, ...some } = EXACT;
    expect(plannedParts('x != 1', provider(some, { translator }))).to.deep.equal({
      pushed: 'x != 1',
      residual: 'x != 1',
      pushdown: 'partial',
    });
  });

  it('has one test for all pieces of a list', () => {
    const short = provider(EXACT, { translator, limits: { maxInSize: 2 } });
    expect(plannedParts('x NOT IN (1, 2, 3)', short)).to.include({
      pushed: 'x IS NOT NULL AND x NOT IN (1, 2) AND x NOT IN (3)',
      pushdown: 'full',
    });
  });

  it('of texts that the provider may not tell apart asks for any value', () => {
    const certain = (text: string) => /^[a-z]+$/.test(text);
    const fields = { a: { type: 'string', filter: EXACT, domain: { text: { certain } } } } as const;
    const unsure = { ...different, fields };
    const parts = (where: string) => plannedParts(where, unsure).pushed;
    expect(parts("a != 'x'")).to.equal("a IS NOT NULL AND a != 'x'");
    expect(parts("a != 'é'")).to.equal('a IS NOT NULL');
    expect(parts("a NOT IN ('x', 'é')")).to.equal("a IS NOT NULL AND a != 'x'");
    expect(parts("a NOT LIKE 'é%'")).to.equal('a IS NOT NULL');
    for (const where of ["a != 'é'", "a NOT IN ('x', 'é')", "a NOT LIKE 'é%'"]) {
      expect(planOf(where, unsure).pushdown, where).to.equal('partial');
    }
  });
});

describe('a language without lists', () => {
  const { in: _, ...translator } = brackets;

  it('gets equalities, in several queries where they are too many', () => {
    const queryable = provider(EXACT, { translator });
    expect(plannedParts('x IN (1, 2)', queryable)).to.include({ pushed: 'x = 1 OR x = 2', pushdown: 'full' });
    const { queries } = planOf('x IN (1, 2, 3)', { ...queryable, limits: { maxTerms: 2 } });
    expect(queries.map(({ pushed }) => pushed && print(pushed))).to.deep.equal(['x = 1 OR x = 2', 'x = 3']);
  });
});
