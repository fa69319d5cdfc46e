import { Fault } from '#connector/simulator';

/** An error of the newer endpoints: RFC 7807. */
export class Problem extends Fault {}

/** An error of the older endpoints: no body, the words in a header. */
export const refusal = (status: number, message: string) => new Fault(status, 'REFUSED', message);

export const invalidFilter = (detail: string) => new Problem(422, 'INVALID_FILTER', detail);

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
