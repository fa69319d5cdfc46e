import type { Connector } from '../connector/contract.ts';
import { AppError, cutText, suggest } from '../errors.ts';
import { formFields } from '../instances/configuration.ts';
import type { PlatformField } from '../instances/event-settings.ts';
import type { Instance } from '../instances/instance.ts';
import { hashKey } from './element-mark.ts';
import { toConfigurationField } from './element-view.ts';
import { toConfigurationView } from './instance-view.ts';
import type { OperationResult } from './operation.ts';

type ConfigurationProperty = OperationResult<'getConfigurationProperty'>;

/** Returns the configuration of an instance in the form of the original API: a list, in which each key has an id (decisions D16). */
export function toConfigurationProperties(instance: Instance): ConfigurationProperty[] {
  return formFields(instance.connector).map((field) => toConfigurationProperty(instance, field));
}

export function toConfigurationProperty(instance: Instance, field: PlatformField): ConfigurationProperty {
  const { key, name, description, type, required } = toConfigurationField(field);
  const value: unknown = toConfigurationView(instance)[key];
  return {
    id: hashKey(key),
    key,
    name,
    description,
    type,
    required,
    active: true,
    hideFromConsole: false,
    ...(value !== undefined && { propertyValue: typeof value === 'object' ? JSON.stringify(value) : String(value) }),
  };
}

/**
 * Returns the field of a configuration by its key or its id.
 * @param idOrKey a key, or the digits of an id
 * @throws AppError NOT_FOUND
 */
export function getConfigurationField(connector: Connector, idOrKey: string): PlatformField {
  const fields = formFields(connector);
  const field = fields.find(({ key }) => idOrKey === key || idOrKey === String(hashKey(key)));
  if (field !== undefined) return field;
  const { hint } = suggest(
    idOrKey,
    fields.map(({ key }) => key),
  );
  throw new AppError('NOT_FOUND', `${connector.name} has no configuration property '${cutText(idOrKey)}'.${hint}`);
}
