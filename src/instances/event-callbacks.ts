import { pointer } from '../errors.ts';
import { CALLBACK_URL, readEventSettings } from './event-settings.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';

export interface CallbackPorts {
  /** @throws AppError that names the place when events may not be sent to the URL */
  readonly assertCallable: (url: string, path: string) => Promise<void>;
  /** Prepares deliveries to the URL. */
  readonly ensureSubscription: (accountId: number, url: string) => Promise<unknown>;
}

/**
 * Instances whose callback URLs are looked at before anything else happens, and are ready for events right after they are
 * stored. Nothing is lost between the two: accepting an event prepares its deliveries as well.
 */
export function withEventCallbacks(
  instances: Instances,
  { assertCallable, ensureSubscription }: CallbackPorts,
): Instances {
  async function check(configuration: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const url = configuration[CALLBACK_URL];
    // What is no URL at all is reported with the rest of the configuration.
    if (typeof url === 'string' && URL.canParse(url))
      await assertCallable(url, pointer('body', 'configuration', CALLBACK_URL));
  }

  async function ready(instance: Instance): Promise<Instance> {
    const { callbackUrl } = readEventSettings(instance.config);
    if (callbackUrl !== undefined) await ensureSubscription(instance.accountId, callbackUrl);
    return instance;
  }

  return {
    ...instances,
    create: async (caller, input, signal) => {
      await check(input.configuration);
      return ready(await instances.create(caller, input, signal));
    },
    update: async (caller, id, changes, signal) => {
      await check(changes.configuration);
      return ready(await instances.update(caller, id, changes, signal));
    },
    replace: async (caller, id, input, signal) => {
      await check(input.configuration);
      return ready(await instances.replace(caller, id, input, signal));
    },
  };
}
