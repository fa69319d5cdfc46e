import { AppError, type ErrorDetail, pointer } from '../../../errors.ts';
import { MASK } from '../../configuration.ts';
import { isStorable, UNSTORABLE } from '../../storable.ts';
import type { NewProxy, OAuthProxy, ProxyChanges } from './proxy.ts';
import { readTokenOrigins } from './proxy-settings.ts';

/** @throws AppError REQUEST_INVALID that names what cannot change */
export function assertFixed(proxy: OAuthProxy, changes: ProxyChanges): void {
  const faults = (['id', 'proxyUrl'] as const)
    .filter((member) => changes[member] !== undefined && changes[member] !== proxy[member])
    .map((member) => ({ path: pointer('body', member), message: `${member} of an OAuth proxy cannot change.` }));
  refuse(faults);
}

/** What is given anew; a mask stands for the secret that is there. @throws AppError REQUEST_INVALID */
export function readChanges({ name, apiKey, apiSecret, configuration }: ProxyChanges): Partial<NewProxy> {
  const given = {
    ...(name !== undefined && { name: name.trim() }),
    ...(apiKey !== undefined && { apiKey }),
    ...(configuration !== undefined && { configuration }),
  };
  assertAllStorable(given);
  return { ...given, ...(apiSecret !== undefined && apiSecret !== MASK && { apiSecret }) };
}

/**
 * A secret belongs to its client id, and goes to the origins that it was given for. With others it must come anew: otherwise
 * whoever may change a proxy could read what is masked, at a server of their own.
 * @throws AppError REQUEST_INVALID that names what to send
 */
export function assertSecretMayStay(
  before: Pick<OAuthProxy, 'apiKey' | 'configuration'>,
  given: Partial<NewProxy>,
  stored: OAuthProxy['configuration'],
): void {
  const { apiKey = before.apiKey, apiSecret, configuration } = given;
  const origins = readTokenOrigins(before.configuration, 'configuration');
  const isNew = (origin: string) => !origins.includes(origin);
  const hasNewOrigins = readTokenOrigins(configuration ?? stored, '/body/configuration').some(isNew);
  const faults: ErrorDetail[] = [];
  if (apiSecret === undefined && apiKey !== before.apiKey) faults.push(missing('apiSecret', BELONGS));
  if (apiSecret === undefined && hasNewOrigins) faults.push(missing('apiSecret', GOES));
  if (configuration === undefined && hasNewOrigins) faults.push(missing('configuration', NOT_IN_FORCE));
  refuse(faults);
}

const BELONGS = 'it belongs to the apiKey, which changes.';
const GOES = 'it goes to the tokenOrigins, and there are new ones.';
const NOT_IN_FORCE = 'the tokenOrigins that are stored were not in force.';

function missing(member: keyof NewProxy, why: string): ErrorDetail {
  return { path: pointer('body', member), message: `${member} must be sent in clear: ${why}` };
}

/** @throws AppError REQUEST_INVALID for what PostgreSQL cannot hold */
export function assertAllStorable(texts: Readonly<Record<string, string>>): void {
  refuse(
    Object.entries(texts)
      .filter(([, text]) => !isStorable(text))
      .map(([member]) => ({ path: pointer('body', member), message: `body.${member} ${UNSTORABLE}` })),
  );
}

function refuse(faults: readonly ErrorDetail[]): void {
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}
