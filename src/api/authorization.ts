import type { Request, Response } from 'express';
import { OPERATIONS } from '../../generated/operations.ts';
import type { FoundAccessKey } from '../accounts/access-keys/index.ts';
import { type AccessKey, selectionOf } from '../accounts/access-keys/scope.ts';
import { type FoundPrincipal, goesBy, type Principal } from '../accounts/accounts.ts';
import type { ConsoleSession, FoundSession } from '../accounts/log-in/sessions.ts';
import type { PageSession } from '../connect/session.ts';
import { createSecretCache } from '../db/caches.ts';
import { AppError, cutText, invalidRequest, isAppError } from '../errors.ts';
import { signalEnd } from '../http/connection.ts';
import { createFailedAuthorizations } from '../http/failed-authorizations.ts';
import { type CallerLimits, createTokenBuckets } from '../http/rate-limits.ts';
import { networkOf } from '../http/remote-address.ts';
import { setBudget } from '../http/response.ts';
import type { Instance } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import { createRedactor, type Redactor } from '../redaction.ts';
import type { Resources } from '../resources/index.ts';
import { findName } from '../resources/objects.ts';
import { currentTrace } from '../trace.ts';
import { actIn } from './access.ts';
import type { ApiServices } from './api-services.ts';
import type { InnerCaller, InnerCallers } from './inner-callers.ts';
import { assertKeyCovers, isForKeys, otherAccount, outOfReach } from './key-scopes.ts';
import type { SentSecrets } from './operation.ts';
import { createRoutes } from './routes.ts';
import { assertCsrfToken, type SessionCookie } from './session-cookie.ts';
import type { Scope } from './validation.ts';

/** The sender of a request, and the instance that it is about. */
export interface Caller {
  readonly principal: Principal;
  /** Secrets that identified the principal. */
  readonly sent: SentSecrets;
  /** Redacts the secrets that identified the principal. */
  readonly redactor: Redactor;
  /** Console session whose cookie identified the principal. */
  readonly session?: ConsoleSession | undefined;
  /** Access key that identified the principal, and limits what the request may do. */
  readonly key?: AccessKey | undefined;
  readonly instance?: Instance | undefined;
}

export type ApiScope = Exclude<Scope, 'root'>;

/** The sender of a request, and the operations that it can mean (decisions D2). */
export type Authorized =
  | {
      readonly caller: Caller;
      readonly scope: Exclude<ApiScope, 'public' | 'connect'>;
      /** Whether no operation begins like the path. */
      readonly isUnknown?: boolean;
    }
  /** A request without a user, with the key of a connect session. */
  | { readonly caller: undefined; readonly scope: 'connect'; readonly pageSession: PageSession }
  /** A request without a user, for a public operation. */
  | { readonly caller: undefined; readonly scope: 'public' };

/**
 * Identifies the caller and the possible operations, before the body is read, and limits the cost of both. The results are put into
 * `response.locals` at once, for the log and for an error response.
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED, NOT_FOUND; FORBIDDEN for the session of another page
 */
export type Authorize = (request: Request, response: Response) => Promise<Authorized>;

/** The sender of a request with an access key. */
interface KeyCaller extends Caller {
  readonly key: AccessKey;
}

/**
 * Identifies the access key of a request outside the base path, such as one to `/mcp`, whatever its path. The caller is put into
 * `response.locals`, for the log and for an error response. What the key may do is checked by `key-scopes.ts`: send calls of operations
 * with the same `Authorization` header, and they are limited as requests of the key are.
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED after many wrong keys
 */
export type IdentifyKey = (request: Request, response: Response) => Promise<KeyCaller>;

interface AuthorizationParts {
  readonly innerCallers: InnerCallers;
  readonly sessionCookie: SessionCookie;
  readonly callerLimits: CallerLimits;
}

/** The limit of the page of one connect session, which repeatedly requests its state. */
const PAGE_REQUESTS = { whose: 'this connect session', perMinute: 300, kept: 20_000 };
/** The header that names the account of a request, for callers who may work in several. */
const ACCOUNT_HEADER = 'elements-account-id';
/** The instance of a call with a session of the console: pages hold no instance tokens. */
const INSTANCE_HEADER = 'elements-element-instance-id';
/** The instance of a call with an access key. */
const KEY_INSTANCE_HEADER = 'elements-instance-id';
/** Maximum number of instances that an error names. */
const MOST_NAMED = 10;

