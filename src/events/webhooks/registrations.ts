import { isLoopback } from '../../config/index.ts';
import type { ProviderCall, ProviderClient } from '../../connector/client/index.ts';
import type { Operation, RegisteredInput, Registration, WebhookRegistration } from '../../connector/contract.ts';
import { decryptBound, encryptBound } from '../../db/bound-values.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { FindWebhookInstance, WebhookInstance } from '../../instances/event-sources.ts';
import type { Instance, InstanceKey } from '../../instances/instance.ts';
import type { Platform } from '../../platform.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { WebhookAddresses } from './address.ts';
import { REGISTRATION_TOPIC } from './demand.ts';
import { createRegistrationStore, type RegistrationRow, type SettledRegistration } from './registration-store.ts';

/** Platform parts that registrations need. */
interface RegistrationPlatform extends Pick<Platform, 'knex' | 'keyring' | 'clock' | 'log'> {
  readonly notifier: Pick<Platform['notifier'], 'subscribe'>;
}

interface RegistrationNeighbours {
  readonly findInstance: FindWebhookInstance;
  readonly client: Pick<ProviderClient, 'execute'>;
  readonly tokensOf: (instance: Instance) => ProviderCall['tokens'];
  /** @returns whether the warning is news */
  readonly noteEventWarning: (instance: InstanceKey, warning: string | null) => Promise<boolean>;
  readonly notifications: Pick<Notifications, 'publish'>;
  readonly addresses: Pick<WebhookAddresses, 'urlOf'>;
  /** Called when cached data of the instance is outdated. */
  readonly changed: (instance: InstanceKey) => Promise<void>;
}

/** The service that registers and removes webhooks at providers as the settings of instances require. */
export type Registrations = ReturnType<typeof createRegistrations>;

const BATCH = 20;
/** Maximum time for all calls to a provider for one registration, in milliseconds. */
const TIMEOUT_MS = 45_000;
/** Longer than a registration takes. */
const LEASE_MS = 120_000;
/** The removal of an instance waits for it. */
const END_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 6 * 3_600_000;
/** The wait before a check that only the operator or the owner of the instance can make succeed. */
const LOOK_AGAIN_MS = 3_600_000;
/** The share of a lifetime after which a registration is renewed. A quarter is left for retries. */
const RENEWED_AFTER = 0.75;

const NOTHING: SettledRegistration = {
  providerId: null,
  url: null,
  baseUrl: null,
  secret: null,
  failures: 0,
  renewAt: null,
  due: null,
};

