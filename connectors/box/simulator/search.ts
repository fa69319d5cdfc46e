import { type Call, json, type SimulatedResponse, takePage } from '#connector/simulator';
import { type Drive, ME, type Row } from './drive.ts';
import { badPage, invalid, missing } from './faults.ts';
import { type Indexed, parseQuery, wordsOf } from './query.ts';
import { extensionOf, show } from './show.ts';

type Test = (row: Row) => boolean;

const PAGING = { kind: 'offset', offset: 'offset', size: 'limit', usual: 30, most: 200, refuse: badPage } as const;
const MOST_OFFSET = 10_000;

/**
 * Responds to `GET /search` with the items that are not in the trash, by relevance.
 * @throws Fault 400 and 404 for parameters that it does not accept
 */
export function search(drive: Drive, call: Call): SimulatedResponse {
  const { query } = call;
  const text = query.get('query') ?? '';
  if (text.trim() === '') throw missing('query');
  if (Number(query.get('offset')) > MOST_OFFSET) throw invalid('offset', `Offset must be at most ${MOST_OFFSET}`);
  const score = parseQuery(text);
  const types = contentTypes(query);
  const tests = FILTERS.map((filter) => filter(query, drive)).filter((test) => test !== undefined);
  const found = drive
    .all()
    .filter((row) => tests.every((test) => test(row)))
    .map((row) => ({ row, score: score?.(indexOf(drive, row, types)) ?? 0 }))
    .filter((hit) => hit.score > 0)
    .toSorted((a, b) => b.score - a.score);
  const { rows, total, size, start } = takePage(found, PAGING, call);
  const entries = rows.map(({ row }) => show(drive, row, call, 'standard'));
  return json({ total_count: total, entries, limit: size, offset: start, type: 'search_results_items' });
}

const CONTENT_TYPES = ['name', 'description', 'file_content', 'comments', 'tags'];

function contentTypes(query: URLSearchParams): readonly string[] {
  const types = listOf(query, 'content_types') ?? CONTENT_TYPES;
  const unknown = types.find((type) => !CONTENT_TYPES.includes(type));
  if (unknown !== undefined) throw invalid('content_types', `Invalid value '${unknown}'.`);
  return types;
}

/** Types of files whose text Box indexes, up to `INDEXED_BYTES`. */
const READABLE = ['txt', 'csv', 'md', 'pdf', 'docx'];
const INDEXED_BYTES = 10_000;

function indexOf({ contents }: Drive, { id, name, description, tags }: Row, types: readonly string[]): Indexed {
  const content = READABLE.includes(extensionOf(String(name)).toLowerCase()) ? contents.get(String(id)) : undefined;
  const texts: Readonly<Record<string, readonly string[]>> = {
    description: [String(description)],
    file_content: content === undefined ? [] : [content.subarray(0, INDEXED_BYTES).toString()],
    tags: Array.isArray(tags) ? tags.map(String) : [],
  };
  const others = types.flatMap((type) => texts[type] ?? []);
  return { names: types.includes('name') ? [wordsOf(String(name))] : [], others: others.map(wordsOf) };
}

/** The filters. Each reads one parameter, and returns undefined if the parameter is missing. */
const FILTERS: readonly ((query: URLSearchParams, drive: Drive) => Test | undefined)[] = [
  (query) => {
    const type = oneOf(query, 'type', ['file', 'folder', 'web_link']);
    return type === null ? undefined : (row) => row.type === type;
  },
  (query) => {
    const extensions = listOf(query, 'file_extensions')?.map((each) => each.toLowerCase());
    return (
      extensions && ((row) => row.type === 'file' && extensions.includes(extensionOf(String(row.name)).toLowerCase()))
    );
  },
  (query, drive) => {
    const folders = listOf(query, 'ancestor_folder_ids');
    for (const id of folders ?? []) drive.get('folder', id);
    return folders && ((row) => drive.pathOf(row).some(({ id }) => folders.includes(String(id))));
  },
  (query) => rangeOf(query, 'created_at_range', readTime, (row) => Number(row.created_at)),
  (query) => rangeOf(query, 'updated_at_range', readTime, (row) => Number(row.modified_at)),
  (query, drive) => rangeOf(query, 'size_range', readSize, (row) => drive.sizeOf(row)),
  (query) => {
    const owners = listOf(query, 'owner_user_ids');
    return owners && (() => owners.includes(ME.id));
  },
];

function listOf(query: URLSearchParams, name: string): readonly string[] | undefined {
  return query
    .get(name)
    ?.split(',')
    .map((each) => each.trim());
}

/**
 * Returns the value of a parameter with fixed values.
 * @throws Fault 400 for another value
 */
export function oneOf(query: URLSearchParams, name: string, words: readonly string[]): string | null {
  const word = query.get(name);
  if (word === null || words.includes(word)) return word;
  throw invalid(name, `Invalid value '${word}'. '${name}' must be one of ${words.join(', ')}`);
}

/** Reads a range `from,to`. Either bound may be missing, and both are included. */
function rangeOf(
  query: URLSearchParams,
  name: string,
  read: (text: string) => number,
  value: (row: Row) => number,
): Test | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const [from = '', to = '', ...rest] = text.split(',').map((bound) => bound.trim());
  const bounds = [from === '' ? Number.NEGATIVE_INFINITY : read(from), to === '' ? Number.POSITIVE_INFINITY : read(to)];
  const [least = Number.NaN, most = Number.NaN] = bounds;
  if (!text.includes(',') || rest.length > 0 || bounds.some(Number.isNaN))
    throw invalid(name, `Invalid value '${text}'.`);
  return (row) => value(row) >= least && value(row) <= most;
}

const RFC_3339 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** Reads a time. A day without a time is its first instant. */
function readTime(text: string): number {
  return RFC_3339.test(text) ? Date.parse(text.replace(/-00:00$/, 'Z').toUpperCase()) : Number.NaN;
}

function readSize(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
