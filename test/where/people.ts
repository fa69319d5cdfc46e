import { checkFilter } from '../../src/where/check.ts';
import type { Condition } from '../../src/where/condition.ts';
import type { FieldSpec, Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { parseWhere } from '../../src/where/parse.ts';

/** An object with a field of every type, and nothing that a provider could do. */
export const PEOPLE = {
  fields: {
    name: { type: 'string' },
    title: { type: 'string', collation: 'ci' },
    count: { type: 'integer' },
    price: { type: 'number' },
    active: { type: 'boolean' },
    born: { type: 'date' },
    created: { type: 'datetime' },
    address: { type: 'object' },
    'address.city': { type: 'string' },
    tags: { type: 'array' },
  },
} satisfies Queryable & { fields: Record<string, FieldSpec> };

/** The normalised condition of a text. */
export function conditionOf(where: string, queryable: Queryable = PEOPLE): Condition {
  const { condition } = checkFilter(parseWhere(where), queryable);
  if (condition === undefined) throw new Error(`'${where}' has no condition.`);
  return normalise(condition);
}
