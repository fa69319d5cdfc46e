import {
  type ChangesInput,
  type ChangesPage,
  type ConnectorContext,
  isDenied,
  isNotFound,
  isUnauthorized,
  type Json,
  json,
  type Operation,
  type ProviderRequest,
  type ProviderResponse,
  path,
  type RecordChange,
} from '#connector';
import type { Table } from './rows.ts';

const TRACKED = { prefer: 'odata.track-changes' } as const;

/**
 * Returns the deletions of a table with change tracking. Its token is the query of a delta link, which is followed only below the table's own
 * path. Source: "Use change tracking to synchronize data with external systems".
 */
export function deletionsOf(table: Table): Operation<ChangesInput, ChangesPage> {
  return {
    run: async (context, { token, cursor }) => {
      if (token === undefined) return begin(context, table, cursor);
      const response = await context.send({ path: path`/${table.set}`, query: queryOf(cursor ?? token) });
      return {
        changes: rowsOf(response.body).flatMap((row) => readDeletion(row) ?? []),
        ...positionIn(response, table),
      };
    },
  };
}

/** Reads the ids of all records, because the delta link is on the last page. */
async function begin(context: ConnectorContext, table: Table, cursor: string | undefined): Promise<ChangesPage> {
  const query = cursor === undefined ? { $select: table.id } : queryOf(cursor);
  const response = await ifTracked(context, { path: path`/${table.set}`, query, headers: TRACKED });
  // Then the poll finds no deletions, and asks again the next time.
  if (response === undefined) return { changes: [], until: new Date().toISOString() };
  const position = positionIn(response, table);
  if (position.next === undefined) json.text(position.token, 'the delta link');
  return { changes: [], ...position };
}

/** Sends a request. Only users who may read all records of a table can track it: the response is undefined for others. */
async function ifTracked({ send, signal }: ConnectorContext, request: ProviderRequest) {
  try {
    return await send(request);
  } catch (error) {
    signal.throwIfAborted();
    if (isUnauthorized(error) || isNotFound(error) || !isDenied(error)) throw error;
    return undefined;
  }
}

/** A response without changes may be empty. */
function rowsOf(body: unknown): readonly Json[] {
  const value = json.at(body, 'value');
  return value === undefined ? [] : json.objects(value, 'the changes');
}

function readDeletion(row: Json): RecordChange | undefined {
  const context = json.findText(row['@odata.context']) ?? '';
  if (!context.endsWith('/$deletedEntity')) return undefined;
  return { id: json.text(row.id, 'the id of a deleted record').toLowerCase(), action: 'deleted' };
}

function positionIn({ body }: ProviderResponse, table: Table): Pick<ChangesPage, 'next' | 'token'> {
  const next = json.findText(json.at(body, '@odata.nextLink'));
  if (next !== undefined) return { next: positionOf(next, table) };
  const delta = json.findText(json.at(body, '@odata.deltaLink'));
  return delta === undefined ? {} : { token: positionOf(delta, table) };
}

/** Returns the query of a link. It is sent to the table's own path, wherever the link leads. */
function positionOf(link: string, { set }: Table): string {
  const url = URL.parse(link);
  const isPosition = ['$deltatoken', '$skiptoken'].some((name) => url?.searchParams.has(name));
  return json.text(
    url?.pathname.endsWith(`/${set}`) && isPosition ? url.search.slice(1) : undefined,
    'a link of its own table',
  );
}

function queryOf(position: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(position));
}
