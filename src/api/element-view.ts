import type { Connector } from '../connector/contract.ts';
import type { DemoAccount } from '../connector/simulators/index.ts';
import { configurationFields, formFields } from '../instances/configuration.ts';
import type { PlatformField } from '../instances/event-settings.ts';
import { isOAuthConnector, OAUTH_KEYS } from '../instances/oauth/fields.ts';
import { describeObjects, operationsOfAll } from '../resources/objects.ts';
import { markOf } from './element-mark.ts';
import type { OperationResult } from './operation.ts';

export type Element = OperationResult<'listElements'>[number];
type ElementMetadata = OperationResult<'getElementMetadata'>;
type ElementDetail = OperationResult<'getElement'>;
type ElementSummary = OperationResult<'listAccountInstances'>[number]['element'];

/** The operations that write the rows of an uploaded file. */
const BULK_WRITES = ['create', 'update', 'remove'] as const;

/** Returns an element in the form of listings. */
export function toElementSummary(connector: Connector): ElementSummary {
  const { id, name, key, auth } = connector;
  const operations = operationsOfAll(connector);
  return {
    id,
    name,
    key,
    image: markOf(connector),
    deleted: false,
    typeOauth: isOAuth(auth.type),
    trialAccount: false,
    transformationsEnabled: operations.has('list'),
    bulkDownloadEnabled: operations.has('list'),
    bulkUploadEnabled: BULK_WRITES.some((operation) => operations.has(operation)),
    cloneable: false,
    extendable: false,
    beta: false,
    extended: false,
  };
}

/** Returns an element. `inactive` has the keys of the elements that the account creates no instances of. */
export function toElement(connector: Connector, inactive: ReadonlySet<string>): Element {
  return {
    ...toElementSummary(connector),
    hookName: '',
    description: connector.description,
    active: !inactive.has(connector.key),
    resources: [],
    authentication: toAuthentication(connector),
    useModelsForMetadata: typeof connector.objects !== 'function',
    hub: connector.hub,
    protocolType: 'http',
    parameters: [],
    private: false,
  };
}

function toAuthentication({ auth }: Connector): Element['authentication'] {
  if (auth.type !== 'oauth2') return { type: auth.type };
  const { type, siteAddressKey, sandboxKey, merchantIdKey } = auth;
  return {
    type,
    ...(siteAddressKey !== undefined && { siteAddressKey }),
    ...(sandboxKey !== undefined && { sandboxKey }),
    ...(merchantIdKey !== undefined && { merchantIdKey }),
  };
}

function isOAuth(type: string): boolean {
  return type === 'oauth2';
}

/** Returns how the element's provider sends webhooks. */
function toWebhooks({ webhooks }: Connector): Pick<ElementDetail, 'webhooks'> {
  if (webhooks === undefined) return {};
  const { verify, secretKey, registration, setup } = webhooks;
  return {
    webhooks: {
      signed: verify !== 'unsigned',
      registration: registration === undefined ? 'manual' : 'automatic',
      ...(secretKey !== undefined && { secretKey }),
      ...(setup !== undefined && { setup: [...setup] }),
    },
  };
}

/**
 * Returns an element with everything that a person needs to create an instance of it.
 * @param demo demo account of its simulator, if simulators run
 */
export function toElementDetail(
  connector: Connector,
  inactive: ReadonlySet<string>,
  demo: DemoAccount | undefined,
): ElementDetail {
  return {
    ...toElement(connector, inactive),
    documentation: (connector.documentation ?? []).map(({ title, url }) => ({ title, url })),
    configuration: configurationFields(connector).map(toConfigurationField),
    ...toWebhooks(connector),
    ...(connector.polls !== undefined && { polls: [...connector.polls] }),
    ...(demo !== undefined && { simulator: { configuration: demoConfiguration(connector, demo) } }),
  };
}

/** Returns the configuration that a person enters. Values that a log-in returns are left out. */
function demoConfiguration(connector: Connector, { configuration: known, client }: DemoAccount) {
  const keys = new Set(connector.configuration.map(({ key }) => key));
  const application = isOAuthConnector(connector) ? client : undefined;
  return {
    ...Object.fromEntries(Object.entries(known).filter(([key]) => keys.has(key))),
    ...(application !== undefined && { [OAUTH_KEYS.clientId]: application.id }),
    ...(application?.secret !== undefined && { [OAUTH_KEYS.clientSecret]: application.secret }),
    simulator: true,
  };
}

/** Returns the fields that a person fills in to create an instance. */
export function toConfigurationForm(connector: Connector): ElementDetail['configuration'] {
  return formFields(connector).map(toConfigurationField);
}

export function toConfigurationField(field: PlatformField): ElementDetail['configuration'][number] {
  const { key, label = nameOf(key), type, description, pattern } = field;
  return {
    key,
    name: label,
    type,
    required: field.required ?? false,
    secret: field.secret ?? false,
    description,
    setup: [...(field.setup ?? [])],
    ...(field.default !== undefined && { default: field.default }),
    // With flags it would mean something else to those who read it without.
    ...(pattern?.flags === '' && { pattern: pattern.source }),
    ...(field.example !== undefined && { example: field.example }),
  };
}

/** Words that are not written as they stand in a key. */
const SPELLINGS: Readonly<Record<string, string>> = { api: 'API', id: 'ID', oauth: 'OAuth', sid: 'SID', url: 'URL' };

/** `Company name` for `company.name`. */
function nameOf(key: string): string {
  const words = key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => SPELLINGS[word] ?? word);
  const name = words.join(' ');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * Returns the declared objects and events of an element. Discovered objects belong to an instance and are not
 * included.
 */
export function toElementMetadata(connector: Connector): ElementMetadata {
  const { id, key, name, description, webhooks } = connector;
  const polling = polledObjects(connector);
  const webhookObjects = Object.entries(webhooks?.reports ?? {}).map(([object, events]) => [
    object,
    { events: [...events] },
  ]);
  const isPolled = typeof connector.objects === 'function' || Object.keys(polling).length > 0;
  const methods = [
    ...(isPolled ? (['polling'] as const) : []),
    ...(webhooks === undefined ? [] : (['webhook'] as const)),
  ];
  return {
    id,
    key,
    name,
    description,
    events: {
      supported: methods.length > 0,
      methods,
      ...(isPolled && { polling }),
      ...(webhookObjects.length > 0 && { webhook: Object.fromEntries(webhookObjects) }),
    },
  };
}

type PolledObjects = NonNullable<ElementMetadata['events']['polling']>;

/** Every object that can be listed can be polled. */
function polledObjects({ objects, polls = [] }: Connector): PolledObjects {
  if (typeof objects === 'function') return Object.fromEntries(polls.map((name) => [name, { default: true }]));
  const listed = describeObjects(objects).filter(({ operations }) => operations.includes('list'));
  return Object.fromEntries(
    listed.map(({ name, events, identifier }) => {
      const { updated, created } = objects[name]?.changes ?? {};
      const polled = {
        events,
        default: polls.includes(name),
        ...(identifier !== undefined && { idField: identifier }),
        ...(updated !== undefined && { updatedDateField: updated }),
        ...(created !== undefined && { createdDateField: created }),
      };
      return [name, polled];
    }),
  );
}
