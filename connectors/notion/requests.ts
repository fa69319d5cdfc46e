import {
  type Json,
  json,
  notFound,
  type ObjectSpec,
  type Paging,
  type ProviderRequest,
  type ProviderResponse,
  path,
  records,
  unusable,
} from '#connector';

/** The pages of all lists. */
export const PAGING: Paging = {
  kind: 'cursor',
  cursor: 'start_cursor',
  size: 'page_size',
  max: 100,
  next: ({ body }) => json.at(body, 'next_cursor'),
};

/** Returns the results of a list. Notion reports success also where it has left out results. */
export function resultsOf(body: unknown): readonly Json[] {
  if (json.at(body, 'request_status', 'type') === 'incomplete')
    throw unusable('Notion returns only a part of this list. Ask for fewer rows by a filter.');
  return json.objects(json.at(body, 'results'), 'the results');
}

/** Returns a request that changes nothing, so it may be sent again. */
export function ask(to: string, body: Json): ProviderRequest {
  return { method: 'POST', path: to, idempotent: true, json: body };
}

/** A kind of record that the search finds. */
export type Kind = 'page' | 'data_source';

/** Returns a request for the pages or data sources that the integration can see. */
export function searchFor(value: Kind, more: Json): ProviderRequest {
  return ask('/v1/search', { filter: { property: 'object', value }, ...more });
}

/** Pages in the trash can be read, but lists do not have them. */
export function present(response: ProviderResponse): Json {
  const body = json.object(response.body, 'a record');
  if (body.in_trash === true) throw notFound('The record is in the trash.');
  return body;
}

const pagePath = (id: string) => path`/v1/pages/${id}`;

/** Returns the operations on single pages: of all, or of those of one data source. */
export function pagesOf(
  toNative: (page: Json) => Json,
  toBody: (values: Json) => Json,
  parentOf: (values: Json) => Json,
) {
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
