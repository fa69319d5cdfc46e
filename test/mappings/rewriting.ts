import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { ExactNumber, isJsonObject } from '../../src/numbers/exact-json.ts';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import { type Condition, isGroup, operatorOf } from '../../src/where/condition.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { planQuery } from '../../src/where/plan.ts';
import { print } from '../../src/where/print.ts';
import { beyondDeclaration, declarations } from '../where/declarations.ts';
import { evaluate } from '../where/reference.ts';
import { filtersOn, mappedQueryable, mappings, VENDOR_FIELDS, VENDOR_ROWS } from './mapped-rows.ts';

/** How the plans of the cases came out. */
export type Seen = Record<'full' | 'partial' | 'none', number>;

/** The rows of the vendor's object for a condition: where an operator is declared a superset, now and then one more. */
function answer(pushed: Condition | undefined): readonly number[] {
  return VENDOR_ROWS.flatMap((row, index) => (pushed === undefined || matches(pushed, row, index) ? [index] : []));
}

function matches(condition: Condition, row: Row, index: number): boolean {
  if (isGroup<Condition>(condition)) {
    const test = (operand: Condition) => matches(operand, row, index);
    return condition.kind === 'and' ? condition.operands.every(test) : condition.operands.some(test);
  }
  if (evaluate(condition, withTexts(row)) === true) return true;
  const isLoose = condition.field.filter?.[operatorOf(condition)] === 'superset';
  return (
    isLoose &&
    (createHash('md5')
      .update(`${print(condition)} ${index}`)
      .digest()[0] ?? 0) < 64
  );
}

/** The reference evaluator knows numbers beyond doubles as texts. */
function withTexts(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof ExactNumber ? value.text : isJsonObject(value) ? withTexts(value) : value,
    ]),
  );
}

/** The declarations of test/where, with the field that only mappings need. */
const vendors: fc.Arbitrary<Queryable> = declarations.map((vendor) => ({
  ...vendor,
  fields: { ...vendor.fields, stamp: { ...VENDOR_FIELDS.stamp, filter: vendor.fields.cs?.filter ?? {} } },
}));

/** @throws Error when rows are lost, surplus or asked for in a way that the vendor's object does not declare */
function assertSound(filter: Filter, vendor: Queryable, mapped: ReturnType<typeof mappedQueryable>): keyof Seen {
  const { queryable, compiled } = mapped;
  const { map } = compiled.rowMapping();
  const rows = VENDOR_ROWS.map((row) => map(row, new Map()));
  const { condition: tree } = checkFilter(filter, queryable);
  if (tree === undefined) throw new Error('No condition.');
  const plan = planQuery(queryable, { condition: normalise(tree), parameters: {}, orderBy: [] });
  const meant = new Set(rows.flatMap((row, index) => (evaluate(tree, withTexts(row)) === true ? [index] : [])));
  const kept = plan.queries.flatMap(({ pushed, residual, native }) => {
    if (pushed !== undefined) expect(beyondDeclaration(pushed, native, vendor), print(filter)).to.deep.equal([]);
    const test = residual === undefined ? () => true : compileCondition(residual);
    return answer(pushed).filter((index) => test(rows[index] ?? {}));
  });
  const said = `${JSON.stringify(mapped.fields)} ${print(filter)}, pushed ${plan.pushed === undefined ? 'nothing' : print(plan.pushed)}`;
  expect(
    [...meant.difference(new Set(kept))].map((index) => rows[index]),
    `rows lost by ${said}`,
  ).to.deep.equal([]);
  expect(
    kept.filter((index) => !meant.has(index)).map((index) => rows[index]),
    `rows too many by ${said}`,
  ).to.deep.equal([]);
  expect(kept.length, `rows twice by ${said}`).to.equal(meant.size);
  return plan.pushdown;
}

/** Tries filters on random mappings of random objects. */
export function tryRewriting(numRuns: number, seed: number): Seen {
  const seen: Seen = { full: 0, partial: 0, none: 0 };
  const cases = fc.tuple(vendors, mappings).chain(([vendor, mapping]) => {
    const mapped = mappedQueryable(vendor, mapping);
    return fc.record({
      vendor: fc.constant(vendor),
      mapping: fc.constant(mapping),
      mapped: fc.constant(mapped),
      filters: fc.array(filtersOn(mapped.queryable), { minLength: 10, maxLength: 10 }),
    });
  });
  fc.assert(
    fc.property(cases, ({ vendor, mapped, filters }) => {
      for (const filter of filters) seen[assertSound(filter, vendor, mapped)]++;
    }),
    { seed, numRuns },
  );
  return seen;
}