interface KnownCaller extends Caller, Pick<FoundPrincipal, 'expiresAt'> {
  /** A moment of `PrincipalChanges`. */
  readonly readAt: number;
}

/** The credentials in a request. */
interface Credentials {
  readonly secrets: readonly string[];
  /** Cache key: all credentials in one text. */
  readonly key: string;
  /** Secrets as the header sent them. */
  readonly sent: SentSecrets;
  readonly find: () => Promise<FoundPrincipal | FoundSession | FoundAccessKey | undefined>;
  /** The organization is vouched for as well. */
  readonly hasOrganization: boolean;
  /** The instance of the request: by its token, or with a session by its id. */
  readonly instance: { readonly token: string } | { readonly id: string } | undefined;
  /** The message for invalid credentials. */
  readonly refusal: string;
  /** False when the request is served without a caller, too. */
  readonly isNeeded: boolean;
  readonly isKey?: true;
}

interface KeyRequest {
  readonly known: Caller;
  readonly key: AccessKey;
  /** First segment of the path. */
  readonly first: string;
}

export interface ApiAuthorization {
  readonly authorize: Authorize;
  readonly identifyKey: IdentifyKey;
}

/** Creates the authorization. A caller that was seen a moment ago costs no query. */
export function createAuthorization(
  { clock, shares }: Platform,
  services: ApiServices,
  { innerCallers, sessionCookie, callerLimits }: AuthorizationParts,
): ApiAuthorization {
  const { accounts, accessKeys, principals, instances, resources } = services;
  const { sessions } = services.logIn;
  const pageRequests = createTokenBuckets(clock, PAGE_REQUESTS);
  const failedAuthorizations = createFailedAuthorizations(clock);
  const callers = createSecretCache<KnownCaller>();
  principals.subscribe(callers.forgetMisses);
  /** Parsed `Authorization` headers of known callers. Most of a caller's requests have the same header. */
  const readHeaders = new Map<string, Credentials>();

  const identifyKey: IdentifyKey = async (request, response) => {
    const { authorization = '' } = request.headers;
    if (!BEARER.test(authorization)) refuse('This path needs an access key. Send `Authorization: Bearer ck_…`.');
    const credentials = byKey(authorization);
    const known = findKept(credentials) ?? (await findCaller(credentials, response.locals.address));
    if (known?.key === undefined) refuse(credentials.refusal);
    const { principal, sent, redactor, key } = known;
    const caller = { principal, sent, redactor, key };
    response.locals.principal = principal;
    response.locals.caller = caller;
    return caller;
  };

  const authorize: Authorize = async (request, response) => {
    const { authorization = '' } = request.headers;
    const read = readHeaders.get(authorization);
    // `Connect <key>`: what the page of a connect session has in the place of secrets.
    const pageKey = read === undefined ? /^\s*connect\s+(\S+)\s*$/i.exec(authorization)?.[1] : undefined;
    if (pageKey !== undefined) {
      response.locals.scope = 'connect';
      const pageSession = await findPage(pageKey, response.locals.address);
      return { caller: undefined, scope: 'connect', pageSession };
    }
    const credentials = read ?? readCredentials(request);
    if (credentials === undefined) {
      response.locals.scope = 'public';
      return { caller: undefined, scope: 'public' };
    }
    const [, first = ''] = request.path.split('/', 2);
    const isOfKey = credentials.isKey === true;
    const sought = isOfKey ? 'platform' : scopeOf(request, first, credentials.instance !== undefined);
    response.locals.scope = sought;
    if (sought === 'platform') assertOrganization(credentials);
    const known = findKept(credentials) ?? (await findCaller(credentials, response.locals.address));
    if (known === undefined) {
      response.locals.scope = 'public';
      return { caller: undefined, scope: 'public' };
    }
    if (read === undefined && authorization !== '') {
      if (readHeaders.size === MOST_READ_HEADERS) readHeaders.clear();
      readHeaders.set(authorization, credentials);
    }
    response.locals.principal = known.principal;
    if (known.key !== undefined) return authorizeKey(request, response, { known, key: known.key, first });
    if (known.session !== undefined) assertCsrfToken(request, known.session);
    const named = request.headers[ACCOUNT_HEADER];
    // The account that the call is about, where it is not the caller's own.
    const principal = named === undefined ? known.principal : await actIn(accounts, known.principal, String(named));
    response.locals.principal = principal;
    const budget = callerLimits.count(principal);
    // On an instance `RateLimit-*` is the provider's budget (decisions D3), save in a refusal of ours.
    if (budget !== undefined && sought === 'platform') setBudget(response, budget());
    const { sent, redactor, session } = known;
    const instance = credentials.instance && (await findInstance(principal.accountId, credentials.instance));
    const caller: Caller = { principal, sent, redactor, session, instance };
    response.locals.caller = caller;
    const scope = await settleScope(request, response, { sought, instance, first });
    response.locals.scope = scope;
    if (scope !== 'platform') {
      // On refusals too: they say which instance they are about.
      if (instance !== undefined) response.setHeader('Elements-Element-Instance-Id', instance.id);
      return { caller, scope };
    }
    assertOrganization(credentials);
    return { caller, scope, isUnknown: !PLATFORM_SEGMENTS.has(first) };
  };

  return { authorize, identifyKey };

  /**
   * Finds the instance and the possible operations of a request with an access key. What the key may do is checked when the operation is
   * known.
   * @throws AppError FORBIDDEN for an instance or an account out of reach; REQUEST_INVALID where the instance must be named
   */
  async function authorizeKey(request: Request, response: Response, { known, key, first }: KeyRequest) {
    const { principal, sent, redactor } = known;
    const named = request.headers[ACCOUNT_HEADER];
    if (named !== undefined) await assertOwnAccount(principal, String(named));
    const budget = callerLimits.count(principal);
    const found: Caller = { principal, sent, redactor, key };
    response.locals.caller = found;
    const instance = await findKeyInstance(request, found, key);
    const caller: Caller = { ...found, instance };
    response.locals.caller = caller;
    const sought = instance === undefined ? 'platform' : scopeOf(request, first, true);
    const scope = await settleScope(request, response, { sought, instance, first });
    response.locals.scope = scope;
    if (instance !== undefined && scope !== 'platform') response.setHeader('Elements-Element-Instance-Id', instance.id);
    if (scope !== 'platform') return { caller, scope };
    if (budget !== undefined) setBudget(response, budget());
    return { caller, scope, isUnknown: !PLATFORM_SEGMENTS.has(first) };
  }

  async function assertOwnAccount({ organizationId, accountId }: Principal, named: string): Promise<void> {
    const account = await accounts.getAccount(organizationId, String(accountId));
    if (!goesBy(account, named)) throw otherAccount();
  }

  /** Returns the instance that the request names, or the only one of the key. Undefined for a request to the platform. */
  async function findKeyInstance(request: Request, caller: Caller, key: AccessKey): Promise<Instance | undefined> {
    const { accountId } = caller.principal;
    const named = request.headers[KEY_INSTANCE_HEADER];
    if (named !== undefined) {
      const id = readInstanceId(String(named), 'Elements-Instance-Id');
      return reachInstance(accountId, key, id);
    }
    const operation = findPlatform(request.path)?.operations[request.method];
    if (operation !== undefined && isForKeys(operation)) return undefined;
    const [only, ...others] = key.instances ?? [];
    if (only !== undefined && others.length === 0) return reachInstance(accountId, key, only);
    const query = { ...selectionOf(key), limit: MOST_NAMED + 1, after: { id: 0 } };
    const { instances: reached } = await instances.list(accountId, query);
    const [first, second] = reached;
    if (first !== undefined && second === undefined) return first;
    if (first === undefined && key.instances !== undefined) refuse('The instances of this access key were deleted.');
    if (operation !== undefined) return undefined;
    throw unnamedInstance(reached);
  }

  /** Every process knows at once of a deleted instance. @throws AppError FORBIDDEN; UNAUTHENTICATED when it was the only one of the key */
  async function reachInstance(accountId: number, key: AccessKey, id: number): Promise<Instance> {
    if (key.instances?.includes(id) === false) throw outOfReach(id);
    let instance: Instance;
    try {
      instance = await instances.getCached(accountId, id);
    } catch (error) {
      if (!isAppError(error, 'NOT_FOUND')) throw error;
      if (key.instances?.length === 1) refuse('The instance of this access key was deleted.');
      throw outOfReach(id);
    }
    assertKeyCovers(key, instance);
    return instance;
  }

  /**
   * Reads the secrets of the header or, without them, the session of the cookie, which a browser always sends. Undefined for a request that
   * needs neither. A log-in ignores the cookie of an earlier session.
   * @throws AppError UNAUTHENTICATED, FORBIDDEN
   */
  function readCredentials(request: Request): Credentials | undefined {
    const { authorization } = request.headers;
    const inner = authorization === undefined ? undefined : innerCallers.find(authorization);
    if (authorization !== undefined && inner !== undefined) return byTicket(authorization, inner);
    if (authorization !== undefined && BEARER.test(authorization)) return byKey(authorization);
    if (authorization !== undefined) return bySecrets(readSecrets(authorization));
    const isPublic = findPublic(request.path)?.operations[request.method] !== undefined;
    const token = isPublic && request.method !== 'GET' ? undefined : sessionCookie.read(request);
    if (isPublic || token !== undefined) sessionCookie.assertOwnPage(request);
    if (token !== undefined) return { ...bySession(token, request.get(INSTANCE_HEADER)), isNeeded: !isPublic };
    return isPublic ? undefined : bySecrets(readSecrets(undefined));
  }

  function bySecrets({ user, organization, element }: HeaderSecrets): Credentials {
    return {
      secrets: [user, organization ?? ''],
      key: `${user} ${organization ?? ''}`,
      sent: { user, organization },
      find: () => accounts.findPrincipal({ userSecret: user, organizationSecret: organization }),
      hasOrganization: organization !== undefined,
      instance: element === undefined ? undefined : { token: element },
      refusal: 'The User or Organization secret in the Authorization header is not valid.',
      isNeeded: true,
    };
  }

  /** @throws AppError UNAUTHENTICATED for a header with anything else than one access key */
  function byKey(authorization: string): Credentials {
    const secret = BEARER_KEY.exec(authorization)?.[1];
    if (secret === undefined)
      refuse('The Authorization header with an access key cannot be read. Send `Bearer ck_…`, and nothing else.');
    return {
      secrets: [secret],
      // No header and no cookie can contain a line break.
      key: `\n${secret}`,
      sent: {},
      find: () => accessKeys.findBySecret(secret),
      hasOrganization: true,
      instance: undefined,
      refusal: 'The access key is not valid: it was deleted or has expired, or its user may no longer use it.',
      isNeeded: true,
      isKey: true,
    };
  }

  /** The user may have lost the right to work in the account since the ticket was made. */
  function byTicket(ticket: string, { accountId, userId, instanceId }: InnerCaller): Credentials {
    const trace = currentTrace();
    // Only formulas have tickets.
    if (trace !== undefined) trace.work = 'formula';
    return {
      secrets: [ticket],
      key: ` ${ticket}`,
      sent: {},
      find: async () => {
        const principal = await accounts.findActing({ accountId, userId });
        return principal && { principal: { ...principal, organizationVerified: true }, expiresAt: undefined };
      },
      hasOrganization: true,
      instance: instanceId === undefined ? undefined : { id: String(instanceId) },
      refusal: `User ${userId} may no longer work in account ${accountId}.`,
      isNeeded: true,
    };
  }

  function bySession(token: string, instanceId: string | undefined): Omit<Credentials, 'isNeeded'> {
    return {
      // An empty text replaces an organization's secret that came without a user's. No request can send it.
      secrets: ['', token],
      key: ` ${token}`,
      sent: {},
      find: () => sessions.find(token),
      hasOrganization: true,
      instance: instanceId === undefined ? undefined : { id: instanceId },
      refusal: 'There is no open session of the console. Log in again.',
    };
  }

  async function findPage(key: string, address: string): Promise<PageSession> {
    const session = await failedAuthorizations.attempt(
      { network: networkOf(address), secrets: key },
      async () => (await services.connect.page.find(key)) ?? refuse(NO_PAGE),
    );
    pageRequests.take(`${session.accountId}:${session.id}`);
    return session;
  }

  /** Returns a recently seen caller without a look-up and without counting a failure. */
  function findKept({ key }: Credentials): KnownCaller | undefined {
    const caller = callers.peek(key);
    return caller !== undefined && isCurrent(caller) ? caller : undefined;
  }

  /** Finds the caller. Returns undefined for an ended session if the request is also served without a caller. */
  async function findCaller(credentials: Credentials, address: string): Promise<Caller | undefined> {
    const { key } = credentials;
    const load = () => loadCaller(credentials);
    // All unknown callers share a few connections, so that known callers do not wait behind them.
    const find = () => callers.find(key, (known) => (known === undefined ? shares.lookUp('stranger', load) : load()));
    const attempt = failedAuthorizations.attempt({ network: networkOf(address), secrets: key }, async () => {
      let caller = await find();
      if (caller !== undefined && !isCurrent(caller)) {
        callers.forget(key);
        callers.outdate((other) => other === key);
        caller = await find();
      }
      return caller ?? refuse(credentials.refusal);
    });
    return credentials.isNeeded ? attempt : attempt.catch(ignoreRefusal);
  }

  /**
   * Whether a cached caller may still be used. Outdated after a change of the organization, which may have been in progress at the time of
   * reading, and after the end of a secret.
   */
  function isCurrent({ principal, readAt, expiresAt }: KnownCaller): boolean {
    if (expiresAt !== undefined && expiresAt.getTime() <= clock.now()) return false;
    return !principals.isOutdated(principal.organizationId, readAt);
  }

  async function loadCaller({ secrets, sent, find }: Credentials): Promise<KnownCaller | undefined> {
    const readAt = principals.moment();
    const found = await find();
    const isOver = found?.expiresAt !== undefined && found.expiresAt.getTime() <= clock.now();
    return found === undefined || isOver ? undefined : { ...found, readAt, sent, redactor: createRedactor(secrets) };
  }

  /**
   * Returns the instance of a token or an id.
   * @throws AppError UNAUTHENTICATED for an unknown token; REQUEST_INVALID and NOT_FOUND for an invalid or unknown id
   */
  async function findInstance(accountId: number, named: NonNullable<Credentials['instance']>): Promise<Instance> {
    if ('id' in named) return instances.getCached(accountId, readInstanceId(named.id));
    const found = await instances.findByToken(accountId, named.token);
    return found ?? refuse('The Element token is not valid, or its instance was deleted.');
  }

  /** A path with scope `'record'` is the platform's when the element has no such object. */
  async function settleScope<Sought extends Exclude<ApiScope, 'public' | 'connect'>>(
    { method, path }: Request,
    response: Response,
    {
      sought,
      instance,
      first,
    }: { readonly sought: Sought; readonly instance: Instance | undefined; readonly first: string },
  ) {
    const mayBeOfPlatform =
      sought === 'record' &&
      instance !== undefined &&
      (PLATFORM_SEGMENTS.has(first) || (await services.formulaRuns.resources.has(instance.accountId, method, path)));
    const isOfPlatform = mayBeOfPlatform && (await isNoObject({ instance, signal: signalEnd(response) }, first));
    return isOfPlatform ? 'platform' : sought;
  }

  /**
   * Returns whether a path of the platform with a token is no object of the element. If the objects cannot be found now, the element
   * responds with the reason, because a record must not seem deleted when its provider is down.
   */
  async function isNoObject(target: Parameters<Resources['listObjects']>[0], name: string): Promise<boolean> {
    try {
      const { objects, mapped } = await resources.listObjects(target);
      return !mapped.has(name) && findName(objects, name) === undefined;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }
}

const BEARER = /^\s*bearer\s+ck_/i;
const BEARER_KEY = /^\s*bearer\s+(ck_\w{1,100})\s*$/i;

/** Returns the error of a request that could be about several instances, or about none. */
function unnamedInstance(reached: readonly Pick<Instance, 'id'>[]): AppError {
  const ids = reached.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = reached.length > MOST_NAMED ? ', …' : '';
  const message =
    ids.length === 0
      ? 'The access key reaches no instance yet. Create one that matches its scope.'
      : `The access key reaches several instances. Name one in the header Elements-Instance-Id: ${ids.join(', ')}${more}.`;
  return invalidRequest([{ path: '/headers/elements-instance-id', message }]);
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'UNAUTHENTICATED')) throw error;
}

