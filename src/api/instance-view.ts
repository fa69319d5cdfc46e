import type { User } from '../accounts/accounts.ts';
import { maskSecrets } from '../instances/configuration.ts';
import { readEventSettings } from '../instances/event-settings.ts';
import { type Instance, type InstanceKey, isTraced } from '../instances/instance.ts';
import { toElement, toElementSummary } from './element-view.ts';
import type { OperationResult } from './operation.ts';

type InstanceRecord = OperationResult<'getInstance'>;
type AccountInstanceRecord = OperationResult<'listAccountInstances'>[number];

/** What the contract shows of every instance alike: features that are off. */
const FIXED = {
  maxCacheSize: 0,
  cacheTimeToLive: 0,
  cachingEnabled: false,
  externalAuthentication: 'none',
} as const;

function common(instance: Instance, { nowMs }: Pick<ShownAt, 'nowMs'>) {
  return {
    id: instance.id,
    name: instance.name,
    createdDate: instance.createdAt.toISOString(),
    token: instance.token,
    elementId: instance.connector.id,
    tags: [...instance.tags],
    provisionInteractions: [],
    valid: instance.valid,
    ...(!instance.valid && instance.invalidReason !== null && { invalidReason: instance.invalidReason }),
    ...warningsOf(instance),
    disabled: instance.disabled,
    providerData: { ...instance.providerData },
    ...eventsOf(instance),
    ...traceLoggingOf(instance, nowMs),
    ...FIXED,
  };
}

function traceLoggingOf(instance: Instance, nowMs: number) {
  const { traceLoggingUntil } = instance;
  if (traceLoggingUntil === null || !isTraced(instance, nowMs)) return { traceLoggingEnabled: false };
  return { traceLoggingEnabled: true, traceLoggingUntil: traceLoggingUntil.toISOString() };
}

function warningsOf({ connector, config, eventWarning }: Instance) {
  const fields = connector.configuration.filter(({ warning }) => warning === true);
  const warnings = fields.flatMap(({ key }) => (config[key] === undefined ? [] : [String(config[key])]));
  const all = eventWarning === null ? warnings : [...warnings, eventWarning];
  return all.length > 0 ? { warnings: all } : {};
}

function eventsOf({ config }: Instance) {
  const { callbackUrl } = readEventSettings(config);
  return { eventsEnabled: callbackUrl !== undefined, eventsNotificationCallbackUrl: callbackUrl ?? 'false' };
}

function isElementGone({ fault }: Instance): boolean {
  return fault?.kind === 'element';
}

function offerOf(instance: Instance) {
  const deleted = isElementGone(instance);
  return { deleted, active: !deleted };
}

/** Where its provider sends the events of an instance. */
export type EventUrlOf = (elementKey: string, instance: InstanceKey) => string;

/** What a record says beside what is stored. */
export interface ShownAt {
  readonly urlOf: EventUrlOf;
  readonly nowMs: number;
}

/** The record with its configuration; secrets are masked. */
export function toInstanceRecord(instance: Instance, owner: User, at: ShownAt): InstanceRecord {
  const { connector } = instance;
  return {
    ...common(instance, at),
    ...(connector.webhooks !== undefined && { eventUrl: at.urlOf(connector.key, instance) }),
    element: { ...toElement(instance.connector), ...offerOf(instance) },
    configuration: toConfigurationRecord(instance),
    user: toOwner(owner),
  };
}

/** The contract shows the configuration of a new instance as an empty object. */
export function toNewInstanceRecord(instance: Instance, owner: User, at: ShownAt): InstanceRecord {
  return { ...toInstanceRecord(instance, owner, at), configuration: {} };
}

export function toAccountInstanceRecord(instance: Instance, at: ShownAt): AccountInstanceRecord {
  return {
    ...common(instance, at),
    element: { ...toElementSummary(instance.connector), deleted: isElementGone(instance) },
    configuration: {},
    user: { id: instance.userId },
  };
}

export function toConfigurationRecord({ connector, config }: Instance): InstanceRecord['configuration'] {
  // Settings are texts, numbers and booleans: `resolveConfiguration` lets nothing else through.
  return maskSecrets(connector, config) as InstanceRecord['configuration'];
}

function toOwner({ id, emailAddress, firstName, lastName }: User): InstanceRecord['user'] {
  return { id, emailAddress, firstName, lastName };
}
