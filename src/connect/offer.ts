import type { ActiveElements } from '../accounts/active-elements.ts';
import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { AppError, cutText, type ErrorDetail, invalidRequest, pointer, suggest, unknownName } from '../errors.ts';
import { askedFields, configurationFields, findFormFaults } from '../instances/configuration.ts';
import type { PlatformField } from '../instances/event-settings.ts';
import { isOAuthConnector, OAUTH_KEYS, type OAuthConnector } from '../instances/oauth/fields.ts';

/** Offers of a session: its elements, each with the fields that are left to fill in. */

export interface OfferNeighbours {
  readonly registry: Pick<Registry, 'connectors' | 'findConnector'>;
  readonly activeElements: Pick<ActiveElements, 'inactiveOf'>;
}

/** Lists the active elements of the account, restricted to `elements` unless it is empty. */
export async function listOffered(
  { registry, activeElements }: OfferNeighbours,
  accountId: number,
  elements: readonly string[],
): Promise<readonly Connector[]> {
  const inactive = await activeElements.inactiveOf(accountId);
  const isOffered = ({ key }: Connector) => elements.length === 0 || elements.includes(key);
  return registry.connectors.filter((connector) => isOffered(connector) && !inactive.has(connector.key));
}

/**
 * Asserts that the account can create instances of all elements.
 * @throws AppError REQUEST_INVALID that names each other element
 */
export async function assertOffered(
  { registry, activeElements }: OfferNeighbours,
  accountId: number,
  elements: readonly string[],
): Promise<void> {
  const inactive = await activeElements.inactiveOf(accountId);
  const faults = elements.flatMap((key, at): readonly ErrorDetail[] => {
    const path = pointer('body', 'elements', String(at));
    if (registry.findConnector(key)?.key !== key) {
      const keys = registry.connectors.map((connector) => connector.key);
      return [{ path, ...unknownName('element', key, keys) }];
    }
    if (!inactive.has(key)) return [];
    return [{ path, message: `The element '${key}' is inactive in account ${accountId}.` }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Asserts that each fixed setting is a key of an offered element.
 * @throws AppError REQUEST_INVALID that names each unknown key; never a value
 */
export function assertFixable(offered: readonly Connector[], fixed: Config): void {
  const known = [...new Set(offered.flatMap((connector) => configurationFields(connector).map(({ key }) => key)))];
  const unknown = Object.keys(fixed).flatMap((key): readonly ErrorDetail[] => {
    const path = pointer('body', 'configuration', key);
    if (key === OAUTH_KEYS.callbackUrl) {
      const message = `'${key}' cannot be fixed: providers send browsers back to this service, or to the OAuth proxy of proxyId.`;
      return [{ path, message }];
    }
    if (known.includes(key)) return [];
    return [{ path, ...unknownName('configuration key', key, known) }];
  });
  const faults = offered.flatMap((connector) => findFormFaults(configurationFields(connector), fixed));
  const different = [...new Map(faults.map((fault) => [fault.path, fault])).values()];
  if (unknown.length + different.length > 0) throw invalidRequest([...unknown, ...different]);
}

/** Settings that exist before anything is filled in. */
interface Given {
  /** Settings of the session. */
  readonly fixed: Config;
  /** Settings of the instance that is authenticated again. */
  readonly earlier: Config;
  /** Whether an OAuth proxy provides the client. */
  readonly hasProxy: boolean;
}

/** An element with the fields that connect an account of it. */
export interface Offer {
  readonly connector: Connector;
  /** Whether the user authorizes at the provider. */
  readonly isAuthorized: boolean;
  /** Fields to fill in, with their initial values. */
  readonly fields: readonly PlatformField[];
  /** Settings of the session whose keys the element has. */
  readonly fixed: Config;
}

export function offerOf(connector: Connector, { fixed, earlier, hasProxy }: Given): Offer {
  const keys = configurationFields(connector).map(({ key }) => key);
  const own = only(fixed, keys);
  const isAuthorized = isCodeFlow(connector);
  const client = hasProxy && isAuthorized ? PROXY_CLIENT : only(earlier, CLIENT_KEYS);
  const fields = askedFields(connector, { ...client, ...own });
  return { connector, isAuthorized, fixed: own, fields: fields.map((field) => withEarlier(field, earlier)) };
}

export function isCodeFlow(connector: Connector): connector is OAuthConnector {
  return isOAuthConnector(connector) && connector.auth.grant !== 'clientCredentials';
}

const CLIENT_KEYS: readonly string[] = [OAUTH_KEYS.clientId, OAUTH_KEYS.clientSecret];
/** Placeholders for the client of a proxy, so that the form does not ask for one. */
const PROXY_CLIENT: Config = { [OAUTH_KEYS.clientId]: 'of the proxy', [OAUTH_KEYS.clientSecret]: 'of the proxy' };

function only(settings: Config, keys: readonly string[]): Config {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => keys.includes(key)));
}

/** Returns the field with the value of the last attempt, unless it is a secret. */
function withEarlier(field: PlatformField, earlier: Config): PlatformField {
  const value = earlier[field.key];
  if (field.secret === true || value === undefined) return field;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? { ...field, default: value }
    : field;
}

/**
 * Returns the chosen connector.
 * @throws AppError REQUEST_INVALID for an element that is not offered
 */
export function chooseOffered(offered: readonly Connector[], elementKey: string): Connector {
  const found = offered.find(({ key }) => key === elementKey);
  if (found !== undefined) return found;
  const keys = offered.map(({ key }) => key);
  const { hint, nearest } = suggest(elementKey, keys);
  const message = `The element '${cutText(elementKey)}' is not offered by this session.${hint}`;
  throw new AppError('REQUEST_INVALID', message, {
    details: [{ path: '/body/elementKey', message, expected: keys, ...nearest }],
  });
}
