import {
  type ChangesInput,
  type ChangesPage,
  type ConnectorContext,
  can,
  codec,
  defineObject,
  type FieldSpec,
  type Fields,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListInput,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type OneCall,
  type Operation,
  type Paging,
  type ProviderRequest,
  type ProviderResponse,
  path,
  records,
  type SortTerm,
  unusable,
} from '#connector';
import { type Filter, translator } from './filter.ts';
import official from './official.json' with { type: 'json' };
import { nameFrom, propertyFields, textOf, toProperties, toRecord, toRichText } from './properties.ts';

const PAGING: Paging = {
  kind: 'cursor',
  cursor: 'start_cursor',
  size: 'page_size',
  max: 100,
  next: ({ body }) => json.at(body, 'next_cursor'),
};

/** Returns the results of a list. Notion reports success also where it has left out results. */
function resultsOf(body: unknown): readonly Json[] {
  if (json.at(body, 'request_status', 'type') === 'incomplete')
    throw unusable('Notion returns only a part of this list. Ask for fewer rows by a filter.');
  return json.objects(json.at(body, 'results'), 'the results');
}

const byId: FieldSpec = { type: 'string', nullable: false };
const text: FieldSpec = { type: 'string', read: textOf };
const writtenText: FieldSpec = { ...text, createable: true, updateable: true, write: toRichText };
const TIME: FieldSpec = {
  type: 'datetime',
  nullable: false,
  nativeType: 'timestamp',
  sortable: true,
  domain: { step: 'millisecond' },
  filter: can.order('superset'),
  ...codec.instant(),
};
const SHOWN_TIME: FieldSpec = { type: 'datetime', nullable: false, ...codec.instant() };

const PAGE = 'created_time last_edited_time created_by last_edited_by url public_url icon cover';
const WHO = {
  created_by: { ...byId, native: 'created_by.id' },
  last_edited_by: { ...byId, native: 'last_edited_by.id' },
};
const PAGE_FIELDS = fieldsOf(official, 'PageObjectResponse', {
  pick: `id ${PAGE} is_locked`,
  but: { ...WHO, created_time: TIME, last_edited_time: TIME },
});
const FOUND = {
  ...WHO,
  created_time: SHOWN_TIME,
  last_edited_time: { ...SHOWN_TIME, domain: { step: 'millisecond' }, filter: { '>=': 'superset' } },
} as const;

function sortsOf(orderBy: readonly SortTerm[]): readonly Json[] {
  return orderBy.map(({ field, direction }) => ({ timestamp: field.native, direction: `${direction}ending` }));
}

/** Returns a request that changes nothing, so it may be sent again. */
function ask(to: string, body: Json): ProviderRequest {
  return { method: 'POST', path: to, idempotent: true, json: body };
}

type Kind = 'page' | 'data_source';

function searchFor(value: Kind, more: Json): ProviderRequest {
  return ask('/v1/search', { filter: { property: 'object', value }, ...more });
}

/**
 * Returns the pages or data sources that the integration can see. The search cannot filter, but it can return the latest changes first, so
 * it ends at the first one that is too old.
 */
function found(kind: Kind, toNative: (result: Json) => Json) {
  const pages = list<Inputs>({
    request: ({ page, filter }) =>
      searchFor(kind, {
        ...page,
        ...(filter !== undefined && { sort: { timestamp: 'last_edited_time', direction: 'descending' } }),
      }),
    rows: (body) => resultsOf(body).map(toNative),
    paging: PAGING,
  });
  const isOld = (record: unknown, since: unknown) =>
    Date.parse(String(json.at(record, 'last_edited_time'))) < Date.parse(String(since));
  return {
    translator: inputs({ last_edited_time: { from: 'since' } }),
    list: {
      ...pages,
      read: (response: ProviderResponse, input: ListInput<Inputs>) => {
        const { next, ...page } = pages.read(response, input);
        const hasMore = next !== undefined && !isOld(page.records.at(-1), input.filter?.since);
        return { ...page, ...(hasMore && { next }) };
      },
    },
    changes: { updated: 'last_edited_time', created: 'created_time', overlapSeconds: 120 },
  } satisfies Partial<ObjectSpec<Inputs>>;
}

