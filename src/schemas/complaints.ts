import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type AppError, isAppError } from '../errors.ts';
import type { InstanceKey } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import { createWatchStore } from './watch-store.ts';

/** Minimum milliseconds between two checks of an instance that complaints cause. */
const APART_MS = 3_600_000;
const MOST_KEPT = 20_000;

/** Topic of the message that checks may be due. */
export const CHECK_DUE_TOPIC = 'schema-check-due';

interface Complaints {
  /** Makes the check of an instance due if the error is a complaint about a field. It never throws, and callers don't wait for it. */
  readonly note: (instance: InstanceKey, error: AppError) => void;
  /** Waits for notes in progress. */
  readonly stop: () => Promise<void>;
}

/**
 * Creates the reaction to errors of providers that complain of a field. The description that the field came from may be outdated, so the
 * watched objects of the instance are read again, at most once an hour.
 */
export function createComplaints({
  knex,
  notifier,
  clock,
  log,
}: Pick<Platform, 'knex' | 'notifier' | 'clock' | 'log'>): Complaints {
  const store = createWatchStore(knex);
  /** Instances that complained lately. Only one of many failing calls writes. */
  const noted = new LRUCache<string, number>(atMost(MOST_KEPT));
  const running = new Set<Promise<void>>();

  async function noteDue(key: InstanceKey): Promise<void> {
    try {
      const now = clock.now();
      const check = { accountId: key.accountId, instanceId: key.id };
      const isDue = await store.noteComplaint(check, { now: new Date(now), since: new Date(now - APART_MS) });
      if (isDue) await notifier.publish(CHECK_DUE_TOPIC, '');
    } catch (error) {
      log.warn({ err: error, ...key }, 'could not note that a provider complained of a field');
    }
  }

  return {
    note: ({ accountId, id }, error) => {
      if (!isFieldComplaint(error)) return;
      const name = `${accountId}:${id}`;
      const nowMs = clock.steady();
      const lastMs = noted.get(name);
      if (lastMs !== undefined && nowMs - lastMs < APART_MS) return;
      noted.set(name, nowMs);
      const work = noteDue({ accountId, id }).finally(() => running.delete(work));
      running.add(work);
    },
    stop: async () => {
      await Promise.all(running);
    },
  };
}

const FIELD = /\b(?:fields?|propert(?:y|ies)|columns?|attributes?|members?|navigation|elements?)\b|INVALID_FIELD/i;
const UNKNOWN =
  /\b(?:not (?:found|exist|defined|known|recogni[sz]ed|accessible|available|supported|valid|a valid)|no such|unknown|invalid|unrecogni[sz]ed|undefined|unexpected|could not find|couldn't find|doesn't exist|does not|cannot find|missing|removed)\b|INVALID_FIELD/i;

/**
 * Returns whether a provider rejected a request because of a field that it does not know. Only its words show it. A wrong guess costs one
 * reading of the description.
 */
export function isFieldComplaint(error: unknown): boolean {
  if (!isAppError(error, 'PROVIDER_REJECTED')) return false;
  const text = error.providerMessage ?? '';
  return FIELD.test(text) && UNKNOWN.test(text);
}
