import type { Clock } from '../../clock.ts';
import { Fault } from './fault.ts';
import type { Call } from './route.ts';

/** The parameter by which a request sets the number of rows. */
interface Sized {
  /** The name of its parameter. */
  readonly size: string;
  /** The number of rows without the parameter. */
  readonly usual: number;
  readonly most: number;
  /** The treatment of a size above `most`. Default `clamped`. */
  readonly beyond?: 'clamped' | 'refused';
  /** Returns the provider's error for a parameter that it does not accept. Default: 400. */
  readonly refuse?: (message: string, parameter: string) => Fault;
}

/** The five kinds of paging, by the parameters of a request. */
export type PageStyle =
  | { readonly kind: 'whole' }
  /** The number of rows to skip. */
  | (Sized & { readonly kind: 'offset'; readonly offset: string })
  /** The number of the page, from 1. */
  | (Sized & { readonly kind: 'number'; readonly page: string })
  /** A text from the previous response. */
  | (Sized & { readonly kind: 'cursor'; readonly cursor: string })
  /** An address from the previous response. */
  | (Sized & { readonly kind: 'link'; readonly token: string; readonly links?: 'absolute' | 'relative' });

/** One page of a list. */
export interface Page<Item> {
  readonly rows: readonly Item[];
  /** Number of rows on all pages. */
  readonly total: number;
  readonly size: number;
  /** Number of rows before this page. */
  readonly start: number;
  /** The parameter of the next page: an offset, a page, a cursor or an address. Undefined on the last page. */
  readonly next?: string;
}

/** The parts of a call that paging needs. `query` may also come from a body. */
export type PagedCall = Pick<Call, 'query' | 'isStuck'> & Partial<Pick<Call, 'origin' | 'path'>>;

/**
 * Returns the page that a request asks for.
 * @throws Fault 400 for an invalid position or size
 */
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

/** Returns an opaque cursor. */
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

/** Results that stay unchanged while a client pages through them, by an id. The oldest are dropped first. */
export interface Results<Item> {
  /** Stores rows and returns their id. */
  readonly keep: (rows: readonly Item[]) => string;
  /** Returns the rows; undefined for an id that is unknown, was dropped, or has expired. */
  readonly find: (id: string) => readonly Item[] | undefined;
}

/** Limits of stored results. */
export interface ResultsOptions {
  readonly most: number;
  readonly makeId: (number: number) => string;
  /** The time after which results expire. Default: never. */
  readonly lifetime?: { readonly ms: number; readonly clock: Clock };
}

/** Creates a store of results. */
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
