import type { Connector } from '../connector/contract.ts';
import { configurationFields } from '../instances/configuration.ts';
import type { PlatformField } from '../instances/platform-field.ts';
import { markOf } from './element-mark.ts';
import type { OperationResult } from './operation.ts';

type Element = OperationResult<'listElements'>[number];
type ElementDetail = OperationResult<'getElement'>;
type ElementSummary = OperationResult<'listAccountInstances'>[number]['element'];

/** An element as account listings show it. */
export function toElementSummary({ id, name, key, auth }: Connector): ElementSummary {
  return {
    id,
    name,
    key,
    image: markOf({ key, name }),
    deleted: false,
    typeOauth: isOAuth(auth.type),
    trialAccount: false,
    transformationsEnabled: false,
    bulkDownloadEnabled: false,
    bulkUploadEnabled: false,
    cloneable: false,
    extendable: false,
    beta: false,
    extended: false,
  };
}

export function toElement(connector: Connector): Element {
  return {
    ...toElementSummary(connector),
    hookName: '',
    description: connector.description,
    active: true,
    resources: [],
    authentication: { type: connector.auth.type },
    useModelsForMetadata: false,
    hub: connector.hub,
    protocolType: 'http',
    parameters: [],
    private: false,
  };
}

function isOAuth(type: string): boolean {
  return type === 'oauth2';
}

/** How its provider sends events. */
export function toWebhooks({ webhooks }: Connector): Pick<ElementDetail, 'webhooks'> {
  if (webhooks === undefined) return {};
  const { verify, secretKey, registration } = webhooks;
  return {
    webhooks: {
      signed: verify !== 'unsigned',
      registration: registration === undefined ? 'manual' : 'automatic',
      ...(secretKey !== undefined && { secretKey }),
    },
  };
}

/** An element with what a person needs to make an instance of it. */
export function toElementDetail(connector: Connector): ElementDetail {
  return {
    ...toElement(connector),
    documentation: (connector.documentation ?? []).map(({ title, url }) => ({ title, url })),
    configuration: configurationFields(connector).map(toConfigurationField),
    ...toWebhooks(connector),
    ...(connector.polls !== undefined && { polls: [...connector.polls] }),
  };
}

function toConfigurationField(field: PlatformField): ElementDetail['configuration'][number] {
  return {
    key: field.key,
    type: field.type,
    required: field.required ?? false,
    secret: field.secret ?? false,
    description: field.description,
    setup: [...(field.setup ?? [])],
    ...(field.default !== undefined && { default: field.default }),
    ...(field.example !== undefined && { example: field.example }),
  };
}
