import { createHash } from 'node:crypto';
import { type Column, cycle, DAY_MS, HOSTILE_TEXTS, makeRows, sparse, type TableRow } from '#connector/simulator';

export const ACCOUNT_SID = 'ACc0ffee00c0ffee00c0ffee00c0ffee00';
const API_VERSION = '2010-04-01';
export const ROOT = `/${API_VERSION}/Accounts/${ACCOUNT_SID}`;

/** The same for the same words; two letters and 32 hexadecimal digits. */
export function sidOf(prefix: string, number: number | string): string {
  return prefix + createHash('sha256').update(`${prefix} ${number}`).digest('hex').slice(0, 32);
}

const SECOND_MS = 1000;
/** Turns of years, leap days and changes of clocks; of each day its first, last and some other second. Of the lists here no two are equally long. */
const DAYS = [
  '2023-12-31',
  '2024-01-01',
  '2024-02-29',
  '2024-03-01',
  '2024-03-31',
  '2024-06-30',
  '2024-12-31',
  '2023-03-01',
  '2038-01-18',
  '2024-10-27',
  '2025-02-28',
];
const SECONDS = [0, 86_399, 43_200, 1, 86_398];

/** In milliseconds, whole seconds: the provider tells no less. */
function instant(index: number, laterSeconds = 0): number {
  const day = Date.parse(DAYS[index % DAYS.length] ?? '');
  const second = (SECONDS[index % SECONDS.length] ?? 0) + laterSeconds;
  return day + (index % 3) * DAY_MS + second * SECOND_MS;
}

/** Without their signs, their blanks, their cases or their ends some of them would be others. */
const OWN = [
  '+15005550006',
  '+150055500066',
  '15005550006',
  '729725',
  'ACME Corp',
  'acme corp',
  'whatsapp:+15005550006',
];
const OTHERS = ['+14158675309', '+442071838750', '+44207183875', '+8613800138000', 'whatsapp:+14158675309'];
const CALLERS = [
  ...OTHERS,
  'client:jane_doe',
  "client:O'Brien",
  'client:a+b=c&d',
  'sip:alice@example.com?x=1',
  'sim:DE1',
  'client:jane doe',
];

const MESSAGE_STATUSES = ['delivered', 'sent', 'received', 'undelivered', 'failed', 'queued', 'read', 'scheduled'];
const CALL_STATES = [
  'completed',
  'busy',
  'in-progress',
  'no-answer',
  'failed',
  'canceled',
  'completed',
  'queued',
  'ringing',
];
const PRICES = ['-0.00750', '-0.00790', '-0.20000', '-0.1', '0.00000', '-12345678.90125'];

const MESSAGE_COUNT = 240;
const CALL_COUNT = 150;
const RECORDING_COUNT = 90;

const isUnsent = (index: number): boolean => ['queued', 'scheduled'].includes(String(cycle(MESSAGE_STATUSES)(index)));
const isRefused = (index: number): boolean =>
  ['failed', 'undelivered'].includes(String(cycle(MESSAGE_STATUSES)(index)));
const isInbound = (index: number): boolean => cycle(MESSAGE_STATUSES)(index) === 'received';
const when =
  (has: (index: number) => boolean, column: Column): Column =>
  (index) =>
    has(index) ? column(index) : null;

export function makeMessages(): readonly TableRow[] {
  return makeRows(MESSAGE_COUNT, {
    sid: (index) => sidOf(index % 10 === 3 ? 'MM' : 'SM', index),
    body: cycle([
      ...HOSTILE_TEXTS,
      'Your code is 123456',
      'your code is 123456',
      ' Your code is 123456',
      'Code 123456 ',
    ]),
    from: (index) => (index % 40 === 7 ? null : isInbound(index) ? cycle(OTHERS)(index) : cycle(OWN)(index)),
    to: (index) => (isInbound(index) ? cycle(OWN)(index) : cycle(OTHERS, 3)(index)),
    status: cycle(MESSAGE_STATUSES),
    direction: (index) =>
      isInbound(index) ? 'inbound' : cycle(['outbound-api', 'outbound-reply', 'outbound-call'])(index),
    date_created: instant,
    date_sent: when((index) => !isUnsent(index), instant),
    date_updated: (index) => instant(index, 2),
    num_segments: (index) => String(index % 4),
    num_media: (index) => (index % 10 === 3 ? '2' : '0'),
    price: when((index) => !isUnsent(index), cycle(PRICES)),
    price_unit: cycle(['USD', 'USD', 'EUR', 'JPY']),
    error_code: when(isRefused, cycle([30_003, 30_007])),
    error_message: when(isRefused, cycle(['Unreachable destination handset', "Carrier's violation"])),
    messaging_service_sid: sparse(2, (index) => sidOf('MG', index % 3)),
  });
}

