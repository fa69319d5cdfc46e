import {
  type ConnectorContext,
  type Json,
  json,
  type ObjectSpec,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { VERSION } from './query.ts';

type Operations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'replace' | 'remove'>;

interface Abilities {
  /** Members that an update must repeat. */
  readonly repeated: readonly string[];
  readonly isDeletable: boolean;
}

/**
 * Records of an entity, one at a time. Each write names the version of the record that it changes (`SyncToken`), so the record is read
 * first; a write of somebody else in between is a conflict. Sources: the reference of each entity, "Sparse update", "Delete".
 */
export function recordsOf(entity: string, { repeated, isDeletable }: Abilities): Operations {
  const recordIn = ({ body }: ProviderResponse) => json.object(json.at(body, entity), `the ${entity}`);
  const read = (id: string) => ({ path: path`/${entity.toLowerCase()}/${id}`, query: VERSION });
  const post = (body: Json, query = {}) => ({
    method: 'POST' as const,
    path: `/${entity.toLowerCase()}`,
    query: { ...query, ...VERSION },
    json: body,
  });
  const current = async ({ send }: ConnectorContext, id: string) => recordIn(await send(read(id)));
  const operations = records({ get: read, record: recordIn, create: { request: (values) => post(values) } });
  return {
    ...operations,
    update: {
      run: async (context, { id, values }) => {
        const stored = await current(context, id);
        const kept = pick(stored, repeated);
        const body = { ...kept, ...mergeMembers(stored, values), ...pick(stored, VERSIONED), sparse: true };
        return recordIn(await context.send(post(body)));
      },
    },
    replace: {
      run: async (context, { id, values }) => {
        const stored = await current(context, id);
        return recordIn(await context.send(post({ ...values, ...pick(stored, VERSIONED), sparse: false })));
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

/** A member that is an object replaces the whole of it, so the rest of an address goes with the part that changes. */
function mergeMembers(stored: Json, values: Json): Json {
  const merge = (name: string, value: unknown) =>
    json.isObject(value) && json.isObject(stored[name]) && !name.endsWith('Ref')
      ? { ...stored[name], ...value }
      : value;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, merge(name, value)]));
}
