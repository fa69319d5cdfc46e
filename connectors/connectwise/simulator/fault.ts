import { type Answer, BAD_BODY, Fault, json, typed } from '#connector/simulator';

/** What is wrong about one member of an object. */
export interface Complaint {
  readonly code: string;
  readonly message: string;
  readonly field: string;
}

/** An object that cannot be saved; ConnectWise names the kind of object with every complaint. */
export class Refusal extends Fault {
  readonly resource: string;
  readonly complaints: readonly Complaint[];

  constructor(resource: string, complaints: readonly Complaint[]) {
    super(400, 'InvalidObject', `${resource} object is invalid`);
    this.resource = resource;
    this.complaints = complaints;
  }
}

/** Of conditions, orders and the parameters of pages. */
export function badCondition(message: string): Fault {
  return new Fault(400, 'ApiFindCondition', message);
}

export function notFound(label: string, id: string): Fault {
  return new Fault(404, 'NotFound', `${label} ${id} not found`);
}

/** The gateway of the cloud does not know the company: nothing of it is JSON. */
export const CANNOT_ROUTE = 'CANNOT_ROUTE';

const NO_ENDPOINT = { code: 'ConnectWiseApi', message: 'The endpoint does not exist.' };

/** What the kit itself refuses, in ConnectWise's words. */
const WORDS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'Unauthorized',
  METHOD_NOT_ALLOWED: 'MethodNotAllowed',
  [BAD_BODY]: 'InvalidObject',
};

/** `{ code, message, errors }`; too many calls are told with another member. */
export function print(fault: Fault): Answer {
  const { status, code, message, headers } = fault;
  if (code === CANNOT_ROUTE) return typed('text/plain', message, status);
  if (status === 429) {
    const wait = headers['retry-after'];
    const rest = wait === undefined ? 'later' : `in ${wait} seconds`;
    return json({ error: 'ConnectWiseAPI', message: `Too many requests. Please try again ${rest}.` }, status, headers);
  }
  if (code === 'NOT_FOUND') return json(NO_ENDPOINT, status, headers);
  const body = { code: /^[A-Z_]+$/.test(code) ? (WORDS[code] ?? 'ConnectWiseApi') : code, message };
  if (!(fault instanceof Refusal)) return json(body, status, headers);
  const errors = fault.complaints.map(({ code: each, message: words, field }) => {
    return { code: each, message: words, resource: fault.resource, field };
  });
  return json({ ...body, errors }, status, headers);
}