export function createRegistrations(platform: RegistrationPlatform, neighbours: RegistrationNeighbours) {
  const { knex, keyring, notifier, clock, log } = platform;
  const { findInstance, client, tokensOf, noteEventWarning, notifications, addresses, changed } = neighbours;
  const store = createRegistrationStore(knex);
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let unsubscribe = () => {};

  function track<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work);
    void work.finally(() => underWay.delete(work)).catch(() => {});
    return work;
  }

  function execute<Input, Output>(
    instance: Instance,
    operation: Operation<Input, Output>,
    input: Input,
    signal: AbortSignal,
  ) {
    const { accountId, connector, config } = instance;
    return client.execute(operation, input, { connector, config, accountId, signal, tokens: tokensOf(instance) });
  }

  /**
   * Registers, renews or removes a webhook.
   * @returns the state to store
   * @throws the provider's error
   */
  async function bringAbout(
    row: RegistrationRow,
    { instance }: WebhookInstance,
    signal: AbortSignal,
  ): Promise<SettledRegistration> {
    const { connector, config } = instance;
    const url = addresses.urlOf(connector.key, instance);
    const baseUrl = `${config.simulator === true ? 'simulated ' : ''}${connector.baseUrl(config)}`;
    const there = row.providerId !== null && row.url !== null ? { id: row.providerId, url: row.url } : undefined;
    const isThere = there?.url === url && row.baseUrl === baseUrl;
    if (isThere && (row.renewAt === null || row.renewAt.getTime() > clock.now())) {
      return { ...row, failures: 0, due: row.renewAt };
    }
    // These credentials cannot reach a registration at another base URL.
    if (there !== undefined && there.url !== url && row.baseUrl === baseUrl)
      await leave(instance, removeAtProvider(instance, there, signal));
    const made = (isThere && (await renew(instance, there, signal))) || (await create(instance, url, signal));
    return { ...kept(row, made), url, baseUrl, failures: 0 };
  }

  /** Leaves a registration at the provider if its removal fails. Its events then reach an unknown address, or fail verification. */
  async function leave({ accountId, id, redactor }: Instance, removal: Promise<void>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      log.warn({ err: error, redactor, accountId, instanceId: id }, 'a webhook is left at a provider');
    }
  }

  function create(instance: Instance, url: string, signal: AbortSignal): Promise<Registration> {
    return execute(instance, registrationOf(instance).create, { url }, signal);
  }

  /** Renews a registration. Returns undefined when it must be created again. */
  async function renew(
    instance: Instance,
    there: RegisteredInput,
    signal: AbortSignal,
  ): Promise<Registration | undefined> {
    const operation = registrationOf(instance).renew;
    if (operation === undefined) return undefined;
    try {
      return await execute(instance, operation, there, signal);
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return undefined;
      throw error;
    }
  }

  function kept(row: RegistrationRow, { id, secret, expiresInSeconds }: Registration) {
    const renewAt =
      expiresInSeconds === undefined ? null : new Date(clock.now() + expiresInSeconds * 1000 * RENEWED_AFTER);
    const sealed = secret === undefined ? row.secret : encryptBound(keyring, secret, instanceKeyOf(row));
    return { providerId: id, secret: sealed, renewAt, due: renewAt };
  }

  async function removeAtProvider(instance: Instance, there: RegisteredInput, signal: AbortSignal): Promise<void> {
    try {
      await execute(instance, registrationOf(instance).remove, there, signal);
    } catch (error) {
      if (!isAppError(error, 'NOT_FOUND')) throw error;
    }
  }

  /** Removes a registration that could not be stored. The deletion of the instance, or the process that made another one, did not know of it. */
  async function removeUnknown(
    instance: Instance,
    { providerId: id, url }: SettledRegistration,
    signal: AbortSignal,
  ): Promise<void> {
    const now = await store.find(instance);
    // A provider may return the same registration for the same URL.
    if (id === null || now?.providerId === id) return;
    await leave(instance, removeAtProvider(instance, { id, url: url ?? '' }, signal));
  }

  async function reconcile(row: RegistrationRow, signal: AbortSignal): Promise<void> {
    const key = { accountId: row.accountId, id: row.instanceId };
    const found = await findInstance(key.accountId, key.id);
    // Gone with the instance.
    if (found === undefined) return;
    const { instance, isRegistered } = found;
    // No request is sent for a disabled instance. Enabling it is noted.
    if (isRegistered && instance.disabled) return void (await store.settle(row, { ...row, due: null }));
    const obstacle = isRegistered
      ? findObstacle(instance, addresses.urlOf(instance.connector.key, instance))
      : undefined;
    if (obstacle !== undefined) {
      await warn(instance, obstacle);
      await store.settle(row, { ...row, due: new Date(clock.now() + LOOK_AGAIN_MS) });
      return;
    }
    try {
      if (isRegistered) {
        const settled = await bringAbout(row, found, signal);
        const isStored = await store.settle(row, settled);
        if (!isStored) return removeUnknown(instance, settled, signal);
      } else {
        if (row.providerId !== null && instance.connector.webhooks?.registration !== undefined) {
          await removeAtProvider(instance, { id: row.providerId, url: row.url ?? '' }, signal);
        }
        // Wanted again since: then it is due, and there is nothing at the provider.
        if (!(await store.remove(row))) await store.settle(row, NOTHING);
      }
      await noteEventWarning(key, null);
    } catch (error) {
      if (!isAppError(error) && !signal.aborted) throw error;
      const failures = row.failures + 1;
      const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
      const isStored = await store.settle(row, { ...row, failures, due: new Date(clock.now() + waitMs) });
      if (isStored && !stopping.signal.aborted) await warn(instance, describe(instance, isRegistered, error));
    }
    await changed(key);
  }

  async function warn({ accountId, id, name, connector }: Instance, reason: string): Promise<void> {
    if (!(await noteEventWarning({ accountId, id }, reason))) return;
    const data = { instanceId: id, name, elementKey: connector.key, reason };
    await notifications.publish(accountId, 'instance.webhook.failed', data);
  }

  async function attempt(row: RegistrationRow, signal: AbortSignal): Promise<void> {
    const timeout = new AbortController();
    const endWait = clock.after(TIMEOUT_MS, () => timeout.abort(tooLong()));
    try {
      await reconcile(row, AbortSignal.any([signal, stopping.signal, timeout.signal]));
    } catch (error) {
      // The lease ends, and it is due again.
      log.error(
        { err: error, accountId: row.accountId, instanceId: row.instanceId },
        'could not register or renew a webhook',
      );
    } finally {
      endWait();
    }
  }

  function claim(limit: number, one?: InstanceKey): Promise<RegistrationRow[]> {
    const nowMs = clock.now();
    return store.claim({ limit, now: new Date(nowMs), leaseUntil: new Date(nowMs + LEASE_MS) }, one);
  }

  async function take(one: InstanceKey): Promise<void> {
    const rows = await claim(1, one);
    for (const row of rows) await attempt(row, stopping.signal);
    // A note that arrived meanwhile found no process that could take it.
    if (rows.length > 0 && !stopping.signal.aborted) await take(one);
  }

  return {
    /**
     * Starts to listen for changes, so that registrations are made as soon as they are needed.
     * @param publicUrl where providers reach this service
     */
    start: async (publicUrl: string) => {
      unsubscribe = notifier.subscribe(REGISTRATION_TOPIC, (payload) => {
        const [accountId = 0, id = 0] = payload.split(':').map(Number);
        track(take({ accountId, id })).catch((error: unknown) =>
          log.error({ err: error }, 'could not update the webhooks of an instance'),
        );
      });
      await store.noteMoved(publicUrl);
    },

    /** Starts no more registrations. Resolves when those in progress have ended. */
    stop: async () => {
      unsubscribe();
      stopping.abort(new Error('The process stops.'));
      await Promise.allSettled(underWay);
    },

    /**
     * Checks all due registrations.
     * @returns the number of checked registrations
     */
    keep: (signal: AbortSignal) =>
      track(
        (async () => {
          for (let done = 0; ; ) {
            const rows = await claim(BATCH);
            await Promise.all(rows.map((row) => attempt(row, signal)));
            done += rows.length;
            if (rows.length < BATCH || signal.aborted || stopping.signal.aborted) return done;
          }
        })(),
      ),

    /**
     * Removes a registration before its instance is deleted, while there are credentials. If it stays at the provider, that is logged and a
     * notification is sent.
     */
    end: async (key: InstanceKey, signal: AbortSignal) => {
      const row = await store.find(key);
      if (row === undefined || row.providerId === null || row.url === null) return;
      const found = await findInstance(key.accountId, key.id);
      if (found === undefined || found.instance.connector.webhooks?.registration === undefined) return;
      const { instance } = found;
      const timeout = new AbortController();
      const endWait = clock.after(END_TIMEOUT_MS, () => timeout.abort(tooLong()));
      try {
        await removeAtProvider(
          instance,
          { id: row.providerId, url: row.url },
          AbortSignal.any([signal, timeout.signal]),
        );
      } catch (error) {
        signal.throwIfAborted();
        const { id, name, connector } = instance;
        log.warn({ err: error, redactor: instance.redactor, ...key }, 'a webhook is left at a provider');
        const reason = `The webhook ${row.providerId} still exists at the provider: ${wordsOf(error)}`;
        const data = { instanceId: id, name, elementKey: connector.key, reason };
        await notifications.publish(key.accountId, 'instance.webhook.failed', data);
      } finally {
        endWait();
      }
    },
  };
}

