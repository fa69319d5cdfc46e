import type { EventType } from './event-types.ts';

/** Record that an event is about, as lists show it without the body. */
export interface EventRecord {
  readonly objectName: string;
  readonly id?: string;
  readonly name?: string;
}

/** An event to deliver. It goes to the callback URL of its instance, if events are enabled there, or to its own. */
export interface NewEvent {
  readonly accountId: number;
  readonly instanceId: number;
  readonly type: EventType;
  readonly objectName?: string | undefined;
  readonly objectId?: string | undefined;
  /** The record as the API shows it. */
  readonly object?: unknown;
  /** Record as lists name it, if it differs from `object`. */
  readonly record?: EventRecord | undefined;
  /** The provider's object, if `objectName` is that of a mapped one. */
  readonly vendorObjectName?: string | undefined;
  /** Data as the provider sent it. */
  readonly raw?: unknown;
  /** Time of the event. Default: now. */
  readonly timestamp?: Date | undefined;
  /** Key that identifies the event within its instance. An event with a known key is accepted and dropped. */
  readonly deduplicationKey?: string | undefined;
  /** Checked callback URL that replaces the instance's. */
  readonly callbackUrl?: string | undefined;
  /** The only receiver, whatever it wants: an endpoint that is tested. */
  readonly receiver?: EventReceiver | undefined;
}

export interface Accepted {
  /** The ids of committed events, `evt_…`, in the given order. Undefined for a duplicate, and for an event that no subscription and no formula wants. */
  readonly eventIds: readonly (string | undefined)[];
}

/** Instance that events come from, with the properties that decide where they go. */
export interface EventSource {
  readonly accountId: number;
  readonly instanceId: number;
  readonly instanceName: string;
  readonly tags: readonly string[];
  readonly elementKey: string;
  readonly hub: string;
  /** Whether the instance has events. Without a callback URL, they only start formulas. */
  readonly isEnabled: boolean;
  /** URL that receives events; undefined when events are disabled. */
  readonly callbackUrl: string | undefined;
  /** Signing key for the additional header `Elements-Webhook-Signature`. */
  readonly signatureKey: string | undefined;
  /** Whether deliveries of a subscription are sent in order, one at a time. */
  readonly ordered: boolean;
  /** The instance's token. Only the event `instance.connected` contains it. */
  readonly token?: string | undefined;
  /** When present, bodies have the format of the original API, which also names the organization. */
  readonly original?: { readonly companyId: number } | undefined;
}

const FAILURE_POLICIES = ['retry', 'queue'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

const RETRY_COUNTS = [5, 9] as const;
export type RetryCount = (typeof RETRY_COUNTS)[number];

/** Account settings that control deliveries. */
export interface DeliverySettings {
  /** Value of `notification.webhook.failure.policy`. Default: retry. */
  readonly failurePolicy: FailurePolicy;
  /** Value of `notification.webhook.retry.count`. Default: 5. */
  readonly retryCount: RetryCount;
}

/** Finds the event source of an instance; returns undefined if the instance does not exist. */
export type FindSource = (accountId: number, instanceId: number) => Promise<EventSource | undefined>;

/** A subscription as the engine needs it, secrets in clear. */
export interface ReadySubscription {
  readonly accountId: number;
  readonly id: number;
  readonly url: string;
  /** Host of the URL, see `hostOf`. */
  readonly host: string;
  readonly state: 'active' | 'deactivated';
  /** Selected event types, see `wantsType`. */
  readonly eventTypes: readonly string[];
  /** Signing secrets (`whsec_…`). There are two during a rotation. */
  readonly secrets: readonly string[];
  /** The sending settings of an endpoint. Undefined for a callback URL. */
  readonly endpoint?: EndpointSending | undefined;
}

const BODY_FORMATS = ['standard', 'elements', 'cloudevents'] as const;
/** The form of the bodies that an endpoint receives. */
export type BodyFormat = (typeof BODY_FORMATS)[number];

/** The authentication of the service to an endpoint, with secrets in clear. */
export type EndpointAuthentication =
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'bearer'; readonly token: string }
  | {
      /** Client credentials (RFC 6749, section 4.4). */
      readonly type: 'oauth2';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
      readonly audience?: string;
      /** The client's authentication: by a header (default) or by members of the body. */
      readonly clientAuthentication?: 'basic' | 'body';
    };

export interface EndpointSending {
  readonly format: BodyFormat;
  /** Id of the organization, for the format `elements`. */
  readonly companyId: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly authentication: EndpointAuthentication | undefined;
}

/** A subscription that gets an event. */
export interface EventReceiver {
  readonly subscriptionId: number;
  /** Host of the URL, see `hostOf`. */
  readonly host: string;
  readonly ordered: boolean;
  /** Maximum number of deliveries per second. Undefined: no limit. */
  readonly maxPerSecond?: number | undefined;
  /** Whether the receiver gets the event because its filter could not be decided. */
  readonly unfiltered?: boolean | undefined;
}

/**
 * Returns whether a pattern matches the type. A pattern that ends with `*` matches by prefix: `employees.*` matches
 * all types that begin with `employees.`.
 */
export function wantsType(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type));
}