/** Pages in the trash can be read, but lists do not have them. */
function present(response: ProviderResponse): Json {
  const body = json.object(response.body, 'a record');
  if (body.in_trash === true) throw notFound('The record is in the trash.');
  return body;
}

const pagePath = (id: string) => path`/v1/pages/${id}`;

/** Returns the operations on single pages: of all, or of those of one data source. */
function pagesOf(toNative: (page: Json) => Json, toBody: (values: Json) => Json, parentOf: (values: Json) => Json) {
  const record = (response: ProviderResponse) => toNative(present(response));
  return {
    ...records({
      get: (id) => ({ path: pagePath(id) }),
      record,
      create: {
        request: (values) => ({
          method: 'POST',
          path: '/v1/pages',
          json: { parent: parentOf(values), properties: toBody(values) },
        }),
      },
      update: {
        request: (id, values) => ({ method: 'PATCH', path: pagePath(id), json: { properties: toBody(values) } }),
        record,
      },
    }),
    remove: {
      run: async ({ send }, { id }) => {
        record(await send({ path: pagePath(id) }));
        await send({ method: 'PATCH', path: pagePath(id), json: { in_trash: true } });
      },
    } satisfies ObjectSpec['remove'],
  };
}

/** Returns a page with the text of its title, which is one of its properties. */
function toPage(page: Json): Json {
  const properties = Object.values(json.isObject(page.properties) ? page.properties : {});
  const title = properties.find((property) => json.at(property, 'type') === 'title');
  return { ...page, title: json.at(title, 'title') };
}

const comments = defineObject<Inputs>({
  label: 'Comments',
  description: 'Comments on pages that are not resolved.',
  fields: {
    ...fieldsOf(official, 'CommentObjectResponse', {
      pick: 'id discussion_id rich_text created_time last_edited_time created_by attachments',
      rename: { rich_text: 'text' },
      but: {
        created_by: WHO.created_by,
        text: { ...writtenText, required: true },
        created_time: SHOWN_TIME,
        last_edited_time: SHOWN_TIME,
      },
    }),
    page_id: {
      type: 'string',
      native: 'parent.page_id',
      createable: true,
      required: true,
      filter: { '=': 'superset' },
    },
    author: { type: 'string', native: 'display_name.resolved_name' },
  },
  translator: inputs({ page_id: 'block_id' }),
  requiredFilters: ['page_id'],
  list: list<Inputs>({
    request: ({ filter, page, parentId }) => ({
      path: '/v1/comments',
      query: { block_id: parentId, ...filter, ...page },
    }),
    rows: resultsOf,
    paging: PAGING,
  }),
  ...records({
    get: (id) => ({ path: path`/v1/comments/${id}` }),
    create: { request: (values) => ({ method: 'POST', path: '/v1/comments', json: values }), id: idOf },
    update: (id, values) => ({ method: 'PATCH', path: path`/v1/comments/${id}`, json: values }),
    remove: (id) => ({ method: 'DELETE', path: path`/v1/comments/${id}` }),
  }),
});

function idOf({ body }: ProviderResponse): string {
  return json.text(json.at(body, 'id'), 'the id of the new record');
}

const children = { comments: { ...comments, requiredFilters: [] } };

const pages = defineObject<Inputs>({
  label: 'Pages',
  description: 'All pages that the integration can see, with the rows of data sources.',
  fields: {
    ...fieldsOf(official, 'PageObjectResponse', {
      pick: `id ${PAGE} parent`,
      but: { ...FOUND, parent: { createable: true, required: true } },
    }),
    title: { ...writtenText, native: 'title' },
  },
  ...found('page', toPage),
  ...pagesOf(
    toPage,
    ({ title }) => (title === undefined ? {} : { title: { title } }),
    ({ parent }) => json.object(parent, 'the parent of a page'),
  ),
  children,
});

const datasources = defineObject<Inputs>({
  label: 'Data sources',
  description: 'The tables of databases. The rows of each are an object of its own.',
  fields: fieldsOf(official, 'DataSourceObjectResponse', {
    pick: `id title description ${PAGE} parent database_parent is_inline`,
    but: { ...FOUND, title: text, description: text },
  }),
  ...found('data_source', (source) => source),
  get: {
    request: ({ id }) => ({ path: path`/v1/data_sources/${id}` }),
    read: present,
  } satisfies OneCall<{ readonly id: string }, unknown>,
});

