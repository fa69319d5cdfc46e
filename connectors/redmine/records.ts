import { json, notFound, type ObjectSpec, type ProviderResponse, path, records, rejected } from '#connector';

type Values = Readonly<Record<string, unknown>>;

/** The path of a kind of record, and the member that wraps one in bodies: `{ issue: { … } }`. */
export interface RecordPaths {
  readonly all: string;
  readonly one: string;
  /** References that a workflow or a role can protect. Redmine silently ignores a change of such a reference. */
  readonly guarded?: readonly string[];
  /** Names of references in writes. Default: the name of the reference with `_id`. */
  readonly setBy?: Readonly<Record<string, string>>;
}

/**
 * Asserts that the text is an id. Of another text, Redmine would use the leading digits as the id, or find a project by its name.
 * @throws AppError NOT_FOUND if the text is no number
 */
export function assertId(id: string): string {
  if (/^[1-9]\d{0,9}$/.test(id)) return id;
  throw notFound(`There is no record with the id '${id}'.`);
}

const pathOf = ({ all }: RecordPaths, id: string) => path`/${all}/${assertId(id)}.json`;
const recordIn = ({ one }: RecordPaths, { body }: ProviderResponse) =>
  json.object(json.at(body, one), `the member '${one}'`);

export const readOne = (paths: RecordPaths): NonNullable<ObjectSpec['get']> => ({
  request: ({ id }) => ({ path: pathOf(paths, id) }),
  read: (response) => recordIn(paths, response),
});

export function recordsAt(paths: RecordPaths) {
  const { all, one } = paths;
  return {
    ...records({
      get: (id) => ({ path: pathOf(paths, id) }),
      record: (response) => recordIn(paths, response),
      create: {
        request: (values) => ({ method: 'POST', path: `/${all}.json`, json: { [one]: toNative(paths, values) } }),
        id: (response) => json.key(recordIn(paths, response).id, 'the id of the new record'),
      },
      remove: (id) => ({ method: 'DELETE', path: pathOf(paths, id) }),
    }),
    update: {
      run: async ({ send }, { id, values }) => {
        const at = pathOf(paths, id);
        await send({ method: 'PUT', path: at, json: { [one]: toNative(paths, values) } });
        return assertChanged(paths, values, recordIn(paths, await send({ path: at })));
      },
    },
  } satisfies Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'>;
}

/** Returns values as writes name them: a response shows `{ status: { id } }`, and a write sets `status_id`. */
function toNative({ setBy = {} }: RecordPaths, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) =>
      json.isObject(value) && Object.hasOwn(value, 'id') ? [setBy[name] ?? `${name}_id`, value.id] : [name, value],
    ),
  );
}

/**
 * Asserts that Redmine made the change. It ignores changes that the workflow does not allow, and reports a success.
 * @throws AppError PROVIDER_REJECTED
 */
function assertChanged({ guarded = [] }: RecordPaths, values: Values, row: Values): Values {
  const refused = guarded.filter((name) => {
    const wanted = json.at(values, name, 'id');
    return wanted !== undefined && (json.at(row, name, 'id') ?? null) !== wanted;
  });
  if (refused.length === 0) return row;
  const names = refused.map((name) => `${name}_id`).join(', ');
  throw rejected(`Redmine did not change ${names}: the workflow or the role of this user does not allow it.`);
}
