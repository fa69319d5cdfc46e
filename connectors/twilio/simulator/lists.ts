import { type Call, Fault, json, type SimulatedResponse, type TableRow } from '#connector/simulator';
import { type Account, present } from './account.ts';

type Collection = Account[keyof Account];

/** Returns a test that passes deleted records only on request, and all other records. */
export function isThere({ query }: Call): (row: TableRow) => boolean {
  const withDeleted = query.get('IncludeSoftDeleted') === 'true';
  return ({ deleted }) => deleted !== true || withDeleted;
}

/**
 * Responds with a list.
 * @param where a condition in addition to the parameters
 * @throws Fault 400 for a page without its token
 */
export function list(
  collection: Collection,
  call: Call,
  where: (row: TableRow) => boolean = () => true,
): SimulatedResponse {
  const { name, table, latest } = collection;
  const { query, path } = call;
  const [page, size] = [Number(query.get('Page') ?? 0), Math.min(Number(query.get('PageSize') ?? 50), 1000)];
  const tests = [where, isThere(call), ...readFilters(collection, query)];
  const isMatch = (row: TableRow) => tests.every((test) => test(row));
  const positionOf = (row: TableRow) => Number(row[latest] ?? Number.MAX_SAFE_INTEGER);
  const inOrder = table.rows(true).toSorted((a, b) => positionOf(b) - positionOf(a));
  const token = query.get('PageToken');
  // A token names the record before the page, so records that are created or deleted meanwhile do not shift pages.
  const before = token === null ? -1 : inOrder.findIndex(({ sid }) => token === `PA${sid}`);
  if (token === null && page > 0) throw invalid('PageToken is required for paging.');
  if (token !== null && before < 0) throw invalid('PageToken is invalid.');
  const left = inOrder.slice(before + 1).filter(isMatch);
  const rows = left.slice(0, size);
  const uriOf = (number: number, after: string | null) => {
    const asked = new URLSearchParams(query);
    const more = { PageSize: String(size), Page: String(number), ...(after !== null && { PageToken: after }) };
    for (const [parameter, value] of Object.entries(more)) asked.set(parameter, value);
    return `${path}?${asked}`;
  };
  const uri = uriOf(page, token);
  const next = call.isStuck ? uri : uriOf(page + 1, `PA${rows.at(-1)?.sid}`);
  return json({
    ...{ uri, page, page_size: size },
    next_page_uri: left.length > size ? next : null,
    [name.toLowerCase()]: rows.map((row) => present(collection, row)),
  });
}

export function invalid(message: string): Fault {
  return new Fault(400, '20001', message);
}

/** Reads the filters. Twilio's own clients also send a time, in UTC, although the documents only mention days. */
function readFilters({ name, members, filters }: Collection, query: URLSearchParams) {
  return [...query].flatMap(([parameter, text]) => {
    const [, word = '', bound = ''] = /^(\w+)([<>]?)$/.exec(parameter) ?? [];
    const column = Object.hasOwn(filters, word) ? filters[word] : undefined;
    if (column === undefined || text === '') return [];
    if (members[column]?.type !== 'datetime') return [(row: TableRow) => row[column] === text];
    const day = text.slice(0, 10);
    return [
      ({ [column]: ms }: TableRow) => {
        if (typeof ms !== 'number') return false;
        const own = new Date(ms).toISOString().slice(0, 10);
        if (bound === '') return own === day;
        // The documents contradict each other on whether an upper bound includes its day: for messages and recordings they say so, and for
        // calls the opposite.
        return own === day ? bound === '>' || name !== 'Calls' : own > day === (bound === '>');
      },
    ];
  });
}
