import { createAnnouncedCache } from '../db/announced-cache.ts';
import type { Removal } from '../db/removal.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { createInactiveElementStore } from './inactive-element-store.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import type { TenantIds } from './store.ts';

/** Of which elements an account makes instances: of all, until it says otherwise. */
export interface ActiveElements {
  /** The keys of the others; from memory when it was asked for before and nothing changed. */
  readonly inactiveOf: (accountId: number) => Promise<ReadonlySet<string>>;
  /** @throws AppError CONFLICT for an element that is inactive in the account */
  readonly assertActive: (accountId: number, elementKey: string) => Promise<void>;
  /** Instances that are there already go on. One that is so already stays so. */
  readonly setActive: (caller: ElementCaller, elementKey: string, active: boolean) => Promise<void>;
  /** Of an account that is deleted. */
  readonly remove: (accountId: number) => Promise<Removal>;
}

export type ElementCaller = Pick<TenantIds, 'organizationId' | 'accountId'>;

export function createActiveElements(
  { knex, notifier }: Pick<Platform, 'knex' | 'notifier'>,
  principals: Pick<PrincipalChanges, 'change'>,
): ActiveElements {
  const store = createInactiveElementStore(knex);
  const known = createAnnouncedCache<ReadonlySet<string>>({
    notifier,
    topic: 'active-elements',
    load: async (accountId) => new Set(await store.list(Number(accountId))),
  });

  async function inactiveOf(accountId: number): Promise<ReadonlySet<string>> {
    return (await known.get(String(accountId))) ?? new Set();
  }

  return {
    inactiveOf,

    remove: async (accountId) => {
      await store.removeAll(accountId);
      return 'done';
    },

    assertActive: async (accountId, elementKey) => {
      if (!(await inactiveOf(accountId)).has(elementKey)) return;
      const message = `The element '${elementKey}' is inactive in account ${accountId}, which makes no new instances of it. PUT /elements/${elementKey}/active makes it active again.`;
      throw new AppError('CONFLICT', message);
    },

    setActive: async ({ organizationId, accountId }, elementKey, active) => {
      await principals.change(
        organizationId,
        async (via) => {
          const isChanged = await (active ? store.remove : store.add)(via, accountId, elementKey);
          // Before the announcement of the change itself, which this process waits for: it comes first here, too.
          await known.changed(String(accountId), via);
          return isChanged;
        },
        (isChanged) => ({
          targetId: elementKey,
          ...(isChanged && { changes: { active: { from: !active, to: active } } }),
        }),
      );
    },
  };
}
