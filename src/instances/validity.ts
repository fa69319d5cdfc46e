import type { Knex } from 'knex';
import type { Notifications, Publisher } from '../events/notifications/notifications.ts';
import type { Instance } from './instances.ts';
import type { InstanceStore } from './store.ts';
import type { TokenCache } from './token-cache.ts';

/** Whether the provider takes the credentials of an instance, as far as is known. */
export interface Validity {
  /** What the last call said of the credentials; stored when it changes `valid`. */
  readonly noteCredentials: (instance: InstanceKey, verdict: 'accepted' | 'refused') => Promise<void>;
  /** The credentials are of no use any more, for a known reason. */
  readonly invalidate: (refusal: Refusal, via: Knex) => Promise<void>;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

interface Refusal extends InstanceKey {
  readonly reason: string;
}

export interface ValidityPorts {
  readonly store: Pick<InstanceStore, 'setValid' | 'setInvalid' | 'setInvalidReason' | 'transaction'>;
  readonly changed: TokenCache['changed'];
  readonly notifications: Pick<Notifications, 'prepare'>;
}

export function createValidity({ store, changed, notifications }: ValidityPorts): Validity {
  /** False when it was invalid already: who makes it so tells of it, and nobody else. */
  async function refuse(via: Knex, refusal: Refusal, publish: Publisher): Promise<boolean> {
    const { accountId, id, reason } = refusal;
    const refused = await store.setInvalid(via, refusal);
    if (refused === undefined) return false;
    await publish(via, 'instance.credentials.refused', { instanceId: id, ...refused, reason });
    await changed(accountId, id, via);
    return true;
  }

  return {
    noteCredentials: async ({ accountId, id }, verdict) => {
      if (verdict === 'accepted') {
        if (await store.setValid(accountId, id)) await changed(accountId, id);
        return;
      }
      const publish = await notifications.prepare(accountId);
      const refusal = { accountId, id, reason: 'The provider refuses the credentials.' };
      await store.transaction((via) => refuse(via, refusal, publish));
    },

    invalidate: async (refusal, via) => {
      const { accountId, id, reason } = refusal;
      if (await refuse(via, refusal, await notifications.prepare(accountId))) return;
      await store.setInvalidReason(via, accountId, id, reason);
      await changed(accountId, id, via);
    },
  };
}
