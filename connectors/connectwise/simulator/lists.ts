import { type Answer, type Call, json, sortRows, type TableRow, takePage } from '#connector/simulator';
import { compileConditions, type LiteralKind, type Target, type TextRule } from './condition.ts';
import { badCondition } from './fault.ts';
import {
  type Field,
  isReference,
  type Members,
  type Reference,
  SCHEMAS,
  type Schema,
  type TableName,
} from './schema.ts';
import { showRow, type World } from './show.ts';

/** What a list is asked for: parameters in any case of letters. */
export type Asked = URLSearchParams;

export function readAsked(pairs: Iterable<readonly [string, string]>): Asked {
  return new URLSearchParams([...pairs].map(([name, value]): [string, string] => [name.toLowerCase(), value]));
}

const TEXT: Field = { type: 'string' };
const ID: Field = { type: 'integer' };
const INFO: Members = { lastUpdated: { type: 'datetime' }, updatedBy: TEXT };
const DATED: Members = { dateEntered: { type: 'datetime' }, enteredBy: TEXT };

function membersOf({ refersTo }: Reference): Members {
  if (refersTo === 'tickets') return { id: ID, summary: TEXT };
  const hasIdentifier = ['companies', 'members', 'departments'].includes(refersTo);
  return { id: ID, name: TEXT, ...(hasIdentifier && { identifier: TEXT }) };
}

/** By names in small letters; the members of references behind a slash. */
function targetsOf(members: Members, path: readonly string[] = []): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  for (const [name, member] of Object.entries(members)) {
    const place = [...path, name];
    if (isReference(member)) for (const pair of targetsOf(membersOf(member), place)) targets.set(...pair);
    else targets.set(place.join('/').toLowerCase(), { field: member, read: (row) => valueAt(row, place) });
  }
  return targets;
}

/** The moments of a record are known by their names, and by their place. */
function allTargets({ members, isDated }: Schema): ReadonlyMap<string, Target> {
  const info = targetsOf({ ...INFO, ...(isDated && DATED) }, ['_info']);
  const short = [...info].map(([name, target]): [string, Target] => [name.slice('_info/'.length), target]);
  return new Map([...info, ...short, ...targetsOf(members)]);
}

function valueAt(row: TableRow, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => Object(value ?? {})[name], row);
}

const TARGETS = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, allTargets(schema)]));

/** Records as they are shown that the three conditions let through, in order. @throws Fault 400 */
export function findRows(
  world: World,
  name: TableName,
  { rows, asked, text }: { readonly rows: readonly TableRow[]; readonly asked: Asked; readonly text: TextRule },
): readonly TableRow[] {
  const targets = TARGETS.get(name) ?? new Map<string, Target>();
  const resolve = (field: string) => targets.get(field.toLowerCase());
  const conditions = asked.get('conditions') ?? '';
  const tests = [
    compileConditions(conditions, { resolve, text, hasLists: true }),
    compileChildConditions(asked.get('childconditions') ?? '', name, text),
    compileCustomConditions(asked.get('customfieldconditions') ?? '', text),
  ];
  const found = rows.map((row) => showRow(world, name, row)).filter((row) => tests.every((test) => test(row)));
  return orderRows(found, asked.get('orderby'), { resolve, text });
}

type Test = (row: TableRow) => boolean;

/** One element of the array passes all of it. */
function compileChildConditions(conditions: string, name: TableName, text: TextRule): Test {
  if (conditions.trim() === '') return () => true;
  const { arrays = {} }: Schema = SCHEMAS[name];
  const used = new Set<string>();
  const resolve = (field: string) => {
    const [first = '', ...rest] = field.split('/');
    const array = Object.keys(arrays).find((known) => known.toLowerCase() === first.toLowerCase()) ?? '';
    used.add(array);
    return targetsOf(arrays[array] ?? {}).get(rest.join('/').toLowerCase());
  };
  const test = compileConditions(conditions, { resolve, text, hasLists: false });
  const [array = '', another] = used;
  if (another !== undefined) throw badCondition('Conditions on two arrays are not simulated.');
  return (row) => elementsOf(row, array).some(test);
}

const CUSTOM: Readonly<Record<string, Field>> = { id: ID, caption: TEXT, type: TEXT, entrymethod: TEXT };
const CUSTOM_NAMES: Readonly<Record<string, string>> = { entrymethod: 'entryMethod' };
const TYPES: Readonly<Record<LiteralKind, Field['type']>> = {
  string: 'string',
  datetime: 'datetime',
  numeric: 'number',
  boolean: 'boolean',
  null: 'string',
};
/** What values each type of custom field has. */
const KINDS: Readonly<Record<string, LiteralKind>> = {
  Number: 'numeric',
  Percent: 'numeric',
  Checkbox: 'boolean',
  Date: 'datetime',
};

