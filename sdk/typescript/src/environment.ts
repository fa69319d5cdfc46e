import { CausewayError } from './errors.js';

export interface Secrets {
  readonly userSecret: string;
  readonly organizationSecret: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the options in environment variables.
 * @throws CausewayError that names the missing variables
 */
export function readEnvironment(environment: Environment = processEnvironment()) {
  const { CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET, CAUSEWAY_ELEMENT_TOKEN } = environment;
  const required = { CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET };
  const missing = Object.entries(required).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0) throw new CausewayError(`Set the environment variables ${missing.join(', ')}.`);
  return {
    url: CAUSEWAY_URL,
    userSecret: CAUSEWAY_USER_SECRET ?? '',
    organizationSecret: CAUSEWAY_ORGANIZATION_SECRET ?? '',
    ...(CAUSEWAY_ELEMENT_TOKEN && { elementToken: CAUSEWAY_ELEMENT_TOKEN }),
  };
}

/** Returns the environment; empty in browsers. */
function processEnvironment(): Environment {
  return typeof process === 'undefined' ? {} : process.env;
}
