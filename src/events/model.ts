/** What an event is about, as lists name it without its body. */
export interface EventRecord {
  readonly objectName: string;
  readonly id?: string;
  readonly name?: string;
}

/** An event to deliver. It goes to the callback URL of its instance, if events are enabled there, or to its own. */
export interface NewEvent {
  readonly accountId: number;
  readonly instanceId: number;
  /** `<objectName>.created|updated|deleted|unknown`, or a type of the platform's own. */
  readonly type: string;
  readonly objectName?: string | undefined;
  readonly objectId?: string | undefined;
  /** The record as the API shows it. */
  readonly object?: unknown;
  /** What lists name it by, where that is not the record. */
  readonly record?: EventRecord | undefined;
  /** What the provider sent. */
  readonly raw?: unknown;
  /** When it happened. Default: now. */
  readonly timestamp?: Date | undefined;
  /** Of one instance: an event with a key that was seen is accepted and dropped. */
  readonly deduplicationKey?: string | undefined;
  /** In place of that of the instance; it was checked. */
  readonly callbackUrl?: string | undefined;
}

export interface Accepted {
  /** Committed; `evt_…` in the order given. Absent: a duplicate, or nobody wants it. */
  readonly eventIds: readonly (string | undefined)[];
}

/** Where the events of an instance go, and what they say about it. */
export interface EventSource {
  readonly accountId: number;
  readonly instanceId: number;
  readonly instanceName: string;
  readonly tags: readonly string[];
  readonly elementKey: string;
  readonly hub: string;
  /** Undefined: events are off. */
  readonly callbackUrl: string | undefined;
  /** For the extra header `Elements-Webhook-Signature`. */
  readonly signatureKey: string | undefined;
  /** One in flight per subscription, in order. */
  readonly ordered: boolean;
  /** The instance's token. It goes into what tells that the instance was connected, and into nothing else. */
  readonly token?: string | undefined;
  /** There: bodies are sent as the original API did, which also named the organization. */
  readonly original?: { readonly companyId: number } | undefined;
}

/** Operational events of the platform itself. */
export type OperationalType =
  | 'subscription.deactivated'
  | 'subscription.reactivated'
  | 'delivery.exhausted'
  | 'instance.credentials.refused'
  | 'instance.webhook.failed'
  | 'instance.connected'
  | 'poll.failing'
  | 'poll.recovered';

const FAILURE_POLICIES = ['retry', 'queue'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

const RETRY_COUNTS = [5, 9] as const;
export type RetryCount = (typeof RETRY_COUNTS)[number];

/** What of the account's settings the engine obeys. */
export interface DeliverySettings {
  /** `notification.webhook.failure.policy`; default retry. */
  readonly failurePolicy: FailurePolicy;
  /** `notification.webhook.retry.count`; default 5. */
  readonly retryCount: RetryCount;
}

/** Where events of an instance go; undefined: there is no such instance. */
export type FindSource = (accountId: number, instanceId: number) => Promise<EventSource | undefined>;

/** A subscription as the engine needs it, secrets in clear. */
export interface ReadySubscription {
  readonly accountId: number;
  readonly id: number;
  readonly url: string;
  /** Of the URL, see `hostOf`. */
  readonly host: string;
  readonly state: 'active' | 'deactivated';
  /** See `wantsType`. */
  readonly eventTypes: readonly string[];
  /** `whsec_…`; two while a rotation lasts. */
  readonly secrets: readonly string[];
}

/** Whether one of the patterns is the type, or begins it: `employees.*` stands for all types that begin with `employees.`. */
export function wantsType(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type));
}
