import { Fault } from '#connector/simulator';

/** An error of the newer endpoints, in the form of RFC 7807. */
export class Problem extends Fault {}

/** Creates an error of the older endpoints, which has no body and its message in a header. */
export const refusal = (status: number, message: string) => new Fault(status, 'REFUSED', message);

export const invalidFilter = (detail: string) => new Problem(422, 'INVALID_FILTER', detail);

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
