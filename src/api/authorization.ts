import type { Accounts, Principal } from '../accounts/accounts.ts';
import type { PoolShares } from '../db/pool-shares.ts';
import { createSecretCache } from '../db/secret-cache.ts';
import { AppError } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import { createRedactor, type Redactor } from '../redaction.ts';

/** The secrets of an `Authorization` header, by the keyword in front of each. */
export interface Secrets {
  readonly user?: string;
  readonly organization?: string;
  readonly element?: string;
}

/** Who calls, and on which instance. */
export interface Caller {
  readonly principal: Principal;
  /** Of the secrets that the principal was known by. */
  readonly redactor: Redactor;
  readonly instance?: Instance;
}

const KEYWORDS = ['user', 'organization', 'element'] as const;
const FORM =
  '`User <secret>, Organization <secret>` for the platform, `User <secret>, Element <token>` for an instance';
const MAX_HEADER_LENGTH = 4096;

/**
 * Reads the header: parts in any order, keywords in any case, any blanks.
 * @throws AppError UNAUTHENTICATED for a missing or malformed header
 */
export function readSecrets(header: string | undefined): Secrets {
  if (header === undefined || header.trim() === '')
    throw unauthenticated(`The Authorization header is missing; it is ${FORM}.`);
  if (header.length > MAX_HEADER_LENGTH) throw unauthenticated('The Authorization header is too long.');
  const secrets: { user?: string; organization?: string; element?: string } = {};
  for (const part of header.split(',')) {
    const [, word = '', secret] = /^\s*([A-Za-z]+)(?:\s+(\S+))?\s*$/.exec(part) ?? [];
    const keyword = KEYWORDS.find((known) => known === word.toLowerCase());
    if (keyword === undefined) throw unauthenticated(`The Authorization header cannot be read; it is ${FORM}.`);
    if (secret === undefined) throw unauthenticated(`The Authorization header has no secret after ${word}.`);
    if (secrets[keyword] !== undefined) throw unauthenticated(`The Authorization header has ${word} twice.`);
    secrets[keyword] = secret;
  }
  if (secrets.user === undefined) throw unauthenticated(`The Authorization header has no User; it is ${FORM}.`);
  return secrets;
}

export function unauthenticated(message: string): AppError {
  return new AppError('UNAUTHENTICATED', message);
}

export interface AuthorizationPorts {
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly instances: Pick<Instances, 'findByToken'>;
  readonly shares: Pick<PoolShares, 'lookUp'>;
}

export interface Authorization {
  /**
   * `admit` is called as soon as it is known who calls, before the instance is looked up; it throws to refuse.
   * @throws AppError UNAUTHENTICATED for secrets that are unknown or do not belong together
   */
  readonly authorize: (secrets: Secrets, admit: (principal: Principal) => void) => Promise<Caller>;
}

/** Turns secrets into a caller; one that was seen a moment ago costs no query. */
export function createAuthorization({ accounts, instances, shares }: AuthorizationPorts): Authorization {
  const callers = createSecretCache<Caller>();

  function findCaller(secrets: Secrets): Promise<Caller | undefined> {
    const { user, organization = '' } = secrets;
    const load = () => loadCaller(secrets);
    // However many guess, they have a few connections between them: whoever was here before does not wait behind them.
    return callers.find(`${user} ${organization}`, (known) =>
      known === undefined ? shares.lookUp('stranger', load) : load(),
    );
  }

  async function loadCaller({ user = '', organization }: Secrets): Promise<Caller | undefined> {
    const principal = await accounts.findPrincipal({ userSecret: user, organizationSecret: organization });
    if (principal === undefined) return undefined;
    return { principal, redactor: createRedactor([user, organization ?? '']) };
  }

  return {
    authorize: async (secrets, admit) => {
      const caller = await findCaller(secrets);
      if (caller === undefined) throw unauthenticated('The User or Organization secret is not valid.');
      admit(caller.principal);
      if (secrets.element === undefined) return caller;
      const instance = await instances.findByToken(caller.principal.accountId, secrets.element);
      if (instance === undefined) throw unauthenticated('The Element token is not valid, or its instance was deleted.');
      return { ...caller, instance };
    },
  };
}
