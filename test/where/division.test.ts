import { expect } from 'chai';
import { print } from '../../src/where/print.ts';
import { EXACT, planOf, provider, SUPERSET } from './planned.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index).join(', ');

/** What each query asks, and what is checked again of it. */
function queriesOf(where: string, queryable: Parameters<typeof planOf>[1], orderBy?: string) {
  return planOf(where, queryable, orderBy).queries.map(({ pushed, residual }) => [
    pushed && print(pushed),
    residual && print(residual),
  ]);
}

describe('a list that is longer than the provider takes', () => {
  const short = (limits: { maxTerms?: number; maxInSize?: number; maxLength?: number }, filter = EXACT) =>
    provider(filter, { shape: { kind: 'any' }, limits: { maxInSize: 1, ...limits } });

  it('is asked for in as few queries as the provider takes, with the rest of the filter in each', () => {
    expect(queriesOf('x IN (1, 2, 3, 4, 5) AND y = 7', short({ maxTerms: 3 }))).to.deep.equal([
      ['(x IN (1) OR x IN (2)) AND y = 7', undefined],
      ['(x IN (3) OR x IN (4)) AND y = 7', undefined],
      ['x = 5 AND y = 7', undefined],
    ]);
  });

  it('is full where each query is', () => {
    const plan = planOf('x IN (1, 2, 3, 4, 5)', short({ maxTerms: 3 }));
    expect(plan).to.include({ pushdown: 'full', native: '[x in 1 | x in 1 | x in 1]' });
    expect(plan.residual).to.equal(undefined);
    expect(plan.decisions).to.deep.include({
      predicate: 'x IN (1, 2, 3, 4, 5)',
      position: 0,
      length: 20,
      exactness: 'exact',
      pushed: true,
    });
  });

  it('is checked again piece by piece where the provider answers more, so that no row comes twice', () => {
    expect(queriesOf("a IN ('p', 'q', 'r')", short({ maxTerms: 2 }, SUPERSET))).to.deep.equal([
      ["a IN ('p') OR a IN ('q')", "a IN ('p', 'q')"],
      ["a = 'r'", "a IN ('r')"],
    ]);
  });

  it('counts texts that the field does not tell apart as one', () => {
    const queryable = short({ maxTerms: 1 });
    const fields = { a: { type: 'string', collation: 'ci', filter: EXACT } } as const;
    expect(queriesOf("a IN ('p', 'P', 'q', 'Q')", { ...queryable, fields })).to.deep.equal([
      ["a = 'P'", undefined],
      ["a = 'Q'", undefined],
    ]);
  });

  it('is divided by length too', () => {
    expect(queriesOf('x IN (1, 2, 3, 4)', short({ maxLength: 20 }))).to.have.length(2);
  });

  it('is divided by the terms that the translator counts', () => {
    const queryable = provider(EXACT, { limits: { maxTerms: 3 } });
    const { translator } = queryable;
    const counting = { ...translator, terms: (native: unknown) => 2 * Number(/in (\d+)/.exec(String(native))?.[1]) };
    expect(queriesOf('x IN (1, 2)', { ...queryable, translator: counting })).to.have.length(2);
  });

  it('is asked for by its bounds where an order is wanted', () => {
    const queryable = provider(EXACT, { limits: { maxTerms: 3, maxInSize: 1 } });
    const sorted = { ...queryable, fields: { ...queryable.fields, y: { type: 'number', sortable: true } as const } };
    expect(queriesOf('x IN (30, 4, 100, 5)', sorted, 'y')).to.deep.equal([
      ['x >= 4 AND x <= 100', 'x IN (30, 4, 100, 5)'],
    ]);
    const [decision] = planOf('x IN (30, 4, 100, 5)', sorted, 'y').decisions;
    expect(decision).to.include({ exactness: 'superset', pushed: true });
    expect(decision?.reason).to.equal(
      'the provider accepts at most 3 predicates, so Causeway sends a wider condition and checks the rows again',
    );
    expect(queriesOf("a IN ('p', 'q', 'r', 's')", sorted, 'y')).to.deep.equal([
      ['a IS NOT NULL', "a IN ('p', 'q', 'r', 's')"],
    ]);
  });

  it('is divided where the order is made here anyway', () => {
    expect(queriesOf('x IN (1, 2, 3, 4)', short({ maxTerms: 3 }), 'y')).to.have.length(2);
  });

  it('is asked for by its bounds inside an OR', () => {
    expect(queriesOf('x IN (1, 2, 3, 4) OR y = 1', short({ maxTerms: 3 }))).to.deep.equal([
      ['(x >= 1 AND x <= 4) OR y = 1', 'x IN (1, 2, 3, 4) OR y = 1'],
    ]);
  });

  it('is asked for by its bounds where it would take more than 25 queries', () => {
    expect(queriesOf(`x IN (${numbers(50)})`, short({ maxTerms: 2 }))).to.have.length(25);
    expect(queriesOf(`x IN (${numbers(51)})`, short({ maxTerms: 2 }))).to.have.length(1);
  });

  it('is the first of several; of the others the bounds are asked for where there is room', () => {
    const where = 'x IN (1, 2, 3, 4, 5, 6) AND y IN (5, 6, 7, 8, 9)';
    const queries = queriesOf(where, short({ maxTerms: 5 }));
    expect(queries).to.deep.equal([
      ['(x IN (1) OR x IN (2) OR x IN (3)) AND y >= 5 AND y <= 9', 'y IN (5, 6, 7, 8, 9)'],
      ['(x IN (4) OR x IN (5) OR x IN (6)) AND y >= 5 AND y <= 9', 'y IN (5, 6, 7, 8, 9)'],
    ]);
  });

  it('costs no more than a few plans, however many lists there are', () => {
    let translated = 0;
    const queryable = short({ maxTerms: 25 });
    const or = (operands: readonly unknown[]) => {
      translated++;
      return queryable.translator?.or?.(operands) ?? '';
    };
    const lists = Array.from({ length: 60 }, (_, index) => `x IN (${numbers(60)}, ${1000 + index})`);
    planOf(lists.join(' AND '), { ...queryable, translator: { ...queryable.translator, or } });
    expect(translated).to.be.below(5000);
  });

  it('does not push out what else the provider takes', () => {
    const [first] = queriesOf('x IN (1, 2, 3, 4) AND y = 1 AND y < 5', short({ maxTerms: 3 }));
    expect(first).to.deep.equal(['x = 1 AND y = 1 AND y < 5', undefined]);
  });
});
