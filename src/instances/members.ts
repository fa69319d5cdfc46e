import { ExactNumber } from '../numbers/exact-json.ts';

/** An object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

/** A number that no double holds is none. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}
