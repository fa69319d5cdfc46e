import type { Knex } from 'knex';
import type { InstanceKey } from '../../instances/instance.ts';
import type { Platform } from '../../platform.ts';
import { createRegistrationStore } from './registration-store.ts';

/** Topic of the message that the webhook registration of an instance is due for a change. */
export const REGISTRATION_TOPIC = 'webhook-registration';

/**
 * Creates a function that notes, in the transaction of a change of an instance, that its webhook must be registered or removed. Another job
 * calls the provider, so the change does not wait for it.
 */
export function createNoteRegistration({
  knex,
  notifier,
}: Pick<Platform, 'knex'> & { readonly notifier: Pick<Platform['notifier'], 'publish'> }) {
  const store = createRegistrationStore(knex);
  return async (via: Knex, { accountId, id }: InstanceKey, isWanted: boolean): Promise<void> => {
    await store.note(via, { accountId, id }, isWanted);
    await notifier.publish(REGISTRATION_TOPIC, `${accountId}:${id}`, via);
  };
}
