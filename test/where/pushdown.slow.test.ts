import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import { type Condition, isGroup, operatorOf, type Predicate } from '../../src/where/condition.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { planQuery } from '../../src/where/plan.ts';
import { print } from '../../src/where/print.ts';
import { beyondDeclaration, declarations } from './declarations.ts';
import { provider } from './planned.ts';
import { RECORD_FIELDS, RECORDS, recordFilters } from './records.ts';
import { evaluate } from './reference.ts';

/** Which operators a provider answers with more rows than meant. */
type Looseness = (predicate: Predicate) => boolean;

/** As declared: what is a superset has extra rows. */
const faithful: Looseness = (predicate) => predicate.field.filter?.[operatorOf(predicate)] === 'superset';

/** The rows a provider answers: each predicate as meant, and where it is loose now and then one row more. */
function answer(pushed: Condition | undefined, isLoose: Looseness): readonly Row[] {
  return RECORDS.filter((row, index) => pushed === undefined || matches(pushed, row, index, isLoose));
}

function matches(condition: Condition, row: Row, index: number, isLoose: Looseness): boolean {
  if (isGroup<Condition>(condition)) {
    const test = (operand: Condition) => matches(operand, row, index, isLoose);
    return condition.kind === 'and' ? condition.operands.every(test) : condition.operands.some(test);
  }
  return evaluate(condition, row) === true || (isLoose(condition) && isExtra(print(condition), index));
}

/** The same for the same predicate and row, as a provider's answer would be. */
function isExtra(predicate: string, index: number): boolean {
  return (createHash('md5').update(`${predicate} ${index}`).digest()[0] ?? 0) < 64;
}

/** @throws Error when the plan is unsound for this provider */
function assertSound(
  filter: Filter,
  queryable: Queryable,
  isLoose: Looseness,
): 'full' | 'partial' | 'none' | 'divided' {
  const { condition: tree } = checkFilter(filter, queryable);
  if (tree === undefined) throw new Error('No condition.');
  const plan = planQuery(queryable, { condition: normalise(tree), parameters: {}, orderBy: [] });
  const meant = new Set(RECORDS.filter((row) => evaluate(tree, row) === true));
  const returned = plan.queries.map((query) => answer(query.pushed, isLoose));
  const lost = meant.difference(new Set(returned.flat())).size;
  if (lost > 0) throw new Error(`${print(filter)}: the provider's answer lacks ${lost} rows.`);
  const kept = plan.queries.flatMap(({ residual }, index) => {
    const rows = returned[index] ?? [];
    return residual === undefined ? rows : rows.filter(compileCondition(residual));
  });
  const surplus = kept.filter((row) => !meant.has(row)).length;
  if (surplus > 0) throw new Error(`${print(filter)}: ${surplus} rows too many.`);
  if (kept.length < meant.size) throw new Error(`${print(filter)}: the residual drops rows that are meant.`);
  if (kept.length > meant.size) throw new Error(`${print(filter)}: some rows come twice.`);
  for (const { pushed, native } of plan.queries) {
    if (pushed === undefined) continue;
    expect(beyondDeclaration(pushed, native, queryable), print(filter)).to.deep.equal([]);
  }
  expect(plan.pushdown === 'full').to.equal(plan.residual === undefined);
  expect(plan.residual === undefined).to.equal(plan.queries.every(({ residual }) => residual === undefined));
  return plan.queries.length > 1 ? 'divided' : plan.pushdown;
}

describe('pushing down', function pushdown() {
  this.timeout(60_000);

  it('is sound for any declaration, and asks for nothing beyond it', () => {
    const seen = { full: 0, partial: 0, none: 0, divided: 0 };
    fc.assert(
      fc.property(recordFilters, declarations, (filter, queryable) => {
        seen[assertSound(filter, queryable, faithful)]++;
      }),
      { seed: 10, numRuns: 2400 },
    );
    // Each way must be taken often, or the test says little.
    for (const [pushdown, times] of Object.entries(seen)) expect(times, pushdown).to.be.greaterThan(30);
  });

  it('is sound where the provider has everything, in every shape', () => {
    for (const exactness of ['exact', 'superset'] as const) {
      for (const kind of ['any', 'and', 'dnf', 'cnf', 'and-xor-or', 'none'] as const) {
        const { fields } = provider({});
        const filter = Object.fromEntries(
          ['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'LIKE', 'NOT LIKE', 'IS NULL', 'IS NOT NULL'].map(
            (operator) => [operator, exactness],
          ),
        );
        const specs = Object.entries(RECORD_FIELDS).map(([name, spec]) => [name, { ...spec, filter }] as const);
        const queryable: Queryable = {
          ...provider({}),
          fields: { ...fields, ...Object.fromEntries(specs) },
          shape: { kind },
        };
        fc.assert(
          fc.property(recordFilters, (tree) => {
            assertSound(tree, queryable, faithful);
          }),
          { seed: 11, numRuns: 40 },
        );
      }
    }
  });

  it('catches a declaration that says exact where the provider returns more', () => {
    const liar: Looseness = (predicate) => faithful(predicate) || predicate.kind === 'like';
    const run = fc.check(
      fc.property(recordFilters, declarations, (filter, queryable) => {
        assertSound(filter, queryable, liar);
      }),
      { seed: 12, numRuns: 2000 },
    );
    expect(run.failed).to.equal(true);
    expect(String(run.errorInstance)).to.match(/LIKE.*rows too many/);
  });

  it('catches a provider that returns less than meant', () => {
    const queryable = provider({ '=': 'exact', IN: 'exact' });
    const shortSighted: Queryable = {
      ...queryable,
      fields: { ...RECORD_FIELDS, cs: { type: 'string', collation: 'ci', filter: { '=': 'exact', IN: 'exact' } } },
    };
    const run = fc.check(
      fc.property(recordFilters, (filter) => {
        const { condition: tree } = checkFilter(filter, shortSighted);
        if (tree === undefined) return;
        const plan = planQuery(shortSighted, { condition: normalise(tree), parameters: {}, orderBy: [] });
        // This provider tells cases apart, although its declaration says that it does not.
        const asCaseSensitive = withCollation(plan.pushed);
        const returned = new Set(answer(asCaseSensitive, faithful));
        for (const row of RECORDS) if (evaluate(tree, row) === true) expect(returned.has(row)).to.equal(true);
      }),
      { seed: 13, numRuns: 2000 },
    );
    expect(run.failed).to.equal(true);
  });
});

function withCollation(condition: Condition | undefined): Condition | undefined {
  if (condition === undefined) return undefined;
  if (!isGroup<Condition>(condition)) return { ...condition, field: { ...condition.field, collation: 'cs' } };
  return { ...condition, operands: condition.operands.flatMap((operand) => withCollation(operand) ?? []) };
}
