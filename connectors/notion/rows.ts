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
  type Json,
  json,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderResponse,
  path,
  type SortTerm,
} from '#connector';
import { type Filter, translator } from './filter.ts';
import { children, FIXED, PAGE, WHO } from './objects.ts';
import official from './official.json' with { type: 'json' };
import { nameFrom, propertyFields } from './properties.ts';
import { ask, PAGING, pagesOf, resultsOf, searchFor } from './requests.ts';
import { textOf, toProperties, toRecord } from './values.ts';

const TIME: FieldSpec = {
  type: 'datetime',
  nullable: false,
  nativeType: 'timestamp',
  sortable: true,
  domain: { step: 'millisecond' },
  filter: can.order('superset'),
  ...codec.instant(),
};
const PAGE_FIELDS = fieldsOf(official, 'PageObjectResponse', {
  pick: `id ${PAGE} is_locked`,
  but: { ...WHO, created_time: TIME, last_edited_time: TIME },
});
function sortsOf(orderBy: readonly SortTerm[]): readonly Json[] {
  return orderBy.map(({ field, direction }) => ({ timestamp: field.native, direction: `${direction}ending` }));
}

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
