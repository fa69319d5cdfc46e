import { type Answer, type Call, json, type Table, type TableRow } from '#connector/simulator';
import { refusal } from './fault.ts';

const SINCE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)$/;
const TYPES: readonly string[] = ['inserted', 'updated', 'deleted', 'all'];

/** The last change of each employee that changed since then. Of the employees of the beginning none was recorded. */
export function listChanged(employees: Table, { query }: Call): Answer {
  const [since, type] = [query.get('since') ?? '', query.get('type') ?? 'all'];
  const sinceMs = SINCE.test(since) ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(sinceMs)) throw refusal(400, 'Invalid "since" parameter');
  if (!TYPES.includes(type)) throw refusal(400, 'Invalid "type" parameter');
  const changed = employees
    .rows(true)
    .filter(({ changedMs }) => changedMs !== undefined && Number(changedMs) >= sinceMs);
  const shown = changed.map(show).filter(({ action }) => type === 'all' || action.toLowerCase() === type);
  const latest = shown
    .map(({ lastChanged }) => lastChanged)
    .sort()
    .at(-1);
  // Of nothing the other language makes a list.
  const entries = shown.map((entry) => [entry.id, entry] as const);
  return json({ latest: latest ?? since, employees: entries.length === 0 ? [] : Object.fromEntries(entries) });
}

function show({ eeid, insertedMs, changedMs, isDeleted }: TableRow) {
  const action = isDeleted === true ? 'Deleted' : changedMs === insertedMs ? 'Inserted' : 'Updated';
  const lastChanged = new Date(Number(changedMs)).toISOString().replace(/\.\d+Z$/, '+00:00');
  return { id: String(eeid), action, lastChanged };
}
