import {
  type ChangesInput,
  type ChangesPage,
  type ConnectorContext,
  can,
  codec,
  defined,
  defineObject,
  each,
  type FieldSpec,
  type Fields,
  fieldsOf,
  type Inputs,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import {
  changed,
  createTranslator,
  customField,
  DAY,
  FIXED,
  FLAG,
  ID,
  LEAD,
  LINK,
  primary,
  SEARCH,
  SEARCHED,
  TIME,
} from './fields.ts';
import official from './official.json' with { type: 'json' };

const V2 = '/api/v2';
const V1 = '/v1';
const MOST_ROWS = 500;
/** Maximum number of ids in a list. Source: the parameter `ids`. */
const MOST_IDS = 100;

interface Described {
  readonly label: string;
  readonly description?: string;
  readonly aliases?: readonly string[];
  readonly schema: string;
  readonly but: Readonly<Record<string, Partial<FieldSpec>>>;
  /** Fields beside those of the schema. */
  readonly more?: Fields;
  /** The parameters of its search, by field. */
  readonly searched?: Readonly<Record<string, string>>;
  /** The list of its custom fields. */
  readonly custom?: string;
  readonly feed?: Operation<ChangesInput, ChangesPage>;
}

const TIMES = {
  add_time: { ...TIME, ...FIXED, sortable: true },
  update_time: changed('>=', '<'),
  is_deleted: FIXED,
} satisfies Described['but'];

const DESCRIBED: Readonly<Record<string, Described>> = {
  deals: {
    label: 'Deals',
    description: 'Deals that are neither archived nor deleted.',
    aliases: ['opportunities'],
    schema: 'Deal',
    custom: 'dealFields',
    but: {
      ...TIMES,
      ...{ id: ID, title: { ...SEARCHED, nullable: false }, is_archived: FIXED },
      ...each(LINK, 'owner_id person_id org_id pipeline_id stage_id'),
      // Deleted deals are in no list without this status.
      status: { values: ['open', 'won', 'lost'], filter: can.only('exact', '=', 'IN') },
      ...each(TIME, 'stage_change_time close_time won_time lost_time'),
    },
    searched: { title: 'title' },
    feed: deletedDeals(),
  },
  persons: {
    label: 'Persons',
    description: 'Contacts. `email` and `phone` are the primary ones of `emails` and `phones`.',
    aliases: ['contacts'],
    schema: 'Person',
    custom: 'personFields',
    but: { ...TIMES, id: ID, name: SEARCHED, ...each(LINK, 'owner_id org_id'), birthday: DAY },
    more: { email: primary('emails'), phone: primary('phones') },
    searched: { name: 'name', email: 'email', phone: 'phone' },
  },
  organizations: {
    label: 'Organizations',
    aliases: ['accounts', 'companies'],
    schema: 'Organization',
    custom: 'organizationFields',
    but: { ...TIMES, id: ID, name: { ...SEARCHED, nullable: false }, owner_id: LINK },
    searched: { name: 'name' },
  },
  activities: {
    label: 'Activities',
    description: 'Calls, meetings, tasks and other activities.',
    aliases: ['tasks'],
    schema: 'Activity',
    but: {
      ...TIMES,
      ...{ id: ID, done: FLAG, due_date: { ...DAY, sortable: true }, marked_as_done_time: TIME },
      ...each(LINK, 'owner_id deal_id person_id org_id'),
      lead_id: LEAD,
    },
  },
  products: {
    label: 'Products',
    schema: 'Product',
    custom: 'productFields',
    but: {
      ...TIMES,
      ...{ id: ID, name: { ...SEARCHED, nullable: false, sortable: true }, code: SEARCHED, owner_id: LINK },
      update_time: changed('>='),
      // It is written as a number and shown as a text.
      category: FIXED,
    },
    searched: { name: 'name', code: 'code' },
  },
  pipelines: {
    label: 'Pipelines',
    schema: 'Pipeline',
    but: { ...TIMES, id: { ...ID, filter: {} }, update_time: changed(), name: { nullable: false } },
  },
  stages: {
    label: 'Stages',
    description: 'Stages of pipelines.',
    schema: 'Stage',
    but: {
      ...TIMES,
      ...{ id: { ...ID, filter: {} }, update_time: changed(), name: { nullable: false }, pipeline_id: LINK },
    },
  },
};

/** Returns the objects. Those with custom fields are outlines until they are used. */
export async function discoverObjects(): Promise<Objects> {
  const described = Object.entries(DESCRIBED).map(([name, each]) => [name, outlineOf(name, each)] as const);
  return { ...Object.fromEntries(described), notes, users };
}

function outlineOf(name: string, described: Described): ObjectSpec {
  const { custom, feed } = described;
  if (custom === undefined) return objectOf(name, described, {});
  const reports = ['created', 'updated', ...(feed === undefined ? [] : (['deleted'] as const))] as const;
  return {
    ...objectOf(name, described, {}),
    fields: {},
    changes: { reports },
    describe: async (context) => objectOf(name, described, await readCustom(context, `${V2}/${custom}`)),
  };
}

/** Reads all pages of the fields of an object, and returns the custom ones. */
async function readCustom({ send }: ConnectorContext, at: string): Promise<Fields> {
  const found: (readonly [string, FieldSpec])[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await send({ path: at, query: { limit: MOST_ROWS, cursor } });
    const all = json.objects(json.at(body, 'data'), 'the fields');
    found.push(...all.filter(({ is_custom_field: isCustom }) => isCustom === true).map(customField));
    cursor = nextCursor(body);
  } while (cursor !== undefined);
  return Object.fromEntries(found);
}

function nextCursor(body: unknown): string | undefined {
  return json.findText(json.at(body, 'additional_data', 'next_cursor'));
}

/** A list without records can be null. */
function rowsIn(body: unknown): readonly unknown[] {
  const data = json.at(body, 'data');
  return data === null ? [] : json.array(data, 'the records');
}

/** Returns the record of a response. Pipedrive keeps deleted records for 30 days, and shows them by their ids. */
function recordIn({ body }: ProviderResponse): unknown {
  const record = json.object(json.at(body, 'data'), 'the record');
  if (record.is_deleted === true || record.active_flag === false) throw notFound('The record was deleted.');
  return record;
}

function objectOf(name: string, described: Described, custom: Fields) {
  const { label, description, aliases, schema, but, more, searched = {}, feed } = described;
  const options = { create: `${schema}Create`, update: `${schema}Update`, but };
  const { custom_fields: _, ...own } = fieldsOf(official, schema, options);
  const fields = { ...own, ...more, ...custom };
  const at = `${V2}/${name}`;
  const canPoll = fields.update_time?.filter?.['>='] !== undefined;
  return defineObject<Inputs>({
    ...defined({ label, description, aliases }),
    fields,
    limits: { maxInSize: MOST_IDS, maxSortFields: 1 },
    translator: createTranslator(own, searched),
    list: listOf(at),
    ...recordsOf(at, 'PATCH'),
    ...(canPoll && { changes: defined({ updated: 'update_time', created: 'add_time', feed }) }),
  });
}

/** Returns the operations on the records at a path, which have changes of the given method. */
function recordsOf(at: string, method: 'PATCH' | 'PUT') {
  const one = (id: string) => at + path`/${id}`;
  return records({
    get: (id) => ({ path: one(id) }),
    record: recordIn,
    create: { request: (values) => ({ method: 'POST', path: at, json: values }) },
    update: { request: (id, values) => ({ method, path: one(id), json: values }), record: recordIn },
    remove: (id) => ({ method: 'DELETE', path: one(id) }),
  });
}

/** Returns the list of an object. A text is searched for first, and the records are then read by their ids. */
function listOf(at: string): ListOperation<Inputs> {
  const pages = list<Inputs>({
    request: ({ filter, orderBy: [first], page }) => ({
      path: at,
      query: defined({ ...filter, ...page, sort_by: first?.field.native, sort_direction: first?.direction }),
    }),
    rows: rowsIn,
    paging: { kind: 'cursor', cursor: 'cursor', size: 'limit', max: MOST_ROWS, next: ({ body }) => nextCursor(body) },
    order: { term: (native, direction) => `${native} ${direction}` },
  });
  return {
    ...pages,
    run: async (context, input) => {
      const [name, term] = Object.entries(input.filter ?? {}).find(([each]) => each.startsWith(SEARCH)) ?? [];
      if (name === undefined) return readPage(context, pages, input);
      const found = await searchIds(context, `${at}/search`, { term, fields: name.slice(SEARCH.length) });
      if (found?.length === 0) return { records: [] };
      // Too many are found for one list, so all records are read. The core checks them anyway.
      return readPage(context, pages, { ...input, filter: found === undefined ? {} : { ids: found.join(',') } });
    },
  };
}

type Pages = ReturnType<typeof list<Inputs>>;

async function readPage(context: ConnectorContext, pages: Pages, input: ListInput<Inputs>): Promise<ListPage> {
  return pages.read(await context.send(pages.request(input, context.config)), input);
}

/** Returns the ids of the records that a search finds; undefined where they are more than a list accepts. */
async function searchIds(
  { send }: ConnectorContext,
  at: string,
  asked: Readonly<Record<string, string | readonly string[] | undefined>>,
): Promise<readonly string[] | undefined> {
  const { body } = await send({ path: at, query: { ...asked, exact_match: true, limit: MOST_IDS } });
  if (nextCursor(body) !== undefined) return undefined;
  const items = json.objects(json.at(body, 'data', 'items'), 'the found records');
  return items.map(({ item }) => json.key(json.at(item, 'id'), 'the id of a found record'));
}

/** Deals that were deleted in the last 30 days. Source: "Get all deals", `status`. */
function deletedDeals(): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ since, cursor }) => ({
      path: `${V2}/deals`,
      query: { status: 'deleted', updated_since: `${since.slice(0, 19)}Z`, limit: MOST_ROWS, cursor },
    }),
    read: ({ body }) => ({
      changes: json.objects(rowsIn(body), 'the deleted deals').map(({ id, update_time: at }) => ({
        id: json.key(id, 'the id of a deal'),
        action: 'deleted',
        at: json.text(at, 'the time of the deletion'),
      })),
      ...defined({ next: nextCursor(body) }),
    }),
  };
}

