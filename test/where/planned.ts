import type { Operator } from '../../src/where/ast.ts';
import type { Exactness, FieldSpec, LikeForm, Queryable, Translator } from '../../src/where/model.ts';
import { print } from '../../src/where/print.ts';
import { type PreparedQuery, prepareQuery } from '../../src/where/query.ts';

/** A provider that reads our own language back, but with brackets, so that it cannot be taken for it. */
export const brackets: Translator<unknown> = {
  nulls: 'unknown',
  and: (operands) => `[${operands.join(' & ')}]`,
  or: (operands) => `[${operands.join(' | ')}]`,
  compare: (field, operator, value) =>
    `${field.native} ${operator} ${value.kind === 'string' || value.kind === 'boolean' ? value.value : value.text}`,
  in: (field, values, negated) => `${field.native} ${negated ? 'not ' : ''}in ${values.length}`,
  like: (field, pattern, negated) => `${field.native} ${negated ? 'not ' : ''}like ${pattern.form} ${pattern.text}`,
  isNull: (field, negated) => `${field.native} is ${negated ? 'not ' : ''}null`,
};

type Declared = Partial<Record<Operator, Exactness>>;

export const EVERY_OPERATOR = [
  ...(['=', '!=', '<', '<=', '>', '>='] as const),
  ...(['IN', 'NOT IN', 'LIKE', 'NOT LIKE', 'IS NULL', 'IS NOT NULL'] as const),
];

export const EXACT: Declared = Object.fromEntries(EVERY_OPERATOR.map((operator) => [operator, 'exact']));
export const SUPERSET: Declared = Object.fromEntries(EVERY_OPERATOR.map((operator) => [operator, 'superset']));

/** Two texts and two numbers with the declared operators. */
export function provider(
  filter: Declared,
  rest: Partial<Queryable> & { likeForms?: readonly LikeForm[] } = {},
): Queryable {
  const { likeForms, ...queryable } = rest;
  const text: FieldSpec = { type: 'string', filter, ...(likeForms !== undefined && { likeForms }) };
  const number: FieldSpec = { type: 'number', filter };
  return {
    fields: { a: text, b: text, x: number, y: number, none: { type: 'number' }, flag: { type: 'boolean', filter } },
    translator: brackets,
    shape: { kind: 'any' },
    ...queryable,
  };
}

/** Numbers that a provider filters exactly (`e`), as a superset (`s`) and not at all (`n`). */
export const MIXED: Queryable = {
  ...provider({}),
  fields: {
    e: { type: 'number', filter: { '=': 'exact' }, sortable: true },
    s: { type: 'number', filter: { '=': 'superset' } },
    n: { type: 'number' },
  },
};

/** A provider that evaluates every operator on fields of these types. */
export function exactProvider(fields: Readonly<Record<string, FieldSpec>>): Queryable {
  return {
    fields: Object.fromEntries(Object.entries(fields).map(([name, spec]) => [name, { ...spec, filter: EXACT }])),
    translator: brackets,
    shape: { kind: 'any' },
  };
}

/** What becomes of a filter: the pushed and the residual part in our language. */
export function plannedParts(where: string, queryable: Queryable) {
  const { plan } = prepareQuery({ where }, queryable);
  return {
    pushed: plan.pushed && print(plan.pushed),
    residual: plan.residual && print(plan.residual),
    pushdown: plan.pushdown,
  };
}

export function planOf(where: string | undefined, queryable: Queryable, orderBy?: string): PreparedQuery['plan'] {
  return prepareQuery({ where, orderBy }, queryable).plan;
}
