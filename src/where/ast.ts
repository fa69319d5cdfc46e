/** The range of a node in the text: offset and length in UTF-16 units. */
export interface Loc {
  readonly offset: number;
  readonly length: number;
}

/** An operator that compares a field with one value. */
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** An operator of the language after normalisation, in which BETWEEN becomes two bounds. Fields declare their abilities by these words. */
export type Operator = ComparisonOperator | 'IN' | 'NOT IN' | 'LIKE' | 'NOT LIKE' | 'IS NULL' | 'IS NOT NULL';

/** A field as it is written in the text, e.g. `address.city`. */
export interface FieldRef {
  readonly name: string;
  readonly loc: Loc;
}

/** A literal as it is written in the text. The field that it is compared with decides its type. */
export type Literal =
  | { readonly kind: 'string'; readonly text: string; readonly loc: Loc }
  | { readonly kind: 'number'; readonly text: string; readonly loc: Loc }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly loc: Loc }
  | { readonly kind: 'date'; readonly text: string; readonly loc: Loc }
  | { readonly kind: 'datetime'; readonly text: string; readonly loc: Loc };

/** The tree that the parser returns: what the text says, with no name resolved. */
export type Filter =
  | { readonly kind: 'and'; readonly operands: readonly Filter[]; readonly loc: Loc }
  | { readonly kind: 'or'; readonly operands: readonly Filter[]; readonly loc: Loc }
  | { readonly kind: 'not'; readonly operand: Filter; readonly loc: Loc }
  | {
      readonly kind: 'compare';
      readonly field: FieldRef;
      readonly operator: ComparisonOperator;
      readonly value: Literal;
      readonly loc: Loc;
    }
  | {
      readonly kind: 'in';
      readonly field: FieldRef;
      readonly negated: boolean;
      readonly values: readonly Literal[];
      readonly loc: Loc;
    }
  | {
      readonly kind: 'like';
      readonly field: FieldRef;
      readonly negated: boolean;
      readonly pattern: Literal;
      readonly loc: Loc;
    }
  | { readonly kind: 'isNull'; readonly field: FieldRef; readonly negated: boolean; readonly loc: Loc }
  | {
      readonly kind: 'between';
      readonly field: FieldRef;
      readonly negated: boolean;
      readonly low: Literal;
      readonly high: Literal;
      readonly loc: Loc;
    };
