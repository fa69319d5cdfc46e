import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';
import { json } from '../db/json.ts';
import { nextId } from '../db/next-id.ts';
import { type Removal, removeRows } from '../db/removal.ts';
import { type ColumnsOf, firstOf, type RowOf } from '../db/row.ts';
import { EXACT_IN_SQL, type Sql, type SqlQueryable } from '../where/index.ts';

type ReadColumn = Exclude<keyof Tables['connect_session'], 'key_hash' | 'error'>;

/** What went wrong, fit for whoever connects and for the server that asked for it. */
export interface SessionError {
  /** One of the API's, or `CANCELLED`: somebody gave up. */
  readonly code: string;
  readonly message: string;
  readonly providerMessage?: string;
}

/** A row of `connect_session`, its configuration still encrypted. */
export interface SessionRow extends RowOf<'connect_session', ReadColumn> {
  /** No other JSON is stored. */
  readonly error: SessionError | null;
}

export type NewSessionRow = RowOf<
  'connect_session',
  Exclude<ReadColumn, 'status' | 'element_key' | 'ended_at'> | 'key_hash'
>;

export interface SessionFilter {
  readonly condition?: Sql | undefined;
  /** Only ids above it: the listing goes from old to new. */
  readonly afterId?: number | undefined;
  readonly limit: number;
}

export type SessionKey = Pick<SessionRow, 'accountId' | 'id'>;

export type SessionMaker = Pick<SessionRow, 'accountId' | 'userId'>;

/** Sessions that have not ended. */
export interface OpenSessions {
  readonly ofAccount: number;
  /** Those of them that the user made. */
  readonly ofUser: number;
}

const COLUMNS: ColumnsOf<'connect_session', ReadColumn | 'error'> = {
  accountId: 'account_id',
  id: 'id',
  userId: 'user_id',
  status: 'status',
  elements: 'elements',
  name: 'name',
  tags: 'tags',
  configuration: 'configuration',
  redirectUrl: 'redirect_url',
  proxyId: 'proxy_id',
  reauthenticates: 'reauthenticates',
  instanceId: 'instance_id',
  elementKey: 'element_key',
  error: 'error',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  endedAt: 'ended_at',
};

const text = { type: 'string', filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', filter: EXACT_IN_SQL } as const;
const instant = { type: 'datetime', nullable: false, filter: EXACT_IN_SQL } as const;

/** What a listing of sessions can be filtered by, under the names of their record. */
export const FILTERABLE_SESSION: SqlQueryable = {
  fields: {
    id: { ...integer, nullable: false },
    status: { ...text, nullable: false },
    name: text,
    elementKey: text,
    instanceId: integer,
    createdDate: instant,
    expiresDate: instant,
  },
  columns: {
    id: COLUMNS.id,
    status: COLUMNS.status,
    name: COLUMNS.name,
    elementKey: COLUMNS.elementKey,
    instanceId: COLUMNS.instanceId,
    createdDate: COLUMNS.createdAt,
    expiresDate: COLUMNS.expiresAt,
  },
};

const OF_PAGE = Object.entries(COLUMNS)
  .map(([name, column]) => `session.${column} as "${name}"`)
  .join(', ');

const FIND_PAGE = `select ${OF_PAGE}, account.organization_id as "organizationId"
  from connect_session session join account on account.id = session.account_id
  where session.key_hash = ?`;

type PageRow = SessionRow & { readonly organizationId: number };

/** Every statement names the account, save that for whoever has the key only. */
export function createSessionStore(knex: Knex) {
  const open = (via: Knex, { accountId, id }: SessionKey) =>
    via('connect_session').where({ account_id: accountId, id, status: 'open' });

  return {
    nextId: (): Promise<number> => nextId(knex, 'connect_session'),

    insert: async (via: Knex, row: NewSessionRow): Promise<SessionRow> => {
      const [inserted] = await via('connect_session')
        .insert({
          account_id: row.accountId,
          id: row.id,
          user_id: row.userId,
          key_hash: row.keyHash,
          elements: [...row.elements],
          name: row.name,
          tags: [...row.tags],
          configuration: row.configuration,
          redirect_url: row.redirectUrl,
          proxy_id: row.proxyId,
          reauthenticates: row.reauthenticates,
          instance_id: row.instanceId,
          created_at: row.createdAt,
          expires_at: row.expiresAt,
        })
        .returning('id');
      if (inserted === undefined) throw new Error('A connect session was not inserted');
      const { keyHash: _, ...rest } = row;
      return { ...rest, status: 'open', elementKey: null, error: null, endedAt: null };
    },

    /** Until the end of the transaction nobody else makes a session of the account. */
    countOpen: async (via: Knex, { accountId, userId }: SessionMaker, at: Date): Promise<OpenSessions> => {
      await via('account').where({ id: accountId }).forNoKeyUpdate().first('id');
      const { rows } = await via.raw<{ rows: OpenSessions[] }>(
        `select count(*)::int as "ofAccount", count(*) filter (where user_id = ?)::int as "ofUser"
         from connect_session where account_id = ? and status = 'open' and expires_at > ?`,
        [userId, accountId, at],
      );
      return firstOf(rows);
    },

    find: (via: Knex, { accountId, id }: SessionKey): Promise<SessionRow | undefined> =>
      via('connect_session').where({ account_id: accountId, id }).first<SessionRow>(COLUMNS),

    findByKeyHash: async (keyHash: Buffer): Promise<PageRow | undefined> => {
      const { rows } = await knex.raw<{ rows: PageRow[] }>(FIND_PAGE, [keyHash]);
      return rows[0];
    },

    /** From old to new. */
    list: async (accountId: number, { condition, afterId, limit }: SessionFilter): Promise<SessionRow[]> => {
      const query = knex('connect_session')
        .where({ account_id: accountId })
        .orderBy('id')
        .limit(limit)
        .select<SessionRow[]>(COLUMNS);
      if (afterId !== undefined) query.where('id', '>', afterId);
      if (condition !== undefined) query.whereRaw(condition.sql, condition.bindings);
      return query;
    },

    /** Writes of those of the account whose time is over that it is. */
    expire: async (accountId: number, at: Date): Promise<void> => {
      await knex('connect_session')
        .where({ account_id: accountId, status: 'open' })
        .where('expires_at', '<=', at)
        .update({ status: 'expired', ended_at: knex.raw('expires_at') });
    },

    /** False when it is not open any more: of several that come together one completes it, and the others do not. */
    complete: async (
      via: Knex,
      session: SessionKey,
      { instanceId, elementKey, at }: { readonly instanceId: number; readonly elementKey: string; readonly at: Date },
    ): Promise<boolean> => {
      const count = await open(via, session).where('expires_at', '>', at).update({
        status: 'completed',
        instance_id: instanceId,
        element_key: elementKey,
        error: null,
        ended_at: at,
      });
      return count > 0;
    },

    /** False when it is not open any more. */
    fail: async (via: Knex, session: SessionKey, error: SessionError, at: Date): Promise<boolean> => {
      const count = await open(via, session).update({ status: 'failed', error: json(via, { ...error }), ended_at: at });
      return count > 0;
    },

    /** It stays open. */
    noteError: async (session: SessionKey, error: SessionError | null): Promise<void> => {
      await open(knex, session).update({ error: error && json(knex, { ...error }) });
    },

    removeSome: (accountId: number): Promise<Removal> => removeRows(knex, 'connect_session', accountId),

    /** Of all accounts. */
    purge: (before: Date): Promise<number> =>
      knex('connect_session').whereRaw('coalesce(ended_at, expires_at) < ?', [before]).delete(),
  };
}
