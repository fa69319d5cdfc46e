import { timingSafeEqual } from 'node:crypto';
import type { ChangeNote } from '../db/change.ts';
import type { Platform } from '../platform.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import { createSecret, createSecretStore, type SecretOwner, type StoredSecret } from './secret-store.ts';

/** A valid secret, as its owner sees it. */
export interface Secret extends Pick<StoredSecret, 'id' | 'createdAt' | 'expiresAt'> {
  /** Undefined for a secret that was not stored in a readable form, unless the owner sent it with this request. */
  readonly secret: string | undefined;
}

export const OVERLAP_SECONDS = 86_400;

/** The service that shows and rotates the secrets of users and organizations. */
export function createSecrets(
  platform: Pick<Platform, 'knex' | 'keyring' | 'keys' | 'clock' | 'random'>,
  principals: Pick<PrincipalChanges, 'change'>,
) {
  const { knex, keys, clock, random } = platform;
  const store = createSecretStore(platform);

  /**
   * Returns the time at which the previous secret ends. The database compares it with its own clock, which may be behind; so a secret that
   * ends at once gets a time in the distant past.
   */
  const endOf = (overlapSeconds: number) => new Date(overlapSeconds === 0 ? 0 : clock.now() + overlapSeconds * 1000);

  return {
    /**
     * Lists the valid secrets, the current one first.
     * @param sent the secret with which the owner authenticated
     */
    list: async (owner: SecretOwner, sent: string | undefined) => {
      const sentHash = sent === undefined ? undefined : keys.lookupHash(sent);
      const isSent = (hash: Buffer) => sentHash !== undefined && timingSafeEqual(sentHash, hash);
      const stored = await store.list(knex, owner);
      return stored.map(({ id, secret, secretHash, createdAt, expiresAt }) => ({
        id,
        secret: secret ?? (isSent(secretHash) ? sent : undefined),
        createdAt,
        expiresAt,
      }));
    },

    /**
     * Creates a new secret. The previous one stays valid for `overlapSeconds` on every process; 0 ends it at once.
     * @returns the new secret
     */
    rotate: (organizationId: number, owner: SecretOwner, overlapSeconds: number = OVERLAP_SECONDS) => {
      const secret = createSecret(random);
      const previousUntil = endOf(overlapSeconds);
      return principals.change(
        organizationId,
        async (via) => ({ ...(await store.add(via, owner, secret, previousUntil)), secret }),
        ({ id }): ChangeNote => ({ targetId: String(id), changes: { overlapSeconds } }),
      );
    },
  };
}
