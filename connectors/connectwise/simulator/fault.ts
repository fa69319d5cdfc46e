import {
  BAD_BODY,
  type Complaint,
  Fault,
  json,
  type Member,
  type SimulatedResponse,
  typed,
} from '#connector/simulator';

/** The error for an object that cannot be saved. Each of its parts names the kind of object. */
class Refusal extends Fault {
  readonly errors: readonly object[];

  constructor(resource: string, errors: readonly object[]) {
    super(400, 'InvalidObject', `${resource} object is invalid`);
    this.errors = errors;
  }
}

const CODES: Readonly<Partial<Record<Complaint['reason'], string>>> = {
  missing: 'MissingRequiredField',
  length: 'OutOfRange',
};

interface Refused {
  readonly noun: string;
  readonly members: Readonly<Record<string, Member>>;
}

export function refuse(complaints: readonly Complaint[], { noun, members }: Refused): Fault {
  const errors = complaints.map(({ reason, member, message, code = CODES[reason] ?? 'InvalidField' }) => {
    if (reason === 'missing')
      return { code, message: `The ${member} field is required.`, resource: noun, field: member };
    if (members[member]?.type !== 'reference') return { code, message, resource: noun, field: member };
    return { code: 'NotFound', message: `${member} not found`, resource: noun, field: `${member}/id` };
  });
  return new Refusal(noun, errors);
}

/** Returns the error for an invalid condition, order or paging parameter. */
export function badCondition(message: string): Fault {
  return new Fault(400, 'ApiFindCondition', message);
}

export function absent({ singular }: { readonly singular: string }, id: string): Fault {
  return new Fault(404, 'NotFound', `${singular} ${id} not found`);
}

/** Code of the error of the cloud's gateway for an unknown company. The response is not JSON. */
export const CANNOT_ROUTE = 'CANNOT_ROUTE';

/** ConnectWise's codes for the errors that the kit throws. */
const WORDS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'Unauthorized',
  METHOD_NOT_ALLOWED: 'MethodNotAllowed',
  [BAD_BODY]: 'InvalidObject',
};

/** Prints an error as `{ code, message, errors }`. A response for too many calls has `error` instead of `code`. */
export function print(fault: Fault): SimulatedResponse {
  const { status, code, message, headers } = fault;
  if (code === CANNOT_ROUTE) return typed('text/plain', message, status);
  if (status === 429) {
    const wait = headers['retry-after'];
    const rest = wait === undefined ? 'later' : `in ${wait} seconds`;
    return json({ error: 'ConnectWiseAPI', message: `Too many requests. Please try again ${rest}.` }, status, headers);
  }
  if (code === 'NOT_FOUND') return json({ code: 'ConnectWiseApi', message: 'The endpoint does not exist.' }, status);
  const body = { code: /^[A-Z_]+$/.test(code) ? (WORDS[code] ?? 'ConnectWiseApi') : code, message };
  return json(fault instanceof Refusal ? { ...body, errors: fault.errors } : body, status, headers);
}
