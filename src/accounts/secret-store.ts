import type { Knex } from 'knex';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { nextId } from '../db/next-id.ts';
import { firstOf } from '../db/row.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';

/** Owner of a secret: an organization, or a user. */
export type SecretOwner = { readonly organizationId: number } | { readonly accountId: number; readonly userId: number };

/** A valid secret. */
export interface StoredSecret {
  readonly id: number;
  /** Undefined for a secret from before secrets were stored in a readable form. */
  readonly secret: string | undefined;
  readonly secretHash: Buffer;
  readonly createdAt: Date;
  /** Time of expiry; null for the current secret. */
  readonly expiresAt: Date | null;
}

type NewSecret = Pick<StoredSecret, 'id' | 'createdAt' | 'expiresAt'>;

/** Maximum number of valid secrets per owner. Each is compared with the secret of a request. */
const MOST_VALID = 20;

const SECRET_BYTES = 32;

export function createSecret({ bytes }: Pick<Platform['random'], 'bytes'>): string {
  return bytes(SECRET_BYTES).toString('base64url');
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/**
 * Creates the store of the secrets of users and organizations. It keeps each secret as a hash for lookups, and encrypted for showing it
 * again.
 */
export function createSecretStore({ keyring, keys }: Pick<Platform, 'keyring' | 'keys'>) {
  return {
    /**
     * Stores a new current secret; call it in a transaction. Previous secrets end at `previousUntil`, or earlier if they expire before.
     * @throws AppError NOT_FOUND for an owner who was deleted; CONFLICT when too many secrets are valid
     */
    add: async (via: Knex, owner: SecretOwner, secret: string, previousUntil = new Date(0)): Promise<NewSecret> => {
      const { table, columns, ownerTable, ownerColumns } = tablesOf(owner);
      // Concurrent rotations take turns: the second one ends the secret of the first one.
      const found = await via(ownerTable).where(ownerColumns).forNoKeyUpdate().first('id');
      if (found === undefined) throw new AppError('NOT_FOUND', 'The owner of this secret was deleted.');
      await via(table)
        .where(columns)
        .update({ expires_at: via.raw('least(expires_at, ?)', [previousUntil]) });
      await via(table).where(columns).whereRaw('expires_at <= now()').delete();
      if ((await via(table).where(columns).select('id')).length >= MOST_VALID) throw tooMany();
      const id = await nextId(via, table);
      const row = { id, secret: keyring.encrypt(secret, contextOf(owner, id)), secret_hash: keys.lookupHash(secret) };
      const inserted = await via(table)
        .insert({ ...columns, ...row })
        .returning('created_at');
      return { id, createdAt: firstOf(inserted).created_at, expiresAt: null };
    },

    /** Lists the valid secrets, the current one first. */
    list: async (via: Knex, owner: SecretOwner): Promise<readonly StoredSecret[]> => {
      const { table, columns } = tablesOf(owner);
      const rows = await via(table)
        .where(columns)
        .whereRaw('(expires_at is null or expires_at > now())')
        .orderByRaw('expires_at desc nulls first')
        .select('id', 'secret', 'secret_hash', 'created_at', 'expires_at');
      return rows.map(({ id, secret, ...row }) => ({
        id,
        secret: secret === null ? undefined : keyring.decrypt(secret, contextOf(owner, id)),
        secretHash: row.secret_hash,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      }));
    },

    /** Deletes all secrets of the owner, which end at once. */
    removeAll: async (via: Knex, owner: SecretOwner): Promise<void> => {
      const { table, columns } = tablesOf(owner);
      await via(table).where(columns).delete();
    },
  };
}

function tooMany(): AppError {
  const message = `${MOST_VALID} secrets are already valid, the maximum. Wait until one expires, or rotate with overlapSeconds 0, which ends all of them.`;
  return new AppError('CONFLICT', message);
}

function tablesOf(owner: SecretOwner) {
  return 'userId' in owner
    ? ({
        table: 'user_secret',
        columns: { account_id: owner.accountId, user_id: owner.userId },
        ownerTable: 'app_user',
        ownerColumns: { account_id: owner.accountId, id: owner.userId, deleted_at: null },
      } as const)
    : ({
        table: 'organization_secret',
        columns: { organization_id: owner.organizationId },
        ownerTable: 'organization',
        ownerColumns: { id: owner.organizationId },
      } as const);
}

function contextOf(owner: SecretOwner, id: number): string {
  return 'userId' in owner
    ? encryptionContext('user_secret.secret', owner.accountId, owner.userId, id)
    : encryptionContext('organization_secret.secret', owner.organizationId, id);
}
