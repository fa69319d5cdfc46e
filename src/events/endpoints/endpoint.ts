import { isDeepStrictEqual } from 'node:util';
import { type AppError, invalidRequest, pointer } from '../../errors.ts';
import type { BodyFormat, EndpointAuthentication } from '../model.ts';

/** The settings of an endpoint without its secrets: the choice of events, and the way to send them. */
export interface EndpointChoice {
  readonly where?: string;
  readonly instances?: readonly number[];
  readonly elementKeys?: readonly string[];
  readonly hubs?: readonly string[];
  readonly tags?: readonly string[];
  readonly format: BodyFormat;
  readonly ordered: boolean;
  /** Whether events are stored for it. */
  readonly active: boolean;
  readonly warnings?: readonly EndpointWarning[];
}

/** A doubt about a filter that was stored all the same. */
export interface EndpointWarning {
  /** The field that it is about. */
  readonly field: string;
  readonly message: string;
}

/** The secrets of an endpoint, in clear. */
export interface EndpointSecrets {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly authentication?: EndpointAuthentication | undefined;
}

/** An endpoint as its owner sees it. Secrets are masked. */
export interface EventEndpoint extends EndpointChoice, EndpointSecrets {
  readonly name: string | undefined;
  readonly maxPerSecond: number | undefined;
}

/** The members of an endpoint that callers set. Null removes a member. */
export interface EndpointInput {
  readonly url?: string | undefined;
  readonly name?: string | null | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly where?: string | null | undefined;
  readonly instances?: readonly number[] | null | undefined;
  readonly elementKeys?: readonly string[] | null | undefined;
  readonly hubs?: readonly string[] | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly format?: BodyFormat | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  readonly authentication?: EndpointAuthentication | null | undefined;
  readonly maxPerSecond?: number | null | undefined;
  readonly ordered?: boolean | undefined;
  readonly active?: boolean | undefined;
}

/** The text that responses show in place of a secret. */
const MASK = '********';

/** Header names that the service itself sends, in lower case. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const OWN_PREFIXES = ['webhook-', 'elements-webhook-'] as const;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Asserts that the headers can be sent beside those of the service.
 * @throws AppError REQUEST_INVALID
 */
export function assertHeaders({ headers = {}, authentication }: EndpointSecrets): void {
  const seen = new Set<string>();
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    const path = pointer('body', 'headers', name);
    const key = name.toLowerCase();
    const isRepeated = seen.has(key);
    seen.add(key);
    if (!HEADER_NAME.test(name))
      return [{ path, message: "A header name has only letters, digits and the signs - _ . ! # $ % & ' * + ^ ` | ~." }];
    if (isRepeated) return [{ path, message: `The header '${name}' appears twice, in different spellings.` }];
    if (OWN_HEADERS.has(key) || OWN_PREFIXES.some((prefix) => key.startsWith(prefix)))
      return [{ path, message: `The service itself sets the header '${name}'. Use another name.` }];
    if (key === 'authorization' && authentication !== undefined)
      return [{ path, message: "The member 'authentication' sets the header 'Authorization'. Leave one of them out." }];
    if (!HEADER_VALUE.test(value))
      return [{ path, message: `The value of the header '${name}' contains a character that is not allowed there.` }];
    return [];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}

/** Returns the secrets with their values masked. The names of headers, and addresses, are shown. */
export function maskSecrets({ headers, authentication }: EndpointSecrets): EndpointSecrets {
  return {
    headers: headers && Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])),
    authentication: authentication && maskAuthentication(authentication),
  };
}

function maskAuthentication(authentication: EndpointAuthentication): EndpointAuthentication {
  switch (authentication.type) {
    case 'basic':
      return { ...authentication, password: MASK };
    case 'bearer':
      return { ...authentication, token: MASK };
    case 'oauth2':
      return { ...authentication, clientSecret: MASK };
  }
}

/**
 * Returns the secrets after a change. A masked value, as a client reads it, stands for the stored one.
 * @throws AppError REQUEST_INVALID for a mask without a stored value
 */
export function changeSecrets(
  before: EndpointSecrets,
  { headers, authentication }: Pick<EndpointInput, 'headers' | 'authentication'>,
): EndpointSecrets {
  return {
    headers: headers === undefined ? before.headers : unmaskHeaders(headers, before.headers),
    authentication:
      authentication === undefined ? before.authentication : unmask(authentication, before.authentication),
  };
}

function unmaskHeaders(
  headers: Readonly<Record<string, string>> | null,
  before: EndpointSecrets['headers'] = {},
): EndpointSecrets['headers'] {
  if (headers === null || Object.keys(headers).length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      const stored = Object.hasOwn(before, name) ? before[name] : undefined;
      if (stored === undefined) throw maskedNothing(pointer('body', 'headers', name));
      return [name, stored];
    }),
  );
}

/**
 * Asserts that a request that moves an endpoint to another server sends its secrets again, or removes them. Otherwise a user who can change
 * an endpoint, but cannot read its secrets, could send them to a server of their own.
 * @throws AppError REQUEST_INVALID
 */
export function assertSecretsSent(
  before: EndpointSecrets,
  input: Pick<EndpointInput, 'headers' | 'authentication'>,
): void {
  const faults = (['headers', 'authentication'] as const)
    .filter((member) => before[member] !== undefined && input[member] === undefined)
    .map((member) => ({
      path: pointer('body', member),
      message: `The stored values of '${member}' are for the server of the URL before. Send them again with the new URL, or null.`,
    }));
  if (faults.length > 0) throw invalidRequest(faults);
}

const SECRET_MEMBER = { basic: 'password', bearer: 'token', oauth2: 'clientSecret' } as const;

function unmask(
  given: EndpointAuthentication | null,
  before: EndpointAuthentication | undefined,
): EndpointAuthentication | undefined {
  if (given === null) return undefined;
  const member = SECRET_MEMBER[given.type];
  if (Reflect.get(given, member) !== MASK) return given;
  // A stored secret goes nowhere but where it was meant for.
  if (before === undefined || !isDeepStrictEqual(maskAuthentication(before), given)) {
    throw maskedNothing(pointer('body', 'authentication', member));
  }
  return before;
}

function maskedNothing(path: string): AppError {
  return invalidRequest([
    {
      path,
      message: `'${MASK}' stands for the stored secret, and there is none for these values. Send the secret itself.`,
    },
  ]);
}
