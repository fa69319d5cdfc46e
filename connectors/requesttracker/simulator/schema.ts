import { compileFilter, type FilterTest, type FilterTree, type RowOrder, type TableRow } from '#connector/simulator';
import { badQuery, type Comparison, parseTicketSql } from './ticket-sql.ts';

/** How a column is shown and compared. */
export type Kind = 'id' | 'integer' | 'text' | 'status' | 'date' | 'user' | 'users' | 'queue' | 'custom' | 'hidden';

export type Schema = Readonly<Record<string, Kind>>;

export const TICKET: Schema = {
  id: 'id',
  Subject: 'text',
  Status: 'status',
  Queue: 'queue',
  Owner: 'user',
  Requestor: 'users',
  Cc: 'users',
  AdminCc: 'users',
  Priority: 'integer',
  InitialPriority: 'integer',
  FinalPriority: 'integer',
  TimeEstimated: 'integer',
  TimeWorked: 'integer',
  TimeLeft: 'integer',
  Starts: 'date',
  Started: 'date',
  Due: 'date',
  Resolved: 'date',
  Told: 'date',
  Creator: 'user',
  Created: 'date',
  LastUpdatedBy: 'user',
  LastUpdated: 'date',
  CustomFields: 'custom',
};

export const TRANSACTION: Schema = {
  id: 'id',
  ObjectType: 'text',
  ObjectId: 'integer',
  Type: 'text',
  Field: 'text',
  OldValue: 'text',
  NewValue: 'text',
  Data: 'text',
  TimeTaken: 'integer',
  Creator: 'user',
  Created: 'date',
};

export const ATTACHMENT: Schema = {
  id: 'id',
  TransactionId: 'integer',
  Filename: 'text',
  ContentType: 'text',
  ContentLength: 'integer',
  Subject: 'text',
  MessageId: 'text',
  Creator: 'user',
  Created: 'date',
};

const TEXTS =
  'Name EmailAddress RealName NickName Organization Comments WorkPhone HomePhone MobilePhone Address1 Address2 City State Zip Country Lang Timezone';

export const USER: Schema = {
  id: 'id',
  ...Object.fromEntries(TEXTS.split(' ').map((name): [string, Kind] => [name, 'text'])),
  Privileged: 'hidden',
  Disabled: 'hidden',
  Created: 'date',
  LastUpdated: 'date',
};

export const QUEUE: Schema = {
  id: 'id',
  Name: 'text',
  Description: 'text',
  Lifecycle: 'text',
  CorrespondAddress: 'text',
  CommentAddress: 'text',
  SortOrder: 'integer',
  Disabled: 'integer',
  Created: 'date',
  LastUpdated: 'date',
};

const UNSET = '1970-01-01T00:00:00Z';

/** A member of an item in a list: numbers are text, what is not there is empty text, or the beginning of time. */
export function present(origin: string, schema: Schema, row: TableRow, name: string): unknown {
  const value = row[name];
  const refer = (type: string, id: unknown) => ({ type, id: String(id), _url: `${origin}/REST/2.0/${type}/${id}` });
  switch (schema[name]) {
    case 'id':
      return value;
    case 'date':
      return value ?? UNSET;
    case 'user':
      return refer('user', value ?? 'Nobody');
    case 'users':
      return Array.isArray(value) ? value.map((each) => refer('user', each)) : [];
    case 'queue':
      return refer('queue', value);
    case 'custom':
      return Object.entries(value ?? {}).map(([field, values], index) => ({
        ...refer('customfield', index + 1),
        name: field,
        values,
      }));
    default:
      return schema[name] === 'hidden' ? '' : String(value ?? '');
  }
}

const SHIFT_MS = 5 * 60 * 60 * 1000;

/** Instants in queries are read on the clocks of whoever logs in, here five hours behind UTC, whatever zone is written. */
export function readLocal(text: string): string | undefined {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2}))?/.exec(text) ?? [];
  const ms = Date.parse(`${day}T${time}Z`) + SHIFT_MS;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace('.000', '');
}

/** As most databases compare texts. */
const fold = (text: string) => text.toLowerCase();

const TYPES = { id: 'integer', integer: 'number', queue: 'integer', date: 'datetime' } as const;

function typeOf(kind: Kind | undefined) {
  return kind === 'id' || kind === 'integer' || kind === 'queue' || kind === 'date' ? TYPES[kind] : 'string';
}

/** @throws Fault 400 for what is no query, and for fields that there are not */
export function compileQuery(query: string, schema: Schema, queues: readonly TableRow[]): (row: TableRow) => boolean {
  const tree = parseTicketSql(query, (comparison) => toTest(comparison, schema, queues));
  return compileFilter(tree, {
    field: (name) => (schema[name] === undefined ? undefined : { type: typeOf(schema[name]), fold }),
    refuse: (message) => badQuery(message),
  });
}

const NOTHING: FilterTree = { kind: 'or', operands: [] };

function toTest({ field, operator, value }: Comparison, schema: Schema, queues: readonly TableRow[]): FilterTree {
  const kind = schema[field];
  if (kind === undefined || kind === 'users' || kind === 'custom') throw badQuery(`Unknown field: ${field}`);
  const test = (wanted: FilterTest['operator'], text = value): FilterTest => ({
    kind: 'test',
    field,
    operator: wanted,
    values: [text],
  });
  if (operator.startsWith('IS')) return { ...test(operator === 'IS' ? 'IS NULL' : 'IS NOT NULL'), values: [] };
  // Even in quotes it is taken for the name of a column.
  if (/^CF\./i.test(value)) return NOTHING;
  const pattern = PATTERNS[operator.replace('NOT ', '')];
  if (pattern !== undefined) return test(operator.startsWith('NOT') ? 'NOT LIKE' : 'LIKE', pattern(value));
  if (!isComparison(operator)) throw badQuery(`Invalid operator ${operator}`);
  if (kind === 'queue') return test(operator, String(queueOf(value, queues)));
  if (kind !== 'date') return test(operator);
  const instant = readLocal(value) ?? UNSET;
  return operator === '=' ? wholeDay(field, instant) : test(operator, instant);
}

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  LIKE: (text) => `%${text}%`,
  STARTSWITH: (text) => `${text}%`,
  ENDSWITH: (text) => `%${text}`,
};

type Compared = '=' | '!=' | '<' | '<=' | '>' | '>=';

function isComparison(operator: string): operator is Compared {
  return ['=', '!=', '<', '<=', '>', '>='].includes(operator);
}

function queueOf(value: string, queues: readonly TableRow[]): unknown {
  return queues.find(({ id, Name }) => String(id) === value || fold(String(Name)) === fold(value))?.id ?? 0;
}

const DAY_MS = 86_400_000;

function wholeDay(field: string, instant: string): FilterTree {
  const start = Math.floor((Date.parse(instant) - SHIFT_MS) / DAY_MS) * DAY_MS + SHIFT_MS;
  const bound = (operator: Compared, ms: number): FilterTree => ({
    kind: 'test',
    field,
    operator,
    values: [new Date(ms).toISOString()],
  });
  return { kind: 'and', operands: [bound('>=', start), bound('<', start + DAY_MS)] };
}

export function orderOf(query: URLSearchParams, schema: Schema): readonly RowOrder[] {
  const directions = query.getAll('order');
  return query.getAll('orderby').flatMap((name, index) => {
    if (schema[name] === undefined) return [];
    const read = (row: TableRow) => row[name] ?? null;
    return [{ type: typeOf(schema[name]), fold, read, descending: directions[index]?.toUpperCase() === 'DESC' }];
  });
}
