import {
  type Call,
  FOLDS,
  json,
  type SimulatedResponse,
  sortRows,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { type Company, entryOf, type Resource, showRow } from './company.ts';
import { compileConditions, type Target } from './condition.ts';
import { badCondition } from './fault.ts';

/** The parameters of a request, with their names in lower case. */
type Asked = URLSearchParams;

/** Returns the members that conditions and orders can name, by name in lower case. Members of references follow a slash. */
function targetsOf(company: Company, { members, info }: Resource): ReadonlyMap<string, Target> {
  const entries = Object.entries(members).flatMap(([name, member]): [string, Target][] => {
    const { type, values, refersTo } = member;
    if (type === 'array' || type === 'object') return [];
    const names = info.includes(name) ? [name, `_info/${name}`] : [name];
    if (type === 'reference') return referenceTargets(company, name, refersTo ?? '');
    return names.map((each) => [each, { type, values, read: (row) => row[name] }]);
  });
  return new Map(entries.map(([name, target]) => [name.toLowerCase(), target]));
}

function referenceTargets(company: Company, name: string, refersTo: string): [string, Target][] {
  const hasIdentifier = ['companies', 'members', 'departments'].includes(refersTo);
  const texts = refersTo === 'tickets' ? ['summary'] : hasIdentifier ? ['name', 'identifier'] : ['name'];
  return [
    [`${name}/id`, { type: 'integer', read: (row) => row[name] }],
    ...texts.map((each): [string, Target] => [
      `${name}/${each}`,
      { type: 'string', read: (row) => entryOf(company, refersTo, row[name])?.[each] },
    ]),
  ];
}

export interface Listing {
  readonly company: Company;
  readonly resource: Resource;
  readonly rows: readonly TableRow[];
}

/**
 * Returns the rows that match the conditions, sorted.
 * @throws Fault 400
 */
function findRows({ company, resource, rows }: Listing, asked: Asked): readonly TableRow[] {
  const targets = targetsOf(company, resource);
  const resolve = (field: string) => targets.get(field.toLowerCase());
  const found = rows.filter(compileConditions(asked.get('conditions') ?? '', resolve));
  // An order such as `contact/name asc, id desc`. The default is by id.
  const orders = (asked.get('orderby') || 'id').split(',').map((term) => {
    const [, name = '', direction = 'asc'] = /^\s*([\w/]+)(?:\s+(asc|desc))?\s*$/i.exec(term) ?? [];
    const target = resolve(name);
    if (target === undefined) throw badCondition(`${name || term} is not a recognized name.`);
    return { ...target, fold: FOLDS['ignoring case'], descending: direction.toLowerCase() === 'desc' };
  });
  return sortRows(found, orders);
}

const readAsked = ({ query }: Call): Asked =>
  new URLSearchParams([...query].map(([name, value]): [string, string] => [name.toLowerCase(), value]));

const SIZED = { size: 'pagesize', usual: 25, most: 1000, beyond: 'refused', refuse: badCondition } as const;

/** Responds with a page of records: a numbered page, or a forward-only page if a header requests it. */
export function list(listing: Listing, call: Call): SimulatedResponse {
  const asked = readAsked(call);
  const rows = findRows(listing, asked);
  const isForward = call.headers['pagination-type'] === 'forward-only';
  const { page, links } = isForward ? takeForward(rows, call, asked) : takeNumbered(rows, call, asked);
  const body = page.map((row) => showRow(listing.company, listing.resource, row));
  const link = Object.entries(links).map(([rel, parameters]) => `<${addressOf(call, parameters)}>; rel="${rel}"`);
  return show(call, body, 200, link.length === 0 ? {} : { link: link.join(', ') });
}

type Links = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Taken = { readonly page: readonly TableRow[]; readonly links: Links };

function takeNumbered(rows: readonly TableRow[], { isStuck }: Call, asked: Asked): Taken {
  const taken = takePage(rows, { kind: 'number', page: 'page', ...SIZED }, { query: asked, isStuck });
  const [number, last] = [taken.start / taken.size + 1, Math.ceil(taken.total / taken.size)];
  const to = (page: number | string) => ({ pageSize: String(taken.size), page: String(page) });
  return {
    page: taken.rows,
    links: {
      ...(taken.next !== undefined && { next: to(taken.next), last: to(last) }),
      ...(number > 1 && { first: to(1), prev: to(number - 1) }),
    },
  };
}

/** Takes a forward-only page. The id of its last record leads to the next page, also from the last page. An empty page has no link. */
function takeForward(rows: readonly TableRow[], { isStuck }: Call, asked: Asked): Taken {
  if (asked.has('orderby')) throw badCondition('orderBy is not used with forward-only pagination.');
  const pageId = asked.get('pageid') ?? '0';
  if (!/^\d{1,10}$/.test(pageId)) throw badCondition('pageId is an id.');
  const after = rows.filter(({ id }) => Number(id) > Number(pageId));
  const query = new URLSearchParams([...asked].filter(([name]) => name === 'pagesize'));
  const { rows: page, size } = takePage(after, { kind: 'number', page: 'page', ...SIZED }, { query, isStuck: false });
  const next = isStuck ? pageId : page.at(-1)?.id;
  return { page, links: next === undefined ? {} : { next: { pageSize: String(size), pageId: String(next) } } };
}

/** Returns the address of a page. Recorded addresses have a slash before the question mark. */
function addressOf({ origin, path, query }: Call, parameters: Readonly<Record<string, string>>): string {
  const replaced = ['page', 'pagesize', 'pageid'];
  const kept = [...query].filter(([name]) => !replaced.includes(name.toLowerCase()));
  return `${origin}${path.replace(/\/$/, '')}/?${new URLSearchParams([...kept, ...Object.entries(parameters)])}`;
}

/** Responds in the media type of the version that the request accepts. */
export function show(
  { headers }: Call,
  body: unknown,
  status = 200,
  more: Readonly<Record<string, string>> = {},
): SimulatedResponse {
  const [type] = /application\/vnd\.connectwise\.com\+json; ?version=[\w.]+/.exec(headers.accept ?? '') ?? [];
  return json(body, status, { ...more, ...(type !== undefined && { 'content-type': `${type}; charset=utf-8` }) });
}
