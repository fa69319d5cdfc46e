import { AppError } from '../errors.ts';
import type { ResourcePorts } from './ports.ts';

/** Where a query goes on: a place in the provider's paging, and what is still to be passed over from there. */
export interface Position {
  /** Which of the plan's queries; absent for the first. */
  readonly query?: number;
  /** The id of the last row of an earlier stretch of the query, behind which this one begins; absent in the first. */
  readonly after?: string;
  /** The provider's cursor of the page; absent for the first. */
  readonly cursor?: string;
  /** Rows of the query, or of its stretch, before that page; absent for the first. */
  readonly rowsBefore?: number;
  /** Rows of that page to pass over. */
  readonly skipRows: number;
  /** Matching rows to pass over. */
  readonly skipMatches: number;
  /** Rows asked of the provider per page; stays the same over a query, because cursors may depend on it. */
  readonly limit: number;
}

/** What a token belongs to; with anything else it does not open. */
export interface TokenScope {
  readonly accountId: number;
  readonly instanceId: number;
  readonly object: string;
  /** The query in canonical spelling. */
  readonly query: string;
}

export function sealPosition({ seal }: Pick<ResourcePorts, 'seal'>, position: Position, scope: TokenScope): string {
  return seal(JSON.stringify(position), contextOf(scope));
}

/** @throws AppError REQUEST_INVALID for a token that was changed, or made for another query. */
export function openPosition({ open }: Pick<ResourcePorts, 'open'>, token: string, scope: TokenScope): Position {
  const plain = open(token, contextOf(scope));
  // What opens was sealed here, so its form is known.
  if (plain !== undefined) return JSON.parse(plain) as Position;
  const message =
    'nextPage does not belong to this query: send the token of the page before, with the same instance, object, where, orderBy and fields.';
  throw new AppError('REQUEST_INVALID', message, {
    details: [{ path: '/query/nextPage', message: 'Not a token of this query.' }],
  });
}

function contextOf({ accountId, instanceId, object, query }: TokenScope): string {
  return JSON.stringify(['page', accountId, instanceId, object, query]);
}