const NO_PAGE = 'This key belongs to no open connect session. Create a new session with POST /connect/sessions.';

/** The secrets of an `Authorization` header, by the keyword in front of each. */
interface HeaderSecrets {
  readonly user: string;
  readonly organization?: string | undefined;
  readonly element?: string | undefined;
}

const KEYWORDS = ['user', 'organization', 'element'] as const;
const FORM =
  '`User <secret>, Organization <secret>` for the platform, `User <secret>, Element <token>` for an instance';
const MAX_HEADER_LENGTH = 4096;
const MOST_READ_HEADERS = 2_000;

/**
 * Reads the header: parts in any order, keywords in any case, with or without a colon, any blanks.
 * @throws AppError UNAUTHENTICATED for a missing or malformed header
 */
function readSecrets(header: string | undefined): HeaderSecrets {
  if (header === undefined || header.trim() === '') refuse(`The Authorization header is missing. Send ${FORM}.`);
  if (header.length > MAX_HEADER_LENGTH)
    refuse(`The Authorization header is longer than ${MAX_HEADER_LENGTH} characters.`);
  const secrets: { user?: string; organization?: string; element?: string } = {};
  for (const part of header.split(',')) {
    // Some clients of the original write `Element: <token>`.
    const [, word = '', secret] = /^([A-Za-z]+)(?:\s*:|(?=\s)|$)\s*(\S+)?$/.exec(part.trim()) ?? [];
    const keyword = KEYWORDS.find((known) => known === word.toLowerCase());
    if (keyword === undefined) refuse(`The Authorization header cannot be read. Send ${FORM}.`);
    if (secret === undefined) refuse(`The Authorization header has no secret after ${word}.`);
    if (secrets[keyword] !== undefined) refuse(`The Authorization header has ${word} twice.`);
    secrets[keyword] = secret;
  }
  const { user, ...others } = secrets;
  return user === undefined ? refuse(`The Authorization header has no User. Send ${FORM}.`) : { user, ...others };
}

