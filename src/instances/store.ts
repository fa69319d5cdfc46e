import type { Knex } from 'knex';
import { perAccount } from '../db/distributed.ts';
import { json } from '../db/json.ts';
import { FLAG, filterable, INSTANT, INTEGER, narrow, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { nextId } from '../db/next-id.ts';
import { columnsOf, firstOf, type RowOf, type RowWith, toColumns } from '../db/row.ts';
import { CALLBACK_URL, EVENTS_ENABLED } from './event-settings.ts';

/** A row of `instance`, still encrypted. */
export interface InstanceRow extends RowWith<'instance', typeof COLUMNS> {
  /** Changes with every update of the row. */
  readonly version: string;
}

/** Columns of a new instance that the database does not set itself. */
type NewInstanceRow = RowOf<
  'instance',
  | 'account_id'
  | 'id'
  | 'user_id'
  | 'name'
  | 'element_key'
  | 'tags'
  | 'configuration'
  | 'credentials'
  | 'token'
  | 'token_hash'
  | 'provider_data'
>;

/** Position of a row in a list. Rows with the same value are ordered by id. */
export interface InstanceListPosition extends Pick<InstanceRow, 'id'> {
  /** Value that the list is ordered by; absent if it is ordered by id alone. */
  readonly value?: string | undefined;
}

export type InstanceChanges = Partial<
  RowOf<
    'instance',
    | 'name'
    | 'tags'
    | 'configuration'
    | 'credentials'
    | 'provider_data'
    | 'valid'
    | 'invalid_reason'
    | 'refused_calls'
    | 'disabled'
    | 'trace_logging_until'
  >
>;

/** A call whose credentials the provider judged. */
export interface JudgedCall extends Pick<InstanceRow, 'settingsVersion'> {
  /** Its purpose, such as `list employees`. */
  readonly work: string;
}

/** The orders of a list: an SQL expression that is never null, and its type. Times that never occurred come first. */
const ORDERS = {
  name: ['lower(name)', 'text'],
  'element.key': ['element_key', 'text'],
  state: ['case when not valid then 0 when disabled then 1 else 2 end', 'integer'],
  createdDate: ['created_at', 'timestamptz'],
  'user.emailAddress': [
    `coalesce((select lower(email_address) from app_user
      where app_user.account_id = instance.account_id and app_user.id = instance.user_id), '')`,
    'text',
  ],
  lastCallDate: [ofLastCall('last_call_at'), 'timestamptz'],
  'lastError.date': [ofLastCall('last_error_at'), 'timestamptz'],
} as const satisfies Readonly<Record<string, readonly [expression: string, type: string]>>;

function ofLastCall(column: string): string {
  return `coalesce((select ${column} from instance_call call
    where call.account_id = instance.account_id and call.instance_id = instance.id), '-infinity')`;
}

export interface InstanceOrder {
  readonly by: keyof typeof ORDERS;
  readonly direction: 'asc' | 'desc';
}

/** Columns that lists can be ordered by. */
export const ORDERABLE_INSTANCE = Object.keys(ORDERS) as readonly InstanceOrder['by'][];

export interface InstanceFilter extends Omit<Selection, 'afterId' | 'newestFirst'> {
  /** Position of the row before the page. */
  readonly after?: InstanceListPosition | undefined;
  /** Order of the list. Default: from old to new. */
  readonly order?: InstanceOrder | undefined;
  readonly elementKey?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly searchText?: string | undefined;
}

const COLUMNS = columnsOf('instance', [
  'account_id',
  'id',
  'user_id',
  'name',
  'element_key',
  'tags',
  'configuration',
  'credentials',
  'token',
  'provider_data',
  'valid',
  'invalid_reason',
  'refused_calls',
  'disabled',
  'event_warning',
  'trace_logging_until',
  'created_at',
  'settings_version',
]);

/** Fields that a list of instances can be filtered by, under their names in the API. */
export const FILTERABLE_INSTANCE = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  'element.key': [TEXT, 'element_key'],
  createdDate: [INSTANT, 'created_at'],
  valid: [FLAG, 'valid'],
  disabled: [FLAG, 'disabled'],
  'user.id': [INTEGER, 'user_id'],
});

export type InstanceStore = ReturnType<typeof createInstanceStore>;

