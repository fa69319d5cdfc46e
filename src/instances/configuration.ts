import type { CodeExchange, Config, Connector } from '../connector/contract.ts';
import { isStorable, UNSTORABLE } from '../db/storable.ts';
import { type AppError, type ErrorDetail, invalidRequest, MOST_FAULTS, pointer, unknownName } from '../errors.ts';
import { ExactNumber, isJsonObject } from '../numbers/exact-json.ts';
import { toJsonNumber } from '../numbers/number-value.ts';
import type { PlatformField } from './event-settings.ts';
import { EVENT_FIELDS } from './event-settings.ts';
import { oauthFields } from './oauth/fields.ts';
import { findPollFaults, POLL_FIELDS } from './polling/poll-settings.ts';

/** The text that replaces a secret in responses. Callers may send it back. */
export const MASK = '********';

/** Whether the records of an instance show nulls. */
export const SHOWS_NULLS = 'filter.response.nulls';

/** Configuration keys that every element has. */
const PLATFORM_FIELDS: readonly PlatformField[] = [
  {
    key: 'simulator',
    type: 'boolean',
    description: 'Use the simulator of this service instead of the provider.',
  },
  {
    key: SHOWS_NULLS,
    type: 'boolean',
    description: 'Whether records have members that are null. Default: true. If false, responses leave them out.',
  },
  ...EVENT_FIELDS,
  ...POLL_FIELDS,
];

/** Returns all configuration keys of an element. */
export function configurationFields(connector: Connector): readonly PlatformField[] {
  return [...connector.configuration, ...oauthFields(connector), ...PLATFORM_FIELDS];
}

/** Returns the configuration keys that a person fills in, in the order of the form. */
export function formFields(connector: Connector): readonly PlatformField[] {
  const given = connector.configuration.filter(({ warning }) => warning !== true);
  const own: readonly PlatformField[] = [...given, ...oauthFields(connector)];
  const isNeeded = (field: PlatformField) => isRequired(connector, field, {});
  return [...own.filter(isNeeded), ...own.filter((field) => !isNeeded(field)), ...PLATFORM_FIELDS];
}

/**
 * Returns the configuration of an instance from the values that a caller sent and the earlier ones. A mask keeps the earlier value.
 * @throws AppError REQUEST_INVALID that names every key that is unknown, missing or of the wrong form; never a value
 */
export function resolveConfiguration(
  connector: Connector,
  given: Readonly<Record<string, unknown>>,
  before: Config = {},
): Config {
  const fields = configurationFields(connector);
  const settings = { ...before, ...unmasked(given, before) };
  const faults = [...unknownKeys(fields, settings)];
  const entries = fields.flatMap((field) => {
    const value = settings[field.key] ?? field.default;
    if (value === undefined || value === '') {
      if (isRequired(connector, field, settings))
        faults.push(fault(field.key, `'${field.key}' is required: ${field.description}`));
      return [];
    }
    const found = findFormFault(field, value);
    if (found !== undefined) {
      faults.push(found);
      return [];
    }
    return [[field.key, readSetting(field, value)] as const];
  });
  const config = Object.fromEntries(entries);
  faults.push(...findPollFaults(config, connector));
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
  return Object.freeze(config);
}

/** Returns the fault of a single value. */
function findFormFault(field: PlatformField, value: unknown): ErrorDetail | undefined {
  if (typeof value === 'string' && !isStorable(value)) return fault(field.key, `'${field.key}' ${UNSTORABLE}`);
  if (readSetting(field, value) !== undefined) return undefined;
  return fault(field.key, `'${field.key}' must be ${FORMS[field.type].expected}${patternHint(field)}.`);
}

/** Returns the faults of single values. Missing values are not reported. */
export function findFormFaults(
  fields: readonly PlatformField[],
  given: Readonly<Record<string, unknown>>,
): readonly ErrorDetail[] {
  return fields.flatMap((field) => {
    const value = given[field.key];
    return isMissing(value) ? [] : (findFormFault(field, value) ?? []);
  });
}

/**
 * Returns the fields to ask for when the known settings exist already, in the order of the form: required fields, and
 * fields for authentication that are optional. A field that is required here may be so only because another one is
 * missing.
 */
export function askedFields(connector: Connector, known: Config): readonly PlatformField[] {
  return formFields(connector)
    .filter(({ key }) => isMissing(known[key]))
    .map((field) => ({ ...field, required: isRequired(connector, field, known) }))
    .filter(({ key, required }) => required || (connector.auth.type === 'basic' && LOG_IN_KEYS.has(key)));
}

const LOG_IN_KEYS: ReadonlySet<string> = new Set(['username', 'password']);

/**
 * Checks the values of a form that had only these fields.
 * @throws AppError REQUEST_INVALID that names every key that the form does not have, is missing or of the wrong form; never a value
 */
export function assertAsked(
  connector: Connector,
  asked: readonly PlatformField[],
  given: Readonly<Record<string, unknown>>,
): void {
  const keys = asked.map(({ key }) => key);
  const others = Object.keys(given).filter((key) => !keys.includes(key));
  const missing = asked.filter(({ key, required, default: usual }) => required && isMissing(given[key] ?? usual));
  const faults = [
    ...others.slice(0, MOST_FAULTS + 1).map((key) => ({
      path: pointer('body', 'configuration', key),
      expected: keys,
      ...unknownName('configuration key', key, keys),
    })),
    ...missing.map(({ key, description }) => fault(key, `'${key}' is required: ${description}`)),
    ...findFormFaults(asked, given),
  ];
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the code exchange of a connector whose users have a code in place of a token. */
export function exchangeOf({ auth }: Pick<Connector, 'auth'>): CodeExchange | undefined {
  return auth.type === 'custom' ? auth.exchange : undefined;
}

/** A code is required where there is no token yet. */
function isRequired(connector: Connector, { key, required }: PlatformField, settings: Config): boolean {
  const exchange = exchangeOf(connector);
  return required === true || (key === exchange?.code && (settings[exchange.token] ?? '') === '');
}

/** Returns the given settings with masks replaced by the earlier values. */
export function unmasked(given: Readonly<Record<string, unknown>>, before: Config): Config {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, value === MASK ? (before[key] ?? value) : value]),
  );
}

