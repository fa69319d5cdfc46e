import { json, notFound, type ObjectSpec, type ProviderResponse, path, records, rejected } from '#connector';

type Values = Readonly<Record<string, unknown>>;

/** Where a kind of records is, and what one is called in bodies: `{ issue: { … } }`. */
export interface Place {
  readonly all: string;
  readonly one: string;
  /** References that a workflow or a role may keep from being set, which is then passed over. */
  readonly guarded?: readonly string[];
  /** By which name a reference is set. Default: its own with `_id`. */
  readonly setBy?: Readonly<Record<string, string>>;
}

/** @throws AppError NOT_FOUND for what is no number: of such a text the digits in front would count, or it is the name of a project */
export function assertId(id: string): string {
  if (/^[1-9]\d{0,9}$/.test(id)) return id;
  throw notFound(`There is no record with the id '${id}'.`);
}

const pathOf = ({ all }: Place, id: string) => path`/${all}/${assertId(id)}.json`;
const recordIn = ({ one }: Place, { body }: ProviderResponse) => json.object(json.at(body, one), `the member '${one}'`);

export const readOne = (place: Place): NonNullable<ObjectSpec['get']> => ({
  request: ({ id }) => ({ path: pathOf(place, id) }),
  read: (response) => recordIn(place, response),
});

export function recordsAt(place: Place) {
  const { all, one } = place;
  return {
    ...records({
      get: (id) => ({ path: pathOf(place, id) }),
      record: (response) => recordIn(place, response),
      create: {
        request: (values) => ({ method: 'POST', path: `/${all}.json`, json: { [one]: toNative(place, values) } }),
        id: (response) => json.key(recordIn(place, response).id, 'the id of the new record'),
      },
      remove: (id) => ({ method: 'DELETE', path: pathOf(place, id) }),
    }),
    update: {
      run: async ({ send }, { id, values }) => {
        const at = pathOf(place, id);
        await send({ method: 'PUT', path: at, json: { [one]: toNative(place, values) } });
        return assertChanged(place, values, recordIn(place, await send({ path: at })));
      },
    },
  } satisfies Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'>;
}

/** `{ status: { id } }` is shown, and `status_id` set. */
function toNative({ setBy = {} }: Place, values: Values): Values {
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
function assertChanged({ guarded = [] }: Place, values: Values, row: Values): Values {
  const refused = guarded.filter((name) => {
    const wanted = json.at(values, name, 'id');
    return wanted !== undefined && (json.at(row, name, 'id') ?? null) !== wanted;
  });
  if (refused.length === 0) return row;
  const names = refused.map((name) => `${name}_id`).join(', ');
  throw rejected(`Redmine did not change ${names}: the workflow or the role of this user does not allow it.`);
}
