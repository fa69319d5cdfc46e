import {
  type ConnectorContext,
  type Fields,
  type Json,
  json,
  type ObjectSpec,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { VERSION } from './query.ts';

type Operations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'replace' | 'remove'>;

/**
 * Returns the operations on single records. Each write contains the version of the record that it changes (`SyncToken`), so the record is
 * read first. A write by somebody else in between is a conflict. Sources: the reference of each entity, "Sparse update", "Delete".
 */
export function recordsOf(entity: string, fields: Fields, isDeletable: boolean): Operations {
  const repeated = requiredMembers(fields);
  const merged = mergedMembers(fields);
  const fixed = fixedMembers(fields);
  const recordIn = ({ body }: ProviderResponse) => json.object(json.at(body, entity), `the ${entity}`);
  const read = (id: string) => ({ path: path`/${entity.toLowerCase()}/${id}`, query: VERSION });
  const post = (body: Json, query = {}) => ({
    method: 'POST' as const,
    path: `/${entity.toLowerCase()}`,
    query: { ...query, ...VERSION },
    json: body,
  });
  const merge = (stored: Json, name: string, value: unknown) => {
    const old = stored[name];
    return merged.has(name) && json.isObject(value) && json.isObject(old) ? { ...old, ...value } : value;
  };
  const current = async ({ send }: ConnectorContext, id: string) => recordIn(await send(read(id)));
  const operations = records({ get: read, record: recordIn, create: { request: (values) => post(values) } });
  return {
    ...operations,
    update: {
      run: async (context, { id, values }) => {
        const stored = await current(context, id);
        const changed = Object.entries(values).map(([name, value]) => [name, merge(stored, name, value)]);
        const kept = { ...pick(stored, repeated), ...Object.fromEntries(changed), ...pick(stored, VERSIONED) };
        return recordIn(await context.send(post({ ...kept, sparse: true })));
      },
    },
    replace: {
      run: async (context, { id, values }) => {
        const stored = await current(context, id);
        const kept = pick(stored, [...fixed, ...VERSIONED]);
        return recordIn(await context.send(post({ ...values, ...kept, sparse: false })));
      },
    },
    ...(isDeletable && {
      remove: {
        run: async (context, { id }) => {
          const stored = await current(context, id);
          await context.send(post(pick(stored, VERSIONED), { operation: 'delete' }));
        },
      },
    }),
  };
}

const VERSIONED = ['Id', 'SyncToken'] as const;

function pick(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(record, name) ? [[name, record[name]]] : [])));
}

const memberOf = (field: string) => field.replace(/\..*/, '');

/**
 * Returns the members that every update must contain, even if it changes other members. Lines are excluded, because QuickBooks would create
 * repeated lines again.
 */
function requiredMembers(fields: Fields): readonly string[] {
  const required = Object.entries(fields).filter(([, { type, required }]) => required === true && type !== 'array');
  return required.map(([name]) => memberOf(name));
}

/** Returns the members that only a creation sets, such as the currency. A replacement must contain them. */
function fixedMembers(fields: Fields): readonly string[] {
  const fixed = Object.entries(fields).filter(([, { createable, updateable }]) => createable && !updateable);
  return fixed.map(([name]) => memberOf(name));
}

/**
 * Returns the members of which an update may change a part, such as addresses. QuickBooks accepts them only as a whole. A reference is a
 * single value, so it is excluded.
 */
function mergedMembers(fields: Fields): ReadonlySet<string> {
  const parts = Object.keys(fields).filter((name) => name.includes('.'));
  return new Set(parts.map(memberOf).filter((member) => !member.endsWith('Ref')));
}