/** One custom field passes all of it; its value compares with literals of its own kind. */
function compileCustomConditions(conditions: string, text: TextRule): Test {
  if (conditions.trim() === '') return () => true;
  const resolve = (name: string, kind: LiteralKind): Target | undefined => {
    const known = name.toLowerCase();
    if (known !== 'value') {
      const field = CUSTOM[known];
      return field && { field, read: (element) => element[CUSTOM_NAMES[known] ?? known] };
    }
    const isKind = ({ type }: TableRow) => kind === 'null' || kind === (KINDS[String(type)] ?? 'string');
    return { field: { type: TYPES[kind] }, read: (element) => (isKind(element) ? element.value : null) };
  };
  const test = compileConditions(conditions, { resolve, text, hasLists: false });
  return (row) => elementsOf(row, 'customFields').some(test);
}

function elementsOf(row: TableRow, array: string): readonly TableRow[] {
  const elements = row[array];
  return Array.isArray(elements) ? elements : [];
}

interface Order {
  readonly resolve: (name: string) => Target | undefined;
  readonly text: TextRule;
}

/** `contact/name asc, id desc`; without one by id. */
function orderRows(rows: readonly TableRow[], order: string | null, { resolve, text }: Order): readonly TableRow[] {
  const terms = order === null || order.trim() === '' ? ['id'] : order.split(',');
  const orders = terms.map((term) => {
    const [, name = '', direction = 'asc'] = /^\s*([\w/]+)(?:\s+(asc|desc))?\s*$/i.exec(term) ?? [];
    const target = resolve(name);
    if (target === undefined) throw badCondition(`${name || term} is not a recognized name.`);
    const fold = text === 'ignoring case' ? (value: string) => value.toLowerCase().trimEnd() : undefined;
    const descending = direction.toLowerCase() === 'desc';
    return { type: target.field.type, read: target.read, descending, ...(fold && { fold }) };
  });
  return sortRows(rows, orders);
}

const SIZED = { size: 'pagesize', usual: 25, most: 1000, beyond: 'refused', refuse: badCondition } as const;

/** A page of records: of the usual kind, or forward-only where a header asks for that. */
export function showPage(rows: readonly TableRow[], call: Call, asked: Asked): Answer {
  const isForward = call.headers['pagination-type'] === 'forward-only';
  const { page, links } = isForward ? takeForward(rows, call, asked) : takeNumbered(rows, call, asked);
  const wanted = (asked.get('fields') ?? '').split(',').flatMap((path) => (path.trim() === '' ? [] : [path.trim()]));
  const body = wanted.length === 0 ? page : page.map((row) => pickMembers(row, wanted));
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

/** The id of the last record leads on, also from the last page; an empty page leads nowhere. */
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

/** Recorded addresses have a slash in front of the question mark. */
function addressOf({ origin, path, query }: Call, parameters: Readonly<Record<string, string>>): string {
  const replaced = ['page', 'pagesize', 'pageid'];
  const kept = [...query].filter(([name]) => !replaced.includes(name.toLowerCase()));
  return `${origin}${path.replace(/\/$/, '')}/?${new URLSearchParams([...kept, ...Object.entries(parameters)])}`;
}

/** `id,name,status/id`. What is not there is passed over. */
function pickMembers(row: TableRow, paths: readonly string[]): TableRow {
  const names = new Set(paths.map((path) => path.split('/', 1)[0] ?? ''));
  const members = [...names].flatMap((name): [string, unknown][] => {
    const value = row[name];
    if (value === undefined) return [];
    const below = paths.filter((path) => path.startsWith(`${name}/`)).map((path) => path.slice(name.length + 1));
    const isWhole = paths.includes(name) || typeof value !== 'object' || value === null || Array.isArray(value);
    return [[name, isWhole ? value : pickMembers({ ...value }, below)]];
  });
  return Object.fromEntries(members);
}

/** In the media type of the version that was asked for. */
export function show(
  { headers }: Call,
  body: unknown,
  status = 200,
  more: Readonly<Record<string, string>> = {},
): Answer {
  const [type] = /application\/vnd\.connectwise\.com\+json; ?version=[\w.]+/.exec(headers.accept ?? '') ?? [];
  return json(body, status, { ...more, ...(type !== undefined && { 'content-type': `${type}; charset=utf-8` }) });
}
