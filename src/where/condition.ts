import type { ComparisonOperator, Loc, Operator } from './ast.ts';
import type { LikePattern, PushedField, Value } from './model.ts';

/** A predicate on a known field, its value typed. */
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

export interface Group<Node> {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Node[];
}

/** A checked filter: as written, but typed. */
export type Checked = Predicate | Group<Checked> | { readonly kind: 'not'; readonly operand: Checked };

/** A normalised filter: no NOT, no group directly inside a group of its kind, no doubles. Only "true or not" matters in it. */
export type Condition = Predicate | Group<Condition>;

export function isGroup<Node extends { kind: string }>(node: Node | Group<Node>): node is Group<Node> {
  return node.kind === 'and' || node.kind === 'or';
}

/** The operator of the language that a predicate uses, as declared in `FieldSpec.filter`. */
export function operatorOf(predicate: Predicate): Operator {
  if (predicate.kind === 'compare') return predicate.operator;
  if (predicate.kind === 'in') return predicate.negated ? 'NOT IN' : 'IN';
  if (predicate.kind === 'like') return predicate.negated ? 'NOT LIKE' : 'LIKE';
  return predicate.negated ? 'IS NOT NULL' : 'IS NULL';
}

/** One condition of several, without a group directly inside a group of its kind; undefined when there are none. */
export function join(kind: 'and' | 'or', operands: readonly Condition[]): Condition | undefined {
  const flat = operands.flatMap((operand) => (operand.kind === kind ? operand.operands : [operand]));
  return flat.length > 1 ? { kind, operands: flat } : flat[0];
}

/** The operands of the top-level AND. */
export function conjuncts(condition: Condition | undefined): readonly Condition[] {
  if (condition === undefined) return [];
  return condition.kind === 'and' ? condition.operands : [condition];
}

export function predicatesOf(condition: Condition | undefined): readonly Predicate[] {
  if (condition === undefined) return [];
  return isGroup(condition) ? condition.operands.flatMap(predicatesOf) : [condition];
}