function firstSegments(scope: ApiScope): ReadonlySet<string | undefined> {
  const inScope = Object.values(OPERATIONS).filter(({ scopes }) => (scopes as readonly Scope[]).includes(scope));
  return new Set(inScope.map(({ path }) => path.split('/')[1]));
}

const PLATFORM_SEGMENTS = firstSegments('platform');
/** First segments of paths on an instance, with those reserved for later operations (decisions D2). */
const INSTANCE_SEGMENTS = firstSegments('instance').union(new Set(['query', 'bulk', 'ping']));

/** First segments that a mapped object cannot have as its name. */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set(
  [...PLATFORM_SEGMENTS.union(INSTANCE_SEGMENTS)].filter((segment) => segment !== undefined),
);

const findPublic = createRoutes('public');
const findPlatform = createRoutes('platform');
const findOnInstance = createRoutes('instance');

/**
 * Returns the scope of a request by its path and its credentials. A path with scope `'record'` is the platform's when the element has no
 * such object.
 */
function scopeOf(request: Request, first: string, hasInstance: boolean): Exclude<ApiScope, 'public' | 'connect'> {
  const { method, path } = request;
  if (!hasInstance) {
    const isPlatform = PLATFORM_SEGMENTS.has(first) && (first !== 'hubs' || findPlatform(path) !== undefined);
    if (isPlatform || !INSTANCE_SEGMENTS.has(first)) return 'platform';
    refuse(
      'This path needs an instance. Add `Element <token>` to the Authorization header; in a session of the console, send the header Elements-Element-Instance-Id.',
    );
  }
  if (!INSTANCE_SEGMENTS.has(first)) return 'record';
  // Clients of the original send a token with every call, also with those that are about no instance, or about another one.
  const ofInstance = isListing(request) ? undefined : findOnInstance(path);
  if (ofInstance?.operations[method] !== undefined) return 'instance';
  const ofPlatform = findPlatform(path);
  const isOther = ofPlatform?.operations[method] !== undefined || ofInstance === undefined;
  return isOther && ofPlatform !== undefined ? 'platform' : 'instance';
}

/** With a token, `GET /instances` returns the one instance, unless the request filters or pages (decisions D16). */
function isListing({ method, path, query }: Request): boolean {
  return method === 'GET' && /^\/instances\/?$/.test(path) && Object.keys(query).length > 0;
}

/** Unknown callers must not learn which paths exist, so only known callers get this error. */
export function unknownPath({ method, baseUrl, path }: Request): AppError {
  const hint = 'If it is an object of an element, add `Element <token>` to the Authorization header.';
  return new AppError('NOT_FOUND', `There is no ${method} ${cutText(baseUrl + path)}. ${hint}`);
}

function readInstanceId(text: string, header = 'Elements-Element-Instance-Id'): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new AppError('REQUEST_INVALID', `The header ${header} must be the id of an instance, a whole number.`);
}

function assertOrganization({ hasOrganization }: Credentials): void {
  if (!hasOrganization) refuse('This path also needs `Organization <secret>` in the Authorization header.');
}

/**
 * Rejects a request as unauthenticated.
 * @throws AppError UNAUTHENTICATED
 */
export function refuse(message: string): never {
  throw new AppError('UNAUTHENTICATED', message);
}
