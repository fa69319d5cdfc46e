import { readOrigin } from './origins.ts';
import type { SessionRow } from './session-store.ts';

/** A page that tried to show the page of a session although its origin is not registered. */
interface RefusedPage {
  /** Origin of the page; `null` for a page without one, such as a file. */
  readonly origin: string;
  /** Whether the organization can register the origin. */
  readonly canRegister: boolean;
}

/** Reason why the page of a session could not be shown, for the server that created the session. */
export interface SessionProblem {
  readonly code: 'ORIGIN_NOT_REGISTERED';
  readonly message: string;
  readonly origin: string;
  readonly at: Date;
}

/** Maximum number of characters of an origin. The database has the same limit. */
const MAX_ORIGIN = 255;
/** The text that browsers send for pages without an origin. */
const NONE = 'null';

/**
 * Reads the origin that a page claims, which may be false.
 * @returns undefined for a text that is no origin
 */
export function readClaim(text: string): string | undefined {
  if (text === NONE) return NONE;
  const url = text.length > MAX_ORIGIN ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.origin.length > MAX_ORIGIN ? undefined : url.origin;
}

/** Describes the refusal of a page. Undefined for a registered origin, or without an origin. */
export function refusalOf(origin: string | undefined, registered: readonly string[]): RefusedPage | undefined {
  return origin === undefined || registered.includes(origin)
    ? undefined
    : { origin, canRegister: readOrigin(origin) !== undefined };
}

/** Describes the last refusal of a session. Undefined when no page was refused, or its origin was registered in the meantime. */
export function problemOf(
  { refusedOrigin, refusedAt }: Pick<SessionRow, 'refusedOrigin' | 'refusedAt'>,
  registered: readonly string[],
): SessionProblem | undefined {
  const refusal = refusalOf(refusedOrigin ?? undefined, registered);
  if (refusal === undefined || refusedAt === null) return undefined;
  return { code: 'ORIGIN_NOT_REGISTERED', message: sayRefusal(refusal), origin: refusal.origin, at: refusedAt };
}

function sayRefusal({ origin, canRegister }: RefusedPage): string {
  const page = origin === NONE ? 'A page without an origin, such as a file,' : `A page of ${origin}`;
  const remedy = canRegister
    ? 'If that page is yours, register its origin with PUT /organizations/me/connect-origins.'
    : 'That cannot be registered as a connect origin: serve the page over https, or from localhost.';
  return `${page} tried to show the page of this session, but its origin is not registered. ${remedy}`;
}