/** Creates the store of instances. Every statement names the account, so that it cannot return a row of another tenant. */
export function createInstanceStore(knex: Knex) {
  const select = (accountId: number, via = knex) =>
    via('instance')
      .select({ ...COLUMNS, version: knex.raw('xmin::text') })
      .where({ account_id: accountId });

  return {
    nextId: (): Promise<number> => nextId(knex, 'instance'),

    transaction: <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => knex.transaction(work),

    insert: async (via: Knex, row: NewInstanceRow): Promise<InstanceRow> => {
      const { accountId, id, configuration, providerData } = row;
      await via('instance').insert(toColumns('instance', { ...row, ...jsonOf(via, { configuration, providerData }) }));
      return firstOf(await select(accountId, via).where({ id }));
    },

    find: async (accountId: number, id: number): Promise<InstanceRow | undefined> =>
      (await select(accountId).where({ id }))[0],

    /** Returns the existing instances among the keys, in any order. */
    findAll: async (keys: readonly Pick<InstanceRow, 'accountId' | 'id'>[]): Promise<InstanceRow[]> => {
      const found = await perAccount(knex, keys, async (via, ofOne, accountId) => {
        const query = via('instance').select({ ...COLUMNS, version: via.raw('xmin::text') });
        const ids = ofOne.map(({ id }) => id);
        const rows: InstanceRow[] =
          accountId === undefined
            ? await query.whereRaw('(account_id, id) in (select * from unnest(?::bigint[], ?::bigint[]))', [
                ofOne.map((key) => key.accountId),
                ids,
              ])
            : await query.where({ account_id: accountId }).whereIn('id', ids);
        return rows;
      });
      return found.flat();
    },

    /** Locks an instance until the end of the transaction. */
    lock: async (via: Knex, accountId: number, id: number): Promise<InstanceRow | undefined> =>
      (await select(accountId, via).where({ id }).forNoKeyUpdate())[0],

    findByTokenHash: async (accountId: number, tokenHash: Buffer): Promise<InstanceRow | undefined> =>
      (await select(accountId).where({ token_hash: tokenHash }))[0],

    /** Lists instances, each with the value that it is ordered by, as text. */
    list: async (accountId: number, filter: InstanceFilter): Promise<(InstanceRow & InstanceListPosition)[]> => {
      const { order, after, condition, limit } = filter;
      const query = select(accountId);
      if (order === undefined) selectPage(query, { condition, limit, afterId: after?.id });
      else {
        const [expression, type] = ORDERS[order.by];
        query.select(knex.raw(`(${expression})::text as value`)).limit(limit);
        query.orderByRaw(`${expression} ${order.direction}, id ${order.direction}`);
        const behind = order.direction === 'asc' ? '>' : '<';
        if (after !== undefined)
          query.whereRaw(`(${expression}, id) ${behind} (cast(? as ${type}), ?)`, [after.value ?? null, after.id]);
        if (condition !== undefined) narrow(query, condition);
      }
      if (filter.elementKey !== undefined) query.where({ element_key: filter.elementKey });
      if (filter.tags !== undefined) query.where('tags', '@>', [...filter.tags]);
      if (filter.searchText !== undefined) {
        const pattern = `%${filter.searchText.replace(/[\\%_]/g, '\\$&')}%`;
        query.where((either) => either.whereILike('name', pattern).orWhereILike('element_key', pattern));
      }
      return query;
    },

    /** Finds an instance whose events are enabled and go to the URL. */
    findByCallback: async (accountId: number, callbackUrl: string): Promise<number | undefined> => {
      const settings = { [EVENTS_ENABLED]: true, [CALLBACK_URL]: callbackUrl };
      const row = await knex('instance')
        .where({ account_id: accountId })
        .whereRaw('configuration @> ?::jsonb', [JSON.stringify(settings)])
        .first('id');
      return row?.id;
    },

    /** Updates an instance. Undefined if it does not exist, or has another settings version than the given one. */
    update: async (
      via: Knex,
      accountId: number,
      id: number,
      changes: InstanceChanges,
      settingsVersion?: number,
    ): Promise<InstanceRow | undefined> => {
      const isOfSettings = changes.configuration !== undefined || changes.credentials !== undefined;
      const count = await via('instance')
        .where({ account_id: accountId, id, ...ofVersion({ settingsVersion }) })
        .update({
          ...toColumns('instance', { ...changes, ...jsonOf(via, changes) }),
          ...(isOfSettings && { settings_version: knex.raw('settings_version + 1') }),
          updated_at: knex.fn.now(),
        });
      return count === 0 ? undefined : firstOf(await select(accountId, via).where({ id }));
    },

    /**
     * Makes an instance valid, because a call succeeded where one is given. Returns false if it was valid, the call was not rejected before,
     * or the instance has other settings than it was made with.
     */
    setValid: async (accountId: number, id: number, call?: JudgedCall): Promise<boolean> => {
      const query = knex('instance').where({ account_id: accountId, id, valid: false, ...ofVersion(call) });
      if (call !== undefined) query.whereRaw('? = any(refused_calls)', [call.work]);
      const count = await query.update({
        valid: true,
        invalid_reason: null,
        refused_calls: [],
        updated_at: knex.fn.now(),
      });
      return count > 0;
    },

    /**
     * Makes an instance invalid, because a call was rejected where one is given. Of many failing calls only one writes.
     * @returns its name and element; undefined when it was invalid already, or has other settings than the call was made with
     */
    setInvalid: async (
      via: Knex,
      { accountId, id, reason }: Pick<InstanceRow, 'accountId' | 'id'> & { readonly reason: string },
      call?: JudgedCall,
    ): Promise<Pick<InstanceRow, 'name' | 'elementKey'> | undefined> => {
      const [row] = await via('instance')
        .where({ account_id: accountId, id, valid: true, ...ofVersion(call) })
        .update({
          valid: false,
          invalid_reason: reason,
          refused_calls: call === undefined ? [] : [call.work],
          updated_at: knex.fn.now(),
        })
        .returning(['name', 'element_key']);
      return row && { name: row.name, elementKey: row.element_key };
    },

    /**
     * Adds a rejected call. Returns false when it is stored already, the maximum is reached, or the instance is valid or has other settings
     * than the call was made with.
     */
    addRefusedCall: async (
      via: Knex,
      refused: JudgedCall & { readonly accountId: number; readonly id: number; readonly most: number },
    ): Promise<boolean> => {
      const { accountId, id, work, most } = refused;
      const count = await via('instance')
        .where({ account_id: accountId, id, valid: false, ...ofVersion(refused) })
        .whereRaw('cardinality(refused_calls) < ? and not ? = any(refused_calls)', [most, work])
        .update({ refused_calls: knex.raw('array_append(refused_calls, ?)', [work]), updated_at: knex.fn.now() });
      return count > 0;
    },

    /** Replaces the reason why an instance is invalid by a better one. */
    setInvalidReason: async (via: Knex, accountId: number, id: number, reason: string): Promise<void> => {
      await via('instance')
        .where({ account_id: accountId, id, valid: false })
        .update({ invalid_reason: reason, updated_at: knex.fn.now() });
    },

    /** Stores the warning about events. Returns false if it is unchanged, or if the instance does not exist. */
    setEventWarning: async (accountId: number, id: number, warning: string | null): Promise<boolean> => {
      const count = await knex('instance')
        .where({ account_id: accountId, id })
        .whereRaw('event_warning is distinct from ?', [warning])
        .update({ event_warning: warning, updated_at: knex.fn.now() });
      return count > 0;
    },

    /** Returns ids of instances of the account in any state, the lowest first. */
    listIds: async (accountId: number, limit: number): Promise<number[]> =>
      knex('instance').where({ account_id: accountId }).orderBy('id').limit(limit).pluck('id'),

    remove: async (via: Knex, accountId: number, id: number): Promise<void> => {
      await via('instance').where({ account_id: accountId, id }).delete();
    },
  };
}

/** Settings that were replaced meanwhile say nothing about those that are stored. */
function ofVersion({ settingsVersion }: { readonly settingsVersion?: number | undefined } = {}) {
  return settingsVersion === undefined ? {} : { settings_version: settingsVersion };
}

/** Encodes values that knex would treat as arrays of PostgreSQL, or reject. */
function jsonOf(knex: Knex, { configuration, providerData }: Pick<InstanceChanges, 'configuration' | 'providerData'>) {
  return {
    configuration: configuration && json(knex, configuration),
    providerData: providerData && json(knex, providerData),
  };
}
