import type { Knex } from 'knex';
import type { Notifications, Publisher } from '../events/notifications/notifications.ts';
import type { Instance } from './instance.ts';
import type { InstanceStore } from './store.ts';
import type { TokenCache } from './token-cache.ts';

/** Whether the provider takes the credentials of an instance, as far as is known. */
export interface Validity {
  /**
   * What came of a call, whose `work` is such as `list employees`. A refusal makes the instance invalid. A success makes it
   * valid again only where the same was refused before: what a provider does for everybody proves nothing.
   */
  readonly noteCredentials: (instance: JudgedInstance, verdict: Verdict) => Promise<void>;
  /** The provider granted access anew. */
  readonly restore: (instance: InstanceKey) => Promise<void>;
  /** The credentials are of no use any more, for a known reason. */
  readonly invalidate: (refusal: Refusal, via: Knex) => Promise<void>;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

type JudgedInstance = InstanceKey & Pick<Instance, 'valid' | 'refusedCalls'>;

interface Verdict {
  readonly kind: 'accepted' | 'refused';
  readonly work: string;
}

interface Refusal extends InstanceKey {
  readonly reason: string;
}

/** A row has so many of them at most. More would not tell more. */
const MOST_REFUSED_CALLS = 100;

export interface ValidityPorts {
  readonly store: Pick<
    InstanceStore,
    'setValid' | 'setInvalid' | 'setInvalidReason' | 'addRefusedCall' | 'transaction'
  >;
  readonly changed: TokenCache['changed'];
  readonly notifications: Pick<Notifications, 'prepare'>;
}

export function createValidity({ store, changed, notifications }: ValidityPorts): Validity {
  /** False when it was invalid already: who makes it so tells of it, and nobody else. */
  async function refuse(via: Knex, refusal: Refusal, work: readonly string[], publish: Publisher): Promise<boolean> {
    const { accountId, id, reason } = refusal;
    const refused = await store.setInvalid(via, { ...refusal, refusedCalls: work });
    if (refused === undefined) return false;
    await publish(via, 'instance.credentials.refused', { instanceId: id, ...refused, reason });
    await changed(accountId, id, via);
    return true;
  }

  return {
    noteCredentials: async (instance, { kind, work }) => {
      const { accountId, id } = instance;
      const wasRefused = instance.refusedCalls.includes(work);
      if (kind === 'accepted') {
        if (wasRefused && (await store.setValid(accountId, id, work))) await changed(accountId, id);
        return;
      }
      // Of many failing calls one writes, also of those that know.
      if (!instance.valid && wasRefused) return;
      const publish = await notifications.prepare(accountId);
      const refusal = { accountId, id, reason: `The provider refuses the credentials for '${work}'.` };
      await store.transaction(async (via) => {
        if (await refuse(via, refusal, [work], publish)) return;
        const isAdded = await store.addRefusedCall(via, { accountId, id, work, most: MOST_REFUSED_CALLS });
        if (isAdded) await changed(accountId, id, via);
      });
    },

    restore: async ({ accountId, id }) => {
      if (await store.setValid(accountId, id)) await changed(accountId, id);
    },

    invalidate: async (refusal, via) => {
      const { accountId, id, reason } = refusal;
      if (await refuse(via, refusal, [], await notifications.prepare(accountId))) return;
      await store.setInvalidReason(via, accountId, id, reason);
      await changed(accountId, id, via);
    },
  };
}
