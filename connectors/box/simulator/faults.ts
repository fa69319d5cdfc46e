import { randomBytes } from 'node:crypto';
import { Fault, json, type SimulatedResponse, type TableRow } from '#connector/simulator';

/** With what Box tells beside code and message: which parameter is wrong, or what a name clashes with. */
export class BoxFault extends Fault {
  readonly context: unknown;

  constructor(status: number, code: string, message: string, context?: unknown) {
    super(status, code, message);
    this.context = context;
  }
}

/** A 400 for one parameter of the query or member of the body. */
export function invalid(name: string, message: string, reason = 'invalid_parameter'): BoxFault {
  return new BoxFault(400, 'bad_request', 'Bad Request', { errors: [{ reason, name, message }] });
}

export function missing(name: string): BoxFault {
  return invalid(name, `'${name}' is required`, 'missing_parameter');
}

/** Returns the error for a `limit` or an `offset` that is not a number. */
export function badPage(_: string, name: string): BoxFault {
  const title = name[0]?.toUpperCase() + name.slice(1);
  return new BoxFault(400, `invalid_${name}`, `${title} is not a valid number`);
}

/** @param name what Box calls it: `item`, `folder`, `webhook` */
export function notFound(name: string, value: string): BoxFault {
  const message = `Invalid value '${value}'. '${name}' with value '${value}' not found`;
  return new BoxFault(404, 'not_found', 'Not Found', { errors: [{ reason: 'invalid_parameter', name, message }] });
}

/** @param taken what has the name */
export function nameInUse({ type, id, name }: TableRow): BoxFault {
  const context = { conflicts: { type, id, name } };
  return new BoxFault(409, 'item_name_in_use', 'Item with the same name already exists', context);
}

/** What the kit itself refuses. */
const CODES: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['bad_request', 'Bad Request'],
  403: ['access_denied_insufficient_permissions', 'Access denied - insufficient permission'],
  404: ['not_found', 'Not Found'],
  405: ['method_not_allowed', 'Method Not Allowed'],
  409: ['conflict', 'A resource with this value already exists'],
  413: ['request_entity_too_large', 'Request Entity too Large'],
  429: ['rate_limit_exceeded', 'Request rate limit exceeded, please try again later'],
  500: ['internal_server_error', 'Internal Server Error'],
  502: ['bad_gateway', 'Bad Gateway'],
  503: ['unavailable', 'Unavailable'],
};
const HELP = 'http://developers.box.com/docs/#errors';
const REFUSED_TOKEN =
  'Bearer realm="Service", error="invalid_token", error_description="The access token provided is invalid."';

/** A refused token has no body: what is wrong with it stands in a header. */
export function print(fault: Fault): SimulatedResponse {
  const { status, headers } = fault;
  if (status === 401) return { status, headers: { ...headers, 'www-authenticate': REFUSED_TOKEN } };
  const context = fault instanceof BoxFault ? fault.context : undefined;
  const [code, message] =
    fault instanceof BoxFault ? [fault.code, fault.message] : (CODES[status] ?? ['bad_request', fault.message]);
  const request_id = randomBytes(8).toString('hex');
  const body = { type: 'error', status, code, context_info: context, help_url: HELP, message, request_id };
  return json(body, status, headers);
}
