import type { ComparisonOperator } from './ast.ts';
import { type Checked, type Condition, type Group, isGroup, join, type Predicate } from './condition.ts';
import type { Value } from './model.ts';
import { print } from './print.ts';

/** The opposite of each operator in three-valued logic: `a < 1` and `a >= 1` are unknown for the same rows. */
const OPPOSITE: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};

/**
 * Moves NOT into the predicates, flattens groups, removes duplicates, and joins equalities of one field to IN. The result is true for
 * exactly the rows for which the filter is true; unknown and false may be exchanged.
 */
export function normalise(checked: Checked): Condition {
  return simplify(foldNot(checked, false));
}

function foldNot(node: Checked, negate: boolean): Condition {
  if (node.kind === 'not') return foldNot(node.operand, !negate);
  if (isGroup<Checked>(node)) {
    const kind = negate ? OTHER_GROUP[node.kind] : node.kind;
    return { kind, operands: node.operands.map((operand) => foldNot(operand, negate)) };
  }
  return negate ? negated(node) : node;
}

const OTHER_GROUP = { and: 'or', or: 'and' } as const;

function negated(predicate: Predicate): Predicate {
  if (predicate.kind === 'compare') return { ...predicate, operator: OPPOSITE[predicate.operator] };
  return { ...predicate, negated: !predicate.negated };
}

function simplify(condition: Condition): Condition {
  if (!isGroup<Condition>(condition)) return single(condition);
  const operands = condition.operands.map(simplify).flatMap((operand) => absorb(condition, operand));
  const unique = [...new Map(gather(condition.kind, operands).map((operand) => [print(operand), operand])).values()];
  return join(condition.kind, unique) ?? condition;
}

function absorb(group: Group<Condition>, operand: Condition): readonly Condition[] {
  return isGroup<Condition>(operand) && operand.kind === group.kind ? operand.operands : [operand];
}

/** Turns IN with one value into an equality, and removes duplicate values. */
function single(predicate: Predicate): Predicate {
  if (predicate.kind !== 'in') return predicate;
  const values = distinct(predicate.values);
  const [only] = values;
  if (values.length > 1 || only === undefined) return { ...predicate, values };
  const { field, loc, negated } = predicate;
  return { kind: 'compare', field, operator: negated ? '!=' : '=', value: only, loc };
}

function distinct(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [valueKey(value), value])).values()];
}

function valueKey(value: Value): string {
  return value.kind === 'string' || value.kind === 'boolean' ? `${value.kind}:${value.value}` : value.text;
}

/** `a = 1 OR a = 2` → `a IN (1, 2)`; `a != 1 AND a != 2` → `a NOT IN (1, 2)`. */
function gather(kind: 'and' | 'or', operands: readonly Condition[]): readonly Condition[] {
  const gathered = new Map<string, Predicate>();
  const result: (Condition | string)[] = [];
  for (const operand of operands) {
    const values = listedValues(kind, operand);
    if (values === undefined || isGroup<Condition>(operand)) {
      result.push(operand);
      continue;
    }
    const { name } = operand.field;
    const before = gathered.get(name);
    if (before === undefined) result.push(name);
    const all = [...(before?.kind === 'in' ? before.values : []), ...values];
    gathered.set(name, {
      kind: 'in',
      field: operand.field,
      negated: kind === 'and',
      values: all,
      loc: before?.loc ?? operand.loc,
    });
  }
  return result.flatMap((entry) => {
    if (typeof entry !== 'string') return [entry];
    const predicate = gathered.get(entry);
    return predicate === undefined ? [] : [single(predicate)];
  });
}

function listedValues(kind: 'and' | 'or', condition: Condition): readonly Value[] | undefined {
  const negated = kind === 'and';
  if (condition.kind === 'in' && condition.negated === negated) return condition.values;
  const operator = negated ? '!=' : '=';
  return condition.kind === 'compare' && condition.operator === operator ? [condition.value] : undefined;
}
