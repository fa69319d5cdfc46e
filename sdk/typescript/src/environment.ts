import { CausewayError } from './errors.js';

/** The secrets of a user and of the organization. */
export interface Secrets {
  readonly userSecret: string;
  readonly organizationSecret: string;
  readonly key?: undefined;
}

/** An access key, which replaces the secrets and can do less. */
export interface AccessKeySecret {
  /** The key: `ck_…`. */
  readonly key: string;
  readonly userSecret?: undefined;
  readonly organizationSecret?: undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the options in environment variables. A key in CAUSEWAY_KEY replaces the secrets.
 * @throws CausewayError that names the missing variables
 */
export function readEnvironment(environment: Environment = processEnvironment()) {
  const { CAUSEWAY_URL, CAUSEWAY_KEY, CAUSEWAY_INSTANCE_ID, CAUSEWAY_ELEMENT_TOKEN } = environment;
  const { CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET } = environment;
  const secrets = CAUSEWAY_KEY ? {} : { CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET };
  const missing = Object.entries({ CAUSEWAY_URL, ...secrets }).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0) throw new CausewayError(`Set the environment variables ${missing.join(', ')}.`);
  if (CAUSEWAY_KEY) {
    return {
      url: CAUSEWAY_URL,
      key: CAUSEWAY_KEY,
      ...(CAUSEWAY_INSTANCE_ID && { instanceId: instanceIdOf(CAUSEWAY_INSTANCE_ID) }),
    };
  }
  return {
    url: CAUSEWAY_URL,
    userSecret: CAUSEWAY_USER_SECRET ?? '',
    organizationSecret: CAUSEWAY_ORGANIZATION_SECRET ?? '',
    ...(CAUSEWAY_ELEMENT_TOKEN && { elementToken: CAUSEWAY_ELEMENT_TOKEN }),
  };
}

function instanceIdOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CausewayError('CAUSEWAY_INSTANCE_ID must be the id of an instance, a whole number.');
}

/** Returns the environment; empty in browsers. */
function processEnvironment(): Environment {
  return typeof process === 'undefined' ? {} : process.env;
}
