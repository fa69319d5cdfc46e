import { type Answer, type Call, json, type PageStyle, type TableRow, takePage } from '#connector/simulator';
import { badFilter, badParameter } from './faults.ts';
import type { Resource } from './resources.ts';
import { changedSince, type Test } from './searches.ts';

const PAGING: PageStyle = {
  kind: 'number',
  page: 'page',
  size: 'limit',
  usual: 100,
  most: 500,
  beyond: 'refused',
  refuse: badParameter,
};
const OTHERS: readonly string[] = ['page', 'limit', 'offset', 'sortby', 'sortorder'];

/** What tests are joined by is AND: a recorded search for a city and a postal code answers fewer than that for the city. */
export function list(resource: Resource, call: Call, today: string): Answer {
  const { plural, table } = resource;
  const tests = [...call.query]
    .filter(([name]) => !OTHERS.includes(name))
    .map(([name, text]) => readTest(resource, name, text, today));
  const found = table.rows().filter((row) => tests.every((test) => test(row)));
  const { rows, total, size } = takePage(skip(inOrder(found, resource, call.query), call.query), PAGING, call);
  return json({
    MetaInformation: {
      '@TotalResources': found.length,
      '@TotalPages': Math.ceil(total / size),
      '@CurrentPage': Number(call.query.get('page') || 1),
    },
    [plural]: rows.map((row) => ({ '@url': addressOf(resource, row), ...resource.short(row) })),
  });
}

/** @throws Fault 400 for a parameter that this list does not have */
function readTest({ searches, filters }: Resource, name: string, text: string, today: string): Test {
  if (name === 'filter') {
    const filter = Object.hasOwn(filters, text) ? filters[text] : undefined;
    if (filter === undefined) throw badFilter();
    return (row) => filter(row, today);
  }
  if (name === 'lastmodified') return changedSince(text);
  const search = Object.hasOwn(searches, name) ? searches[name] : undefined;
  if (search === undefined) throw badParameter();
  return search(text);
}

function skip(rows: readonly TableRow[], query: URLSearchParams): readonly TableRow[] {
  const offset = query.get('offset') || '0';
  if (!/^\d+$/.test(offset)) throw badParameter();
  return rows.slice(Number(offset));
}

/** @throws Fault 400 */
function inOrder(rows: readonly TableRow[], { key, sorts }: Resource, query: URLSearchParams): readonly TableRow[] {
  const [by, order] = [query.get('sortby'), query.get('sortorder') || 'ascending'];
  const column = by ? (Object.hasOwn(sorts, by) ? sorts[by] : undefined) : key;
  if (column === undefined || !['ascending', 'descending'].includes(order)) throw badParameter();
  const sign = order === 'ascending' ? 1 : -1;
  return rows.toSorted((a, b) => sign * compare(a[column], b[column]));
}

const SWEDISH = new Intl.Collator('sv');

/** Numbers by their size, also where they are texts, and in front of words, which stand as in Swedish. */
function compare(a: unknown, b: unknown): number {
  const [first, second] = [asNumber(a), asNumber(b)];
  if (first === undefined && second === undefined) return SWEDISH.compare(String(a ?? ''), String(b ?? ''));
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
  return first - second;
}

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** As Fortnox itself writes it, wherever it was reached. */
export function addressOf({ path, key }: Resource, row: TableRow): string {
  return `https://api.fortnox.se/3/${path}/${encodeURIComponent(String(row[key]))}`;
}
