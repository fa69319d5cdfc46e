import { type Answer, Fault, typed } from '#connector/simulator';

/** ServiceNow's own message and detail: the message is the fault's code. */
export function refusal(status: number, message: string, detail = ''): Fault {
  return new Fault(status, message, detail);
}

export function noRecord(): Fault {
  return new Fault(404, 'NOT_FOUND', '');
}

const MESSAGES: Readonly<Record<number, readonly [message: string, detail: string | null]>> = {
  401: ['User Not Authenticated', 'Required to provide Auth information'],
  403: ['Insufficient rights to query records', 'Field(s) present in the query do not have permission to be read'],
  404: ['No Record found', "Record doesn't exist or ACL restricts the record retrieval"],
  405: ['Method not supported', null],
};

export const RULE_ID = 'd1f7a4c2c0a8016400b98a06818d57c7';

/** `{ error: { message, detail }, status: "failure" }`; there is nothing but 400 for what is no resource. */
export function printFault({ status, code, message, headers }: Fault, path: string, rate: Rate): Answer {
  const isResource = /^\/api\/now\/(?:v\d\/)?(?:table|attachment)\//.test(`${path}/`);
  if (status === 404 && code === 'NOT_FOUND' && !isResource) {
    return show(400, 'Requested URI does not represent any resource', null);
  }
  if (status === 429) {
    const detail = `Rate limit of ${rate.calls} requests per hour for Table API exceeded`;
    return show(429, 'Rate limit exceeded', detail, { ...rate.headers, ...headers });
  }
  // The kit's own codes are in capitals.
  if (!/^[A-Z_]+$/.test(code)) return show(status, code, message === '' ? null : message, headers);
  const [text, detail] = MESSAGES[status] ?? [message, null];
  return show(status, text, detail, headers);
}

interface Rate {
  readonly calls: number;
  readonly headers: Readonly<Record<string, string>>;
}

function show(status: number, message: string, detail: string | null, headers: Fault['headers'] = {}): Answer {
  return reply({ error: { message, detail }, status: 'failure' }, status, headers);
}

export function reply(value: unknown, status = 200, headers: Fault['headers'] = {}): Answer {
  return typed('application/json;charset=UTF-8', JSON.stringify(value), status, headers);
}
