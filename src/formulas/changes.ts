import type { Knex } from 'knex';
import type { Notifier } from '../db/notifier.ts';

/** Topic of the message that formulas or formula instances of an account changed. Its payload is the id of the account. */
export const FORMULA_TOPIC = 'formula-changed';

/** Announces at the commit of a transaction that the formulas or formula instances of accounts change. */
export async function announceChange(
  notifier: Pick<Notifier, 'publish'>,
  via: Knex,
  accountIds: Iterable<number>,
): Promise<void> {
  for (const accountId of new Set(accountIds)) await notifier.publish(FORMULA_TOPIC, String(accountId), via);
}
