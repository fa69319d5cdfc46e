import { AppError } from '../../errors.ts';
import type { JsonLimits } from '../../numbers/parse-pieces.ts';

/** Maximum depth of nesting. Code that walks over a value calls itself for each level. */
export const MAX_DEPTH = 200;

/**
 * Maximum number of members in a response, at all depths. A response of ordinary rows reaches its 32 MB first, because their members take
 * at least 16 bytes. With more members, connectors, which walk over a response in one run, would take hundreds of milliseconds.
 */
const MOST_MEMBERS = 2_000_000;
/**
 * Maximum number of members of one object in a response. A record has hundreds, rarely thousands; an index by id has as many as there are
 * ids. It is also the maximum for a record with everything inside it (`assertMembers`).
 */
export const MOST_OBJECT_MEMBERS = 100_000;

/** The limits of the JSON of a response. */
export const RESPONSE_LIMITS: JsonLimits = {
  depth: MAX_DEPTH,
  members: MOST_MEMBERS,
  objectMembers: MOST_OBJECT_MEMBERS,
  tooDeep,
  tooMany,
};

/**
 * Returns the error PROVIDER_PROTOCOL for a response with too many members.
 * @param what the value that has too many
 */
export function tooMany(what: string, most: number): AppError {
  return new AppError('PROVIDER_PROTOCOL', `The provider returned ${what} with more than ${most} members.`);
}

/** Returns the error PROVIDER_PROTOCOL for a response that is nested too deeply. */
export function tooDeep(): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `The provider returned JSON that is nested deeper than ${MAX_DEPTH} levels.`,
  );
}
