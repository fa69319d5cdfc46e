import {
  codec,
  defineObject,
  type FieldSpec,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListInput,
  list,
  type ObjectSpec,
  type Objects,
  type OneCall,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import official from './official.json' with { type: 'json' };
import { type Kind, PAGING, pagesOf, present, resultsOf, searchFor } from './requests.ts';
import { textOf, toRichText } from './values.ts';

const byId: FieldSpec = { type: 'string', nullable: false };
const text: FieldSpec = { type: 'string', read: textOf };
const writtenText: FieldSpec = { ...text, createable: true, updateable: true, write: toRichText };
const SHOWN_TIME: FieldSpec = { type: 'datetime', nullable: false, ...codec.instant() };

/** Members of pages and data sources. */
export const PAGE = 'created_time last_edited_time created_by last_edited_by url public_url icon cover';
/** Members that are users, shown as their ids. */
export const WHO = {
  created_by: { ...byId, native: 'created_by.id' },
  last_edited_by: { ...byId, native: 'last_edited_by.id' },
};
const FOUND = {
  ...WHO,
  created_time: SHOWN_TIME,
  last_edited_time: { ...SHOWN_TIME, domain: { step: 'millisecond' }, filter: { '>=': 'superset' } },
} as const;

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

/** Objects below a page. */
export const children = { comments: { ...comments, requiredFilters: [] } };

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
