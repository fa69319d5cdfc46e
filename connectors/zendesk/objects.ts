import {
  type ChangesInput,
  type ChangesPage,
  type ConnectorContext,
  defineObject,
  type Fields,
  type Json,
  json,
  type ListQuery,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type Paging,
  type ProviderRequest,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { customFields, FIELDS } from './fields.ts';
import { CUSTOM, idsIn, queryOf, type Terms, translator } from './search.ts';

const API = '/api/v2';

/** An object whose records have custom fields and are found by the search. */
interface Described extends Pick<ObjectSpec, 'label' | 'description' | 'aliases' | 'children'> {
  /** The name in bodies and in the search. */
  readonly one: string;
  readonly fields: Fields;
}

const PAGING: Paging = {
  kind: 'cursor',
  cursor: 'page[after]',
  size: 'page[size]',
  max: 100,
  next: ({ body }) => (json.at(body, 'meta', 'has_more') === true ? json.at(body, 'meta', 'after_cursor') : undefined),
};

const comments = defineObject({
  label: 'Comments',
  description: 'Public replies and private notes of a ticket. To add one, update the ticket with `comment`.',
  fields: FIELDS.comments,
  list: list({
    request: ({ page, parentId = '' }) => ({
      path: `${API}${path`/tickets/${parentId}/comments`}`,
      query: { ...page },
    }),
    rows: (body) => json.array(json.at(body, 'comments'), 'the comments'),
    paging: PAGING,
  }),
});

const DESCRIBED: Readonly<Record<string, Described>> = {
  tickets: {
    label: 'Tickets',
    description: 'Requests of customers. `description` is the first comment.',
    aliases: ['incidents'],
    one: 'ticket',
    fields: FIELDS.tickets,
    children: { comments },
  },
  users: {
    label: 'Users',
    description: 'Customers (`end-user`), agents and administrators.',
    aliases: ['contacts', 'customers'],
    one: 'user',
    fields: FIELDS.users,
  },
  organizations: { label: 'Organizations', aliases: ['accounts'], one: 'organization', fields: FIELDS.organizations },
};

const groups = defineObject({
  label: 'Groups',
  description: 'Groups of agents.',
  fields: FIELDS.groups,
  list: list({
    request: ({ page }) => ({ path: `${API}/groups`, query: { ...page } }),
    rows: (body) => json.array(json.at(body, 'groups'), 'the groups'),
    paging: PAGING,
  }),
  ...recordsOf('groups', 'group'),
});

/** Returns the objects with the custom fields of the account. */
export async function discoverObjects(context: ConnectorContext): Promise<Objects> {
  const all = Object.entries(DESCRIBED).map(
    async ([name, described]) => [name, objectOf(name, described, await readFields(context, described.one))] as const,
  );
  return { ...Object.fromEntries(await Promise.all(all)), groups };
}

const MOST_PAGES = 50;

async function readFields({ send }: ConnectorContext, one: string): Promise<Fields> {
  const found: Json[] = [];
  let after: unknown;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { 'page[size]': 100, ...(typeof after === 'string' && { 'page[after]': after }) };
    const response = await send({ path: `${API}/${one}_fields`, query });
    found.push(...json.objects(json.at(response.body, `${one}_fields`), 'the custom fields'));
    after = PAGING.kind === 'cursor' ? PAGING.next(response) : undefined;
    if (typeof after !== 'string') break;
  }
  return customFields(found);
}

function objectOf(name: string, { one, fields, ...about }: Described, custom: Fields): ObjectSpec {
  return defineObject<Terms>({
    ...about,
    fields: { ...fields, ...custom },
    translator,
    limits: { maxInSize: 100, maxLength: 2000 },
    list: list<Terms>({
      request: (query) => listRequest(name, one, query),
      rows: (body) =>
        json
          .objects(json.at(body, name) ?? json.at(body, 'results'), 'the records')
          .filter((record) => !isDeleted(record))
          .map((record) => toRecord(one, record)),
      paging: PAGING,
    }),
    ...recordsOf(name, one),
    // The search finds a change some minutes later.
    changes: { updated: 'updated_at', created: 'created_at', overlapSeconds: 600, feed: deletionsOf(name) },
  });
}

