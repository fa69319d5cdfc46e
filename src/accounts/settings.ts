import { createAnnouncedCache } from '../db/caches.ts';
import { change, differences } from '../db/change.ts';
import type { Removal } from '../db/removal.ts';
import { assertCallable } from '../egress/callback-url.ts';
import { type ErrorDetail, invalidRequest, MOST_FAULTS, pointer, unknownName } from '../errors.ts';
import type { FailurePolicy, RetryCount } from '../events/model.ts';
import type { Platform } from '../platform.ts';
import { createSettingsStore, type SettingsStore } from './settings-store.ts';

/** Every setting of an account, as the API shows it. */
export interface AccountSettings {
  readonly 'notification.webhook.failure.policy': FailurePolicy;
  readonly 'notification.webhook.retry.count': RetryCount;
  readonly 'notification.operational.callback.url': string | null;
}

export const OPERATIONAL_URL = 'notification.operational.callback.url';

const DEFAULTS: AccountSettings = {
  'notification.webhook.failure.policy': 'retry',
  'notification.webhook.retry.count': 5,
  [OPERATIONAL_URL]: null,
};

export type Settings = ReturnType<typeof createSettings>;

/** Creates the settings of accounts. `ensureSubscription` prepares deliveries to the URL of operational notifications. */
export function createSettings(
  { knex, notifier, egress }: Pick<Platform, 'knex' | 'notifier' | 'egress'>,
  ensureSubscription: (accountId: number, url: string) => Promise<unknown>,
) {
  const store = createSettingsStore(knex);
  const cache = createAnnouncedCache<AccountSettings>({
    notifier,
    topic: 'account-settings',
    load: async (key) => ({ ...DEFAULTS, ...(await store.read(Number(key))) }),
  });

  async function get(accountId: number): Promise<AccountSettings> {
    return (await cache.get(String(accountId))) ?? DEFAULTS;
  }

  async function write(
    accountId: number,
    given: Partial<AccountSettings>,
    how: keyof Pick<SettingsStore, 'replace' | 'merge'>,
  ): Promise<AccountSettings> {
    assertKnown(given);
    const url = given[OPERATIONAL_URL];
    if (typeof url === 'string') await assertCallable(egress, url, pointer('body', OPERATIONAL_URL));
    await change(
      knex,
      async (via) => {
        const stored = createSettingsStore(via);
        const before = await stored.readForChange(accountId);
        await stored[how](accountId, given);
        await cache.changed(String(accountId), via);
        return { before, after: await stored.read(accountId) };
      },
      ({ before, after }) => ({ changes: differences({ ...DEFAULTS, ...before }, { ...DEFAULTS, ...after }) }),
    );
    if (typeof url === 'string') await ensureSubscription(accountId, url);
    return get(accountId);
  }

  return {
    get,
    /**
     * Replaces all settings. A setting that is not sent gets its default.
     * @throws AppError REQUEST_INVALID for an unknown key or a URL that may not be called
     */
    replace: (accountId: number, given: Partial<AccountSettings>) => write(accountId, given, 'replace'),
    /**
     * Changes the given settings and keeps the others.
     * @throws AppError as `replace`
     */
    update: (accountId: number, given: Partial<AccountSettings>) => write(accountId, given, 'merge'),
    /** Deletes the settings of an account. */
    remove: async (accountId: number): Promise<Removal> => {
      await store.remove(accountId);
      await cache.changed(String(accountId));
      return 'done';
    },
    /** Returns the settings that control deliveries, from memory if they are cached and unchanged. */
    ofDelivery: async (accountId: number) => {
      const settings = await get(accountId);
      return {
        failurePolicy: settings['notification.webhook.failure.policy'],
        retryCount: settings['notification.webhook.retry.count'],
      };
    },
  };
}

/** The values are checked against the spec; unknown keys are let through there, to be named here with the nearest one. */
function assertKnown(given: object): void {
  const known = Object.keys(DEFAULTS);
  const details = Object.keys(given)
    .filter((key) => !known.includes(key))
    .slice(0, MOST_FAULTS + 1)
    .map(
      (key): ErrorDetail => ({ path: pointer('body', key), expected: known, ...unknownName('setting', key, known) }),
    );
  if (details.length > 0) throw invalidRequest(details);
}
