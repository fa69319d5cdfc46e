import { randomBytes } from 'node:crypto';
import { Fault, json, type SimulatedResponse, type TableRow } from '#connector/simulator';

/** An error of Box. In addition to code and message it has a context: the invalid parameter, or the item with the same name. */
export class BoxFault extends Fault {
  readonly context: unknown;

  constructor(status: number, code: string, message: string, context?: unknown) {
    super(status, code, message);
    this.context = context;
  }
}

/** Returns the error 400 for an invalid parameter of the query or member of the body. */
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

/**
 * Returns the error 404 for a missing item.
 * @param name what Box calls the kind: `item`, `folder`, `webhook`
 */
export function notFound(name: string, value: string): BoxFault {
  const message = `Invalid value '${value}'. '${name}' with value '${value}' not found`;
  return new BoxFault(404, 'not_found', 'Not Found', { errors: [{ reason: 'invalid_parameter', name, message }] });
}

/**
 * Returns the error 409 for a name that exists already.
 * @param taken the item that has the name
 */
export function nameInUse({ type, id, name }: TableRow): BoxFault {
  const context = { conflicts: { type, id, name } };
  return new BoxFault(409, 'item_name_in_use', 'Item with the same name already exists', context);
}

/** The codes and messages of the errors that the kit throws. */
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

/** Prints an error. A rejected token has no body: the header says what is wrong with it. */
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
