import {
  type ConnectorContext,
  defined,
  defineObject,
  fieldsOf,
  type Inputs,
  isNotFound,
  type Json,
  json,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type OperationName,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { toFields } from './fields.ts';
import official from './official.json' with { type: 'json' };
import { FILTERING, isEmpty, listOf, writeInstant } from './query.ts';

/** Modules that every account has, with the names that people share over providers. */
export const STANDARD: Readonly<Record<string, string>> = {
  Leads: 'leads',
  Contacts: 'contacts',
  Accounts: 'accounts',
  Deals: 'opportunities',
  Cases: 'incidents',
  Tasks: 'tasks',
  Products: 'products',
};

/** Returns the modules of the account, its own ones included, without their fields. */
export async function discoverObjects({ send }: ConnectorContext): Promise<Objects> {
  const { body } = await send({ path: '/crm/v8/settings/modules' });
  const modules = json
    .objects(json.at(body, 'modules'), 'the modules')
    .filter(({ api_supported, viewable }) => api_supported === true && viewable !== false)
    .filter(({ generated_type }) => generated_type === 'default' || generated_type === 'custom');
  const described = modules.map(
    (module) => [json.text(module.api_name, 'the name of a module'), outlineOf(module)] as const,
  );
  return Object.fromEntries([...described, ['users', users]]);
}

function outlineOf(module: Json): ObjectSpec {
  const name = String(module.api_name);
  const alias = STANDARD[name];
  const about = defined({
    label: json.findText(module.plural_label),
    custom: module.generated_type === 'custom' || undefined,
    aliases: alias === undefined ? undefined : [alias],
  });
  const operations = [...recordsOf(name, module), ['list', listOf(name)] as const];
  const allowed = Object.fromEntries(operations);
  return defineObject<string>({
    ...about,
    fields: {},
    ...allowed,
    describe: async ({ send }) => {
      const { body } = await send({ path: '/crm/v8/settings/fields', query: { module: name } });
      const fields = toFields(json.objects(json.at(body, 'fields'), 'the fields'));
      const [updated, created] = ['Modified_Time', 'Created_Time'].map((time) => (fields[time] ? time : undefined));
      return defineObject<string>({
        ...about,
        fields,
        ...FILTERING,
        ...allowed,
        changes: defined({ updated, created, feed: deletionsOf(name) }),
      });
    },
  });
}

type Operations = readonly (readonly [name: OperationName, operation: unknown])[];

/** Returns the operations on single records that the module allows. Source: the operations of `/crm/v8/{module_api_name}`. */
function recordsOf(module: string, { creatable, editable, deletable }: Json): Operations {
  const one = (id: string) => path`/crm/v8/${module}/${id}`;
  const { get, create, update, remove } = records({
    get: (id) => ({ path: one(id) }),
    record: (response) => readOne(response, 'data'),
    create: {
      request: (values) => ({ method: 'POST', path: path`/crm/v8/${module}`, json: { data: [values] } }),
      id: (response) => json.key(json.at(readOne(response, 'data'), 'details', 'id'), 'the id of the new record'),
    },
    update: (id, values) => ({ method: 'PUT', path: one(id), json: { data: [values] } }),
    remove: (id) => ({ method: 'DELETE', path: one(id) }),
  });
  return [
    ['get', get],
    ...(creatable === true ? [['create', create] as const] : []),
    ...(editable === true ? [['update', update] as const] : []),
    ...(deletable === true ? [['remove', remove] as const] : []),
  ];
}

/** Reads the only record of a response. There is no body where the record does not exist. */
function readOne({ body }: ProviderResponse, member: string): Json {
  const [record] = isEmpty(body) ? [] : json.objects(json.at(body, member), 'the record');
  if (record === undefined) throw notFound('Zoho CRM has no such record.');
  return record;
}

const PER_PAGE = 200;

/** Lists the records that were deleted since a time. Source: the operation `GET /crm/v8/{module_api_name}/deleted`. */
function deletionsOf(module: string): NonNullable<NonNullable<ObjectSpec['changes']>['feed']> {
  return {
    run: async ({ send }, { since, cursor = '1' }) => {
      const body = await send({
        path: path`/crm/v8/${module}/deleted`,
        query: { type: 'all', page: cursor, per_page: PER_PAGE },
        headers: { 'if-modified-since': writeInstant(since) },
      }).then(
        (response) => response.body,
        // The status 304: nothing was deleted since then.
        (error: unknown) => {
          if (!isNotFound(error)) throw error;
        },
      );
      if (isEmpty(body)) return { changes: [] };
      const changes = json.objects(json.at(body, 'data'), 'the deleted records').map(({ id, deleted_time }) => ({
        id: json.key(id, 'the id of a deleted record'),
        action: 'deleted' as const,
        at: json.text(deleted_time, 'the time of a deletion'),
      }));
      const hasMore = json.at(body, 'info', 'more_records') === true;
      return { changes, ...(hasMore && { next: String(Number(cursor) + 1) }) };
    },
  };
}

/** The users of the account, who are no records of a module. */
const users = defineObject<Inputs>({
  label: 'Users',
  fields: fieldsOf(official, 'users', {
    pick: 'id first_name last_name full_name email phone mobile status confirm role profile time_zone language country created_time',
    but: { id: { nullable: false }, time_zone: { type: 'string' } },
  }),
  list: list<Inputs>({
    request: ({ page }) => ({ path: '/crm/v8/users', query: page }),
    rows: (body) => (isEmpty(body) ? [] : json.array(json.at(body, 'users'), 'the users')),
    paging: {
      kind: 'number',
      ...{ page: 'page', size: 'per_page', max: PER_PAGE },
      more: ({ body }) => json.at(body, 'info', 'more_records') === true,
    },
  }),
  ...records({
    get: (id) => ({ path: path`/crm/v8/users/${id}` }),
    record: (response) => readOne(response, 'users'),
  }),
});
