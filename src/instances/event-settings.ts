import type { Config, Connector } from '../connector/contract.ts';
import type { PlatformField } from './platform-field.ts';

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
    description: 'Whether events of this instance are delivered. Off unless given.',
  },
  { key: CALLBACK_URL, type: 'url', description: 'Where events are delivered; needed when they are enabled.' },
  {
    key: SIGNATURE_KEY,
    type: 'string',
    secret: true,
    description: 'Signs each delivery once more, in the header `Elements-Webhook-Signature`.',
    setup: [
      'Make a random text of 32 characters or more, for example with `openssl rand -base64 32`.',
      'Give it here and to the program behind the callback URL, which checks the signature with it.',
    ],
  },
  {
    key: FORMAT,
    type: 'string',
    pattern: /standard|elements/,
    example: 'elements',
    description:
      'The body of deliveries: `standard` unless given; `elements` for that of Cloud Elements and SAP Open Connectors, with the header `Elements-Webhook-Id`.',
  },
  {
    key: ORDERED,
    type: 'boolean',
    description: 'One delivery at a time, in the order of the events. A delivery that fails holds up those behind it.',
  },
  {
    key: HYDRATE,
    type: 'boolean',
    description: 'Whether the record is read for an event that came with its id alone. It is, unless this is false.',
  },
  {
    key: VENDOR_TYPE,
    type: 'string',
    pattern: /polling|webhook/,
    example: 'webhook',
    description:
      'How events come from the provider. `polling`: it is asked, and webhooks are dropped. `webhook`: it sends them, and is told where to if it has an API for that. Unless given it is told nothing, and webhooks are taken.',
  },
];

/** Event settings of an instance, read from its configuration. */
export interface EventSettings {
  /** The URL of deliveries. Undefined where events are off. */
  readonly callbackUrl: string | undefined;
  readonly signatureKey: string | undefined;
  readonly ordered: boolean;
  readonly format: 'standard' | 'elements';
  /** Whether the record is read from the provider for events that come without it. */
  readonly hydrate: boolean;
  /** Undefined where it is not set. */
  readonly vendorType: 'polling' | 'webhook' | undefined;
}

export function readEventSettings(config: Config): EventSettings {
  return {
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
  const { callbackUrl, vendorType } = readEventSettings(config);
  return webhooks?.registration !== undefined && callbackUrl !== undefined && vendorType === 'webhook';
}

/** Returns the fault of events that are enabled without a callback URL. */
export function missingCallback(config: Config): { readonly key: string; readonly message: string } | undefined {
  if (config[EVENTS_ENABLED] !== true || textOf(config[CALLBACK_URL]) !== undefined) return undefined;
  return { key: CALLBACK_URL, message: `'${CALLBACK_URL}' is required when '${EVENTS_ENABLED}' is true.` };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
