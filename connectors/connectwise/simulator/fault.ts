import {
  BAD_BODY,
  type Complaint,
  Fault,
  json,
  type Member,
  type SimulatedResponse,
  typed,
} from '#connector/simulator';

/** An object that cannot be saved; ConnectWise names the kind of object with every complaint. */
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

/** Fault for a bad condition, order or parameter of a page. */
export function badCondition(message: string): Fault {
  return new Fault(400, 'ApiFindCondition', message);
}

export function absent({ singular }: { readonly singular: string }, id: string): Fault {
  return new Fault(404, 'NotFound', `${singular} ${id} not found`);
}

/** The gateway of the cloud does not know the company: nothing of it is JSON. */
export const CANNOT_ROUTE = 'CANNOT_ROUTE';

/** What the kit itself refuses, in ConnectWise's words. */
const WORDS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'Unauthorized',
  METHOD_NOT_ALLOWED: 'MethodNotAllowed',
  [BAD_BODY]: 'InvalidObject',
};

/** Writes a fault as `{ code, message, errors }`. A response for too many calls has `error` in place of `code`. */
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
