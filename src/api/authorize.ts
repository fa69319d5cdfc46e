import type { Request, Response } from 'express';
import { OPERATIONS } from '../../generated/operations.ts';
import type { Principal } from '../accounts/accounts.ts';
import { AppError, cutText } from '../errors.ts';
import type { Resources } from '../resources/index.ts';
import { setBudget } from './answer.ts';
import { type Authorization, type Caller, readSecrets, type Secrets, unauthenticated } from './authorization.ts';
import type { CallerLimits } from './caller-limits.ts';
import type { FailedAuthorizations } from './failed-authorizations.ts';
import { networkOf } from './remote-address.ts';
import { signalEnd } from './request-end.ts';
import type { Scope } from './scoped-document.ts';

export type ApiScope = Exclude<Scope, 'root'>;

function firstSegments(scope: ApiScope): ReadonlySet<string | undefined> {
  const inScope = Object.values(OPERATIONS).filter(({ scopes }) => (scopes as readonly Scope[]).includes(scope));
  return new Set(inScope.map(({ path }) => path.split('/')[1]));
}

const PLATFORM_SEGMENTS = firstSegments('platform');
/** Kept for the service on an instance, with those that later operations will need (decisions D2). */
const INSTANCE_SEGMENTS = firstSegments('instance').union(new Set(['query', 'bulk', 'ping']));

/** Which operations a request may mean (decisions D2) by what it has sent: `'record'` is the platform's where the element has no such object. */
function scopeOf(path: string, secrets: Secrets): ApiScope {
  const [, first = '', second = ''] = path.split('/');
  if (secrets.element === undefined) {
    const isPlatform = PLATFORM_SEGMENTS.has(first) && !(first === 'hubs' && second !== '');
    if (isPlatform || !INSTANCE_SEGMENTS.has(first)) return 'platform';
    throw unauthenticated('This path is for calls on an instance: add `Element <token>` to the Authorization header.');
  }
  if (first === 'instances' && second !== '') return 'platform';
  return INSTANCE_SEGMENTS.has(first) ? 'instance' : 'record';
}

/** A stranger is not told what there is: it is asked only of callers who are known. */
function assertPlatformPath({ method, baseUrl, path }: Request): void {
  const [, first = ''] = path.split('/');
  if (PLATFORM_SEGMENTS.has(first)) return;
  const hint = 'If it is an object of an element, add `Element <token>` to the Authorization header.';
  throw new AppError('NOT_FOUND', `There is no ${method} ${cutText(baseUrl + path)}. ${hint}`);
}

export interface AuthorizePorts {
  readonly authorization: Authorization;
  readonly failedAuthorizations: FailedAuthorizations;
  readonly callerLimits: CallerLimits;
  readonly listObjects: Resources['listObjects'];
}

/** Finds out who calls and what may be meant, before a byte of the body is read. Bounds what both cost. */
export function createAuthorize(ports: AuthorizePorts): (request: Request, response: Response) => Promise<void> {
  const { authorization, failedAuthorizations, callerLimits } = ports;
  return async (request, response) => {
    const secrets = readSecrets(request.headers.authorization);
    const scope = scopeOf(request.path, secrets);
    if (scope === 'platform') assertOrganization(secrets);
    response.locals.scope = scope;
    const from = {
      network: networkOf(response.locals.address),
      secrets: `${secrets.user ?? ''} ${secrets.organization ?? ''}`,
    };
    const caller = await failedAuthorizations.attempt(from, (found) =>
      authorization.authorize(secrets, (principal) => {
        found();
        admit(principal, response);
      }),
    );
    response.locals.caller = caller;
    if (await isForPlatform(request.path, caller, response)) {
      assertOrganization(secrets);
      response.locals.scope = 'platform';
    }
    if (response.locals.scope === 'platform') assertPlatformPath(request);
    // On refusals too: they say which instance they are about.
    else if (caller.instance !== undefined) response.setHeader('Elements-Element-Instance-Id', caller.instance.id);
  };

  /** On an instance `RateLimit-*` is the provider's budget (decisions D3), save in a refusal of ours. */
  function admit(principal: Principal, response: Response): void {
    response.locals.principal = principal;
    const budget = callerLimits.count(principal);
    if (budget !== undefined && response.locals.scope === 'platform') setBudget(response, budget);
  }

  /**
   * A path of the platform that came with a token and is no object of the element. Objects that cannot be told now leave it to the
   * element, whose answer says why: a record must not seem to be gone because its provider is.
   */
  async function isForPlatform(path: string, { instance }: Caller, response: Response): Promise<boolean> {
    const [, first = ''] = path.split('/');
    if (instance === undefined || response.locals.scope !== 'record' || !PLATFORM_SEGMENTS.has(first)) return false;
    try {
      return !Object.hasOwn(await ports.listObjects({ instance, signal: signalEnd(response) }), first);
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }
}

function assertOrganization({ organization }: Secrets): void {
  if (organization !== undefined) return;
  throw unauthenticated('This path needs `Organization <secret>` in the Authorization header as well.');
}
