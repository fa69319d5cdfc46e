import type { Knex } from 'knex';
import { json } from '../../db/json.ts';
import { filterable, INSTANT, INTEGER, orNull, type Selection, selectPage, TEXT } from '../../db/listing.ts';
import { nextId } from '../../db/next-id.ts';
import { type Removal, removeRows } from '../../db/removal.ts';
import { columnsOf, type RowOf, type RowWith, toColumns } from '../../db/row.ts';
import { MAY_CALL, RIGHTS, type StoredRights } from '../store.ts';
import type { Allowed, KeyReach } from './scope.ts';

/** A valid secret of a key: the current one, or one that a rotation replaced. */
type KeySecretRow = RowWith<'access_key_secret', typeof SECRET_COLUMNS>;

export interface KeyRow extends Omit<StoredKey, 'access' | 'allow' | 'scope'> {
  readonly access: 'read' | 'write';
  readonly allow: readonly Allowed[];
  readonly scope: KeyReach;
}

/** A key with its valid secrets, the current one first. */
export interface AccessKeyRow extends KeyRow {
  readonly secrets: readonly KeySecretRow[];
}

/** A key that was found by its secret, with the current rights of its user. */
export interface FoundKey extends StoredRights, Pick<KeyRow, 'name' | 'access' | 'allow' | 'scope'> {
  readonly keyAccountId: number;
  readonly keyId: number;
  readonly secretId: number;
  readonly secretHash: Buffer;
  readonly keyExpiresAt: Date | null;
  readonly secretExpiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

type NewKeyRow = KeyRow;
type NewSecretRow = Pick<RowOf<'access_key_secret'>, 'accountId' | 'keyId' | 'secretHash' | 'lastFour' | 'createdAt'>;
type KeyId = Pick<KeyRow, 'accountId' | 'id'>;

type StoredKey = RowWith<'access_key', typeof COLUMNS>;

const COLUMNS = columnsOf('access_key', [
  'account_id',
  'id',
  'user_id',
  'name',
  'access',
  'allow',
  'scope',
  'created_at',
  'expires_at',
]);
const SECRET_COLUMNS = columnsOf('access_key_secret', [
  'id',
  'key_id',
  'last_four',
  'created_at',
  'expires_at',
  'last_used_at',
]);

const OF_KEY = 'from access_key_secret s where s.account_id = access_key.account_id and s.key_id = access_key.id';

/** Fields that a list of keys can be filtered by, under their names in the API. */
export const FILTERABLE_KEY = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  access: [TEXT, 'access'],
  createdBy: [INTEGER, 'user_id'],
  createdDate: [INSTANT, 'created_at'],
  expiresDate: [orNull(INSTANT), 'expires_at'],
  lastFour: [TEXT, `(select s.last_four ${OF_KEY} and s.expires_at is null)`],
  lastUsedDate: [orNull(INSTANT), `(select max(s.last_used_at) ${OF_KEY})`],
});

