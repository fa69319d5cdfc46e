import type { User } from '../accounts/accounts.ts';
import type { LastCalls } from '../activity/last-call-store.ts';
import { maskSecrets } from '../instances/configuration.ts';
import { readEventSettings } from '../instances/event-settings.ts';
import { type Instance, type InstanceKey, isTraced } from '../instances/instance.ts';
import { toElement, toElementSummary } from './element-view.ts';
import type { OperationResult } from './operation.ts';

type InstanceView = OperationResult<'getInstance'>;
type AccountInstanceView = OperationResult<'listAccountInstances'>[number];

/** Members that the contract requires and that are the same for every instance: features that are off. */
const FIXED = {
  maxCacheSize: 0,
  cacheTimeToLive: 0,
  cachingEnabled: false,
  externalAuthentication: 'none',
} as const;

function common(instance: Instance, nowMs: number) {
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
  const { isEnabled, callbackUrl } = readEventSettings(config);
  return { eventsEnabled: isEnabled, eventsNotificationCallbackUrl: callbackUrl ?? 'false' };
}

function isElementGone({ fault }: Instance): boolean {
  return fault?.kind === 'element';
}

/** Data beside the row of an instance that its view includes. */
export interface AroundInstance {
  readonly owner: User;
  /** Returns the URL to which the provider sends its webhooks. */
  readonly urlOf: (elementKey: string, instance: InstanceKey) => string;
  /** Keys of the elements that the account creates no instances of. */
  readonly inactive: ReadonlySet<string>;
  /** Last calls by the id of the instance. */
  readonly lastCalls: ReadonlyMap<number, LastCalls>;
  readonly nowMs: number;
}

/** Returns the view of an instance with its configuration. Secrets are masked. */
export function toInstanceView(
  instance: Instance,
  { owner, urlOf, inactive, lastCalls, nowMs }: AroundInstance,
): InstanceView {
  const { connector } = instance;
  const element = toElement(connector, inactive);
  const deleted = isElementGone(instance);
  return {
    ...common(instance, nowMs),
    ...toLastCalls(lastCalls.get(instance.id)),
    ...(connector.webhooks !== undefined && { eventUrl: urlOf(connector.key, instance) }),
    element: { ...element, deleted, active: element.active && !deleted },
    configuration: toConfigurationView(instance),
    user: toOwner(owner),
  };
}

/** Returns the view of a new instance. The contract requires an empty configuration there. */
export function toNewInstanceView(instance: Instance, around: AroundInstance): InstanceView {
  return { ...toInstanceView(instance, around), configuration: {} };
}

export function toAccountInstanceView(instance: Instance, nowMs: number): AccountInstanceView {
  return {
    ...common(instance, nowMs),
    element: { ...toElementSummary(instance.connector), deleted: isElementGone(instance) },
    configuration: {},
    user: { id: instance.userId },
  };
}

export function toConfigurationView({ connector, config }: Instance): InstanceView['configuration'] {
  // Settings are texts, numbers and booleans: `resolveConfiguration` lets nothing else through.
  return maskSecrets(connector, config) as InstanceView['configuration'];
}

function toLastCalls(calls: LastCalls | undefined): Pick<InstanceView, 'lastCallDate' | 'lastError'> {
  if (calls === undefined) return {};
  const { lastCallAt, lastError } = calls;
  const lastCallDate = lastCallAt.toISOString();
  if (lastError === undefined) return { lastCallDate };
  const { at, status, code, requestId } = lastError;
  return { lastCallDate, lastError: { date: at.toISOString(), status, ...(code !== null && { code }), requestId } };
}

function toOwner({ id, emailAddress, firstName, lastName }: User): InstanceView['user'] {
  return { id, emailAddress, firstName, lastName };
}
