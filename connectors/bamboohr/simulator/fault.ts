import { Fault } from '#connector/simulator';

/** An error of the newer endpoints: RFC 7807. */
export class Problem extends Fault {}

/** An error of the older endpoints: no body, the words in a header. */
export const refusal = (status: number, message: string) => new Fault(status, 'REFUSED', message);

export const invalidFilter = (detail: string) => new Problem(422, 'INVALID_FILTER', detail);
