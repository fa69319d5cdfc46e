import type { Clock } from '../../clock.ts';
import { Fault } from './fault.ts';
import type { Call } from './route.ts';

/** How many rows a request asks for. */
interface Sized {
  /** The parameter that says it. */
  readonly size: string;
  /** Where it says nothing. */
  readonly usual: number;
  readonly most: number;
  /** What becomes of a size above `most`. Default `clamped`. */
  readonly beyond?: 'clamped' | 'refused';
  /** The provider's error for a parameter that it does not take. Default: 400. */
  readonly refuse?: (message: string, parameter: string) => Fault;
}

/** The five ways in which providers answer lists, as the parameters of a request say them. */
export type PageStyle =
  | { readonly kind: 'whole' }
  /** Rows to leave out. */
  | (Sized & { readonly kind: 'offset'; readonly offset: string })
  /** Pages from 1. */
  | (Sized & { readonly kind: 'number'; readonly page: string })
  /** A word that the answer before gave. */
  | (Sized & { readonly kind: 'cursor'; readonly cursor: string })
  /** An address that the answer before gave. */
  | (Sized & { readonly kind: 'link'; readonly token: string; readonly links?: 'absolute' | 'relative' });

export interface Page<Item> {
  readonly rows: readonly Item[];
  /** Rows on all pages. */
  readonly total: number;
  readonly size: number;
  /** Rows in front of this page. */
  readonly start: number;
  /** What asks for the next page: an offset, a page, a cursor, an address. Undefined at the end. */
  readonly next?: string;
}

/** What paging needs of a call. `query` may be made of a body too. */
export type PagedCall = Pick<Call, 'query' | 'isStuck'> & Partial<Pick<Call, 'origin' | 'path'>>;

/** @throws Fault 400 for a position or a size that is none */
export function takePage<Item>(rows: readonly Item[], paging: PageStyle, call: PagedCall): Page<Item> {
  if (paging.kind === 'whole') return { rows, total: rows.length, size: rows.length, start: 0 };
  const size = readSize(paging, call.query);
  const start = startOf(paging, call.query, size);
  const nextStart = call.isStuck ? start : start + size;
  const page = { rows: rows.slice(start, start + size), total: rows.length, size, start };
  return nextStart < rows.length ? { ...page, next: nextOf(paging, call, { start: nextStart, size }) } : page;
}

function readSize(sized: Sized, query: URLSearchParams): number {
  const { size: name, usual, most, beyond = 'clamped', refuse = badPage } = sized;
  const size = readCount(query, name, { usual, refuse });
  if (size < 1 || (size > most && beyond === 'refused')) throw refuse(`${name} is from 1 to ${most}.`, name);
  return Math.min(size, most);
}

type Stepped = Exclude<PageStyle, { kind: 'whole' }>;

function startOf(paging: Stepped, query: URLSearchParams, size: number): number {
  const { refuse = badPage } = paging;
  switch (paging.kind) {
    case 'offset':
      return readCount(query, paging.offset, { usual: 0, refuse });
    case 'number': {
      const page = readCount(query, paging.page, { usual: 1, refuse });
      if (page < 1) throw refuse(`${paging.page} begins at 1.`, paging.page);
      return (page - 1) * size;
    }
    case 'cursor':
      return readToken(query, paging.cursor, refuse);
    case 'link':
      return readToken(query, paging.token, refuse);
  }
}

function nextOf(paging: Stepped, call: PagedCall, { start, size }: { readonly start: number; readonly size: number }) {
  switch (paging.kind) {
    case 'offset':
      return String(start);
    case 'number':
      return String(Math.floor(start / size) + 1);
    case 'cursor':
      return makeToken(start);
    case 'link':
      return linkOf(paging, call, makeToken(start));
  }
}

function linkOf({ token, links }: Extract<PageStyle, { kind: 'link' }>, call: PagedCall, value: string): string {
  const query = new URLSearchParams(call.query);
  query.set(token, value);
  return `${links === 'relative' ? '' : (call.origin ?? '')}${call.path ?? ''}?${query}`;
}

type Refuse = NonNullable<Sized['refuse']>;

function readCount(
  query: URLSearchParams,
  name: string,
  { usual, refuse }: { readonly usual: number; readonly refuse: Refuse },
): number {
  const text = query.get(name);
  if (text === null) return usual;
  if (!/^\d{1,15}$/.test(text)) throw refuse(`${name} is a whole number.`, name);
  return Number(text);
}

/** Nobody is meant to read or make one. */
function makeToken(start: number): string {
  return Buffer.from(`after:${start}`).toString('base64url');
}

function readToken(query: URLSearchParams, name: string, refuse: Refuse): number {
  const text = query.get(name);
  if (text === null) return 0;
  const [, start] = /^after:(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (start === undefined) throw refuse(`${name} is none of ours.`, name);
  return Number(start);
}

function badPage(message: string, field: string): Fault {
  return new Fault(400, 'INVALID_PAGE', message, { fields: [field] });
}

/** Results that stay as they were while somebody pages through them, by an id; the oldest go first. */
export interface Results<Item> {
  readonly keep: (rows: readonly Item[]) => string;
  /** Undefined for one that is unknown, was dropped, or is too old. */
  readonly find: (id: string) => readonly Item[] | undefined;
}

export interface ResultsOptions {
  readonly most: number;
  readonly makeId: (number: number) => string;
  /** After which they are forgotten. Default: never. */
  readonly lifetime?: { readonly ms: number; readonly clock: Clock };
}

export function createResults<Item>({ most, makeId, lifetime }: ResultsOptions): Results<Item> {
  const kept = new Map<string, { readonly rows: readonly Item[]; readonly atMs: number }>();
  const nowMs = () => lifetime?.clock.steady() ?? 0;
  let made = 0;
  return {
    keep: (rows) => {
      const id = makeId(made++);
      kept.set(id, { rows, atMs: nowMs() });
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return id;
    },
    find: (id) => {
      const result = kept.get(id);
      const isOld = result !== undefined && lifetime !== undefined && nowMs() - result.atMs > lifetime.ms;
      return isOld ? undefined : result?.rows;
    },
  };
}
