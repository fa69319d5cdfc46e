import type { Knex } from 'knex';
import type { Notifier } from '../db/notifier.ts';
import { createFormulaInstanceStore } from './formula-instances-store.ts';

/** Topic of the message that formulas or formula instances of an account changed. Its payload is the id of the account. */
export const FORMULA_TOPIC = 'formula-changed';

/**
 * Announces at the commit of a transaction that the formulas or formula instances of accounts change, also to the accounts whose element
 * instances these formula instances name.
 */
export async function announceChange(
  notifier: Pick<Notifier, 'publish'>,
  via: Knex,
  accountIds: Iterable<number>,
): Promise<void> {
  const own = new Set(accountIds);
  const named = await createFormulaInstanceStore(via).listNamedAccounts([...own]);
  for (const accountId of own.union(new Set(named))) await notifier.publish(FORMULA_TOPIC, String(accountId), via);
}
