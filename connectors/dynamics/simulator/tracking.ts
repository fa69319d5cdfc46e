import {
  type Call,
  type ChangeLog,
  Fault,
  json,
  type MovableClock,
  type SimulatedResponse,
  type TableRow,
} from '#connector/simulator';
import { badQuery } from './filter.ts';
import { ENTITIES, type Table } from './tables.ts';

/** A change of a row: nothing but its position is kept. */
export type Log = ChangeLog<null>;

const PREFERENCE = 'odata.track-changes';
/** The default of `ExpireChangeTrackingInDays`. */
const LIFETIME_MS = 7 * 86_400_000;
const USUAL_PAGE = 5000;

/** A page of tracked rows: the changes behind `from`, or all rows, up to `until`. */
interface Position {
  readonly from: number | null;
  readonly until: number;
  readonly start: number;
}

/** Returns whether a request asks for a delta link, or follows one. */
export function isTracking({ query, headers }: Call): boolean {
  return String(headers.prefer).includes(PREFERENCE) || query.has('$deltatoken') || isCookie(query.get('$skiptoken'));
}

interface Tracking {
  readonly logical: string;
  readonly table: Table;
  readonly log: Log;
  readonly clock: MovableClock;
  /** The address of the environment. */
  readonly root: string;
  readonly show: (row: TableRow) => TableRow;
}

/**
 * Returns all rows with a delta link, or what changed since a delta link: new and changed rows first, deleted ones last. Source: "Use change
 * tracking to synchronize data with external systems".
 * @throws Fault for a table that is not tracked, options that change tracking does not support, and tokens that are none or too old
 */
export function listTracked(call: Call, tracking: Tracking): SimulatedResponse {
  const { logical, table, clock, root } = tracking;
  const [url, context] = [`${root}/${table.set}`, `${root}/$metadata#${table.set}`];
  const { query, headers } = call;
  if (ENTITIES[logical]?.entity.ChangeTrackingEnabled !== true) {
    throw badQuery(`Change tracking is not enabled for the entity '${logical}'.`);
  }
  const unsupported = ['filter', 'orderby', 'expand', 'top'].find((name) => query.has(`$${name}`));
  if (unsupported !== undefined) {
    throw badQuery(`The "${unsupported}" query parameter isn't supported when Change Tracking is enabled.`);
  }
  const position = positionOf(query, tracking);
  const rows = rowsAt(position, context, tracking);
  const [, preferred] = /odata\.maxpagesize=(\d+)/.exec(String(headers.prefer)) ?? [];
  const end = position.start + Math.min(Number(preferred ?? USUAL_PAGE), USUAL_PAGE);
  const select = query.has('$select') ? [`$select=${query.get('$select')}`] : [];
  const cookie = cookieOf({ ...position, start: call.isStuck ? position.start : end });
  const stamp = encodeURIComponent(`${position.until}!${stampOf(clock.now())}`);
  return json(
    {
      '@odata.context': position.from === null ? context : `${context}/$delta`,
      value: rows.slice(position.start, end),
      ...(end < rows.length
        ? { '@odata.nextLink': `${url}?${[...select, `$skiptoken=${cookie}`].join('&')}` }
        : { '@odata.deltaLink': `${url}?${[...select, `$deltatoken=${stamp}`].join('&')}` }),
    },
    200,
    position.from === null ? { 'preference-applied': PREFERENCE } : {},
  );
}

function positionOf(query: URLSearchParams, { log, clock }: Tracking): Position {
  const [cookie, token] = [query.get('$skiptoken'), query.get('$deltatoken')];
  if (cookie !== null) return readCookie(cookie);
  const until = log.position();
  if (token === null) return { from: null, until, start: 0 };
  const [, from, stamp = ''] = /^(\d+)!(.+)$/.exec(token) ?? [];
  const atMs = Date.parse(`${stamp} UTC`);
  if (from === undefined || Number.isNaN(atMs)) throw badQuery(`Invalid delta token '${token}'.`);
  if (clock.now() - atMs > LIFETIME_MS || log.behind(Number(from)) === undefined) {
    const message = 'Version stamp associated with the client has expired. Please perform a full sync.';
    throw new Fault(400, '0x80044352', message);
  }
  return { from: Number(from), until, start: 0 };
}

function rowsAt({ from, until }: Position, context: string, { table, log, show }: Tracking): readonly TableRow[] {
  if (from === null) return table.table.rows().map(show);
  const changed = (log.behind(from) ?? []).filter(({ position }) => position <= until);
  const found = changed.map(({ key }) => [key, table.table.find(key)] as const);
  return [
    ...found.flatMap(([, row]) => (row === undefined ? [] : [show(row)])),
    ...found.flatMap(([id, row]) =>
      row === undefined ? [{ '@odata.context': `${context}/$deletedEntity`, id, reason: 'deleted' }] : [],
    ),
  ];
}

/** Returns a time as in the tokens of the document: `08/22/2017 08:10:44`. */
function stampOf(ms: number): string {
  const [year, month, day, time] = new Date(ms).toISOString().split(/[-T.]/);
  return `${month}/${day}/${year} ${time}`;
}

const PREFIX = 'tracked:';

function cookieOf(position: Position): string {
  return Buffer.from(PREFIX + JSON.stringify(position)).toString('base64url');
}

function isCookie(text: string | null): boolean {
  return text !== null && Buffer.from(text, 'base64url').toString().startsWith(PREFIX);
}

function readCookie(text: string): Position {
  if (!isCookie(text)) throw badQuery('Malformed paging cookie.');
  const { from, until, start } = JSON.parse(Buffer.from(text, 'base64url').toString().slice(PREFIX.length));
  return { from, until, start };
}
