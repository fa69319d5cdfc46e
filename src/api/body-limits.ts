import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { JsonShape } from './json-shape.ts';

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
/**
 * Records and events are what providers and callers make of them. Their bytes alone would be no bound: 8 MB of empty objects, or
 * of names, take the parser half a second, and nothing else happens meanwhile.
 */
const LARGE: BodyLimits = {
  bytes: 8 * MB,
  depth: MOST_DEPTH,
  members: 100_000,
  ownMembers: MOST_MEMBERS,
};

/** Of the operation that a request is for; undefined: it is for none, and its body will be refused with it. */
export function bodyLimitsOf(id: OperationId | undefined): BodyLimits {
  return id !== undefined && OPERATIONS[id].largeBody ? LARGE : ORDINARY;
}

/** `256 kB`, `8 MB`. */
export function sizeText(bytes: number): string {
  return bytes % MB === 0 ? `${bytes / MB} MB` : `${Math.round(bytes / KB)} kB`;
}
