import type { Knex } from 'knex';
import type { InstanceKey } from '../../instances/instance.ts';
import type { Platform } from '../../platform.ts';
import { createRegistrationStore } from './registration-store.ts';

/** Topic of the message that the webhook registration of an instance is due for a change. */
export const REGISTRATION_TOPIC = 'webhook-registration';

/**
 * Takes down, with the change of an instance that asks for it, that its provider is to be told where to send events, or to send none any more.
 * Who talks to the provider takes it from there: nobody who changes an instance waits for that.
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