const isOver = (index: number): boolean => cycle(CALL_STATES)(index) === 'completed';
const isPlaced = (index: number): boolean => !['queued', 'canceled'].includes(String(cycle(CALL_STATES)(index)));

export function makeCalls(): readonly TableRow[] {
  return makeRows(CALL_COUNT, {
    sid: (index) => sidOf('CA', index),
    parent_call_sid: (index) => (index % 5 === 4 ? sidOf('CA', index - 1) : null),
    from: (index) => (index % 2 === 0 ? '+15005550006' : cycle(CALLERS)(index)),
    to: (index) => (index % 2 === 0 ? cycle(CALLERS, 3)(index) : '+15005550006'),
    from_formatted: cycle(['(500) 555-0006', '+44 20 7183 8750', '']),
    to_formatted: cycle(['(415) 867-5309', '']),
    phone_number_sid: sparse(4, (index) => sidOf('PN', index % 3)),
    status: cycle(CALL_STATES),
    direction: (index) => (index % 2 === 0 ? cycle(['outbound-api', 'outbound-dial'])(index) : 'inbound'),
    date_created: instant,
    date_updated: (index) => instant(index, 95),
    start_time: when(isPlaced, (index) => instant(index, 1)),
    end_time: when(isOver, (index) => instant(index, 90)),
    duration: when(isOver, (index) => String((index % 3) * 89)),
    price: when(isOver, cycle(PRICES)),
    price_unit: cycle(['USD', 'EUR']),
    answered_by: sparse(3, cycle(['human', 'machine_start', 'unknown'])),
    caller_name: sparse(3, cycle(HOSTILE_TEXTS.filter((text) => text.length <= 60)), 1),
    forwarded_from: sparse(4, cycle(OTHERS)),
    group_sid: () => null,
    trunk_sid: () => null,
    queue_time: cycle(['0', '1000', '12']),
  });
}

export function makeRecordings(): readonly TableRow[] {
  return makeRows(RECORDING_COUNT, {
    sid: (index) => sidOf('RE', index),
    call_sid: (index) => sidOf('CA', (index * 2) % 60),
    conference_sid: sparse(3, (index) => sidOf('CF', index % 4), 0),
    status: cycle(['completed', 'completed', 'processing', 'absent', 'completed']),
    source: cycle(['RecordVerb', 'DialVerb', 'Conference', 'OutboundAPI', 'Trunking', 'StartCallRecordingAPI']),
    channels: cycle([1, 2]),
    duration: sparse(5, (index) => String(index % 7), 2),
    date_created: (index) => instant(index, 30),
    date_updated: (index) => instant(index, 60),
    start_time: (index) => instant(index, 30),
    price: sparse(4, cycle(PRICES)),
    price_unit: cycle(['USD', 'EUR']),
    error_code: sparse(2, cycle([21_230]), 0),
    encryption_details: () => null,
  });
}

const INSTANTS = ['date_created', 'date_updated', 'date_sent', 'start_time', 'end_time'];

/** What the provider says of a row: dates by RFC 2822, and where the record is. */
export function printRow(collection: string, { deleted, ...row }: TableRow): TableRow {
  const uri = `${ROOT}/${collection}/${row.sid}`;
  const dates = INSTANTS.filter((name) => name in row).map((name) => [name, printInstant(row[name])]);
  return {
    ...row,
    ...Object.fromEntries(dates),
    ...(deleted === true && collection === 'Recordings' && { status: 'deleted' }),
    ...(collection === 'Recordings' && { media_url: `https://api.twilio.com${uri}` }),
    account_sid: ACCOUNT_SID,
    api_version: API_VERSION,
    uri: `${uri}.json`,
    subresource_uris: Object.fromEntries((PARTS[collection] ?? []).map((name) => [snake(name), `${uri}/${name}.json`])),
  };
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  Messages: ['Media', 'Feedback'],
  Calls: ['Notifications', 'Recordings', 'Events'],
  Recordings: ['AddOnResults', 'Transcriptions'],
};

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
}

/** `Fri, 24 May 2019 17:44:46 +0000` */
export function printInstant(ms: unknown): string | null {
  return typeof ms === 'number' ? new Date(ms).toUTCString().replace('GMT', '+0000') : null;
}

/** In milliseconds, as far as the provider tells it. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}
