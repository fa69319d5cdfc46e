import { expect } from 'chai';
import type { BooleanShape, QueryLimits } from '../../src/where/model.ts';
import { EXACT, plannedParts, planOf, provider } from './planned.ts';

/** Filter, what is pushed, what remains, why. */
type Case = readonly [string, string | undefined, string | undefined, string?];

function shapes(
  title: string,
  shape: BooleanShape | undefined,
  cases: readonly Case[],
  limits: QueryLimits = {},
): void {
  describe(`the shape ${title}`, () => {
    const { shape: _, ...rest } = provider(EXACT, { limits });
    const queryable = { ...rest, ...(shape !== undefined && { shape }) };
    for (const [where, pushed, residual, reason] of cases) {
      it(`${where} → ${pushed ?? 'nothing'}`, () => {
        const pushdown = residual === undefined ? 'full' : pushed === undefined ? 'none' : 'partial';
        expect(plannedParts(where, queryable)).to.deep.equal({ pushed, residual, pushdown });
        const reasons = new Set(planOf(where, queryable).decisions.flatMap((decision) => decision.reason ?? []));
        expect([...reasons]).to.deep.equal(reason === undefined ? [] : [reason]);
      });
    }
  });
}

const inOr = (reason: string) => `it is part of an OR that cannot be pushed: ${reason}`;
const AND = 'x = 1 AND y = 2';
const OR = 'x = 1 OR y = 2';
const MIXED = 'x = 1 AND (y = 2 OR y > 5)';
const OR_OF_ANDS = '(x = 1 AND y = 2) OR (x = 3 AND y = 4)';

shapes('none', { kind: 'none' }, [
  ['x = 1', undefined, 'x = 1', 'the provider accepts no filter'],
  [AND, undefined, AND, 'the provider accepts no filter'],
]);

shapes('any', { kind: 'any' }, [
  ['x = 1', 'x = 1', undefined],
  [AND, AND, undefined],
  [OR, OR, undefined],
  [MIXED, MIXED, undefined],
  [OR_OF_ANDS, OR_OF_ANDS, undefined],
]);

for (const [title, shape] of [
  ['and', { kind: 'and' }],
  ['and, by default', undefined],
] as const) {
  shapes(title, shape, [
    ['x = 1', 'x = 1', undefined],
    [AND, AND, undefined],
    ['x BETWEEN 1 AND 5', 'x >= 1 AND x <= 5', undefined],
    ['NOT (x < 1 OR y < 2)', 'x >= 1 AND y >= 2', undefined],
    [OR, undefined, OR, inOr('the provider joins predicates by AND only')],
    ['x = 1 OR x = 2', 'x IN (1, 2)', undefined],
    [MIXED, 'x = 1', 'y = 2 OR y > 5', inOr('the provider joins predicates by AND only')],
  ]);
}

shapes('and-xor-or', { kind: 'and-xor-or' }, [
  [AND, AND, undefined],
  [OR, OR, undefined],
  [MIXED, 'x = 1', 'y = 2 OR y > 5', inOr('the provider accepts either ANDs or ORs, never both')],
  [
    '(x = 1 OR y > 2) AND (x > 3 OR y = 4)',
    'x = 1 OR y > 2',
    'x > 3 OR y = 4',
    inOr('the provider accepts either ANDs or ORs, never both'),
  ],
  [OR_OF_ANDS, undefined, OR_OF_ANDS, inOr('the provider accepts either ANDs or ORs, never both')],
]);

shapes('dnf', { kind: 'dnf' }, [
  [AND, AND, undefined],
  [OR, OR, undefined],
  [OR_OF_ANDS, OR_OF_ANDS, undefined],
  [MIXED, '(x = 1 AND y = 2) OR (x = 1 AND y > 5)', undefined],
  [
    '(x = 1 OR y > 2) AND (x > 3 OR y = 4)',
    '(x = 1 AND x > 3) OR (x = 1 AND y = 4) OR (y > 2 AND x > 3) OR (y > 2 AND y = 4)',
    undefined,
  ],
]);

