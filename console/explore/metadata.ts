import type { Queryable } from '../../src/where/model.ts';
import { api, ask, onInstance, type Schemas } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

export type ObjectFields = Schemas['ObjectMetadata'];
export type ObjectField = Schemas['ObjectField'];

/** Returns the metadata of an object of an instance. Nothing is loaded while the name is empty. */
export function useMetadata(instanceId: number, objectName: string): Loaded<ObjectFields | undefined> {
  return useLoad(
    async (signal) => {
      if (objectName === '') return undefined;
      const asked = { signal, headers: onInstance(instanceId), params: { path: { objectName } } };
      return ask(api.GET('/objects/{objectName}/metadata', asked));
    },
    [instanceId, objectName],
  );
}

/** Converts the metadata of an object for the checks of the parser. */
export function queryableOf({ fields, parameters }: ObjectFields): Queryable {
  return {
    fields: Object.fromEntries(
      fields.map(({ name, type, unlisted, values, aliases }) => [
        name,
        {
          type,
          ...(unlisted !== undefined && { unlisted }),
          ...(values !== undefined && { values }),
          // Only the service knows how `=` of an alias is evaluated. Here, only the names of aliases are checked.
          ...(aliases !== undefined && { aliases: Object.fromEntries(aliases.map((alias) => [alias.name, '='])) }),
        },
      ]),
    ),
    parameters: Object.fromEntries(parameters.map(({ name, type, description }) => [name, { type, description }])),
  };
}

const NULL_TESTS = ['IS NULL', 'IS NOT NULL'];
const EQUALITIES = ['=', '!=', 'IN', 'NOT IN'];
const ORDERED = [...EQUALITIES, '<', '<=', '>', '>=', 'BETWEEN', ...NULL_TESTS];

/** The operators for fields of each type. */
const OPERATORS: Readonly<Record<ObjectField['type'], readonly string[]>> = {
  string: ['=', '!=', 'LIKE', 'NOT LIKE', 'IN', 'NOT IN', '<', '<=', '>', '>=', 'BETWEEN', ...NULL_TESTS],
  number: ORDERED,
  integer: ORDERED,
  date: ORDERED,
  datetime: ORDERED,
  boolean: [...EQUALITIES, ...NULL_TESTS],
  object: NULL_TESTS,
  array: NULL_TESTS,
};

/** The side that evaluates an operator. `here`: the service, row by row. */
export type Evaluator = 'exact' | 'superset' | 'here';

export const EVALUATORS: Readonly<Record<Evaluator, string>> = {
  exact: 'by the provider, exactly',
  superset: 'by the provider, and checked again by Causeway',
  here: 'by Causeway, row by row',
};

export function operatorsOf({ type }: Pick<ObjectField, 'type'>): readonly string[] {
  return OPERATORS[type];
}

/** Returns the side that evaluates an operator of a field. For a range, the worse of its two bounds decides. */
export function evaluatorOf({ filter }: ObjectField, operator: string): Evaluator {
  if (operator !== 'BETWEEN') return filter[operator] ?? 'here';
  const bounds = [filter['>='], filter['<=']];
  if (bounds.includes(undefined)) return 'here';
  return bounds.includes('superset') ? 'superset' : 'exact';
}
