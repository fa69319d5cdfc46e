import {
  type Call,
  json,
  nestedValues,
  type PageStyle,
  type SimulatedResponse,
  type TableRow,
  takePage,
  valueAt,
} from '#connector/simulator';
import { invalid, missing } from './fault.ts';
import { COMPARES, compileSearch } from './search.ts';

/** Parameters of lists whose member has another path. */
const PATHS: Readonly<Record<string, string>> = { subscription: 'parent.subscription_details.subscription' };
const CONTROLS = new Set(['limit', 'starting_after', 'ending_before', 'expand']);
/** Lists of several values. */
const ANY_OF: Readonly<Record<string, string>> = { ids: 'id', lookup_keys: 'lookup_key', types: 'type' };

/** Returns one page of a list, the newest records first. Source: "Pagination", and the parameters of each list. */
export function listPage(call: Call, noun: string, rows: readonly TableRow[]): SimulatedResponse {
  const values = nestedValues(call.query);
  const filters = Object.entries(values).filter(([name]) => !CONTROLS.has(name));
  const found = newestFirst(rows).filter((row) => filters.every(([name, value]) => matches(row, name, value)));
  return json({ object: 'list', url: call.path, ...pageOf(call, noun, found) });
}

/** Returns records by the time of their creation. Of two with the same time, the one that was stored later comes first. */
export function newestFirst(rows: readonly TableRow[]): readonly TableRow[] {
  return rows.toReversed().sort((a, b) => Number(b.created ?? 0) - Number(a.created ?? 0));
}

/** Returns the lines of an invoice, in their own order. */
export function pageOf(call: Call, noun: string, rows: readonly TableRow[]) {
  const [after, before] = [call.query.get('starting_after'), call.query.get('ending_before')];
  const { size: limit } = takePage(rows, PAGING, call);
  if (after !== null && before !== null)
    throw invalid('You can only specify one of these parameters: starting_after, ending_before.');
  const indexOf = (id: string, param: string) => {
    const index = rows.findIndex((row) => row.id === id);
    if (index < 0) throw missing(noun, id, param);
    return index;
  };
  const end = before === null ? rows.length : indexOf(before, 'ending_before');
  const start =
    after === null ? (before === null ? 0 : Math.max(0, end - limit)) : indexOf(after, 'starting_after') + 1;
  // A provider that runs in a circle returns the page before the requested one again.
  const data = rows
    .slice(call.isStuck && after !== null ? start - 1 : start, Math.min(end, start + limit))
    .slice(0, limit);
  return { data, has_more: call.isStuck || (before === null ? start + limit < rows.length : start > 0) };
}

/** The limit of every page, and the cursor of a search. */
const PAGING: PageStyle = {
  ...{ kind: 'cursor', cursor: 'page', size: 'limit', usual: 10, most: 100, beyond: 'refused' },
  refuse: (message, param) => invalid(`Invalid ${param}: ${message}`, param),
};

function matches(row: TableRow, name: string, value: unknown): boolean {
  const held = valueAt(row, PATHS[name] ?? ANY_OF[name] ?? name);
  if (Object.hasOwn(ANY_OF, name)) return [value].flat().some((each) => isLike(String(held), String(each)));
  if (name === 'type' && row.object === 'event') return isLike(String(held), String(value));
  if (name === 'status' && value === 'all') return true;
  if (name === 'status' && value === 'ended') return ['canceled', 'incomplete_expired'].includes(String(held));
  if (typeof value !== 'object' || value === null) return held != null && String(held) === String(value);
  return Object.entries(value).every(([word, bound]) => {
    const compare = COMPARES[SIGNS[word] ?? ''];
    if (compare === undefined) return matches(Object(held ?? {}), word, bound);
    return held != null && compare(Number(held), Number(bound));
  });
}

const SIGNS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** `customer.*` stands for all events of this kind. */
function isLike(text: string, pattern: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

/** Returns one page of a search. Source: "Search", and the operations `GET /v1/…/search`. */
export function searchPage(call: Call, name: string, rows: readonly TableRow[]): SimulatedResponse {
  const test = compileSearch(name, call.query.get('query') ?? '');
  const found = newestFirst(rows).filter(test);
  const { rows: data, next = null } = takePage(found, PAGING, call);
  return json({ object: 'search_result', url: call.path, data, has_more: next !== null, next_page: next });
}
