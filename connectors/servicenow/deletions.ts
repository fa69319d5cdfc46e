import { type ChangesInput, type ChangesPage, codec, json, type ListInput, type Operation } from '#connector';
import { instantOf } from './literals.ts';
import { listOf } from './query.ts';

export const DELETED_RECORDS = 'sys_audit_delete';

const FIELDS = ['sys_created_on', 'tablename', 'documentkey'].map((native) => ({
  name: native,
  native,
  type: 'string' as const,
}));
const OLDEST_FIRST = FIELDS.slice(0, 1).map((field) => ({ field, direction: 'asc' as const }));

/** Maximum number of tables in a filter. If more would be needed, the URL would be too long, so all deletions are read. */
const MOST_CLASSES = 60;

/**
 * Lists the records that were deleted since a time. A record is in the list of its own table and in the lists of the tables that this one
 * extends, but its deletion names only its own table. So the filter contains all tables whose records the list contains. Source: KB0724183.
 */
export function deletionsOf(classes: readonly string[]): Operation<ChangesInput, ChangesPage> {
  const wanted = new Set(classes);
  const scope = classes.length <= MOST_CLASSES ? `tablenameIN${classes.join(',')}^` : '';
  const rows = listOf(DELETED_RECORDS);
  const toList = ({ since, ...position }: ChangesInput): ListInput<string> => ({
    ...position,
    filter: `${scope}sys_created_on>=${instantOf(since)}`,
    parameters: {},
    fields: FIELDS,
    orderBy: OLDEST_FIRST,
    limit: rows.maxPageSize,
  });
  return {
    request: (input) => rows.request(toList(input)),
    read: (response, input) => {
      const reported = Date.parse(response.headers.date ?? '');
      const { records, next } = rows.read(response, toList(input));
      const changes = records
        .filter(({ tablename }) => wanted.has(String(tablename)))
        .map((record) => ({
          id: json.text(record.documentkey, 'the id of a deleted record'),
          action: 'deleted' as const,
          at: String(codec.localTime().read(json.text(record.sys_created_on, 'the time of a deletion'))),
        }));
      if (next !== undefined) return { changes, next };
      return { changes, ...(!Number.isNaN(reported) && { until: new Date(reported).toISOString() }) };
    },
  };
}
