import { type ChangesInput, type ChangesPage, defined, type Json, json, type Operation } from '#connector';
import { VERSION } from './query.ts';

/** Maximum number of changes per response. Source: "A maximum of 1,000 objects." */
const MOST_CHANGES = 1000;

/**
 * Lists the records that were deleted in the last 30 days, among all changes since a time. Queries list the other changes. If there are
 * more changes than one response contains, the next request starts at the time of the last one. Source: "Change data capture operation".
 */
export function deletionsOf(entity: string): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ since, cursor = since }) => ({
      path: '/cdc',
      query: { entities: entity, changedSince: `${cursor.slice(0, 19)}+00:00`, ...VERSION },
    }),
    read: ({ body }, { since, cursor = since }) => {
      const changed = rowsOf(body, entity);
      const deleted = changed.filter(({ status }) => status === 'Deleted');
      const changes = deleted.map((row) => ({
        id: json.key(row.Id, 'the id of a deleted record'),
        action: 'deleted' as const,
        at: json.text(timeOf(row), 'the time of a deletion'),
      }));
      if (changed.length < MOST_CHANGES)
        return { changes, until: json.text(json.at(body, 'time'), 'the time of the deletion') };
      const last = Math.max(...changed.map((row) => Date.parse(String(timeOf(row)))));
      const next = last - Date.parse(cursor) >= 1000 ? new Date(last).toISOString() : undefined;
      return defined({ changes, next });
    },
  };
}

/** Returns the rows of a response. Without rows, QuickBooks leaves the member out. */
function rowsOf(body: unknown, entity: string): readonly Json[] {
  const [response] = json.objects(json.at(body, 'CDCResponse'), 'the response of the capture');
  const [rows] = json.objects(json.at(response, 'QueryResponse'), 'the changes');
  return json.objects(json.at(rows, entity) ?? [], `the changes of ${entity}`);
}

function timeOf(row: Json): unknown {
  return json.at(row, 'MetaData', 'LastUpdatedTime');
}
