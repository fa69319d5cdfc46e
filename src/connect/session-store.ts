import type { Knex } from 'knex';
import { json } from '../db/json.ts';
import { filterable, INSTANT, INTEGER, orNull, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { nextId } from '../db/next-id.ts';
import { type Removal, removeRows } from '../db/removal.ts';
import { columnsOf, firstOf, type RowOf, type RowWith, toColumns } from '../db/row.ts';
import type { Branding } from './branding-store.ts';

/** Error of a session, with texts for the connecting person and for the server that created the session. */
export interface SessionError {
  /** An error code of the API, or `CANCELLED` if the user cancelled. */
  readonly code: string;
  readonly message: string;
  readonly providerMessage?: string;
}

/** A row of `connect_session`, its configuration still encrypted. */
export interface SessionRow extends Omit<RowWith<'connect_session', typeof COLUMNS>, 'error' | 'branding'> {
  /** Error as JSON. Only objects of this type are stored. */
  readonly error: SessionError | null;
  readonly branding: Branding;
}

type NewSessionRow = Omit<SessionRow, 'status' | 'elementKey' | 'error' | 'endedAt' | 'refusedOrigin' | 'refusedAt'> &
  RowOf<'connect_session', 'key_hash'>;

export type SessionKey = Pick<SessionRow, 'accountId' | 'id'>;

export type SessionMaker = Pick<SessionRow, 'accountId' | 'userId'>;

/** Numbers of open sessions. */
export interface OpenSessions {
  readonly ofAccount: number;
  /** Number of these sessions that the user created. */
  readonly ofUser: number;
}

const COLUMNS = columnsOf('connect_session', [
  'account_id',
  'id',
  'user_id',
  'status',
  'elements',
  'name',
  'tags',
  'configuration',
  'redirect_url',
  'proxy_id',
  'reauthenticates',
  'instance_id',
  'element_key',
  'error',
  'created_at',
  'expires_at',
  'ended_at',
  'refused_origin',
  'refused_at',
  'branding',
]);

/** Fields that a list of sessions can be filtered by, under their names in the API. */
export const FILTERABLE_SESSION = filterable({
  id: [INTEGER, 'id'],
  status: [TEXT, 'status'],
  name: [orNull(TEXT), 'name'],
  elementKey: [orNull(TEXT), 'element_key'],
  instanceId: [orNull(INTEGER), 'instance_id'],
  createdDate: [INSTANT, 'created_at'],
  expiresDate: [INSTANT, 'expires_at'],
});

const OF_PAGE = Object.entries(COLUMNS)
  .map(([name, column]) => `session.${column} as "${name}"`)
  .join(', ');

const FIND_PAGE = `select ${OF_PAGE}, account.organization_id as "organizationId"
  from connect_session session join account on account.id = session.account_id
  where session.key_hash = ?`;

type PageRow = SessionRow & { readonly organizationId: number };

/** Creates the store of connect sessions. Every statement names the account, except the one for callers who have only the key. */
export function createSessionStore(knex: Knex) {
  const open = (via: Knex, { accountId, id }: SessionKey) =>
    via('connect_session').where({ account_id: accountId, id, status: 'open' });

  return {
    nextId: (): Promise<number> => nextId(knex, 'connect_session'),

    insert: async (via: Knex, row: NewSessionRow): Promise<SessionRow> => {
      await via('connect_session').insert(
        toColumns('connect_session', { ...row, branding: json(via, { ...row.branding }) }),
      );
      const { keyHash: _, ...rest } = row;
      const nothingYet = { elementKey: null, error: null, endedAt: null, refusedOrigin: null, refusedAt: null };
      return { ...rest, status: 'open', ...nothingYet };
    },

    /** Counts open sessions, and locks out other new sessions of the account until the end of the transaction. */
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

    /** Lists sessions from old to new. */
    list: async (accountId: number, selection: Selection): Promise<SessionRow[]> =>
      selectPage(knex('connect_session').where({ account_id: accountId }).select<SessionRow[]>(COLUMNS), selection),

    /** Marks the expired sessions of an account as expired. */
    expire: async (accountId: number, at: Date): Promise<void> => {
      await knex('connect_session')
        .where({ account_id: accountId, status: 'open' })
        .where('expires_at', '<=', at)
        .update({ status: 'expired', ended_at: knex.raw('expires_at') });
    },

    /** Completes an open session. Returns false when it is no longer open, so that only one of several concurrent calls completes it. */
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

    /** Ends an open session with an error. Returns false when it is no longer open. */
    fail: async (via: Knex, session: SessionKey, error: SessionError, at: Date): Promise<boolean> => {
      const count = await open(via, session).update({ status: 'failed', error: json(via, { ...error }), ended_at: at });
      return count > 0;
    },

    /** Stores an error of a session that stays open. */
    noteError: async (session: SessionKey, error: SessionError | null): Promise<void> => {
      await open(knex, session).update({ error: error && json(knex, { ...error }) });
    },

    /** Notes that a page of this origin tried to show the session and was refused. */
    noteRefusal: async (session: SessionKey, refusedOrigin: string, refusedAt: Date): Promise<void> => {
      await open(knex, session).update(toColumns('connect_session', { refusedOrigin, refusedAt }));
    },

    removeSome: (accountId: number): Promise<Removal> => removeRows(knex, 'connect_session', accountId),

    /** Deletes old sessions of all accounts. */
    purge: (before: Date): Promise<number> =>
      knex('connect_session').whereRaw('coalesce(ended_at, expires_at) < ?', [before]).delete(),
  };
}
