import {
  type ConnectorContext,
  json,
  notFound,
  type ObjectSpec,
  type ProviderRequest,
  path,
  type RecordInput,
  rejected,
} from '#connector';

type Operations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'>;
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

export const readOne = ({ all, one }: Place): NonNullable<ObjectSpec['get']> => ({
  request: ({ id }) => ({ path: path`/${all}/${assertId(id)}.json` }),
  read: ({ body }) => json.object(json.at(body, one), `the member '${one}'`),
});

export function records(place: Place): Operations {
  const { all, one } = place;
  return {
    get: readOne(place),
    create: {
      run: async (context, { values }) => {
        const made = await context.send({
          method: 'POST',
          path: `/${all}.json`,
          json: { [one]: toNative(place, values) },
        });
        const id = json.key(json.at(made.body, one, 'id'), 'the id of the new record');
        return read(context, place, id);
      },
    },
    update: {
      run: async (context, { id, values }) => {
        await context.send({ ...change(place, 'PUT', id), json: { [one]: toNative(place, values) } });
        return assertChanged(place, values, await read(context, place, id));
      },
    },
    remove: { request: ({ id }) => change(place, 'DELETE', id), read: () => undefined },
  };
}

function change({ all }: Place, method: 'PUT' | 'DELETE', id: string): ProviderRequest {
  return { method, path: path`/${all}/${assertId(id)}.json` };
}

async function read({ send }: ConnectorContext, { all, one }: Place, id: RecordInput['id']) {
  return json.object(json.at((await send({ path: path`/${all}/${id}.json` })).body, one), `the member '${one}'`);
}

/** `{ status: { id } }` is shown, and `status_id` set. */
function toNative({ setBy = {} }: Place, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) =>
      json.isObject(value) && Object.hasOwn(value, 'id') ? [setBy[name] ?? `${name}_id`, value.id] : [name, value],
    ),
  );
}

/** What the workflow does not allow is passed over with a success. @throws AppError PROVIDER_REJECTED */
function assertChanged({ guarded = [] }: Place, values: Values, row: Values): Values {
  const refused = guarded.filter((name) => {
    const wanted = json.at(values, name, 'id');
    return wanted !== undefined && (json.at(row, name, 'id') ?? null) !== wanted;
  });
  if (refused.length === 0) return row;
  const names = refused.map((name) => `${name}_id`).join(', ');
  throw rejected(`Redmine kept ${names} as before: neither workflow nor role of this user allow the change.`);
}