/** Times of API v1 are in UTC, without saying so. */
const V1_TIME: FieldSpec = { ...TIME, ...codec.localTime('UTC') };
const PINNED: FieldSpec = { type: 'boolean', ...codec.flag(1, 0) };
const SORTED_LINK: FieldSpec = { ...LINK, sortable: true };

const notes = noteObject();

function noteObject() {
  const at = `${V1}/notes`;
  const fields = fieldsOf(official, 'Note', {
    create: 'NoteCreate',
    update: 'NoteUpdate',
    but: {
      ...{ id: { ...ID, filter: {} }, content: { nullable: false, sortable: true } },
      ...each(SORTED_LINK, 'user_id deal_id person_id org_id'),
      ...each(LINK, 'project_id task_id'),
      lead_id: LEAD,
      add_time: { ...V1_TIME, ...FIXED, sortable: true },
      update_time: { ...changed('>='), ...codec.localTime('UTC') },
      ...each(PINNED, 'pinned_to_deal_flag pinned_to_organization_flag pinned_to_person_flag'),
      ...each(PINNED, 'pinned_to_project_flag pinned_to_task_flag'),
    },
  });
  return defineObject<Inputs>({
    label: 'Notes',
    description: 'Notes about deals, persons, organizations, leads, projects and tasks.',
    fields,
    translator: createTranslator(fields, {}),
    list: list<Inputs>({
      request: ({ filter, order, page }) => ({ path: at, query: defined({ ...filter, ...page, sort: order }) }),
      rows: rowsIn,
      paging: {
        ...{ kind: 'offset', offset: 'start', size: 'limit', max: MOST_ROWS },
        more: ({ body }) => json.at(body, 'additional_data', 'pagination', 'more_items_in_collection') === true,
      },
      order: { term: (native, direction) => `${native} ${direction.toUpperCase()}`, id: 'id' },
    }),
    ...recordsOf(at, 'PUT'),
    changes: { updated: 'update_time', created: 'add_time' },
  });
}

const users = defineObject<Inputs>({
  label: 'Users',
  fields: fieldsOf(official, 'User', {
    but: { id: { ...ID, filter: {}, sortable: false }, ...each(V1_TIME, 'last_login created modified') },
  }),
  list: list<Inputs>({ request: () => ({ path: `${V1}/users` }), rows: rowsIn, paging: { kind: 'whole' } }),
  ...records({
    get: (id) => ({ path: path`/v1/users/${id}` }),
    record: ({ body }) => json.object(json.at(body, 'data'), 'the user'),
  }),
});
