import type { Config, ConfigField, Connector } from '../connector/contract.ts';

/** A configuration key of every element. Unlike the keys of connectors, its value may be an object, which its room checks. */
export interface PlatformField extends Omit<ConfigField, 'type'> {
  readonly type: ConfigField['type'] | 'object';
}

export const EVENTS_ENABLED = 'event.notification.enabled';
export const CALLBACK_URL = 'event.notification.callback.url';
const SIGNATURE_KEY = 'event.notification.signature.key';
const FORMAT = 'event.notification.format';
const ORDERED = 'event.notification.ordered';
const HYDRATE = 'event.notification.hydrate';
export const VENDOR_TYPE = 'event.vendor.type';

/** Configuration keys of every element: how events of the instance are delivered. */
export const EVENT_FIELDS: readonly PlatformField[] = [
  {
    key: EVENTS_ENABLED,
    type: 'boolean',
    description: 'Whether Causeway delivers events of this instance. Default: false.',
  },
  {
    key: CALLBACK_URL,
    type: 'url',
    description: 'URL to which Causeway delivers events. Without it, events start formulas only.',
  },
  {
    key: SIGNATURE_KEY,
    type: 'string',
    secret: true,
    description: 'Key of a second signature of each delivery, in the header `Elements-Webhook-Signature`.',
    setup: [
      'Make a random text of 32 characters or more, for example with `openssl rand -base64 32`.',
      'Enter it here, and in the program behind the callback URL, which checks the signature.',
    ],
  },
  {
    key: FORMAT,
    type: 'string',
    pattern: /standard|elements/,
    example: 'elements',
    description:
      'Form of the body of deliveries. `standard` (default), or `elements` for the form of Cloud Elements and SAP Open Connectors with the header `Elements-Webhook-Id`.',
  },
  {
    key: ORDERED,
    type: 'boolean',
    description:
      'Whether Causeway delivers one event at a time, in order. A delivery that fails delays those after it.',
  },
  {
    key: HYDRATE,
    type: 'boolean',
    description: 'Whether Causeway reads the record of an event that has only its id. Default: true.',
  },
  {
    key: VENDOR_TYPE,
    type: 'string',
    pattern: /polling|webhook/,
    example: 'webhook',
    description:
      'Source of the events. `polling`: Causeway polls the provider and drops webhooks. `webhook`: the provider sends webhooks; Causeway registers the URL if the provider has an API for that. If not set, Causeway registers no URL and accepts webhooks.',
  },
];

/** Event settings of an instance, read from its configuration. */
export interface EventSettings {
  readonly isEnabled: boolean;
  /** The URL of deliveries. Undefined where events are off, and where they only start formulas. */
  readonly callbackUrl: string | undefined;
  readonly signatureKey: string | undefined;
  readonly ordered: boolean;
  readonly format: 'standard' | 'elements';
  /** Whether the record is read from the provider for events that come without it. */
  readonly hydrate: boolean;
  /** Value of `event.vendor.type`; undefined where it is not set. */
  readonly vendorType: 'polling' | 'webhook' | undefined;
}

export function readEventSettings(config: Config): EventSettings {
  return {
    isEnabled: config[EVENTS_ENABLED] === true,
    callbackUrl: config[EVENTS_ENABLED] === true ? textOf(config[CALLBACK_URL]) : undefined,
    signatureKey: textOf(config[SIGNATURE_KEY]),
    ordered: config[ORDERED] === true,
    format: config[FORMAT] === 'elements' ? 'elements' : 'standard',
    hydrate: config[HYDRATE] !== false,
    vendorType: readVendorType(config),
  };
}

function readVendorType({ [VENDOR_TYPE]: type }: Config): EventSettings['vendorType'] {
  return type === 'polling' || type === 'webhook' ? type : undefined;
}

/** Returns whether a webhook must be registered at the provider for an instance with this configuration. */
export function wantsRegistration({ webhooks }: Connector, config: Config): boolean {
  const { isEnabled, vendorType } = readEventSettings(config);
  return webhooks?.registration !== undefined && isEnabled && vendorType === 'webhook';
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
