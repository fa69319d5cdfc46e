import fc from 'fast-check';
import type { MappingInForce } from '../../src/mappings/model.ts';
import { ExactNumber, isJsonObject } from '../../src/numbers/exact-json.ts';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import { type Condition, isGroup, operatorOf } from '../../src/where/condition.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { Exactness, Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { planQuery } from '../../src/where/plan.ts';
import { print } from '../../src/where/print.ts';
import { beyondDeclaration, declarations } from '../where/declarations.ts';
import { EVERY_OPERATOR } from '../where/planned.ts';
import { evaluate } from '../where/reference.ts';
import { filtersOn, mappedQueryable, mappings, VENDOR_FIELDS, VENDOR_ROWS } from './mapped-rows.ts';

/** How the plans of the cases came out. */
export type Seen = Record<'full' | 'partial' | 'none', number>;

/** A row of the vendor's object, with its number among all rows. */
type Numbered = readonly [row: Row, number: number];

/** The numbers of the vendor's rows for a condition: where an operator is declared a superset, now and then one more. */
function answer(rows: readonly Numbered[], pushed: Condition | undefined): readonly number[] {
  return rows.flatMap(([row, number]) => (pushed === undefined || matches(pushed, row, number) ? [number] : []));
}

function matches(condition: Condition, row: Row, number: number): boolean {
  if (isGroup<Condition>(condition)) {
    const test = (operand: Condition) => matches(operand, row, number);
    return condition.kind === 'and' ? condition.operands.every(test) : condition.operands.some(test);
  }
  if (evaluate(condition, row) === true) return true;
  const isLoose = condition.field.filter?.[operatorOf(condition)] === 'superset';
  return isLoose && sumOf(`${print(condition)} ${number}`) % 4 === 0;
}

/** A sum of the characters of a text that is about as good as chance, and the same each time. */
function sumOf(text: string): number {
  let sum = 7;
  for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, 31) + text.charCodeAt(index)) >>> 0;
  return sum ^ (sum >>> 15);
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

/** A provider that accepts every operator on every field, exactly or not. Each rule of the rewriting reaches it. */
const capable: fc.Arbitrary<Queryable> = declarations.chain(({ fields, translator }) =>
  fc
    .array(fc.constantFrom<Exactness>('exact', 'exact', 'superset'), { minLength: 12, maxLength: 12 })
    .map((exactness) => ({
      shape: { kind: 'any' as const },
      ...(translator !== undefined && { translator }),
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, { filter: _, likeForms: __, likeExcept: ___, ...spec }]) => {
          const filter = Object.fromEntries(EVERY_OPERATOR.map((each, index) => [each, exactness[index] ?? 'exact']));
          return [name, { ...spec, filter }];
        }),
      ),
    })),
);

/** The declarations of test/where and capable ones, with the fields that only mappings need. */
const vendors: fc.Arbitrary<Queryable> = fc.oneof(declarations, capable).map((vendor) => ({
  ...vendor,
  fields: {
    ...vendor.fields,
    in: { ...VENDOR_FIELDS.in, filter: vendor.fields.tags?.filter ?? {} },
    stamp: { ...VENDOR_FIELDS.stamp, filter: vendor.fields.cs?.filter ?? {} },
    moment: { ...VENDOR_FIELDS.moment, filter: vendor.fields.ci?.filter ?? {} },
  },
}));

interface Case {
  readonly vendor: Queryable;
  readonly mapping: MappingInForce;
  /** The first of the vendor's rows. */
  readonly from: number;
}

const ROWS_OF_A_CASE = 20;

/** Returns a test of filters on a mapping. It throws when rows are lost, surplus or asked for in a way that the vendor does not declare. */
function createJudge({ vendor, mapping, from }: Case) {
  const { queryable, compiled } = mappedQueryable(vendor, mapping);
  const { map } = compiled.rowMapping();
  const numbers = Array.from({ length: ROWS_OF_A_CASE }, (_, index) => (from + index) % VENDOR_ROWS.length);
  const asked = numbers.map((number): Numbered => [withTexts(VENDOR_ROWS[number] ?? {}), number]);
  const rows = new Map(numbers.map((number) => [number, map(VENDOR_ROWS[number] ?? {}, new Map())]));
  const texts = new Map([...rows].map(([number, row]) => [number, withTexts(row)]));

  const judge = (filter: Filter): keyof Seen => {
    const { condition: tree } = checkFilter(filter, queryable);
    if (tree === undefined) throw new Error('No condition.');
    const plan = planQuery(queryable, { condition: normalise(tree), parameters: {}, orderBy: [] });
    const meant = [...texts].flatMap(([number, row]) => (evaluate(tree, row) === true ? [number] : []));
    const kept = plan.queries.flatMap(({ pushed, residual, native }) => {
      const beyond = pushed === undefined ? [] : beyondDeclaration(pushed, native, vendor);
      if (beyond.length > 0) throw new Error(`${print(filter)} asks for ${beyond.join(', ')}`);
      const test = residual === undefined ? () => true : compileCondition(residual);
      return answer(asked, pushed).filter((number) => test(rows.get(number) ?? {}));
    });
    if (kept.toSorted().join() !== meant.toSorted().join()) {
      const [lost, more] = [new Set(meant).difference(new Set(kept)), kept.filter((number) => !meant.includes(number))];
      const show = (each: Iterable<number>) => JSON.stringify([...each].map((number) => rows.get(number)));
      throw new Error(
        `${JSON.stringify(mapping.fields)} ${print(filter)}, pushed ${plan.pushed === undefined ? 'nothing' : print(plan.pushed)}: lost ${show(lost)}, too many ${show(more)}, ${kept.length} instead of ${meant.length}`,
      );
    }
    return plan.pushdown;
  };
  return { queryable, judge };
}

const FILTERS_OF_A_CASE = 10;

/** Tries filters on random mappings of random objects. */
export function tryRewriting(numRuns: number, seed: number): Seen {
  const seen: Seen = { full: 0, partial: 0, none: 0 };
  const cases = fc
    .record({ vendor: vendors, mapping: mappings, from: fc.nat(VENDOR_ROWS.length - 1) })
    .chain((each) => {
      const { queryable, judge } = createJudge(each);
      const size = { minLength: FILTERS_OF_A_CASE, maxLength: FILTERS_OF_A_CASE };
      return fc.array(filtersOn(queryable), size).map((filters) => () => {
        for (const filter of filters) seen[judge(filter)]++;
      });
    });
  fc.assert(
    fc.property(cases, (run) => run()),
    { seed, numRuns: Math.ceil(numRuns / FILTERS_OF_A_CASE) },
  );
  return seen;
}
