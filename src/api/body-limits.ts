import { OPERATIONS } from '../../generated/operations.ts';
import type { ApiScope } from './authorize.ts';
import type { JsonShape } from './json-shape.ts';
import type { Scope } from './scoped-document.ts';

/** What a JSON body may be. */
export interface BodyLimits extends JsonShape {
  readonly bytes: number;
}

const KB = 1024;
const MB = 1024 * KB;
const MOST_MEMBERS = 10_000;
/** Far more than any record has. Text goes through recursive functions further on, JSON.stringify among them. */
const MOST_DEPTH = 100;

const ORDINARY: BodyLimits = { bytes: 256 * KB, depth: MOST_DEPTH, members: MOST_MEMBERS, ownMembers: MOST_MEMBERS };
/** Records and events are what providers and callers make of them. */
const LARGE: BodyLimits = {
  bytes: 8 * MB,
  depth: MOST_DEPTH,
  members: Number.POSITIVE_INFINITY,
  ownMembers: MOST_MEMBERS,
};

interface Route {
  readonly method: string;
  readonly path: RegExp;
}

/** The operations that the spec marks with `x-causeway-large-body`. */
const LARGE_ROUTES: Readonly<Record<ApiScope, readonly Route[]>> = {
  platform: largeRoutes('platform'),
  instance: largeRoutes('instance'),
  record: largeRoutes('record'),
};

function largeRoutes(scope: ApiScope): readonly Route[] {
  return Object.values(OPERATIONS)
    .filter(({ scopes, largeBody }) => largeBody && (scopes as readonly Scope[]).includes(scope))
    .map(({ method, path }) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
    }));
}

/** The limits for the body of a request whose operation is not known yet. */
export function bodyLimitsOf(scope: ApiScope, method: string, path: string): BodyLimits {
  const isLarge = LARGE_ROUTES[scope].some((route) => route.method === method && route.path.test(path));
  return isLarge ? LARGE : ORDINARY;
}

/** `256 kB`, `8 MB`. */
export function sizeText(bytes: number): string {
  return bytes % MB === 0 ? `${bytes / MB} MB` : `${Math.round(bytes / KB)} kB`;
}