shapes('dnf with limits', { kind: 'dnf', groups: 2, perGroup: 2, total: 3 }, [
  [OR, OR, undefined],
  ["x = 1 OR y > 2 OR a = 'x'", undefined, "x = 1 OR y > 2 OR a = 'x'", inOr('the provider accepts at most 2 groups')],
  ["x = 1 AND y > 2 AND a = 'x'", 'x = 1 AND y > 2', "a = 'x'", 'the provider accepts at most 2 predicates in a group'],
  [OR_OF_ANDS, undefined, OR_OF_ANDS, inOr('the provider accepts at most 3 predicates')],
  ["(x = 1 AND y > 2) OR a = 'x'", "(x = 1 AND y > 2) OR a = 'x'", undefined],
  [MIXED, 'x = 1', 'y = 2 OR y > 5', inOr('the provider accepts at most 3 predicates')],
]);

shapes('cnf', { kind: 'cnf' }, [
  [AND, AND, undefined],
  [OR, OR, undefined],
  [MIXED, MIXED, undefined],
  [OR_OF_ANDS, '(x = 1 OR x = 3) AND (x = 1 OR y = 4) AND (y = 2 OR x = 3) AND (y = 2 OR y = 4)', undefined],
]);

shapes('cnf with limits', { kind: 'cnf', groups: 2, perGroup: 2, total: 3 }, [
  [AND, AND, undefined],
  [MIXED, MIXED, undefined],
  ["x = 1 AND y > 2 AND a = 'x'", 'x = 1 AND y > 2', "a = 'x'", 'the provider accepts at most 2 groups'],
  [
    "x = 1 OR y > 2 OR a = 'x'",
    undefined,
    "x = 1 OR y > 2 OR a = 'x'",
    inOr('the provider accepts at most 2 predicates in a group'),
  ],
  [
    "(x = 1 OR y > 2) AND (a = 'x' OR b = 'y')",
    'x = 1 OR y > 2',
    "a = 'x' OR b = 'y'",
    inOr('the provider accepts at most 3 predicates'),
  ],
]);

shapes(
  'any with 2 terms',
  { kind: 'any' },
  [
    [AND, AND, undefined],
    [OR, OR, undefined],
    ["x = 1 AND y = 2 AND a = 'x'", AND, "a = 'x'", 'the provider accepts at most 2 predicates'],
    [MIXED, 'x = 1', 'y = 2 OR y > 5', inOr('the provider accepts at most 2 predicates')],
    ['(x = 1 OR x > 5) AND y = 2', 'y = 2', 'x = 1 OR x > 5', inOr('the provider accepts at most 2 predicates')],
    ['x IN (1, 2, 3) AND y = 2', 'x IN (1, 2, 3) AND y = 2', undefined],
  ],
  { maxTerms: 2 },
);

describe('multiplying out', () => {
  const conjunction = (count: number, term: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => term(index)).join(' AND ');

  it('leaves as many pairs as it can where all would explode', () => {
    const where = conjunction(20, (index) => `(x = ${index} OR y = ${index})`);
    const { pushed, residual } = planOf(where, provider(EXACT, { shape: { kind: 'dnf' } }));
    expect(pushed?.kind === 'or' && pushed.operands.length).to.equal(256);
    expect(residual?.kind === 'and' && residual.operands.length).to.equal(12);
  });

  it('takes the longest plain filters', () => {
    const all = conjunction(500, (index) => `x > ${index}`);
    const any = all.replaceAll(' AND ', ' OR ');
    for (const kind of ['dnf', 'cnf', 'any', 'and-xor-or'] as const) {
      for (const where of [all, any]) {
        expect(planOf(where, provider(EXACT, { shape: { kind } })).pushdown, kind).to.equal('full');
      }
    }
  });
});
