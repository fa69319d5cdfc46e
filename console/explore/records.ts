import { isJsonObject, parseJson } from '../../src/numbers/exact-json.ts';
import type { Row } from '../../src/where/row-values.ts';
import { api, askWithHeaders, onInstance, type Page } from '../api.ts';
import { textsOf, type WrittenQuery } from './address.ts';

export interface RecordsPage extends Page<Row> {
  readonly facts: ResponseFacts;
}

/** Facts about a list from its response headers. */
export interface ResponseFacts {
  /** The header that states how much of the filter the provider evaluated. */
  readonly pushdown: string | undefined;
  readonly providerCalls: number | undefined;
  /** The reason why the page ended before it was full. */
  readonly partial: string | undefined;
  /** Total number of records on all pages, if it is known. */
  readonly total: number | undefined;
}

interface RecordsAsked {
  readonly instanceId: number;
  readonly objectName: string;
  readonly query: WrittenQuery;
  readonly nextPage: string | undefined;
}

/** Requests a page of records. Their numbers keep all digits. @throws ApiError */
export async function readRecords(asked: RecordsAsked, signal: AbortSignal): Promise<RecordsPage> {
  const { instanceId, objectName, query, nextPage } = asked;
  const { data, headers } = await askWithHeaders(
    api.GET('/{objectName}', {
      signal,
      parseAs: 'text',
      headers: onInstance(instanceId),
      params: {
        path: { objectName },
        query: { ...textsOf(query), pageSize: query.pageSize, ...(nextPage !== undefined && { nextPage }) },
      },
    }),
  );
  const number = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  return {
    rows: readRows(data),
    nextPage: headers.get('Elements-Next-Page-Token') ?? undefined,
    facts: {
      pushdown: headers.get('Elements-Query-Pushdown') ?? undefined,
      providerCalls: number('Elements-Provider-Calls'),
      partial: headers.get('Elements-Partial-Result') ?? undefined,
      total: number('Elements-Total-Count'),
    },
  };
}

function readRows(text: string): readonly Row[] {
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) throw new TypeError('The service returned something that is not a list.');
  return parsed.filter(isJsonObject);
}
