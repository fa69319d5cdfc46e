import type { Knex } from 'knex';
import { arrayLiteral, columnLiterals } from '../db/array-literal.ts';
import type { RowOf } from '../db/row.ts';
import type { WireContent } from '../trace.ts';
import { EXACT_IN_SQL, type FieldSpec, type Sql, type SqlQueryable } from '../where/index.ts';
import type { ActivityCall, ActivityScripts, RunKind } from './entry.ts';

type StoredColumns = Omit<RowOf<'activity'>, 'calls' | 'scripts'>;

/** A row of `activity`. */
export interface ActivityRow extends StoredColumns {
  readonly calls: readonly ActivityCall[];
  /** Null: no script of a mapping wrote anything or failed. */
  readonly scripts: ActivityScripts | null;
}

/** Headers and bodies of a request, as trace logging stored them. */
export interface WireRow extends RowKey {
  /** Messages in the order of `calls`. */
  readonly messages: readonly (Readonly<WireContent> | null)[];
}

/** Position of a list: the next page begins behind this row. */
export type ActivityPosition = Pick<ActivityRow, 'at' | 'requestId'>;

/** Kind of entry; `request` means a request of a caller. */
export type ActivityKind = 'request' | RunKind | 'all';

type RowKey = Pick<ActivityRow, 'accountId' | 'at' | 'requestId'>;

interface ActivitySelection {
  readonly kind: ActivityKind;
  readonly instanceId?: number | undefined;
  /** Whether the console's own reads are included. Default: true. */
  readonly hasConsoleReads?: boolean | undefined;
  readonly from?: Date | undefined;
  /** End of the period, exclusive. */
  readonly to?: Date | undefined;
  readonly condition?: Sql | undefined;
  readonly after?: ActivityPosition | undefined;
  readonly limit: number;
}

