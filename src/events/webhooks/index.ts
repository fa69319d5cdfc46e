import type { Accounts } from '../../accounts/accounts.ts';
import type { ProviderCall, ProviderClient } from '../../connector/client/index.ts';
import type { FindWebhookInstance } from '../../instances/event-sources.ts';
import type { Instance, InstanceKey } from '../../instances/instance.ts';
import type { Platform } from '../../platform.ts';
import type { Resources } from '../../resources/index.ts';
import type { Accepted, NewEvent } from '../model.ts';
import type { Notifications } from '../notifications/notifications.ts';
import { createWebhookAddresses, type WebhookAddresses } from './address.ts';
import { createReceiver, createWebhookTargets, type Receiver } from './receive.ts';
import { createFindRegistrationSecret, createRegistrations, type Registrations } from './registrations.ts';
import { createSigningKeys } from './signing-keys.ts';

interface WebhookNeighbours {
  readonly client: Pick<ProviderClient, 'execute'>;
  readonly tokensOf: (instance: Instance) => ProviderCall['tokens'];
  readonly accounts: Pick<Accounts, 'isThere'>;
  readonly findInstance: FindWebhookInstance;
  readonly noteEventWarning: (instance: InstanceKey, warning: string | null) => Promise<boolean>;
  readonly notifications: Pick<Notifications, 'publish'>;
  readonly getRecord: Resources['getRecord'];
  readonly mapChange: Resources['mapChange'];
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  /** Public URL of the service, without a slash at the end. It is known once the service listens. */
  readonly publicUrl: () => string;
}

export interface WebhookRoom extends Receiver, Pick<WebhookAddresses, 'urlOf'> {
  readonly registrations: Registrations;
}

/** Builds the webhooks: events that providers send, and their registration at providers. */
export function composeWebhooks(platform: Platform, neighbours: WebhookNeighbours): WebhookRoom {
  const { findInstance, publicUrl } = neighbours;
  const addresses = createWebhookAddresses(platform.keys, publicUrl);
  const findSecret = createFindRegistrationSecret(platform);
  const targets = createWebhookTargets(platform, { findInstance, findSecret, addresses });
  const registrations = createRegistrations(platform, { ...neighbours, addresses, changed: targets.changed });
  const findSigningKey = createSigningKeys(platform, neighbours);
  const receiver = createReceiver(platform, { ...neighbours, targets, addresses, findSigningKey });
  return { ...receiver, urlOf: addresses.urlOf, registrations };
}
