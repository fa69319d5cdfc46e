import { type Json, json, path, records } from '#connector';
import { fieldsOf, type Source } from './lists.ts';

interface Options extends Pick<Source, 'fields'> {
  /** Names of members in requests, if responses have other names. */
  readonly names?: Readonly<Record<string, string>>;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the operations on records of the second version. An update lists the members that it sets, so null empties them. A written record
 * is read back.
 */
export function recordsOf(collection: string, { fields = [], names = {} }: Options = {}) {
  return records({
    get: (id, natives) => ({
      path: path`/rest/v2/${collection}/${id}`,
      query: { fields: fieldsOf(natives, fields) },
    }),
    create: {
      request: (values) => ({ method: 'POST', path: `/rest/v2/${collection}`, json: bodyOf(values, names) }),
      id: ({ body }) => json.key(json.at(body, 'id'), 'the id of the new record'),
    },
    update: (id, values) => {
      const body = bodyOf(values, names);
      return {
        method: 'PATCH',
        path: path`/rest/v2/${collection}/${id}`,
        query: { update_mask: Object.keys(body) },
        json: body,
      };
    },
    remove: (id) => ({ method: 'DELETE', path: path`/rest/v2/${collection}/${id}` }),
  });
}

/**
 * Returns the body of a write. A reference is written as an id under its name in `names`, if it has one. Otherwise a reference whose id is
 * null becomes null.
 */
function bodyOf(values: Values, names: NonNullable<Options['names']>): Json {
  return Object.fromEntries(
    Object.entries(values).map(([member, value]) => {
      const id = json.at(value, 'id');
      const name = names[member];
      if (name !== undefined) return [name, id === undefined ? value : id];
      return [member, id === null ? null : value];
    }),
  );
}