const text = { type: 'string', nullable: false, filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', nullable: false, filter: EXACT_IN_SQL } as const;
const number = { type: 'number', nullable: false, filter: EXACT_IN_SQL } as const;
const instant = { type: 'datetime', nullable: false, filter: EXACT_IN_SQL } as const;
const optionalText = { ...text, nullable: true } as const;
const optionalInteger = { ...integer, nullable: true } as const;

/** Fields of a listing's `where` by name: what the field is, and its expression in the table. */
type Names = Readonly<Record<string, readonly [FieldSpec, string]>>;

const DURATION_MS = 'duration_us / 1000.0';

function filterable(names: Names): SqlQueryable {
  const entries = Object.entries(names);
  return {
    fields: Object.fromEntries(entries.map(([name, [field]]) => [name, field])),
    columns: Object.fromEntries(entries.map(([name, [, column]]) => [name, column])),
  };
}

export const FILTERABLE_ACTIVITY = filterable({
  requestId: [text, 'request_id::text'],
  timestamp: [instant, 'at'],
  userId: [integer, 'user_id'],
  keyId: [optionalInteger, 'key_id'],
  keyName: [optionalText, 'key_name'],
  instanceId: [optionalInteger, 'instance_id'],
  elementKey: [optionalText, 'element_key'],
  method: [text, 'method'],
  path: [text, 'path'],
  operation: [optionalText, 'operation'],
  status: [integer, 'status'],
  code: [optionalText, 'code'],
  reason: [optionalText, 'reason'],
  durationMs: [number, DURATION_MS],
  rows: [optionalInteger, 'rows'],
  events: [optionalInteger, 'events'],
  pushdown: [optionalText, 'pushdown'],
  'scripts.failures': [optionalInteger, "(scripts->>'failures')::integer"],
});

export const FILTERABLE_USAGE = filterable({
  request_id: [text, 'request_id::text'],
  traffic_id: [text, 'request_id::text'],
  traffic_date: [instant, 'at'],
  user_id: [integer, 'user_id'],
  account_id: [integer, 'account_id'],
  process_time: [number, DURATION_MS],
  request_status: [integer, 'status'],
  request_ip: [optionalText, 'address'],
  request_uri: [text, 'path'],
  element_key: [optionalText, 'element_key'],
});

const COLUMNS = `account_id as "accountId", at, request_id as "requestId", user_id as "userId", instance_id as "instanceId",
  duration_us as "durationUs", rows, call_count as "callCount", status, cut, method, path, operation,
  element_key as "elementKey", code, reason, pushdown, address, is_console_read as "isConsoleRead", calls, kind, events, scripts,
  key_id as "keyId", key_name as "keyName"`;

const KIND_SQL: Readonly<Record<ActivityKind, string>> = {
  request: 'and kind is null',
  poll: "and kind = 'poll'",
  bulk: "and kind = 'bulk'",
  schema: "and kind = 'schema'",
  all: '',
};

/** The stored form of a call. Names would need more space than values. */
type PackedCall = readonly [
  method: string,
  host: string,
  path: string,
  outcome: number | string,
  durationUs: number,
  retries: number,
];

interface PackedRow extends StoredColumns {
  readonly calls: readonly PackedCall[] | null;
  readonly scripts: ActivityScripts | null;
}

/** Creates the store of activity. Every statement that reads names the account, so that it cannot return a row of another tenant. */
export function createActivityStore(knex: Knex) {
  return {
    insert: async (rows: readonly ActivityRow[]): Promise<void> => {
      await knex.raw(
        `insert into activity (account_id, at, request_id, user_id, instance_id, duration_us, rows, call_count, status, cut,
           method, path, operation, element_key, code, reason, pushdown, address, is_console_read, calls, kind, events, scripts,
           key_id, key_name)
         select * from unnest(?::bigint[], ?::timestamptz[], ?::uuid[], ?::bigint[], ?::bigint[], ?::bigint[], ?::integer[], ?::integer[],
           ?::smallint[], ?::boolean[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::json[],
           ?::text[], ?::integer[], ?::json[], ?::bigint[], ?::text[])`,
        [
          ...columnLiterals(rows, ['accountId', 'at', 'requestId', 'userId', 'instanceId', 'durationUs', 'rows']),
          ...columnLiterals(rows, ['callCount', 'status', 'cut', 'method', 'path', 'operation', 'elementKey', 'code']),
          ...columnLiterals(rows, ['reason', 'pushdown', 'address', 'isConsoleRead']),
          arrayLiteral(rows.map(({ calls }) => (calls.length === 0 ? null : JSON.stringify(calls.map(pack))))),
          ...columnLiterals(rows, ['kind', 'events']),
          arrayLiteral(rows.map(({ scripts }) => scripts && JSON.stringify(scripts))),
          ...columnLiterals(rows, ['keyId', 'keyName']),
        ],
      );
    },

    insertWire: async (rows: readonly WireRow[]): Promise<void> => {
      await knex.raw(
        `insert into activity_wire (account_id, at, request_id, messages)
         select * from unnest(?::bigint[], ?::timestamptz[], ?::uuid[], ?::json[])`,
        [
          ...columnLiterals(rows, ['accountId', 'at', 'requestId']),
          arrayLiteral(rows.map(({ messages }) => JSON.stringify(messages))),
        ],
      );
    },

    has: async ({ accountId, at, requestId }: RowKey): Promise<boolean> => {
      const { rows } = await knex.raw<{ rows: unknown[] }>(
        'select from activity where account_id = ? and at = ? and request_id = ?::uuid',
        [accountId, at, requestId],
      );
      return rows.length > 0;
    },

    /** Lists requests and runs from new to old. */
    list: async (accountId: number, selection: ActivitySelection): Promise<readonly ActivityRow[]> => {
      const { kind, instanceId, hasConsoleReads = true, from, to, condition, after, limit } = selection;
      const { rows } = await knex.raw<{ rows: PackedRow[] }>(
        `select ${COLUMNS} from activity where account_id = ?
           ${KIND_SQL[kind]}
           ${instanceId === undefined ? '' : 'and instance_id = ?'}
           ${hasConsoleReads ? '' : 'and not is_console_read'}
           ${from === undefined ? '' : 'and at >= ?'}
           ${to === undefined ? '' : 'and at < ?'}
           ${after === undefined ? '' : 'and at <= ? and (at, request_id) < (?, ?::uuid)'}
           ${condition === undefined ? '' : `and (${condition.sql})`}
         order by at desc, request_id desc limit ?`,
        [
          accountId,
          ...(instanceId === undefined ? [] : [instanceId]),
          ...(from === undefined ? [] : [from]),
          ...(to === undefined ? [] : [to]),
          ...(after === undefined ? [] : [after.at, after.at, after.requestId]),
          ...(condition?.bindings.map((binding) => (typeof binding === 'string' ? binding : [...binding])) ?? []),
          limit,
        ],
      );
      return rows.map(unpackRow);
    },

    find: async (accountId: number, requestId: string): Promise<ActivityRow | undefined> => {
      const { rows } = await knex.raw<{ rows: PackedRow[] }>(
        `select ${COLUMNS} from activity where account_id = ? and request_id = ?::uuid limit 1`,
        [accountId, requestId],
      );
      return rows.map(unpackRow)[0];
    },

    findWire: async ({ accountId, at, requestId }: RowKey): Promise<WireRow['messages'] | undefined> => {
      const { rows } = await knex.raw<{ rows: Pick<WireRow, 'messages'>[] }>(
        'select messages from activity_wire where account_id = ? and at = ? and request_id = ?::uuid',
        [accountId, at, requestId],
      );
      return rows[0]?.messages;
    },
  };
}

function pack({ method, host, path, outcome, durationUs, retries }: ActivityCall): PackedCall {
  return [method, host, path, outcome, durationUs, retries];
}

function unpackRow({ calls, ...row }: PackedRow): ActivityRow {
  return { ...row, calls: (calls ?? []).map(unpack) };
}

function unpack([method, host, path, outcome, durationUs, retries]: PackedCall): ActivityCall {
  return { method, host, path, outcome, durationUs, retries };
}
