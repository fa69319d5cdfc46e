import { type Answer, type Call, Fault, json, type Table, type TableRow } from '#connector/simulator';
import { printRow } from './rows.ts';

/** What a value of a parameter lets through. @throws Fault 400 for a value that is none */
export type Filter = (text: string, parameter: string) => (row: TableRow) => boolean;

export interface Collection {
  /** As it stands in addresses. */
  readonly name: 'Messages' | 'Calls' | 'Recordings';
  readonly table: Table;
  /** Of what is the latest first; without it first of all. */
  readonly latest: string;
  /** By parameter. The provider passes over others. */
  readonly filters: Readonly<Record<string, Filter>>;
}

export function equals(column: string): Filter {
  return (text) => (row) => row[column] === text;
}

export function oneOf(column: string, words: readonly string[]): Filter {
  return (text, parameter) => {
    if (!words.includes(text)) throw invalid(`${parameter} is one of ${words.join(', ')}.`);
    return (row) => row[column] === text;
  };
}

export function sidIn(column: string, prefix: string): Filter {
  const pattern = new RegExp(`^${prefix}[0-9a-fA-F]{32}$`);
  return (text, parameter) => {
    if (!pattern.test(text)) throw invalid(`${parameter} is ${prefix} and 32 hexadecimal digits.`);
    return (row) => row[column] === text;
  };
}

/** @param before whether rows of the day itself are before it: the documents say it of messages and recordings, of calls the contrary */
export function daysOf(parameter: string, column: string, before: 'inclusive' | 'exclusive'): Collection['filters'] {
  const compared = (holds: (day: string, bound: string) => boolean): Filter => {
    return (text, name) => {
      const bound = readDay(text, name);
      return ({ [column]: ms }) => typeof ms === 'number' && holds(dayOf(ms), bound);
    };
  };
  return {
    [parameter]: compared((day, bound) => day === bound),
    [`${parameter}<`]: compared((day, bound) => (before === 'inclusive' ? day <= bound : day < bound)),
    [`${parameter}>`]: compared((day, bound) => day >= bound),
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The vendor's own clients send a time too, in UTC; the documents know days only. */
function readDay(text: string, parameter: string): string {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?$/.exec(text) ?? [];
  const ms = Date.parse(day);
  if (Number.isNaN(ms) || dayOf(ms) !== day) throw invalid(`${parameter} is a date, YYYY-MM-DD.`);
  return day;
}

export function invalid(message: string): Fault {
  return new Fault(400, '20001', message);
}

const USUAL_SIZE = 50;
const MOST_ROWS = 1000;

/** @param where beside what the parameters say */
export function list(collection: Collection, call: Call, where: (row: TableRow) => boolean = () => true): Answer {
  const { name, table, latest } = collection;
  const { query } = call;
  const page = readCount(query, 'Page', 0);
  const size = Math.min(readCount(query, 'PageSize', USUAL_SIZE), MOST_ROWS);
  if (size < 1) throw invalid('PageSize is at least 1.');
  const tests = [where, isThere(query), ...readFilters(collection, query)];
  const inOrder = table.rows(true).toSorted((a, b) => placeOf(b[latest]) - placeOf(a[latest]));
  const isMatch = (row: TableRow) => tests.every((test) => test(row));
  const matching = inOrder.filter(isMatch);
  const start = startOf(inOrder, { query, page, size }, isMatch);
  const rows = matching.slice(start, start + size);
  const uri = (number: number, token?: string | null) => printUri(call, { number, size, token });
  const token = query.get('PageToken');
  const next = call.isStuck ? uri(page, token) : uri(page + 1, `PA${rows.at(-1)?.sid}`);
  return json({
    uri: uri(page, token),
    first_page_uri: uri(0),
    next_page_uri: start + size < matching.length ? next : null,
    previous_page_uri: start > 0 ? uri(Math.max(0, page - 1), `PB${matching[start]?.sid}`) : null,
    page,
    page_size: size,
    start: page * size,
    end: Math.max(0, page * size + rows.length - 1),
    [name.toLowerCase()]: rows.map((row) => printRow(name, row)),
  });
}

function placeOf(ms: unknown): number {
  return typeof ms === 'number' ? ms : Number.MAX_SAFE_INTEGER;
}

function readFilters({ filters }: Collection, query: URLSearchParams): readonly ((row: TableRow) => boolean)[] {
  return Object.entries(filters).flatMap(([parameter, filter]) => {
    const text = query.get(parameter) ?? '';
    return text === '' ? [] : [filter(text, parameter)];
  });
}

/** Deleted records that are asked for, and all others. */
export function isThere(query: URLSearchParams): (row: TableRow) => boolean {
  const withDeleted = query.get('IncludeSoftDeleted') === 'true';
  return ({ deleted }) => deleted !== true || withDeleted;
}

interface Asked {
  readonly query: URLSearchParams;
  readonly page: number;
  readonly size: number;
}

/**
 * A token names the record after (`PA`) or before (`PB`) which a page lies: what is made or deleted meanwhile moves no page.
 * @returns how many matching rows are in front of the page. @throws Fault 400
 */
function startOf(
  inOrder: readonly TableRow[],
  { query, page, size }: Asked,
  isMatch: (row: TableRow) => boolean,
): number {
  const token = query.get('PageToken');
  if (token === null && page > 0) throw invalid('PageToken is required for paging.');
  if (token === null) return 0;
  const [, side, sid] = /^P([AB])(\w+)$/.exec(token) ?? [];
  const at = inOrder.findIndex((row) => row.sid === sid);
  if (at < 0) throw invalid('PageToken is invalid.');
  const inFront = inOrder.slice(0, side === 'A' ? at + 1 : at).filter(isMatch).length;
  return side === 'A' ? inFront : Math.max(0, inFront - size);
}

function readCount(query: URLSearchParams, parameter: string, usual: number): number {
  const text = query.get(parameter) ?? String(usual);
  if (!/^\d{1,9}$/.test(text)) throw invalid(`${parameter} is a whole number.`);
  return Number(text);
}

interface Place {
  readonly number: number;
  readonly size: number;
  readonly token: string | null | undefined;
}

/** Without the host. */
function printUri({ path, query }: Call, { number, size, token }: Place): string {
  const printed = new URLSearchParams(query);
  printed.delete('PageToken');
  printed.set('PageSize', String(size));
  printed.set('Page', String(number));
  if (token != null) printed.set('PageToken', token);
  return `${path}?${printed}`;
}
