import fc from 'fast-check';
import type { Operator } from '../../src/where/ast.ts';
import { type Condition, conjuncts, isGroup, operatorOf, predicatesOf } from '../../src/where/condition.ts';
import type { BooleanShape, Exactness, FieldSpec, LikeForm, Queryable, QueryLimits } from '../../src/where/model.ts';
import { brackets, EVERY_OPERATOR } from './planned.ts';
import { RECORD_FIELDS } from './records.ts';

/** Random abilities of a provider, and a check that it is asked for nothing beyond them. */

const FORMS: readonly LikeForm[] = ['literal', 'prefix', 'suffix', 'contains', 'pattern'];

const abilities = fc
  .array(fc.tuple(fc.constantFrom(...EVERY_OPERATOR), fc.constantFrom<Exactness>('exact', 'superset')), {
    maxLength: 12,
  })
  .map((pairs): Partial<Record<Operator, Exactness>> => Object.fromEntries(pairs));

const likeForms = fc.option(fc.subarray([...FORMS]), { nil: undefined });
const likeExcept = fc.option(fc.constantFrom('a', 's%', '\\'), { nil: undefined });
const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
const groupLimits = fc.record({ groups: limit(6), perGroup: limit(4), total: limit(8) }).map(defined);

const shapes: fc.Arbitrary<BooleanShape> = fc.oneof(
  fc.constantFrom<BooleanShape>({ kind: 'none' }, { kind: 'any' }, { kind: 'and' }, { kind: 'and-xor-or' }),
  groupLimits.map((limits): BooleanShape => ({ kind: 'dnf', ...limits })),
  groupLimits.map((limits): BooleanShape => ({ kind: 'cnf', ...limits })),
);

const limits: fc.Arbitrary<QueryLimits> = fc
  .record({ maxTerms: limit(6), maxInSize: limit(3), maxLength: limit(120) })
  .map(defined);

export const declarations: fc.Arbitrary<Queryable> = fc
  .record({
    fields: fc.record(
      Object.fromEntries(Object.entries(RECORD_FIELDS).map(([name, spec]) => [name, declared(spec)] as const)),
    ),
    shape: shapes,
    limits,
  })
  .map((declaration) => ({ ...declaration, translator: brackets }));

function declared(spec: FieldSpec): fc.Arbitrary<FieldSpec> {
  return fc.tuple(abilities, likeForms, likeExcept).map(([filter, forms, except]) => ({
    ...spec,
    filter,
    ...(forms !== undefined && { likeForms: forms }),
    ...(except !== undefined && { likeExcept: except }),
  }));
}

function defined<Value extends object>(value: Value): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  return JSON.parse(JSON.stringify(value));
}

/** What of a pushed condition the provider never said it could do. */
export function beyondDeclaration(pushed: Condition, native: unknown, queryable: Queryable): readonly string[] {
  const { maxTerms = Number.POSITIVE_INFINITY, maxInSize = Number.POSITIVE_INFINITY } = queryable.limits ?? {};
  const predicates = predicatesOf(pushed);
  const undeclared = predicates.filter((predicate) => {
    const { filter, likeForms: forms, likeExcept: except = '' } = predicate.field;
    if (filter?.[operatorOf(predicate)] === undefined) return true;
    if (predicate.kind === 'in') return predicate.values.length > maxInSize;
    if (predicate.kind !== 'like') return false;
    const isSure = [...predicate.pattern.text].every((character) => !except.includes(character));
    return !isSure || (forms !== undefined && !forms.includes(predicate.pattern.form));
  });
  const length = String(native).length;
  return [
    ...undeclared.map((predicate) => `${operatorOf(predicate)} on ${predicate.field.name}`),
    ...(predicates.length > maxTerms ? [`${predicates.length} predicates`] : []),
    ...(length > (queryable.limits?.maxLength ?? length) ? [`${length} characters`] : []),
    ...(isInShape(pushed, queryable.shape ?? { kind: 'and' }) ? [] : [`the shape of ${String(native)}`]),
  ];
}

function isInShape(condition: Condition, shape: BooleanShape): boolean {
  switch (shape.kind) {
    case 'none':
      return false;
    case 'any':
      return true;
    case 'and':
      return conjuncts(condition).every((part) => !isGroup<Condition>(part));
    case 'and-xor-or':
      return operandsOf(condition).every((part) => !isGroup<Condition>(part));
    case 'dnf':
      return isNormalForm(condition, 'or', shape);
    case 'cnf':
      return isNormalForm(condition, 'and', shape);
  }
}

function operandsOf(condition: Condition): readonly Condition[] {
  return isGroup<Condition>(condition) ? condition.operands : [condition];
}

function isNormalForm(
  condition: Condition,
  outer: 'and' | 'or',
  { groups = 1e9, perGroup = 1e9, total = 1e9 }: { groups?: number; perGroup?: number; total?: number },
): boolean {
  const parts = condition.kind === outer ? condition.operands : [condition];
  return (
    parts.length <= groups &&
    parts.every((part) => part.kind !== outer && operandsOf(part).every((inner) => !isGroup<Condition>(inner))) &&
    parts.every((part) => operandsOf(part).length <= perGroup) &&
    predicatesOf(condition).length <= total
  );
}
