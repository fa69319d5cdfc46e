import type { ComparisonOperator, Loc, Operator } from './ast.ts';
import type { LikePattern, PushedField, Value } from './model.ts';

/** A predicate on a known field, with a typed value. */
export type Predicate =
  | {
      readonly kind: 'compare';
      readonly field: PushedField;
      readonly operator: ComparisonOperator;
      readonly value: Value;
      readonly loc: Loc;
    }
  | {
      readonly kind: 'in';
      readonly field: PushedField;
      readonly negated: boolean;
      readonly values: readonly Value[];
      readonly loc: Loc;
    }
  | {
      readonly kind: 'like';
      readonly field: PushedField;
      readonly negated: boolean;
      readonly pattern: LikePattern;
      readonly loc: Loc;
    }
  | { readonly kind: 'isNull'; readonly field: PushedField; readonly negated: boolean; readonly loc: Loc };

/** Operands that are joined by AND or OR. */
export interface Group<Node> {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Node[];
}

/** A checked filter: still as it was written, but typed. */
export type Checked = Predicate | Group<Checked> | { readonly kind: 'not'; readonly operand: Checked };

/**
 * A normalised filter: without NOT, without a group directly inside a group of the same kind, and without duplicates. It only preserves
 * whether a row matches.
 */
export type Condition = Predicate | Group<Condition>;

/** Returns whether a node is an AND or an OR. */
export function isGroup<Node extends { kind: string }>(node: Node | Group<Node>): node is Group<Node> {
  return node.kind === 'and' || node.kind === 'or';
}

/** Returns the operator of a predicate, as `FieldSpec.filter` declares it. */
export function operatorOf(predicate: Predicate): Operator {
  if (predicate.kind === 'compare') return predicate.operator;
  if (predicate.kind === 'in') return predicate.negated ? 'NOT IN' : 'IN';
  if (predicate.kind === 'like') return predicate.negated ? 'NOT LIKE' : 'LIKE';
  return predicate.negated ? 'IS NOT NULL' : 'IS NULL';
}

/** Joins conditions without a group directly inside a group of the same kind. Returns undefined when there are none. */
export function join(kind: 'and' | 'or', operands: readonly Condition[]): Condition | undefined {
  const flat = operands.flatMap((operand) => (operand.kind === kind ? operand.operands : [operand]));
  return flat.length > 1 ? { kind, operands: flat } : flat[0];
}

/** Returns the operands of the top-level AND; any other condition is the only operand. */
export function conjuncts(condition: Condition | undefined): readonly Condition[] {
  if (condition === undefined) return [];
  return condition.kind === 'and' ? condition.operands : [condition];
}

/** Returns all predicates of a condition, from left to right. */
export function predicatesOf(condition: Condition | undefined): readonly Predicate[] {
  if (condition === undefined) return [];
  return isGroup(condition) ? condition.operands.flatMap(predicatesOf) : [condition];
}
