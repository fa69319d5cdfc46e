import { Fault, type SimulatedResponse, typed } from '#connector/simulator';

/** Returns an error with ServiceNow's own message and detail. The message is the code of the fault. */
export function refusal(status: number, message: string, detail = ''): Fault {
  return new Fault(status, message, detail);
}

export function noRecord(): Fault {
  return new Fault(404, 'NOT_FOUND', '');
}

const MESSAGES: Readonly<Record<number, readonly [message: string, detail?: string]>> = {
  400: ['Exception while reading request', 'The payload is not valid JSON.'],
  401: ['User Not Authenticated', 'Required to provide Auth information'],
  403: ['Insufficient rights to query records', 'Field(s) present in the query do not have permission to be read'],
  404: ['No Record found', "Record doesn't exist or ACL restricts the record retrieval"],
  405: ['Method not supported'],
  429: ['Rate limit exceeded', 'Rate limit per hour for Table API exceeded'],
};
const NO_RESOURCE = ['Requested URI does not represent any resource'] as const;

/** Prints an error as `{ error: { message, detail }, status: "failure" }`. A path that is no resource has status 400. */
export function printFault({ status, code, message, headers }: Fault, path: string): SimulatedResponse {
  const isResource = /^\/api\/now\/(?:table|attachment)\//.test(`${path}/`);
  const isNothing = status === 404 && !isResource;
  // The codes of the kit are in capitals.
  const isOwn = !/^[A-Z_]+$/.test(code);
  const [text, detail] = isNothing ? NO_RESOURCE : isOwn ? [code, message] : (MESSAGES[status] ?? [message]);
  const error = { message: text, detail: detail || null };
  return reply({ error, status: 'failure' }, isNothing ? 400 : status, headers);
}

export function reply(value: unknown, status = 200, headers: Fault['headers'] = {}): SimulatedResponse {
  return typed('application/json;charset=UTF-8', JSON.stringify(value), status, headers);
}
