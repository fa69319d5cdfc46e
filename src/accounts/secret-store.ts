import type { Knex } from 'knex';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { nextId } from '../db/next-id.ts';
import type { Platform } from '../platform.ts';

/** Whose secret it is. */
export type SecretOwner = { readonly organizationId: number } | { readonly accountId: number; readonly userId: number };

/** One that is valid. */
export interface StoredSecret {
  readonly id: number;
  /** Undefined where it was stored before secrets were kept. */
  readonly secret: string | undefined;
  readonly secretHash: Buffer;
  readonly createdAt: Date;
  /** When it ends; null for the current one. */
  readonly expiresAt: Date | null;
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/** The secrets of users and organizations: hashed to be found by, and encrypted to be shown again. */
export function createSecretStore({ keyring, keys }: Pick<Platform, 'keyring' | 'keys'>) {
  return {
    /** Makes it the current one; the one before, if any, ends at `previousUntil`. */
    add: async (via: Knex, owner: SecretOwner, secret: string, previousUntil = new Date(0)): Promise<void> => {
      const { table, columns } = placeOf(owner);
      // Those who rotate at the same time take turns.
      await via(table).where(columns).whereNull('expires_at').update({ expires_at: previousUntil });
      const id = await nextId(via, table);
      const row = { id, secret: keyring.encrypt(secret, contextOf(owner, id)), secret_hash: keys.lookupHash(secret) };
      await via(table).insert({ ...columns, ...row });
    },

    /** Those that are valid, the current one first. */
    list: async (via: Knex, owner: SecretOwner): Promise<readonly StoredSecret[]> => {
      const { table, columns } = placeOf(owner);
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

    /** All end at once. */
    removeAll: async (via: Knex, owner: SecretOwner): Promise<void> => {
      const { table, columns } = placeOf(owner);
      await via(table).where(columns).delete();
    },
  };
}

function placeOf(owner: SecretOwner) {
  return 'userId' in owner
    ? ({ table: 'user_secret', columns: { account_id: owner.accountId, user_id: owner.userId } } as const)
    : ({ table: 'organization_secret', columns: { organization_id: owner.organizationId } } as const);
}

function contextOf(owner: SecretOwner, id: number): string {
  return 'userId' in owner
    ? encryptionContext('user_secret.secret', owner.accountId, owner.userId, id)
    : encryptionContext('organization_secret.secret', owner.organizationId, id);
}