function listRequest(name: string, one: string, { filter, page }: ListQuery<Terms>): ProviderRequest {
  if (filter === undefined) return { path: `${API}/${name}`, query: { ...page } };
  const ids = idsIn(filter);
  if (ids !== undefined) return { path: `${API}/${name}/show_many`, query: { ids } };
  return { path: `${API}/search/export`, query: { query: queryOf(filter), 'filter[type]': one, ...page } };
}

/** Zendesk keeps deleted users as inactive ones, and shows deleted tickets and organizations in exports only. */
function isDeleted({ status, active, deleted_at }: Json): boolean {
  return status === 'deleted' || active === false || typeof deleted_at === 'string';
}

/** Returns a record with its custom fields as members. Tickets have a list of them, other records have an object. */
function toRecord(one: string, record: Json): Json {
  const custom: readonly (readonly [key: unknown, value: unknown])[] =
    one === 'ticket'
      ? json.objects(record.custom_fields ?? [], 'the custom fields').map(({ id, value }) => [id, value] as const)
      : Object.entries(record[`${one}_fields`] ?? {});
  return { ...record, ...Object.fromEntries(custom.map(([key, value]) => [`${CUSTOM}${key}`, value])) };
}

function toBody(one: string, values: Json): Json {
  const isCustom = ([name]: readonly [string, unknown]) => name.startsWith(CUSTOM);
  const { description, ...own } = Object.fromEntries(Object.entries(values).filter((entry) => !isCustom(entry)));
  const custom = Object.entries(values)
    .filter(isCustom)
    .map(([name, value]) => [name.slice(CUSTOM.length), value] as const);
  const fields =
    one === 'ticket'
      ? { custom_fields: custom.map(([id, value]) => ({ id: Number(id), value })) }
      : { [`${one}_fields`]: Object.fromEntries(custom) };
  return {
    [one]: {
      ...own,
      ...(description !== undefined && (one === 'ticket' ? { comment: { body: description } } : { description })),
      ...(custom.length > 0 && fields),
    },
  };
}

function recordsOf(name: string, one: string) {
  const at = (id: string) => `${API}/${name}${path`/${id}`}`;
  const record = ({ body }: ProviderResponse) => {
    const found = json.object(json.at(body, one), 'the record');
    if (isDeleted(found)) throw notFound('Zendesk keeps this record as a deleted one.');
    return toRecord(one, found);
  };
  return records({
    get: (id) => ({ path: at(id) }),
    record,
    create: { request: (values) => ({ method: 'POST', path: `${API}/${name}`, json: toBody(one, values) }) },
    update: { request: (id, values) => ({ method: 'PUT', path: at(id), json: toBody(one, values) }), record },
    remove: (id) => ({ method: 'DELETE', path: at(id) }),
  });
}

/** Lists deletions by the incremental exports. Organizations are exported by time, everything else by cursor. */
function deletionsOf(name: string): Operation<ChangesInput, ChangesPage> {
  const isByTime = name === 'organizations';
  return {
    request: ({ since, cursor }) => ({
      path: `${API}/incremental/${name}${isByTime ? '' : '/cursor'}`,
      query: {
        start_time: isByTime && cursor !== undefined ? cursor : Math.floor(Date.parse(since) / 1000),
        ...(!isByTime && cursor !== undefined && { cursor }),
      },
    }),
    read: ({ body, headers }) => {
      const changes = json
        .objects(json.at(body, name), 'the exported records')
        .filter(isDeleted)
        .map(({ id, updated_at, deleted_at }) => ({
          id: json.key(id, 'the id'),
          action: 'deleted' as const,
          at: json.text(deleted_at ?? updated_at, 'the time of a deletion'),
        }));
      if (json.at(body, 'end_of_stream') !== true)
        return { changes, next: json.key(json.at(body, isByTime ? 'end_time' : 'after_cursor'), 'the next position') };
      const reported = Date.parse(headers.date ?? '');
      return { changes, ...(!Number.isNaN(reported) && { until: new Date(reported).toISOString() }) };
    },
  };
}
