import { createHash } from 'node:crypto';
import type { ObjectSpec } from '#connector';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  DAY_MS,
  type Fault,
  fault,
  type MovableClock,
  membersOf,
  sparse,
  type TableRow,
} from '#connector/simulator';
import { OWN } from '../fields.ts';
import { calls, messages, recordings } from '../objects.ts';
import official from '../official.json' with { type: 'json' };

export const ACCOUNT_SID = 'ACc0ffee00c0ffee00c0ffee00c0ffee00';
export const ROOT = `/2010-04-01/Accounts/${ACCOUNT_SID}`;

type Name = keyof typeof official.filters;

export interface Resource extends CollectionSpec {
  /** Members by parameter. Twilio ignores other parameters. */
  readonly filters: Readonly<Record<string, string>>;
  /** Required parameters of a creation, by error number. Of several parameters for one number, one is sufficient. */
  readonly needed: Readonly<Record<string, string>>;
  /** States from which each state can be reached. */
  readonly ends: Readonly<Record<string, string>>;
  /** The member by which lists are sorted, with the latest first. Records without a value come first. */
  readonly latest: string;
}

export type Account = Readonly<Record<Name, Collection<Resource, Name>>>;

/** Returns a SID: two letters and 32 hexadecimal digits. The same arguments result in the same SID. */
const sidOf = (prefix: string, number: number) =>
  prefix + createHash('sha256').update(`${prefix} ${number}`).digest('hex').slice(0, 32);
const sids = (prefix: string, step: number, count: number) => (index: number) => sidOf(prefix, (index * step) % count);

/**
 * Days around new years, leap days and changes of clocks. The records use the first, the last and some other second of each day. No two of
 * these lists have the same length.
 */
const DAYS = [
  ...['2023-12-31', '2024-01-01', '2024-02-29', '2024-03-01', '2024-03-31', '2024-06-30', '2024-12-31'],
  ...['2023-03-01', '2038-01-18', '2024-10-27', '2025-02-28'],
];
const SECONDS = [0, 86_399, 43_200, 1, 86_398];
const day = cycle(DAYS);
const second = cycle(SECONDS);
const instant = (index: number) => Date.parse(day(index)) + (index % 3) * DAY_MS + second(index) * 1000;

/** Senders and receivers, some of which become equal without their signs, blanks, letter case or ends. */
const PARTIES = [
  ...['+15005550006', '+150055500066', '15005550006', '729725', 'ACME Corp', 'acme corp', 'whatsapp:+15005550006'],
  ...['+14158675309', '+442071838750', '+44207183875', 'client:jane_doe', "client:O'Brien", 'client:a+b=c&d'],
  ...['sip:alice@example.com?x=1', 'client:jane doe'],
];
const parties = { from: sparse(40, cycle(PARTIES), 7), to: cycle(PARTIES, 2, 7) };
const price = sparse(4, cycle(['-0.00750', '-0.00790', '-0.20000', '-0.1', '0.00000', '-12345678.90125']));
const duration = sparse(5, (index) => String((index % 7) * 3), 2);

const HIDDEN = [...official.inputs.split(' '), ...Object.keys(membersOf(OWN))];

export function notFound(path: string): Fault {
  return fault(404, `The requested resource ${path} was not found`);
}

/** Creates the account. Times are stored in milliseconds with whole seconds, because Twilio has no fractions. */
export function createAccount(clock: MovableClock): Account {
  const about = (name: Name, prefix: string, { fields = {} }: ObjectSpec) => ({
    members: Object.fromEntries(Object.entries(membersOf(fields)).filter(([member]) => !HIDDEN.includes(member))),
    filters: official.filters[name],
    needed: official.needed[name],
    ends: official.ends[name],
    latest: 'date_created',
    key: 'sid',
    makeId: (index: number) => sidOf(prefix, index),
    created: ['date_created'],
    changed: ['date_updated'],
    // Deleted records keep their position, for pages that are being read, and for requests that include deleted recordings.
    deleted: 'deleted',
  });
  const started = { from: '+14158675309', to: '+15005550006' };
  return createCollections<Name, Resource>({
    clock,
    writeTime: (ms) => Math.floor(ms / 1000) * 1000,
    write: { integer: String },
    refuse: () => undefined,
    absent: (_, sid) => notFound(sid),
    of: {
      Messages: {
        ...about('Messages', 'SM', messages),
        rows: 240,
        makeId: (index) => sidOf(index % 10 === 3 ? 'MM' : 'SM', index),
        vary: {
          ...parties,
          ...{ price, price_unit: cycle(['USD', 'EUR', 'JPY']) },
          ...{ date_created: instant, date_sent: sparse(4, instant) },
          messaging_service_sid: sparse(2, sids('MG', 1, 3)),
        },
        initial: { direction: 'outbound-api', price_unit: 'USD', num_media: '0', num_segments: '1' },
        created: ['date_created', 'date_sent'],
        latest: 'date_sent',
        made: { ...started, status: 'received' },
      },
      Calls: {
        ...about('Calls', 'CA', calls),
        rows: 150,
        vary: {
          ...parties,
          ...{ price, duration, price_unit: cycle(['USD', 'EUR']) },
          ...{ date_created: instant, start_time: sparse(5, instant), end_time: sparse(3, instant) },
          parent_call_sid: (index) => (index % 5 === 4 ? sidOf('CA', index - 1) : null),
        },
        initial: { direction: 'outbound-api', queue_time: '0' },
        created: ['date_created', 'start_time'],
        made: { ...started, status: 'completed' },
        label: 'caller_name',
      },
      Recordings: {
        ...about('Recordings', 'RE', recordings),
        rows: 90,
        vary: {
          ...{ price, duration, price_unit: cycle(['USD', 'EUR']), date_created: instant },
          status: cycle(['completed', 'completed', 'processing', 'absent', 'completed']),
          call_sid: sids('CA', 2, 60),
          conference_sid: sparse(3, sids('CF', 1, 4), 0),
        },
        made: { call_sid: sidOf('CA', 0), status: 'completed' },
        label: 'price_unit',
      },
    },
  });
}

/** Prints a row as Twilio does: dates by RFC 2822, and the path of the record. */
export function present({ name, members }: Account[Name], row: TableRow): TableRow {
  const uri = `${ROOT}/${name}/${row.sid}`;
  const shown = Object.entries(members).map(([member, { type }]) => {
    const { [member]: value = null } = row;
    return [member, type === 'datetime' && typeof value === 'number' ? printInstant(value) : value];
  });
  return {
    ...Object.fromEntries(shown),
    ...(name === 'Recordings' && { media_url: `https://api.twilio.com${uri}` }),
    ...(name === 'Recordings' && row.deleted === true && { status: 'deleted' }),
    ...{ account_sid: ACCOUNT_SID, api_version: '2010-04-01', uri: `${uri}.json` },
    subresource_uris: name === 'Calls' ? { recordings: `${uri}/Recordings.json` } : {},
  };
}

/** Prints a time as `Fri, 24 May 2019 17:44:46 +0000`. */
function printInstant(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}