/** Finds the secret with which the provider's calls are verified. @throws DecryptionError */
export type FindRegistrationSecret = (instance: InstanceKey) => Promise<string | undefined>;

export function createFindRegistrationSecret(platform: Pick<Platform, 'knex' | 'keyring'>): FindRegistrationSecret {
  const { knex, keyring } = platform;
  const store = createRegistrationStore(knex);
  return async (key) => {
    const row = await store.find(key);
    return row === undefined || row.secret === null
      ? undefined
      : decryptBound(keyring, row.secret, instanceKeyOf(row)).plain;
  };
}

function instanceKeyOf({ accountId, instanceId }: RegistrationRow) {
  return { column: 'webhook_registration.secret', key: [accountId, instanceId], bound: [] } as const;
}

/** A connector of which there are registrations had one when they were made. */
function registrationOf({ connector }: Instance): WebhookRegistration {
  const registration = connector.webhooks?.registration;
  if (registration === undefined) throw new Error(`${connector.name} has no webhooks to register any more`);
  return registration;
}

/** Returns the reason why the provider need not be called. Undefined where there is none. */
function findObstacle({ connector, config, fault, valid }: Instance, eventUrl: string): string | undefined {
  const { protocol, hostname, origin } = new URL(eventUrl);
  if (fault !== undefined) return fault.message;
  if (!valid) return `${connector.name} receives the URL for events when the credentials of the instance are renewed.`;
  // A simulator is on this machine as well.
  if (config.simulator === true) return undefined;
  if (isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
    return `${connector.name} cannot send events here: only this machine reaches ${origin}. Set PUBLIC_URL to the https address of this service, or event.vendor.type to polling.`;
  }
  if (protocol !== 'https:') {
    return `${connector.name} cannot send events here: ${origin} is not https. Set PUBLIC_URL to the https address of this service, or event.vendor.type to polling.`;
  }
  return undefined;
}

function describe({ connector }: Instance, isWanted: boolean, error: unknown): string {
  const what = isWanted
    ? 'did not accept the registration for events'
    : 'did not accept the end of the registration for events';
  return `${connector.name} ${what}. Causeway tries again: ${wordsOf(error)}`;
}

function tooLong(): AppError {
  return new AppError('PROVIDER_TIMEOUT', 'It took too long.');
}

/** Returns the text of an error that callers may read, with the provider's words already redacted. */
function wordsOf(error: unknown): string {
  if (!isAppError(error)) return 'Something went wrong in the service.';
  return error.providerMessage === undefined ? error.message : `${error.message} ${error.providerMessage}`;
}