export function createAccessKeyStore(knex: Knex) {
  const find = async (via: Knex, accountId: number, id: number): Promise<AccessKeyRow | undefined> => {
    const row = await via('access_key').where({ account_id: accountId, id }).first<StoredKey>(COLUMNS);
    return row && (await withSecrets(via, accountId, [row]))[0];
  };

  return {
    nextId: (): Promise<number> => nextId(knex, 'access_key'),

    insert: async (via: Knex, { scope, allow, ...row }: NewKeyRow): Promise<void> => {
      await via('access_key').insert({
        ...toColumns('access_key', row),
        allow: [...allow],
        scope: json(via, { ...scope }),
      });
    },

    insertSecret: async (via: Knex, row: NewSecretRow): Promise<void> => {
      await via('access_key_secret').insert(toColumns('access_key_secret', row));
    },

    /** Counts the keys of an account that have not expired. */
    count: async (via: Knex, accountId: number, at: Date): Promise<number> => {
      const rows = await via('access_key')
        .where({ account_id: accountId })
        .whereRaw('(expires_at is null or expires_at > ?)', [at])
        .select('id');
      return rows.length;
    },

    find: (accountId: number, id: number) => find(knex, accountId, id),

    /** Locks the key, so that concurrent changes take turns. */
    lock: async (via: Knex, accountId: number, id: number): Promise<AccessKeyRow | undefined> => {
      await via('access_key').where({ account_id: accountId, id }).forUpdate().first('id');
      return find(via, accountId, id);
    },

    /** Lists keys from old to new: all of the account, or those of one user. */
    list: async (accountId: number, userId: number | undefined, selection: Selection): Promise<AccessKeyRow[]> => {
      const query = knex('access_key').where({ account_id: accountId }).select<StoredKey[]>(COLUMNS);
      if (userId !== undefined) query.where({ user_id: userId });
      return withSecrets(knex, accountId, await selectPage(query, selection));
    },

    update: async (via: Knex, { accountId, id }: KeyId, changes: Pick<KeyRow, 'name' | 'expiresAt'>): Promise<void> => {
      await via('access_key').where({ account_id: accountId, id }).update(toColumns('access_key', changes));
    },

    remove: async (via: Knex, { accountId, id }: KeyId): Promise<void> => {
      await via('access_key').where({ account_id: accountId, id }).delete();
    },

    /** Ends the secrets of a key at the given time, or earlier if they expire before, and deletes those that have ended. */
    endSecrets: async (via: Knex, { accountId, id }: KeyId, at: Date): Promise<void> => {
      const owned = { account_id: accountId, key_id: id };
      await via('access_key_secret')
        .where(owned)
        .update({ expires_at: via.raw('least(expires_at, ?)', [at]) });
      await via('access_key_secret').where(owned).whereRaw('expires_at <= now()').delete();
    },

    /** Finds a valid key of a user who may send requests, by the hash of a valid secret. */
    findBySecret: async (secretHash: Buffer): Promise<FoundKey | undefined> => {
      const { rows } = await knex.raw<{ rows: FoundKey[] }>(
        `select ${RIGHTS}, access_key.account_id as "keyAccountId", access_key.id as "keyId", access_key.name,
           access_key.access, access_key.allow, access_key.scope, access_key.expires_at as "keyExpiresAt",
           secret.id as "secretId", secret.secret_hash as "secretHash", secret.expires_at as "secretExpiresAt",
           secret.last_used_at as "lastUsedAt"
         from access_key_secret secret
           join access_key on access_key.account_id = secret.account_id and access_key.id = secret.key_id
           join account on account.id = access_key.account_id
           join app_user on app_user.organization_id = account.organization_id and app_user.id = access_key.user_id
         where secret.secret_hash = ? and (secret.expires_at is null or secret.expires_at > now())
           and (access_key.expires_at is null or access_key.expires_at > now()) and ${MAY_CALL}`,
        [secretHash],
      );
      return rows[0];
    },

    noteUse: async ({ keyAccountId, secretId }: FoundKey, at: Date): Promise<void> => {
      await knex('access_key_secret').where({ account_id: keyAccountId, id: secretId }).update({ last_used_at: at });
    },

    /** Deletes the keys of a user in all accounts of the organization. */
    removeOfUser: async (via: Knex, organizationId: number, userId: number): Promise<void> => {
      await via('access_key')
        .where({ user_id: userId })
        .whereRaw('account_id in (select id from account where organization_id = ?)', [organizationId])
        .delete();
    },

    removeSome: (accountId: number): Promise<Removal> => removeRows(knex, 'access_key', accountId),

    /** Deletes the keys of all accounts that expired before the given time. */
    purge: (before: Date): Promise<number> => knex('access_key').where('expires_at', '<', before).delete(),
  };
}

async function withSecrets(via: Knex, accountId: number, keys: readonly StoredKey[]): Promise<AccessKeyRow[]> {
  const secrets = await via('access_key_secret')
    .where({ account_id: accountId })
    .whereRaw('key_id = any(?::bigint[])', [keys.map(({ id }) => id)])
    .whereRaw('(expires_at is null or expires_at > now())')
    .orderBy('id', 'desc')
    .select<KeySecretRow[]>(SECRET_COLUMNS);
  const byKey = Map.groupBy(secrets, ({ keyId }) => keyId);
  // The checks of the table and the one writer leave no other values.
  return keys.map((key) => ({ ...(key as KeyRow), secrets: byKey.get(key.id) ?? [] }));
}
