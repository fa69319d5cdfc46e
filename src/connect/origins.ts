import { createAnnouncedCache } from '../db/caches.ts';
import { changeInTurn, differences } from '../db/change.ts';
import { type ErrorDetail, invalidRequest, pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { createOriginStore } from './origin-store.ts';

/**
 * Registered origins of an organization. Their pages may embed the connect page in a frame, and sessions return to no
 * others.
 */
export type Origins = ReturnType<typeof createOrigins>;

export function createOrigins({ knex, notifier }: Pick<Platform, 'knex' | 'notifier'>) {
  const known = createAnnouncedCache<{ readonly origins: readonly string[] }>({
    notifier,
    topic: 'connect-origins',
    load: async (organizationId) => ({ origins: await createOriginStore(knex).list(Number(organizationId)) }),
  });

  return {
    /** Returns the origins of an organization. They are cached until a change. */
    of: async (organizationId: number) => (await known.get(String(organizationId)))?.origins ?? [],

    /**
     * Replaces the origins of an organization.
     * @returns the origins as browsers write them
     * @throws AppError REQUEST_INVALID that names each text that is no origin
     */
    replace: async (organizationId: number, given: readonly string[]) => {
      const origins = readOrigins(given);
      await changeInTurn(
        knex,
        async (via) => {
          const store = createOriginStore(via);
          await store.lock(organizationId);
          const before = await store.list(organizationId);
          await store.replace(organizationId, origins);
          await known.changed(String(organizationId), via);
          return before;
        },
        (before) => ({
          targetId: String(organizationId),
          changes: differences({ connectOrigins: before }, { connectOrigins: origins }),
        }),
      );
      await notifier.settle();
      return origins;
    },
  };
}

function readOrigins(given: readonly string[]): readonly string[] {
  const read = given.map((text) => ({ text, origin: readOrigin(text) }));
  const faults = read.flatMap(({ origin }, at): readonly ErrorDetail[] => {
    if (origin !== undefined) return [];
    const message = `body.origins.${at} must be an origin such as https://app.example.com: https, or http for localhost, with a host, an optional port, and no path.`;
    return [{ path: pointer('body', 'origins', String(at)), message }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
  return [...new Set(read.flatMap(({ origin }) => origin ?? []))].toSorted();
}

/** Valid host of an origin. URLs allow `*` and `;` in a host, but in a policy for frames they mean all hosts and the end of the policy. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns an origin as browsers write it; undefined for a text that cannot be registered. */
export function readOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.href !== `${url.origin}/` || /[\s?#]/.test(text) || !HOST.test(url.hostname))
    return undefined;
  const isTrusted = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return isTrusted ? url.origin : undefined;
}