function unknownKeys(fields: readonly PlatformField[], settings: Config): readonly ErrorDetail[] {
  const known = fields.map(({ key }) => key);
  return Object.keys(settings)
    .filter((key) => !known.includes(key))
    .slice(0, MOST_FAULTS + 1)
    .map((key) => ({
      path: pointer('body', 'configuration', key),
      expected: known,
      ...unknownName('configuration key', key, known),
    }));
}

function fault(key: string, message: string): ErrorDetail {
  return { path: pointer('body', 'configuration', key), message };
}

/**
 * Creates the error of an invalid configuration.
 * @param faults faults of its keys, at least one
 */
export function invalidConfiguration(connector: Connector, faults: readonly ErrorDetail[]): AppError {
  return invalidRequest(faults, `The configuration of ${connector.name}: `);
}

/** Maximum number of characters of a value that is an object, as JSON. */
const MAX_OBJECT_CHARACTERS = 64 * 1024;

/** Values may arrive as strings, because configurations are often kept as such (decisions D8). */
const FORMS: Readonly<
  Record<PlatformField['type'], { readonly expected: string; readonly read: (value: unknown) => unknown }>
> = {
  string: {
    expected: 'a text',
    read: (value) => (typeof value === 'boolean' ? undefined : String(value)),
  },
  boolean: {
    expected: 'true or false',
    read: (value) => ({ true: true, false: false })[String(value)],
  },
  number: {
    expected: 'a number of at most 15 digits',
    read: (value) => {
      const number = toJsonNumber(value);
      return typeof number === 'number' ? number : undefined;
    },
  },
  url: {
    expected: 'a URL that begins with https:// or http://',
    read: (value) => (typeof value === 'string' && isWebUrl(value) ? value : undefined),
  },
  object: {
    expected: `an object of at most ${MAX_OBJECT_CHARACTERS} characters, or the JSON text of one`,
    read: (value) => {
      const object = typeof value === 'string' ? parseJson(value) : value;
      return isJsonObject(object) && JSON.stringify(object).length <= MAX_OBJECT_CHARACTERS ? object : undefined;
    },
  },
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === ''
  );
}

function readSetting(field: PlatformField, value: unknown) {
  if (typeof value === 'object' && !(value instanceof ExactNumber) && field.type !== 'object') return undefined;
  const read = FORMS[field.type].read(value);
  if (field.pattern === undefined || read === undefined) return read;
  const match = new RegExp(field.pattern.source, field.pattern.flags.replace('g', '')).exec(String(read));
  return match?.[0] === String(read) ? read : undefined;
}

/** Returns the settings of polling, as far as they have the right form. */
export function readPolling(given: Readonly<Record<string, unknown>>): Config {
  return Object.fromEntries(
    POLL_FIELDS.flatMap((field) => {
      const value = given[field.key];
      const read = isMissing(value) ? undefined : readSetting(field, value);
      return read === undefined ? [] : [[field.key, read]];
    }),
  );
}

function patternHint({ pattern, example }: PlatformField): string {
  if (pattern === undefined) return '';
  return example === undefined ? ` that matches ${pattern.source}` : ` such as ${example}`;
}

/** Returns the configuration keys of secrets, of all given elements. */
export function secretKeysOf(connectors: readonly Connector[]): ReadonlySet<string> {
  return new Set(connectors.flatMap((connector) => [...secretKeys(connector)]));
}

export function secretKeys(connector: Connector): ReadonlySet<string> {
  const secrets = configurationFields(connector).filter(({ secret }) => secret === true);
  return new Set(secrets.map(({ key }) => key));
}

/** Separates the values that may be stored as they are from those that must be encrypted. */
export function splitSecrets(
  connector: Connector,
  config: Config,
): { readonly plain: Config; readonly secret: Config } {
  const secrets = secretKeys(connector);
  const entries = Object.entries(config);
  return {
    plain: Object.fromEntries(entries.filter(([key]) => !secrets.has(key))),
    secret: Object.fromEntries(entries.filter(([key]) => secrets.has(key))),
  };
}

/** Returns the keys of secrets that the provider receives. The platform uses the others itself, such as signature keys. */
export function providerSecrets(connector: Connector): readonly string[] {
  const fields = [...connector.configuration, ...oauthFields(connector)];
  return fields.filter(({ secret }) => secret === true).map(({ key }) => key);
}

/**
 * Checks that new settings contain no mask: there is no earlier value that a mask could stand for.
 * @throws AppError REQUEST_INVALID that names every masked key
 */
export function assertUnmasked(connector: Connector, given: Readonly<Record<string, unknown>>): void {
  const faults = Object.keys(given)
    .filter((key) => given[key] === MASK)
    .map((key) => fault(key, `'${key}' must be sent again: the stored value can no longer be read.`));
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

/** Returns the configuration with its secrets masked. */
export function maskSecrets(connector: Connector, config: Config): Record<string, unknown> {
  const { plain, secret } = splitSecrets(connector, config);
  return { ...plain, ...Object.fromEntries(Object.keys(secret).map((key) => [key, MASK])) };
}
