import { createAnnouncedCache } from '../db/caches.ts';
import type { Removal } from '../db/removal.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { createInactiveElementStore } from './inactive-element-store.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import type { TenantIds } from './store.ts';

/** Elements that an account can create instances of. All are active until the account changes it. */
export type ActiveElements = ReturnType<typeof createActiveElements>;

type ElementCaller = Pick<TenantIds, 'organizationId' | 'accountId'>;

export function createActiveElements(
  { knex, notifier }: Pick<Platform, 'knex' | 'notifier'>,
  principals: Pick<PrincipalChanges, 'change'>,
) {
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
    /** Returns the keys of the inactive elements. They are cached until a change. */
    inactiveOf,

    /** Removes the settings of a deleted account. */
    remove: async (accountId: number): Promise<Removal> => {
      await store.removeAll(accountId);
      return 'done';
    },

    /**
     * Asserts that the account can create instances of the element.
     * @throws AppError CONFLICT for an inactive element
     */
    assertActive: async (accountId: number, elementKey: string) => {
      if (!(await inactiveOf(accountId)).has(elementKey)) return;
      const message = `The element '${elementKey}' is inactive in account ${accountId}, so no new instances of it can be created. Activate it with PUT /elements/${elementKey}/active.`;
      throw new AppError('CONFLICT', message);
    },

    /** Activates or deactivates an element. Existing instances continue to work. Repeating a change has no effect. */
    setActive: async ({ organizationId, accountId }: ElementCaller, elementKey: string, active: boolean) => {
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