const users = defineObject<never>({
  label: 'Users',
  description: 'Members of the workspace, and bots. Guests are left out.',
  fields: {
    ...fieldsOf(official, 'UserObjectResponseCommon'),
    type: { type: 'string', values: ['person', 'bot'] },
    email: { type: 'string', native: 'person.email', format: 'email' },
  },
  list: list<never>({ request: ({ page }) => ({ path: '/v1/users', query: page }), rows: resultsOf, paging: PAGING }),
  ...records({ get: (id) => ({ path: path`/v1/users/${id}` }) }),
});

/** The objects that every workspace has. */
export const FIXED = { pages, datasources, users, comments } as const satisfies Objects;

/** Returns the fixed objects, and one for the rows of each data source that the integration can see. */
export async function discoverObjects({ send }: ConnectorContext): Promise<Objects> {
  const sources: Json[] = [];
  for (let more: Json | undefined = {}; more !== undefined; ) {
    const { body }: ProviderResponse = await send(searchFor('data_source', { page_size: 100, ...more }));
    sources.push(...resultsOf(body));
    const cursor = json.findText(json.at(body, 'next_cursor'));
    more = cursor === undefined ? undefined : { start_cursor: cursor };
  }
  const names = sources.map((source) => nameFrom(textOf(source.title), 'data_source').toLowerCase());
  const rows = sources.map((source, index) => {
    const name = names[index] ?? '';
    const plainId = json.text(source.id, 'the id of a data source').replaceAll('-', '');
    const isAlone = names.indexOf(name) === names.lastIndexOf(name) && !Object.hasOwn(FIXED, name);
    return [isAlone ? name : `${name}_${plainId.slice(-8)}`, rowsOf(source, [plainId])] as const;
  });
  return { ...Object.fromEntries(rows), ...FIXED };
}

function rowsOf(source: Json, aliases: readonly string[]): ObjectSpec {
  const id = json.text(source.id, 'the id of a data source');
  const query = path`/v1/data_sources/${id}/query`;
  const properties = json.object(source.properties, 'the properties of a data source');
  const fields: Fields = { ...PAGE_FIELDS, ...propertyFields(properties, Object.keys(PAGE_FIELDS)) };
  return defineObject<Filter>({
    label: textOf(source.title),
    description: textOf(source.description),
    aliases,
    native: id,
    custom: true,
    fields,
    translator,
    // Conditions are joined in at most two levels. How many a filter may have is not documented.
    shape: { kind: 'cnf', groups: 50, perGroup: 50, total: 100 },
    limits: { maxSortFields: 2 },
    list: list<Filter>({
      request: ({ filter, orderBy, page }) =>
        ask(query, {
          ...page,
          ...(filter !== undefined && { filter }),
          ...(orderBy.length > 0 && { sorts: sortsOf(orderBy) }),
        }),
      rows: rowsIn,
      paging: PAGING,
    }),
    ...pagesOf(
      (page) => {
        if (json.at(page.parent, 'data_source_id') !== id) throw notFound('The page belongs to another data source.');
        return toRecord(page);
      },
      toProperties,
      () => ({ type: 'data_source_id', data_source_id: id }),
    ),
    children,
    changes: { updated: 'last_edited_time', created: 'created_time', overlapSeconds: 120, feed: deletionsOf(query) },
  });
}

/** A data source of a wiki also has other data sources. */
function rowsIn(body: unknown): readonly Json[] {
  return resultsOf(body).flatMap((result) => (result.object === 'page' ? [toRecord(result)] : []));
}

/** Finds the pages in the trash. Putting a page there changes it. */
function deletionsOf(query: string): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ since, cursor }) =>
      ask(query, {
        in_trash: true,
        filter: { timestamp: 'last_edited_time', last_edited_time: { on_or_after: since } },
        page_size: 100,
        ...(cursor !== undefined && { start_cursor: cursor }),
      }),
    read: ({ body }) => {
      const next = json.findText(json.at(body, 'next_cursor'));
      return {
        changes: resultsOf(body).map((page) => ({
          id: json.text(page.id, 'the id of a page'),
          action: 'deleted',
          at: json.text(page.last_edited_time, 'the time of a deletion'),
        })),
        ...(next !== undefined && { next }),
      };
    },
  };
}
